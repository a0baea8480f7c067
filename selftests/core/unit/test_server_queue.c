// SPDX-License-Identifier: GPL-2.0
/* The queue at one server, told as stories: who is next, and who is asked back. */
#include "waiters.h"

/* As a server does that makes room. */
static void move_queue(void)
{
	static union {
		struct bftm_queue queue;
		u8 raw[sizeof(struct bftm_queue) + 2 * ROOM * sizeof(struct bftm_seat)];
	} larger;

	lock.queue = bftm_queue_move(lock.queue, &larger, 2 * ROOM);
}

/* T_w: half of the mean of the last eight intervals between ends, and one for each party before. */
static void how_long_it_waits(void **state)
{
	u64 now = T0, end;
	u32 i;

	(void)state;
	FREE(queue(ALICE, 1, 1, now));
	/* One end is no interval. */
	for (i = 1; i < 30; i++) {
		RELEASED(release(ALICE, i, now));
		FREE(queue(ALICE, i + 1, 1, now));
		/* Another pace, of which nothing is left when eight more have ended. */
		now += i < 20 ? 7000 : 3000;
	}
	RELEASED(release(ALICE, i, now));
	FREE(queue(ALICE, i + 1, 1, now));
	WAIT(1, queue(BOB, 1, 1, now));
	assert_int_equal(reply.lease_ns, 1500);
	WAIT(2, queue(CAROL, 1, 1, now));
	assert_int_equal(reply.lease_ns, 4500);
	WAIT(3, queue(DAVE, 1, 1, now));
	assert_int_equal(reply.lease_ns, 7500);
	/* A lease that is over is an end, too; a waiter that goes is none. */
	RELEASED(release(DAVE, 1, now));
	end = bftm_lock_deadline(&lock);
	WAIT(1, queue(BOB, 1, 2, end - 1));
	bftm_lock_expire(&cfg, &lock, end, &push);
	PUSHED(FREE, BOB);
	WAIT(1, queue(CAROL, 1, 2, end));
	assert_int_equal(reply.lease_ns, (7 * 3000 + end - now) / 8 / 2);
	/* The queue moves to a larger block with what is known. */
	move_queue();
	WAIT(1, queue(CAROL, 1, 3, end));
	assert_int_equal(reply.lease_ns, (7 * 3000 + end - now) / 8 / 2);
	/* Never 0, and never more than the longest lease. */
	FREE(queue(CAROL, 1, 4, end + 3600 * BFTM_NS_PER_SEC * 9));
	WAIT(1, queue(DAVE, 2, 1, end + 3600 * BFTM_NS_PER_SEC * 9));
	assert_int_equal(reply.lease_ns, BFTM_LEASE_MAX_NS / 2);
}

static void least_priority_goes_first(void **state)
{
	(void)state;
	FREE(queue_prio(ALICE, 1, 1, 1, T0));
	WAIT(1, queue_prio(BOB, 1, 1, 30, T0));
	assert_int_equal(reply.gno, 101);
	assert_int_equal(reply.lease_ns, L / 4);	/* half of half a lease, as nothing is known */
	assert_int_equal(reply.prio, 30);
	WAIT(1, queue_prio(CAROL, 1, 1, 20, T0));
	WAIT(3, queue_prio(DAVE, 1, 1, 40, T0));
	WAIT(2, queue_prio(BOB, 1, 2, 30, T0 + 1));
	NOT_PUSHED;
	RELEASED(release(ALICE, 1, T0 + 2));
	PUSHED(FREE, CAROL);
	assert_int_equal(push.k, 1);
	assert_int_equal(push.gno, 102);
	RELEASED(release(CAROL, 1, T0 + 3));
	PUSHED(FREE, BOB);
	assert_int_equal(push.k, 2);		/* the last that was heard */
	RELEASED(release(BOB, 1, T0 + 4));
	PUSHED(FREE, DAVE);
	assert_int_equal(push.gno, 104);
	RELEASED(release(DAVE, 1, T0 + 5));
	NOT_PUSHED;
	assert_false(bftm_lock_waiters(&lock));
}

static void clients_break_ties(void **state)
{
	(void)state;
	FREE(queue_prio(DAVE, 1, 1, 1, T0));
	WAIT(1, queue_prio(CAROL, 1, 1, 5, T0));
	WAIT(1, queue_prio(ALICE, 1, 1, 5, T0));
	WAIT(2, queue_prio(BOB, 1, 1, 5, T0));
	WAIT(3, queue_prio(CAROL, 1, 2, 5, T0));
	release(DAVE, 1, T0);
	PUSHED(FREE, ALICE);
	release(ALICE, 1, T0);
	PUSHED(FREE, BOB);
	release(BOB, 1, T0);
	PUSHED(FREE, CAROL);
}

/* The grant is as good as one that was asked for just now, and answers that k. */
static void a_pushed_grant_is_a_grant(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 1, 4, T0));
	release(ALICE, 1, T0 + 10);
	PUSHED(FREE, BOB);
	LOCKED(try(CAROL, 1, 1, T0 + 10 + GUARD));
	FREE(queue(BOB, 1, 5, T0 + 20));		/* the push was lost */
	assert_int_equal(reply.k, 5);
	assert_int_equal(reply.gno, 102);
	LOCKED(try(CAROL, 1, 1, T0 + 20 + GUARD));
	FREE(try(CAROL, 1, 1, T0 + 20 + GUARD + 1));
}

static void expiry_grants_to_the_next(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 1, 1, T0 + GUARD - 10));
	assert_false(bftm_lock_expire(&cfg, &lock, T0 + GUARD, &push));
	NOT_PUSHED;
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	PUSHED(FREE, BOB);
	assert_int_equal(push.gno, 102);
	assert_int_equal(push.seq, 0);
	assert_int_equal(push.name_len, 0);		/* the caller knows it */
	assert_int_equal(push.server_epoch, cfg.epoch);
	assert_int_equal(lock.first.time_ns, T0 + GUARD + 1 + GUARD);
	/* Nobody is next. */
	assert_true(bftm_lock_expire(&cfg, &lock, lock.first.time_ns + 1, &push));
	NOT_PUSHED;
	assert_false(bftm_lock_expire(&cfg, &lock, lock.first.time_ns + 1, &push));
}

/* The timer was late: who asks finds the lease over, and the queue counts. */
static void who_asks_before_the_timer(void **state)
{
	const u64 over = T0 + GUARD + 1;

	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(CAROL, 1, 1, over - 9));
	WAIT(1, queue(DAVE, 1, 1, over));		/* Carol has it by this */
	PUSHED(FREE, CAROL);
	fresh_queue(state);
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(CAROL, 1, 1, over - 9));
	FREE(queue(BOB, 1, 1, over));			/* a better one */
	NOT_PUSHED;
	WAIT(1, queue(CAROL, 1, 2, over));
	fresh_queue(state);
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(CAROL, 1, 1, over - 9));
	FREE(queue(CAROL, 1, 2, over));			/* her turn */
	NOT_PUSHED;
	assert_int_equal(reply.k, 2);
	assert_false(bftm_lock_waiters(&lock));
}

/* NOQUEUE: never in the queue, and never before it. */
static void who_does_not_queue_does_not_jump(void **state)
{
	const u64 over = T0 + GUARD + 1;

	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	LOCKED(try(ALICE, 1, 1, T0));
	NOT_PUSHED;				/* nor is it a reason to ask Bob */
	assert_false(bftm_lock_waiters(&lock));
	WAIT(1, queue(CAROL, 1, 1, over - 9));
	LOCKED(try(ALICE, 1, 2, over));		/* a better priority, but no waiter */
	PUSHED(FREE, CAROL);
	assert_int_equal(reply.gno, push.gno);
	release(CAROL, 1, over);
	FREE(try(ALICE, 1, 3, over));
	/* A waiter that asks once without waiting has not lost its place. */
	WAIT(1, queue(DAVE, 1, 1, over));
	LOCKED(try(DAVE, 1, 2, over));
	release(ALICE, 1, over);
	PUSHED(FREE, DAVE);
}

static void who_is_not_heard_is_forgotten(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 1, 1, T0));
	WAIT(2, queue(CAROL, 1, 1, T0 + 1));
	WAIT(1, queue(BOB, 1, 2, T0 + WINDOW));		/* just in time */
	release(ALICE, 1, T0 + 1 + WINDOW);
	PUSHED(FREE, BOB);
	release(BOB, 1, T0 + 2 + WINDOW);		/* one ns too late for Carol */
	NOT_PUSHED;
	assert_false(bftm_lock_waiters(&lock));
}

/* Each by the lease that it asked for. */
static void the_window_is_the_waiters_own(void **state)
{
	(void)state;
	FREE(queue(DAVE, 1, 1, T0));
	WAIT(1, step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = ALICE, .attempt = 1,
					.k = 1, .lease_ns = BFTM_LEASE_MIN_NS }, T0));
	WAIT(2, queue(BOB, 1, 1, T0));
	release(DAVE, 1, T0 + BFTM_LEASE_MIN_NS + 1);
	PUSHED(FREE, BOB);
	fresh_queue(state);
	FREE(queue(DAVE, 1, 1, T0));
	WAIT(1, step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = ALICE, .attempt = 1,
					.k = 1, .lease_ns = BFTM_LEASE_MIN_NS }, T0));
	release(DAVE, 1, T0 + BFTM_LEASE_MIN_NS / 2);
	PUSHED(FREE, ALICE);
	assert_int_equal(lock.first.time_ns, T0 + BFTM_LEASE_MIN_NS / 2 +
			 bftm_lease_at_server(BFTM_LEASE_MIN_NS, cfg.rho_ppm));
}

/* One entry a client: its newest attempt, its newest send. */
static void one_place_for_a_client(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue_prio(BOB, 5, 3, 20, T0));
	WAIT(1, queue_prio(BOB, 5, 2, 20, T0 + 1));	/* overtaken on its way */
	assert_int_equal(lock.queue->count, 1);
	assert_int_equal(lock.queue->place[0].party.k, 3);
	assert_int_equal(lock.queue->place[0].party.time_ns, T0 + 1);
	SILENT(queue_prio(BOB, 4, 9, 1, T0 + 2));	/* dead for long */
	NOT_PUSHED;
	assert_int_equal(lock.queue->place[0].party.attempt, 5);
	WAIT(1, queue_prio(BOB, 6, 1, 30, T0 + 3));
	assert_int_equal(lock.queue->count, 1);
	release(BOB, 5, T0 + 4);			/* of the one before */
	assert_int_equal(lock.queue->count, 1);
	release(ALICE, 1, T0 + 5);
	PUSHED(FREE, BOB);
	assert_int_equal(push.attempt, 6);
	assert_int_equal(push.k, 1);
}

/* A grant by the lease of an earlier attempt ends while the owner of a longer one is inside. */
static void a_place_has_the_lease_of_its_newest_attempt(void **state)
{
	struct bftm_msg later = { .type = BFTM_MSG_TRY, .client = BOB, .attempt = 6, .k = 1 };
	static const u64 leases[] = { 3 * L, L / 2 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(leases); i++) {
		fresh_queue(state);
		FREE(queue(ALICE, 1, 1, T0));
		WAIT(1, queue(BOB, 5, 1, T0));
		later.lease_ns = leases[i];
		WAIT(1, step(later, T0 + 1));
		release(ALICE, 1, T0 + 2);
		PUSHED(FREE, BOB);
		assert_int_equal(push.attempt, 6);
		assert_int_equal(lock.first.time_ns,
				 T0 + 2 + bftm_lease_at_server(leases[i], cfg.rho_ppm));
	}
}

/* Nor may an old attempt take what is free and its own newer one waits for. */
static void a_dead_attempt_takes_nothing_from_its_successor(void **state)
{
	const u64 over = T0 + GUARD + 1;

	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 6, 1, over - 9));
	SILENT(queue(BOB, 5, 1, over));
	SILENT(try(BOB, 5, 1, over));
	assert_true(bftm_lock_expire(&cfg, &lock, over, &push));
	PUSHED(FREE, BOB);
	assert_int_equal(push.attempt, 6);
}

static void who_gives_up_is_not_next(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 1, 1, T0));
	WAIT(2, queue(CAROL, 1, 1, T0));
	RELEASED(release(BOB, 1, T0));
	SILENT(queue(BOB, 1, 2, T0));			/* a late poll */
	release(ALICE, 1, T0);
	PUSHED(FREE, CAROL);
}

/* The owner's poll refreshes its grant and does not queue it behind itself. */
static void an_owner_does_not_queue(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, queue(BOB, 1, 1, T0));
	FREE(queue(ALICE, 1, 2, T0 + 5));
	assert_int_equal(lock.queue->count, 1);
	assert_int_equal(lock.first.time_ns, T0 + 5 + GUARD);
	/* With a new attempt it does: the grant may be used still. */
	WAIT(1, queue(ALICE, 2, 1, T0 + 6));
	release(ALICE, 1, T0 + 7);
	PUSHED(FREE, ALICE);
	assert_int_equal(push.attempt, 2);
}

static void quarantine_makes_no_queue(void **state)
{
	(void)state;
	WAIT(0, queue(ALICE, 1, 1, cfg.quarantine_until_ns));
	NOT_PUSHED;
	assert_int_equal(reply.lease_ns, 1);
	assert_false(bftm_lock_waiters(&lock));
	FREE(queue(BOB, 1, 1, cfg.quarantine_until_ns + 1));
}

/* Everything that may happen at random, beside a queue that is sorted. */
static void random_queues(void **state)
{
	u64 rnd = unit_seed(__func__), now = T0, prio[ROOM + 1];
	u32 round, i, owner, first;

	for (round = 0; round < 2000; round++) {
		fresh_queue(state);
		FREE(queue(99, 1, 1, now));
		for (i = 1; i <= ROOM; i++) {
			prio[i] = unit_between(&rnd, 100, 100 + round % 7);
			assert_int_equal(queue_prio(i, 1, 1, prio[i], now), BFTM_MSG_WAIT);
		}
		for (owner = 99; lock.queue->count; owner = push.client) {
			for (first = 0, i = 1; i <= ROOM; i++)
				if (prio[i] && (!first || prio[i] < prio[first]))
					first = i;
			release(owner, 1, now);
			PUSHED(FREE, first);
			prio[first] = 0;
		}
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(least_priority_goes_first),
		TEST(how_long_it_waits),
		TEST(clients_break_ties),
		TEST(a_pushed_grant_is_a_grant),
		TEST(expiry_grants_to_the_next),
		TEST(who_asks_before_the_timer),
		TEST(who_does_not_queue_does_not_jump),
		TEST(who_is_not_heard_is_forgotten),
		TEST(the_window_is_the_waiters_own),
		TEST(one_place_for_a_client),
		TEST(a_place_has_the_lease_of_its_newest_attempt),
		TEST(a_dead_attempt_takes_nothing_from_its_successor),
		TEST(who_gives_up_is_not_next),
		TEST(an_owner_does_not_queue),
		TEST(quarantine_makes_no_queue),
		TEST(random_queues),
	};

	return cmocka_run_group_tests_name("server queue", tests, NULL, NULL);
}
