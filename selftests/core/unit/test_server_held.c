// SPDX-License-Identifier: GPL-2.0
/* At one server: who says that it holds the lock, by other servers, goes before all who bid. */
#include "waiters.h"

/* A renewal, with a priority worse than all others unless a test says otherwise. */
static u8 renew_prio(u32 client, u64 attempt, u32 k, u64 prio, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = attempt,
				       .k = k, .lease_ns = L, .prio = prio,
				       .arg = BFTM_MODE_EX }, now);
}

static u8 renew(u32 client, u64 attempt, u32 k, u64 now)
{
	return renew_prio(client, attempt, k, 1000, now);
}

static u8 keep(u32 client, u64 attempt, u64 gno, u64 now)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_YIELD, .client = client, .attempt = attempt,
				       .gno = gno, .arg = BFTM_MODE_EX }, now);
}

static void the_owner_says_it_by_a_higher_send(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 2, T0));
	assert_int_equal(lock.first.held, BFTM_MODE_NL);
	FREE(renew(BOB, 1, 2, T0));			/* the same send: nothing new */
	assert_int_equal(lock.first.held, BFTM_MODE_NL);
	FREE(renew(BOB, 1, 3, T0));
	assert_int_equal(lock.first.held, BFTM_MODE_EX);
	FREE(queue(BOB, 1, 1, T0));			/* it was overtaken */
	assert_int_equal(lock.first.held, BFTM_MODE_EX);
	assert_int_equal(lock.gno, 101);
	/* The next owner has said nothing yet. */
	WAIT(1, queue(ALICE, 1, 1, T0));
	release(BOB, 1, T0);
	PUSHED(FREE, ALICE);
	assert_int_equal(lock.first.held, BFTM_MODE_NL);
}

static void who_holds_goes_before_every_bid(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	WAIT(1, renew(DAVE, 1, 5, T0));
	WAIT(2, queue(ALICE, 1, 2, T0));
	WAIT(3, queue(CAROL, 1, 1, T0));
	release(BOB, 1, T0 + 1);
	PUSHED(FREE, DAVE);
	assert_int_equal(push.k, 5);
	assert_int_equal(lock.first.held, BFTM_MODE_EX);
	release(DAVE, 1, T0 + 2);
	PUSHED(FREE, ALICE);
}

/* Two say so: one of them is wrong, or over. Then it is as between two who bid. */
static void of_two_holders_the_better_goes_first(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, renew(CAROL, 1, 1, T0));
	WAIT(2, renew(DAVE, 1, 1, T0));
	WAIT(1, renew_prio(ALICE, 1, 1, 3, T0));
	release(BOB, 1, T0);
	PUSHED(FREE, ALICE);
}

/* The timer has not come yet, and others wait. */
static void a_holder_takes_what_is_free_at_once(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0 + GUARD - 1));
	FREE(renew(DAVE, 1, 5, T0 + GUARD + 1));
	NOT_PUSHED;
	assert_int_equal(lock.queue->count, 1);
	assert_int_equal(lock.first.held, BFTM_MODE_EX);
	/* A bid with the same priority goes behind her. */
	fresh_queue(state);
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0 + GUARD - 1));
	WAIT(1, queue(DAVE, 1, 5, T0 + GUARD + 1));
	PUSHED(FREE, ALICE);
}

static void a_better_bid_does_not_pass_a_holder_that_waits(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, renew(DAVE, 1, 5, T0 + GUARD - 1));
	WAIT(1, queue(ALICE, 1, 1, T0 + GUARD + 1));
	PUSHED(FREE, DAVE);
}

/* The owner cannot win: whoever holds the lock needs this grant, whatever the priorities. */
static void whoever_does_not_hold_is_asked(void **state)
{
	(void)state;
	FREE(queue(ALICE, 1, 1, T0));
	WAIT(1, renew(DAVE, 1, 5, T0));
	PUSHED(INQUIRE, ALICE);
	assert_int_equal(push.gno, 101);
	WAIT(1, renew(DAVE, 1, 6, T0));			/* as often as he asks */
	PUSHED(INQUIRE, ALICE);
	WAIT(2, queue(BOB, 1, 1, T0));			/* a worse bid asks for nothing */
	NOT_PUSHED;
	SILENT(yield(ALICE, 1, 101, T0 + 1));
	PUSHED(FREE, DAVE);
	assert_int_equal(push.k, 6);
	assert_int_equal(push.gno, 102);
	assert_int_equal(lock.first.time_ns, T0 + 1 + GUARD);
	/* She waits again, and has not said that she holds. */
	release(DAVE, 1, T0 + 2);
	PUSHED(FREE, ALICE);
	assert_int_equal(lock.first.held, BFTM_MODE_NL);
}

static void whoever_holds_is_not_asked(void **state)
{
	(void)state;
	FREE(queue_prio(DAVE, 1, 1, 1000, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	PUSHED(INQUIRE, DAVE);
	FREE(renew(DAVE, 1, 2, T0));
	WAIT(1, queue(ALICE, 1, 2, T0));
	NOT_PUSHED;
	WAIT(1, renew_prio(BOB, 1, 1, 3, T0));		/* nor by one who says the same */
	NOT_PUSHED;
}

/* It was given back while it waited, and is needed now: the old number counts nowhere. */
static void a_yielded_grant_is_kept_under_a_new_number(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 3, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	SILENT(keep(BOB, 1, 101, T0 + 5));
	PUSHED(FREE, BOB);
	assert_int_equal(push.gno, 102);
	assert_int_equal(push.k, 3);
	assert_int_equal(lock.first.held, BFTM_MODE_EX);
	assert_int_equal(lock.first.time_ns, T0 + GUARD);	/* from the TRY, as before */
	assert_int_equal(lock.queue->count, 1);
	/* A YIELD that it sent while it waited comes now; so does a copy of this one. */
	SILENT(yield(BOB, 1, 101, T0 + 6));
	NOT_PUSHED;
	SILENT(keep(BOB, 1, 101, T0 + 6));
	NOT_PUSHED;
	assert_int_equal(lock.first.client, BOB);
	assert_int_equal(lock.gno, 102);
}

static void only_its_own_grant_is_kept(void **state)
{
	struct bftm_lock before;

	(void)state;
	FREE(queue(BOB, 5, 1, T0));
	WAIT(1, queue(ALICE, 5, 1, T0));
	before = lock;
	SILENT(keep(BOB, 5, 100, T0));
	SILENT(keep(BOB, 5, 102, T0));
	SILENT(keep(BOB, 4, 101, T0));
	SILENT(keep(ALICE, 5, 101, T0));
	NOT_PUSHED;
	assert_memory_equal(&before, &lock, sizeof(lock));
}

/* The grant is the same, and its YIELD is of the time before. */
static void what_is_held_is_not_yielded(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, queue(ALICE, 1, 1, T0));
	FREE(renew(BOB, 1, 2, T0));
	SILENT(yield(BOB, 1, 101, T0));
	NOT_PUSHED;
	assert_int_equal(lock.first.client, BOB);
	assert_int_equal(lock.queue->count, 1);
}

static void the_dead_holder_is_forgotten_like_all(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, renew(DAVE, 1, 5, T0));
	WAIT(2, queue(ALICE, 1, 1, T0 + WINDOW));
	release(BOB, 1, T0 + WINDOW + 1);
	PUSHED(FREE, ALICE);
}

/* A later attempt of its client that was given up, or that waits, is not its own end. */
static void a_holder_is_over_by_its_own_release_only(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	RELEASED(release(DAVE, 7, T0));
	SILENT(queue(DAVE, 6, 5, T0));
	WAIT(1, renew(DAVE, 6, 5, T0));
	WAIT(2, queue(DAVE, 8, 1, T0));			/* another program of that host */
	SILENT(queue(DAVE, 6, 9, T0));
	WAIT(1, renew(DAVE, 6, 6, T0));
	assert_int_equal(lock.queue->count, 2);
	RELEASED(release(DAVE, 6, T0));
	assert_int_equal(lock.queue->count, 1);
	assert_int_equal(lock.queue->place[0].party.attempt, 8);
	RELEASED(release(DAVE, 9, T0));
	SILENT(renew(DAVE, 9, 10, T0));
}

/* Programs of one host may hold beside each other: each holder has a place of its own. */
static void a_late_renewal_takes_no_place_of_a_later_holder(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, renew(DAVE, 7, 5, T0));
	WAIT(1, renew(DAVE, 6, 9, T0));
	assert_int_equal(lock.queue->count, 2);
	assert_int_equal(lock.queue->place[0].party.attempt, 7);
	assert_int_equal(lock.queue->place[0].party.k, 5);
	/* Its own late send neither. */
	WAIT(2, queue(DAVE, 7, 4, T0));
	assert_int_equal(lock.queue->count, 2);
	assert_int_equal(lock.queue->place[0].party.held, BFTM_MODE_EX);
}

static void a_full_queue_has_room_for_a_holder(void **state)
{
	u32 i;

	(void)state;
	FREE(queue(1000, 1, 1, T0));
	for (i = 1; i <= ROOM; i++)
		WAIT(i, queue(i, 1, 1, T0));
	WAIT(1, renew(1001, 1, 5, T0));
	assert_int_equal(lock.queue->count, ROOM);
	assert_int_equal(queue_prio(1002, 1, 1, ROOM, T0), BFTM_MSG_REFUSED);
	release(1000, 1, T0);
	PUSHED(FREE, 1001);
	assert_int_equal(lock.queue->count, ROOM - 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(the_owner_says_it_by_a_higher_send),
		TEST(who_holds_goes_before_every_bid),
		TEST(of_two_holders_the_better_goes_first),
		TEST(a_holder_takes_what_is_free_at_once),
		TEST(a_better_bid_does_not_pass_a_holder_that_waits),
		TEST(whoever_does_not_hold_is_asked),
		TEST(whoever_holds_is_not_asked),
		TEST(a_yielded_grant_is_kept_under_a_new_number),
		TEST(only_its_own_grant_is_kept),
		TEST(what_is_held_is_not_yielded),
		TEST(the_dead_holder_is_forgotten_like_all),
		TEST(a_holder_is_over_by_its_own_release_only),
		TEST(a_late_renewal_takes_no_place_of_a_later_holder),
		TEST(a_full_queue_has_room_for_a_holder),
	};

	return cmocka_run_group_tests_name("server held", tests, NULL, NULL);
}
