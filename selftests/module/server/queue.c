// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that wait in the queue of one server, which grants leases of 5 s; see
 * queue.h.
 */
#include "cases.h"
#include "selftests/module/device/slew.h"

/* The lock goes from one to the next, at once. */
static void hand_over(struct peer *p)
{
	struct bftm_msg first = queue_try(fresh(), 1, 1), second = queue_try(fresh(), 1, 2);
	struct bftm_msg third = queue_try(fresh(), 1, 3), r;
	u64 began;

	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY of a free lock");
	want_wait(&p[2], third, 1, "TRY with priority 3");
	want_wait(&p[1], second, 1, "TRY with priority 2");
	third.k = 2;
	want_wait(&p[2], third, 2, "poll with priority 3");
	second.k = 7;
	want_wait(&p[1], second, 1, "poll with priority 2");
	second.k = 5;
	want_wait(&p[1], second, 1, "poll that was overtaken");
	second.k = 7;
	first.k = 2;
	want_reply(&p[0], first, BFTM_MSG_FREE, "renewal while others wait");

	began = clock_ns(CLOCK_BOOTTIME);
	want_released(&p[0], first.attempt);
	pushed(&p[1], BFTM_MSG_FREE, &second, r.gno + 1, "RELEASE with two waiters");
	began = clock_ns(CLOCK_BOOTTIME) - began;
	fprintf(stdout, "# handed over in %" PRIu64 " us\n", began / 1000);
	check(began < long_ns / 4, "handed over after %" PRIu64 " ns", began);
	want_wait(&p[2], third, 1, "poll after that");
	want_released(&p[1], second.attempt);
	pushed(&p[2], BFTM_MSG_FREE, &third, r.gno + 2, "RELEASE with a waiter");
	want_released(&p[2], third.attempt);
	/* Nobody waits any more. */
	first.attempt = fresh();
	first.k = 1;
	r.gno += 3;
	check(want_reply(&p[0], first, BFTM_MSG_FREE, "TRY").gno == r.gno, "another grant in between");
	want_released(&p[0], first.attempt);
}

/* A waiting client sends from another port, or another address: pushes go there. */
static void moved(struct peer *p)
{
	struct bftm_msg first = queue_try(fresh(), 1, 1), second = queue_try(fresh(), 1, 2), r;
	struct bftm_wire late;

	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY");
	/* Of the same client, so its numbers go on. */
	p[1].seq = p[2].seq;
	want_wait(&p[1], second, 1, "TRY from the first place");
	p[2].seq = p[1].seq + 1;
	prepare(&p[1], &(struct bftm_msg){ .type = BFTM_MSG_HELLO }, &late);
	second.k = 2;
	want_wait(&p[2], second, 1, "TRY from the second place");
	say_wire(&p[1], &late);
	check(hear(&p[1], &(struct bftm_msg){}, PATIENCE_MS), "overtaken HELLO: no answer");
	expected.challenged++;
	want_released(&p[0], first.attempt);
	pushed(&p[2], BFTM_MSG_FREE, &second, r.gno + 1, "RELEASE");
	want_released(&p[2], second.attempt);
}

/* The owner lets its lease end; then a waiter gets the lock. */
static void expiry(struct peer *p)
{
	struct bftm_msg first = queue_try(fresh(), 1, 1), gone = queue_try(fresh(), 1, 1);
	struct bftm_msg third = queue_try(fresh(), 1, 9), r;
	u64 began = clock_ns(CLOCK_MONOTONIC_RAW), took;

	first.lease_ns = 300 * BFTM_NS_PER_MS;
	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY");
	/* This client would be the next, but is silent for its 50 ms. */
	gone.lease_ns = 100 * BFTM_NS_PER_MS;
	want_wait(&p[1], gone, 1, "TRY of one who goes away");
	want_wait(&p[2], third, 2, "TRY of one who stays");
	pushed(&p[2], BFTM_MSG_FREE, &third, r.gno + 1, "the end of a lease");
	took = clock_ns(CLOCK_MONOTONIC_RAW) - began;
	fprintf(stdout, "# pushed after %" PRIu64 " us\n", took / 1000);
	check(took >= first.lease_ns, "the lease of 300 ms ended after %" PRIu64 " ns", took);
	hello(&p[1]);	/* it has got no other datagram */
	gone.k = 2;
	want_wait(&p[1], gone, 1, "TRY of one who came back");
	/* Better than the owner's priority. */
	pushed(&p[2], BFTM_MSG_INQUIRE, &third, r.gno + 1, "who came back");
	want_released(&p[1], gone.attempt);
	want_released(&p[2], third.attempt);
}

/* The same while the server's clock is sped up, since it was behind. */
static void expiry_slewed(struct peer *p)
{
	u64 boot = clock_ns(CLOCK_BOOTTIME), raw = clock_ns(CLOCK_MONOTONIC_RAW);

	check(set_tick(TICK_FAST_US), "tick: %s", strerror(errno));
	expiry(p);
	boot = clock_ns(CLOCK_BOOTTIME) - boot;
	raw = clock_ns(CLOCK_MONOTONIC_RAW) - raw;
	check(boot * 20 > raw * 21, "%" PRIu64 " ns in %" PRIu64 ": not faster", boot, raw);
	check(set_tick(TICK_US), "tick: %s", strerror(errno));
}

/* An owner that does not hold the lock yet yields. */
static void yields(struct peer *p)
{
	struct bftm_msg late = queue_try(fresh(), 3, 5), early = queue_try(fresh(), 2, 4), r;
	u64 gno;

	late.k = 1;
	gno = want_reply(&p[0], late, BFTM_MSG_FREE, "TRY with priority 5").gno;
	late.k = 3;
	want_reply(&p[0], late, BFTM_MSG_FREE, "TRY again");
	want_wait(&p[1], early, 1, "TRY with priority 4");
	pushed(&p[0], BFTM_MSG_INQUIRE, &late, gno, "a better priority");
	yield(&p[0], late.attempt, gno - 1);
	yield(&p[0], late.attempt, gno + 1);
	yield(&p[0], late.attempt + 1, gno);
	yield(&p[1], late.attempt, gno);
	expected.silent += 4;
	hello(&p[0]);
	want_wait(&p[1], early, 1, "poll after YIELDs of other grants");
	pushed(&p[0], BFTM_MSG_INQUIRE, &late, gno, "poll");
	yield(&p[0], late.attempt, gno);
	expected.yielded++;
	pushed(&p[1], BFTM_MSG_FREE, &early, gno + 1, "YIELD");
	want_wait(&p[0], late, 1, "poll of who has yielded");
	yield(&p[0], late.attempt, gno);	/* repeated: the client owns nothing now */
	expected.silent++;
	want_released(&p[1], early.attempt);
	pushed(&p[0], BFTM_MSG_FREE, &late, gno + 2, "RELEASE of who was let in");

	/* The other has gone before the answer comes. */
	early = queue_try(fresh(), 1, 4);
	want_wait(&p[1], early, 1, "TRY with priority 4");
	r = pushed(&p[0], BFTM_MSG_INQUIRE, &late, gno + 2, "a better priority");
	want_released(&p[1], early.attempt);
	yield(&p[0], late.attempt, r.gno);
	expected.yielded++;
	pushed(&p[0], BFTM_MSG_FREE, &late, gno + 3, "YIELD to nobody");
	want_released(&p[0], late.attempt);
}

/* A client that does not queue does not overtake queued clients. */
static void no_queue(struct peer *p)
{
	struct bftm_msg first = queue_try(fresh(), 1, 9), second = queue_try(fresh(), 1, 9), r;
	struct bftm_msg other = request(BFTM_MSG_TRY, lock_name, fresh());

	other.prio = 0;
	r = want_reply(&p[0], first, BFTM_MSG_FREE, "TRY");
	want_wait(&p[1], second, 1, "TRY to queue");
	want_reply(&p[2], other, BFTM_MSG_LOCKED, "NOQUEUE");
	want_wait(&p[1], second, 1, "poll");
	want_released(&p[0], first.attempt);
	pushed(&p[1], BFTM_MSG_FREE, &second, r.gno + 1, "RELEASE");
	want_reply(&p[2], other, BFTM_MSG_LOCKED, "NOQUEUE");
	want_released(&p[1], second.attempt);
	want_reply(&p[2], other, BFTM_MSG_FREE, "NOQUEUE of a free lock");
	want_released(&p[2], other.attempt);
}

/* A server with --max-waiters 2. */
static void few_waiters(struct peer *p)
{
	struct bftm_msg m[4];
	u64 gno;
	int i;

	for (i = 0; i < 4; i++)
		m[i] = queue_try(fresh(), 1, (u64)i);
	gno = want_reply(&p[0], m[0], BFTM_MSG_FREE, "TRY").gno;
	want_wait(&p[1], m[1], 1, "first waiter");
	want_wait(&p[2], m[2], 2, "second waiter");
	want_refused(&p[3], m[3], BFTM_REFUSED_WAITERS, "third waiter");
	want_wait(&p[2], m[2], 2, "poll");
	want_released(&p[1], m[1].attempt);
	want_wait(&p[3], m[3], 2, "third waiter, when one has gone");
	want_released(&p[0], m[0].attempt);
	pushed(&p[2], BFTM_MSG_FREE, &m[2], gno + 1, "RELEASE");
	want_released(&p[2], m[2].attempt);
	pushed(&p[3], BFTM_MSG_FREE, &m[3], gno + 2, "RELEASE");
	want_released(&p[3], m[3].attempt);
}

/* A server with --max-locks 64: room for 256 waiters, in queues of 4, 8, … */
static void many_waiters(struct peer *p)
{
	u64 attempt = fresh();
	int i, n;

	for (n = 0; n < 32; n++) {
		snprintf(lock_name, sizeof(lock_name), "many-%d", n);
		want_reply(&p[0], queue_try(attempt, 1, 0), BFTM_MSG_FREE, lock_name);
		for (i = 1; i <= 5; i++)
			want_wait(&p[i], queue_try(attempt, 1, (u64)i), (u32)i, lock_name);
	}
	snprintf(lock_name, sizeof(lock_name), "one-more");
	want_reply(&p[0], queue_try(attempt, 1, 0), BFTM_MSG_FREE, lock_name);
	want_refused(&p[1], queue_try(attempt, 1, 1), BFTM_REFUSED_WAITERS, lock_name);
	snprintf(lock_name, sizeof(lock_name), "many-0");
	want_wait(&p[6], queue_try(attempt, 1, 6), 6, "a queue that has room");
}

static const struct test tests[] = {
	{ "hand-over", hand_over, 3 },
	{ "moved", moved, 3 },
	{ "expiry", expiry, 3 },
	{ "expiry-slewed", expiry_slewed, 3 },
	{ "yield", yields, 2 },
	{ "no-queue", no_queue, 3 },
	{ "few-waiters", few_waiters, 4 },
	{ "many-waiters", many_waiters, 7 },
	{}
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, tests);
}
