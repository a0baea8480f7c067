// SPDX-License-Identifier: GPL-2.0
/* The kernel waits for locks and renews them by itself; requests of one host wait behind each other. */
#include "core/replay.h"
#include "lend_fixture.h"

#define FIRST	((5ull << 32) + 13)	/* the kernel's first attempt */

/* Servers @first to @last are asked once more, and say that they have queued the attempt. */
static int queued(lend_t *self, int first, int last, uint32_t k, uint64_t attempt)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	for (u = first; u <= last; u++) {
		if (told(self, u, LONG_MS, &msg, &from) != BFTM_MSG_TRY || msg.k != k ||
		    msg.attempt != attempt || msg.flags & BFTM_FLAG_NOQUEUE)
			return -1;
		msg.position = 1;
		msg.prio = 40;
		say(self, u, msg, BFTM_MSG_WAIT, &from, self->reply_mac);
	}
	return 0;
}

/* The lock comes by pushes, after a poll; the helper hears of nothing. */
TEST_F(lend, in_the_queue)
{
	struct sockaddr_in6 from;
	struct bftm_msg try[3];
	struct seen s;
	int u;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	for (u = 0; u < 3; u++) {
		ASSERT_EQ(BFTM_MSG_TRY, told(self, u, LONG_MS, &try[u], &from));
		EXPECT_EQ(2, try[u].k);
	}
	for (u = 0; u < 3; u++) {
		EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
		say(self, u, try[u], BFTM_MSG_FREE, &from, self->reply_mac);
	}
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(0, self->counters->lost);
	/* That servers denied it for a while is no dispute: the next lock is the kernel's as well. */
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	EXPECT_EQ(0, queued(self, 0, 3, 1, FIRST + 2));
}

/* A server asks for its grant back, gets it, and grants the lock once more. */
TEST_F(lend, a_grant_is_given_back)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg, yield;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 0, LONG_MS, &msg, &from));
	say(self, 0, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	say(self, 0, msg, BFTM_MSG_INQUIRE, &from, self->reply_mac);
	ASSERT_EQ(BFTM_MSG_YIELD, told(self, 0, LONG_MS, &yield, &from));
	EXPECT_EQ(1, yield.gno);
	ASSERT_EQ(0, asked(self, 1, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/*
 * The helper goes on with a lock of which a grant was given back: it would count a FREE that the
 * YIELD, if it is still under way, is about to undo. After so many numbers a server takes it no more.
 */
TEST_F(lend, numbers_are_skipped_after_a_yield)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	uint64_t before;
	struct seen s;
	int yields;

	for (yields = 0; yields < 2; yields++) {
		ASSERT_EQ(0, lend(self));
		ASSERT_EQ(-EINPROGRESS, begin(self, BFTM_RENEW));
		ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, yields ? 0 : BFTM_MSG_FREE));
		ASSERT_EQ(BFTM_MSG_TRY, told(self, 3, LONG_MS, &msg, &from));
		if (yields) {
			say(self, 3, msg, BFTM_MSG_INQUIRE, &from, self->reply_mac);
			ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_YIELD, 0));
			/* The servers that have not answered are asked again. */
			ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
		}
		ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
		before = self->counters->seq;
		/* The mode held covers this one: it is there at once, and the helper is told. */
		ASSERT_EQ(0, convert(self->fd, BFTM_LOCK_PR, 0, 0, NULL));
		EXPECT_EQ(before + (yields ? BFTM_WINDOW_BITS : 0), self->counters->seq);
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
		EXPECT_EQ(1, s.sends);
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	}
}

/* Servers that are heard no more: the helper says in the end what is wrong. */
TEST_F(lend, unheard_in_the_queue)
{
	struct seen s;
	uint32_t k;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, acquire(self->fd, "lock", SEC, 0, NULL));
	for (k = 1; k <= 2; k++)
		ASSERT_EQ(0, queued(self, 0, 3, k, FIRST));
	while (pull(&self->nl, &s) == -ENODATA)
		poll(NULL, 0, 10);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	/* The servers told of 40, and the kernel went behind that: so does the helper. */
	EXPECT_EQ(41, s.prio);
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	EXPECT_EQ(1, self->counters->lost);
}

/* In time, and the helper finds the words. */
TEST_F(lend, a_wait_that_takes_too_long)
{
	struct bftm_acquire arg = want("lock", LEASE, 200 * MS, 0);
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_EXPIRED, s.kind);
	EXPECT_GE(now_ns(), s.timeout_at_ns);
	EXPECT_LT(now_ns(), s.timeout_at_ns + 500 * MS);
}

/* The next of this host begins then, in the kernel; the helper has words to find, and no lock. */
TEST_F(lend, the_first_waits_too_long)
{
	struct bftm_acquire arg = want("lock", LEASE, 200 * MS, 0);
	int second = open_here(O_NONBLOCK);
	struct seen s, none;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(-EINPROGRESS, acquire(second, "lock", LEASE, 0, NULL));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST + 2));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_EXPIRED, s.kind);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &none));
	EXPECT_EQ(0, done(&self->nl, s.id, ETIMEDOUT, NONE, NONE));
	EXPECT_EQ(BFTM_STATE_FAILED, state_of(self->fd));
	EXPECT_EQ(ETIMEDOUT, status_of(self->fd).error);
	close(second);
}

/* Nobody answers, and there may be another way than the kernel's: the next acquires are the helper's. */
TEST_F(lend, a_limit_that_no_server_answers_in)
{
	struct bftm_acquire arg = want("lock", LEASE, 1200 * MS, 0);
	struct seen s;

	self->configuration = 7;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	while (pull(&self->nl, &s))
		sleep_ns(MS);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_EXPIRED, s.kind);
	EXPECT_EQ(0xf, s.silent);
	/* The bits count this configuration's servers. */
	EXPECT_EQ(7, s.configuration);
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	while (!pull(&self->nl, &s) && s.kind != BFTMUTEX_REQUEST_KIND_ACQUIRE)
		continue;
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
}

/* Without a limit it is the helper's as soon as it would be if it did not wait in the queue. */
TEST_F(lend, never_heard_in_the_queue)
{
	uint64_t since;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	since = now_ns();
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	while (pull(&self->nl, &s))
		sleep_ns(MS);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	/* A poll comes after an eighth of the lease. */
	EXPECT_LT(now_ns() - since, LEASE / 8);
}

/* A program that asks faster than servers answer: they hear the first, and that renews the lock. */
TEST_F(lend, renewals_without_end)
{
	uint64_t deadline;
	int i;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	deadline = status_of(self->fd).deadline_ns;
	for (i = 0; i < 40; i++)
		ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	while (status_of(self->fd).deadline_ns == deadline)
		sleep_ns(MS);
	EXPECT_GT(status_of(self->fd).deadline_ns, deadline);
	EXPECT_TRUE(silence(self));
}

/* At half of the lease, and when the program asks; of servers that have granted it. */
TEST_F(lend, renewed_by_the_kernel)
{
	struct bftm_acquire arg;
	uint64_t deadline;
	struct seen s;
	int way;

	for (way = 0; way < 2; way++) {
		ASSERT_EQ(0, lend(self));
		arg = want("lock", 2 * SEC, 0, way ? 0 : BFTM_RENEW);
		ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
		ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
		ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
		deadline = status_of(self->fd).deadline_ns;
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		if (way)
			ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
		ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
		while (status_of(self->fd).deadline_ns == deadline) {
			ASSERT_EQ(BFTM_STATE_HELD, state_of(self->fd));
			poll(NULL, 0, 1);
		}
		EXPECT_GT(status_of(self->fd).deadline_ns, deadline);
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
		EXPECT_TRUE(silence(self));
	}
}

/* No server answers any more: the helper logs it, and the next request begins. */
TEST_F(lend, lost_by_the_kernel)
{
	struct bftm_acquire arg = want("lock", SEC, 0, BFTM_RENEW);
	int second = open_here(O_NONBLOCK), u;
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	ASSERT_EQ(-EINPROGRESS, acquire(second, "lock", LEASE, 0, NULL));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, POLLHUP, LONG_MS));
	EXPECT_EQ(BFTM_STATE_LOST, state_of(self->fd));
	EXPECT_EQ(BFTM_LOST_NOT_RENEWED, status_of(self->fd).reason);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_LOST, s.kind);
	EXPECT_STREQ("lock", s.name);
	EXPECT_EQ(FIRST, s.attempt);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	for (u = 0; u < 3; u++) {
		do {
			ASSERT_NE(0, told(self, u, LONG_MS, &msg, &from));
		} while (msg.type != BFTM_MSG_TRY || msg.attempt != FIRST + 2);
		/* The first one was sent, and is not repeated late. */
		EXPECT_EQ(1, msg.k);
		say(self, u, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	}
	EXPECT_EQ(POLLIN, poll_for(second, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(second));
	close(second);
}

/*
 * A second request waits for the end of the first. Attempts of one host side by side ended each
 * other once, since a server takes the RELEASE of one for the end of all before it.
 */
TEST_F(lend, who_comes_second_waits)
{
	int second = open_here(O_NONBLOCK), third = open_here(O_NONBLOCK);
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	EXPECT_EQ(0, poll_for(self->fd, POLLRDBAND, 0));
	ASSERT_EQ(-EINPROGRESS, acquire(second, "lock", LEASE, 0, NULL));
	ASSERT_EQ(-EINPROGRESS, acquire(third, "lock", LEASE, 0, NULL));
	EXPECT_EQ(POLLRDBAND, poll_for(self->fd, POLLRDBAND, 0));
	EXPECT_TRUE(silence(self));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(second, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(second));
	/* The third waits for that one. */
	EXPECT_EQ(POLLRDBAND, poll_for(second, POLLRDBAND, 0));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(third));
	/* Nobody waits behind the third, which may be closed in any state. */
	close(second);
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST + 4));
	close(third);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

/* The standard cluster is another meanwhile: the second wants a lock there, and the third does not. */
TEST_F(lend, those_behind_want_other_locks)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, 0);
	int second = open_here(O_NONBLOCK), third = open_here(O_NONBLOCK);
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(-EINPROGRESS, call(second, BFTM_IOC_ACQUIRE, &arg));
	strcpy(arg.cluster, self->cluster);
	ASSERT_EQ(-EINPROGRESS, call(third, BFTM_IOC_ACQUIRE, &arg));
	self->cluster = "other";
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-ENODATA, pull(&self->nl, &s));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_STREQ("", s.cluster);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_STREQ("main", s.cluster);
	close(second);
	close(third);
}

/* The first of them is given up while it waits for the lock; those behind keep their order. */
TEST_F(lend, who_comes_second_while_the_first_asks)
{
	int behind[3], i;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST));
	for (i = 0; i < 3; i++) {
		behind[i] = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, acquire(behind[i], "lock", LEASE, 0, NULL));
	}
	EXPECT_TRUE(silence(self));
	ASSERT_EQ(0, release(behind[1]));
	EXPECT_TRUE(silence(self));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(POLLIN, poll_for(behind[0], POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(behind[2]));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	for (i = 0; i < 3; i++)
		close(behind[i]);
}

/* One that asks once hears at once that another program of the host has the lock, or waits for it. */
TEST_F(lend, who_asks_once_beside_another)
{
	int second = open_here(0), third = open_here(O_NONBLOCK), i;
	struct bftm_acquire arg = want("lock", LEASE, 0, BFTM_TRY);
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EWOULDBLOCK, call(second, BFTM_IOC_ACQUIRE, &arg));
		EXPECT_EQ(-EINPROGRESS, call(third, BFTM_IOC_ACQUIRE, &arg));
		EXPECT_EQ(POLLIN, poll_for(third, POLLIN, 0));
		EXPECT_EQ(BFTM_STATE_FAILED, state_of(third));
		EXPECT_EQ(EWOULDBLOCK, status_of(third).error);
		EXPECT_EQ(0, poll_for(self->fd, POLLRDBAND, 0));
		if (!i)
			ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
		ASSERT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	}
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(second);
	close(third);
}

/* Its time is over behind another, which need not be at its end. */
TEST_F(lend, who_waits_behind_for_too_long)
{
	int second = open_here(0);
	struct bftm_why why = { .size = sizeof(why) };
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	EXPECT_EQ(-ETIMEDOUT, acquire(second, "lock", LEASE, 50 * MS, NULL));
	EXPECT_EQ(0, call(second, BFTM_IOC_WHY, &why));
	EXPECT_STREQ("another program of this host has it, or asked for it before", why.text);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(second);
}

/*
 * One that the kernel cannot serve, or that may share the lock: the helper gets all of that name,
 * in the order in which they came.
 */
TEST_F(lend, the_helper_gets_all_of_a_name)
{
	struct bftm_acquire shared = want("lock", LEASE, 0, 0);
	int way, second, third;
	uint64_t id;
	struct seen s;

	shared.mode = BFTM_LOCK_PR;
	for (way = 0; way < 2; way++) {
		second = open_here(O_NONBLOCK);
		third = open_here(O_NONBLOCK);
		ASSERT_EQ(0, lend(self));
		ASSERT_TRUE(holds(self, 0));
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		ASSERT_EQ(-EINPROGRESS, acquire(second, "lock", LEASE, 0, NULL));
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		ASSERT_EQ(-EINPROGRESS, way ? call(third, BFTM_IOC_ACQUIRE, &shared) :
					      acquire(third, "lock", 2 * LEASE, 0, NULL));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
		EXPECT_EQ(1, s.sends);
		EXPECT_EQ(status_of(self->fd).deadline_ns, s.deadline_ns);
		id = s.id;
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		EXPECT_EQ(id + 1, s.id);
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(id + 2, s.id);
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		/* A renewal is asked for as usual. */
		ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
		EXPECT_EQ(0, renewed(&self->nl, s.id, s.deadline_ns + SEC, 2000));
		ASSERT_EQ(0, release(self->fd));
		close(second);
		close(third);
		while (!pull(&self->nl, &s))
			continue;
		EXPECT_TRUE(silence(self));
	}
}

/* More than 64 behind one are the helper's, with the one that asks. */
TEST_F(lend, a_crowd_behind_one)
{
	int behind[65], i;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, queued(self, 0, 3, 1, FIRST));
	for (i = 0; i < 65; i++) {
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		behind[i] = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, acquire(behind[i], "lock", LEASE, 0, NULL));
	}
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	for (i = 0; i < 66; i++) {
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	}
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	for (i = 0; i < 65; i++)
		close(behind[i]);
}

/* The session goes: who holds and who waits behind are the helper's. */
TEST_F(lend, taken_back_with_a_line)
{
	int second = open_here(O_NONBLOCK);
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, BFTM_RENEW));
	ASSERT_EQ(-EINPROGRESS, acquire(second, "lock", LEASE, 0, NULL));
	self->peers = 0;
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	close(second);
}

TEST_HARNESS_MAIN
