// SPDX-License-Identifier: GPL-2.0
/* INQUIRE and YIELD at one server: how a grant changes hands before it is used. */
#include "waiters.h"

static void a_better_priority_asks_the_owner(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(CAROL, 1, 1, T0));
	NOT_PUSHED;					/* no better than Bob */
	WAIT(1, queue(ALICE, 1, 1, T0));
	PUSHED(INQUIRE, BOB);
	WAIT(1, queue(ALICE, 1, 2, T0));		/* as often as she asks */
	PUSHED(INQUIRE, BOB);
	WAIT(2, queue(CAROL, 1, 2, T0));
	NOT_PUSHED;
	/* Equal ones: the client decides. */
	fresh_queue(state);
	FREE(queue_prio(BOB, 1, 1, 5, T0));
	WAIT(1, queue_prio(CAROL, 1, 1, 5, T0));
	NOT_PUSHED;
	WAIT(1, queue_prio(ALICE, 1, 1, 5, T0));
	PUSHED(INQUIRE, BOB);
}

/* Bob has met higher priorities: Carol, whom he went before, is before him now. */
static void the_owner_goes_behind(void **state)
{
	(void)state;
	FREE(queue_prio(BOB, 1, 1, 1, T0));
	WAIT(1, queue_prio(CAROL, 1, 1, 5, T0));
	NOT_PUSHED;
	FREE(queue_prio(BOB, 1, 2, 6, T0 + 1));
	PUSHED(INQUIRE, BOB);
	/* A late send of his takes nothing back. */
	FREE(queue_prio(BOB, 1, 1, 1, T0 + 1));
	NOT_PUSHED;
	SILENT(yield(BOB, 1, lock.gno, T0 + 2));
	PUSHED(FREE, CAROL);
	assert_int_equal(bftm_party_find(&lock, BOB, 1)->prio, 6);
	/* Alice goes before nobody by it, and is not asked. */
	fresh_queue(state);
	FREE(queue_prio(ALICE, 1, 1, 1, T0));
	WAIT(1, queue_prio(CAROL, 1, 1, 5, T0));
	FREE(queue_prio(ALICE, 1, 2, 5, T0 + 1));
	NOT_PUSHED;
}

static void who_yields_waits_again(void **state)
{
	u64 gno;

	(void)state;
	FREE(queue(BOB, 1, 3, T0));
	gno = reply.gno;
	WAIT(1, queue(ALICE, 1, 1, T0));
	SILENT(yield(BOB, 1, gno, T0 + 1));
	PUSHED(FREE, ALICE);
	assert_int_equal(push.gno, gno + 1);
	assert_int_equal(lock.queue->count, 1);
	/* With its priority and its send. */
	WAIT(2, queue(CAROL, 1, 1, T0 + 1));
	release(ALICE, 1, T0 + 2);
	PUSHED(FREE, BOB);
	assert_int_equal(push.k, 3);
	assert_int_equal(push.attempt, 1);
}

/* Δ of its own: not of the one who had the lock meanwhile. */
static void who_yields_keeps_its_lease(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = ALICE, .attempt = 1,
					.k = 1, .lease_ns = 2 * BFTM_LEASE_MIN_NS }, T0));
	SILENT(yield(BOB, 1, lock.gno, T0));
	PUSHED(FREE, ALICE);
	assert_int_equal(lock.first.time_ns, T0 + bftm_lease_at_server(2 * BFTM_LEASE_MIN_NS,
								  cfg.rho_ppm));
	release(ALICE, 1, T0 + 1);
	PUSHED(FREE, BOB);
	assert_int_equal(lock.first.time_ns, T0 + 1 + GUARD);
}

/* Client, attempt and grant must match, or a late one would free a later grant. */
static void only_the_very_grant_is_yielded(void **state)
{
	static const struct {
		u32 client;
		u64 attempt;
		int gno;
	} table[] = {
		{ BOB, 5, -1 }, { BOB, 5, 1 }, { BOB, 5, -1000 }, { BOB, 4, 0 }, { BOB, 6, 0 },
		{ ALICE, 5, 0 }, { CAROL, 5, 0 }, { NOBODY, 5, 0 },
	};
	struct bftm_lock before;
	size_t i;

	(void)state;
	FREE(queue(BOB, 5, 1, T0));
	WAIT(1, queue(ALICE, 5, 1, T0));
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		before = lock;
		SILENT(yield(table[i].client, table[i].attempt, lock.gno + (u64)table[i].gno, T0));
		NOT_PUSHED;
		assert_memory_equal(&before, &lock, sizeof(lock));
		assert_int_equal(lock.queue->count, 1);
	}
	SILENT(yield(BOB, 5, lock.gno, T0));
	PUSHED(FREE, ALICE);
	SILENT(yield(BOB, 5, lock.gno - 1, T0));	/* its copy */
	NOT_PUSHED;
}

/* Its grant comes back, under another number: the old one was yielded. */
static void nobody_is_there_to_yield_to(void **state)
{
	u64 gno;

	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	gno = reply.gno;
	WAIT(1, queue(ALICE, 1, 1, T0));
	release(ALICE, 1, T0);
	SILENT(yield(BOB, 1, gno, T0 + 7));
	PUSHED(FREE, BOB);
	assert_int_equal(push.gno, gno + 1);
	assert_int_equal(push.k, 1);
	assert_int_equal(lock.first.time_ns, T0 + 7 + GUARD);
	/* She was forgotten, and Carol is not better. */
	WAIT(1, queue(ALICE, 2, 1, T0));
	WAIT(2, queue(CAROL, 1, 1, T0 + WINDOW));
	SILENT(yield(BOB, 1, gno + 1, T0 + WINDOW + 1));
	PUSHED(FREE, BOB);
	assert_int_equal(lock.queue->count, 1);
}

static void a_full_queue_is_no_obstacle(void **state)
{
	u32 i;

	(void)state;
	FREE(queue(1000, 1, 1, T0));
	for (i = 1; i <= ROOM; i++)
		assert_int_equal(queue(i, 1, 1, T0), BFTM_MSG_WAIT);
	SILENT(yield(1000, 1, lock.gno, T0));
	PUSHED(FREE, 1);
	assert_int_equal(lock.queue->count, ROOM);
	for (i = 2; i <= ROOM; i++) {
		release(i - 1, 1, T0);
		PUSHED(FREE, i);
	}
	release(ROOM, 1, T0);
	PUSHED(FREE, 1000);
}

/* A yield of an attempt that is over takes no second place for its client. */
static void a_newer_attempt_waits_already(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	WAIT(2, queue_prio(BOB, 2, 1, 20, T0));		/* RELEASE of 1 was lost */
	SILENT(yield(BOB, 1, lock.gno, T0));
	PUSHED(FREE, ALICE);
	assert_int_equal(lock.queue->count, 1);
	release(ALICE, 1, T0);
	PUSHED(FREE, BOB);
	assert_int_equal(push.attempt, 2);
	assert_false(bftm_lock_waiters(&lock));
}

/* Two servers that saw two orders agree in the end. */
static void crosswise(void **state)
{
	struct bftm_lock other, mine;

	(void)state;
	/* Here Bob came first. */
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	PUSHED(INQUIRE, BOB);
	mine = lock;
	/* There Alice did, and nobody is asked. */
	bftm_lock_init(&other, 100, 0);
	lock = other;
	lock.queue = NULL;
	FREE(queue(ALICE, 1, 1, T0));
	assert_int_equal(queue(BOB, 1, 1, T0), BFTM_MSG_REFUSED);	/* no room */
	NOT_PUSHED;
	lock = mine;
	SILENT(yield(BOB, 1, lock.gno, T0));
	PUSHED(FREE, ALICE);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(a_better_priority_asks_the_owner),
		TEST(the_owner_goes_behind),
		TEST(who_yields_waits_again),
		TEST(who_yields_keeps_its_lease),
		TEST(only_the_very_grant_is_yielded),
		TEST(nobody_is_there_to_yield_to),
		TEST(a_full_queue_is_no_obstacle),
		TEST(a_newer_attempt_waits_already),
		TEST(crosswise),
	};

	return cmocka_run_group_tests_name("server yield", tests, NULL, NULL);
}
