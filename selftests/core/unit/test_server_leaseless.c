// SPDX-License-Identifier: GPL-2.0
/* At one server: grants without a lease, which end by RELEASE, SYNC or an eviction alone. */
#include "waiters.h"

#define YEAR	(365ull * 86400 * BFTM_NS_PER_SEC)
#define OF(incarnation, n) ((u64)(incarnation) << 32 | (n))

static int fresh_member(void **state)
{
	fresh_queue(state);
	cfg.leaseless = true;
	return 0;
}

static struct bftm_msg asks(u32 client, u64 attempt, u32 k, enum bftm_mode mode)
{
	return (struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = client, .attempt = attempt, .k = k, .mode = mode,
		.lease_ns = BFTM_LEASE_NONE, .prio = client,
	};
}

static u8 lasting(u32 client, u64 attempt, u32 k, u64 now)
{
	return step(asks(client, attempt, k, BFTM_MODE_EX), now);
}

static u8 once(u32 client, u64 attempt, u64 now)
{
	struct bftm_msg msg = asks(client, attempt, 1, BFTM_MODE_EX);

	msg.flags = BFTM_FLAG_NOQUEUE;
	return step(msg, now);
}

static u8 reassert(u32 client, u64 attempt, u32 k, enum bftm_mode mode, u64 now)
{
	struct bftm_msg msg = asks(client, attempt, k, mode);

	msg.flags = BFTM_FLAG_REASSERT;
	msg.arg = mode;
	return step(msg, now);
}

static u8 holds(u32 client, u64 attempt, u32 k, enum bftm_mode mode, enum bftm_mode held, u64 now)
{
	struct bftm_msg msg = asks(client, attempt, k, mode);

	msg.arg = held;
	return step(msg, now);
}

static void recovering(bool awaited)
{
	cfg.recovering = true;
	cfg.awaited = awaited;
}

static void refused(u8 type, enum bftm_refusal why)
{
	assert_int_equal(type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, why);
}

static void a_grant_without_a_lease_has_no_end(void **state)
{
	(void)state;
	FREE(lasting(BOB, 1, 1, T0));
	assert_true(bftm_lock_deadline(&lock) == 0);
	assert_false(bftm_lock_expire(&cfg, &lock, T0 + YEAR, &push));
	WAIT(1, queue(ALICE, 1, 1, T0 + YEAR));
	assert_int_equal(bftm_lock_holders(&lock), 1);
	/* A lock with and one without a lease stand beside each other; the first end is told. */
	RELEASED(release(BOB, 1, T0 + YEAR));
	PUSHED(FREE, ALICE);
	assert_true(bftm_lock_deadline(&lock) == T0 + YEAR + GUARD + 1);
}

static void it_needs_the_right(void **state)
{
	(void)state;
	cfg.leaseless = false;
	refused(lasting(BOB, 1, 1, T0), BFTM_REFUSED_ACCESS);
	assert_int_equal(bftm_lock_holders(&lock), 0);
}

/* Its waiter is heard every second and not once in an endless time. */
static void a_waiter_is_forgotten_after_eight_seconds(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	WAIT(1, lasting(ALICE, 1, 1, T0));
	FREE(queue(BOB, 1, 2, T0 + 8 * BFTM_NS_PER_SEC));
	WAIT(2, queue(CAROL, 1, 1, T0 + 8 * BFTM_NS_PER_SEC));
	FREE(queue(BOB, 1, 3, T0 + 8 * BFTM_NS_PER_SEC + 1));
	WAIT(1, queue(CAROL, 1, 2, T0 + 8 * BFTM_NS_PER_SEC + 1));
}

static void a_wait_for_it_is_estimated(void **state)
{
	(void)state;
	FREE(lasting(BOB, 1, 1, T0));
	LOCKED(try(ALICE, 1, 1, T0));
	assert_true(reply.lease_ns == BFTM_PACE_NS + 1);
}

/* Its RELEASE may be lost: it is asked whether it holds, by whoever is in need of it. */
static void a_grant_in_the_way_is_probed(void **state)
{
	(void)state;
	FREE(lasting(BOB, 1, 1, T0));
	WAIT(1, queue(DAVE, 1, 1, T0));			/* a worse bid: nothing is to be yielded */
	PUSHED(PROBE, BOB);
	assert_int_equal(push.attempt, 1);
	WAIT(1, queue(DAVE, 1, 2, T0 + 1));
	PUSHED(PROBE, BOB);
	LOCKED(once(CAROL, 1, T0 + 2));
	PUSHED(PROBE, BOB);
	/* A better bid asks for the grant, which is answered likewise. */
	WAIT(1, queue(ALICE, 1, 1, T0 + 3));
	PUSHED(INQUIRE, BOB);
	/* With a lease it ends by itself. */
	RELEASED(release(BOB, 1, T0 + 4));
	PUSHED(FREE, ALICE);
	WAIT(1, queue(DAVE, 1, 3, T0 + 5));
	NOT_PUSHED;
}

static void each_reader_is_probed_for_a_writer(void **state)
{
	u32 asked = 0;
	struct bftm_msg msg = asks(DAVE, 1, 1, BFTM_MODE_EX);

	(void)state;
	FREE(step(asks(ALICE, 1, 1, BFTM_MODE_PR), T0));
	FREE(step(asks(BOB, 1, 1, BFTM_MODE_PR), T0));
	NOT_PUSHED;
	WAIT(1, step(msg, T0));
	assert_int_equal(push.type, BFTM_MSG_PROBE);
	/* One message a step: the other goes by the timer. */
	assert_true(bftm_lock_deadline(&lock) == 1);
	bftm_lock_expire(&cfg, &lock, T0, &push);
	assert_int_equal(push.type, BFTM_MSG_PROBE);
	assert_true(bftm_lock_deadline(&lock) == 0);
	/* A waiter behind it in the queue adds nothing. */
	msg.client = CAROL;
	msg.prio = DAVE + 1;
	WAIT(2, step(msg, T0));
	NOT_PUSHED;
	/* For a client that does not wait one of them is asked, by turns. */
	msg.client = DAVE + 2;
	msg.flags = BFTM_FLAG_NOQUEUE;
	for (msg.attempt = 5; msg.attempt < 13; msg.attempt++) {
		LOCKED(step(msg, T0));
		assert_int_equal(push.type, BFTM_MSG_PROBE);
		asked |= push.client == ALICE ? 1 : 2;
		assert_true(bftm_lock_deadline(&lock) == 0);
	}
	assert_int_equal(asked, 3);
}

static void who_is_not_in_the_way_is_not_probed(void **state)
{
	(void)state;
	FREE(step(asks(ALICE, 1, 1, BFTM_MODE_CR), T0));
	FREE(step(asks(BOB, 1, 1, BFTM_MODE_PR), T0));
	WAIT(1, step(asks(DAVE, 1, 1, BFTM_MODE_CW), T0));
	PUSHED(PROBE, BOB);
	assert_true(bftm_lock_deadline(&lock) == 0);
	assert_false(bftm_party_find(&lock, ALICE, 1)->probe);
}

static void nothing_is_granted_while_it_recovers(void **state)
{
	(void)state;
	recovering(false);
	WAIT(0, lasting(BOB, 1, 1, T0));
	assert_true(reply.lease_ns == BFTM_LEASE_NONE);
	WAIT(0, queue(BOB, 1, 2, T0));
	WAIT(0, try(ALICE, 1, 1, T0));
	/* Also not what others say that they hold, if they have told all before. */
	WAIT(0, reassert(CAROL, 1, 1, BFTM_MODE_PR, T0));
	/* Also where a server has no quarantine: what is held without a lease is held for years. */
	cfg.spared = 1;
	WAIT(0, queue(BOB, 1, 3, T0));
	cfg.spared = 0;
	assert_int_equal(bftm_lock_holders(&lock) + bftm_lock_waiters(&lock), 0);
	cfg.recovering = false;
	FREE(lasting(BOB, 1, 4, T0));
}

static void what_is_asserted_again_is_granted(void **state)
{
	(void)state;
	recovering(true);
	cfg.quarantine_until_ns = T0 + BFTM_NS_PER_SEC;
	FREE(reassert(BOB, 1, 5, BFTM_MODE_PR, T0));
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	assert_int_equal(reply.k, 5);
	FREE(reassert(CAROL, 1, 9, BFTM_MODE_PR, T0));
	assert_int_equal(bftm_lock_holders(&lock), 2);
	/* The same once more, and one that gave up a mode meanwhile. */
	FREE(reassert(BOB, 1, 5, BFTM_MODE_PR, T0));
	FREE(holds(BOB, 1, 6, BFTM_MODE_CR, BFTM_MODE_CR, T0));
	assert_int_equal(reply.mode, BFTM_MODE_CR);
	/* More than it holds is for later. */
	FREE(holds(BOB, 1, 7, BFTM_MODE_PR, BFTM_MODE_CR, T0));
	assert_int_equal(reply.mode, BFTM_MODE_CR);
	assert_true(bftm_lock_deadline(&lock) == 0);
	cfg.recovering = false;
	FREE(holds(BOB, 1, 8, BFTM_MODE_PR, BFTM_MODE_CR, T0));
	assert_int_equal(reply.mode, BFTM_MODE_CR);	/* there is the quarantine still */
	FREE(holds(BOB, 1, 9, BFTM_MODE_PR, BFTM_MODE_CR, T0 + 2 * BFTM_NS_PER_SEC));
	assert_int_equal(reply.mode, BFTM_MODE_PR);
}

static void a_release_lets_nobody_in_while_it_recovers(void **state)
{
	(void)state;
	recovering(true);
	FREE(reassert(BOB, 1, 5, BFTM_MODE_PR, T0));
	FREE(reassert(CAROL, 1, 5, BFTM_MODE_PR, T0));
	FREE(holds(CAROL, 1, 6, BFTM_MODE_EX, BFTM_MODE_PR, T0));
	RELEASED(release(BOB, 1, T0));
	NOT_PUSHED;
	assert_int_equal(bftm_lock_holders(&lock), 1);
	/* A message that comes late does not assert an attempt that is over. */
	SILENT(reassert(BOB, 1, 5, BFTM_MODE_PR, T0));
	cfg.recovering = false;
	FREE(holds(CAROL, 1, 7, BFTM_MODE_EX, BFTM_MODE_PR, T0));
	assert_int_equal(reply.mode, BFTM_MODE_EX);
}

static void only_what_is_held_is_asserted(void **state)
{
	struct bftm_msg msg = asks(BOB, 1, 1, BFTM_MODE_EX);

	(void)state;
	recovering(true);
	msg.flags = BFTM_FLAG_REASSERT;
	msg.arg = BFTM_MODE_PR;
	refused(step(msg, T0), BFTM_REFUSED_PROTO);
	msg.arg = BFTM_MODE_EX;
	msg.lease_ns = L;
	refused(step(msg, T0), BFTM_REFUSED_PROTO);
}

static void an_eviction_ends_what_has_no_end(void **state)
{
	(void)state;
	FREE(lasting(BOB, OF(3, 1), 1, T0));
	WAIT(1, lasting(ALICE, OF(2, 1), 1, T0));
	WAIT(2, lasting(CAROL, OF(5, 1), 1, T0));
	assert_false(bftm_lock_drop(&lock, BOB, 2, false));
	assert_true(bftm_lock_drop(&lock, ALICE, 2, false));	/* one that waits, too */
	assert_int_equal(bftm_lock_waiters(&lock), 1);
	assert_true(bftm_lock_drop(&lock, BOB, 3, false));
	assert_true(bftm_lock_deadline(&lock) == 1);
	bftm_lock_expire(&cfg, &lock, T0, &push);
	PUSHED(FREE, CAROL);
}

/* A lease is over by itself: its client may not know that it was evicted. */
static void an_eviction_leaves_leases_alone(void **state)
{
	(void)state;
	FREE(queue(BOB, OF(3, 1), 1, T0));
	assert_false(bftm_lock_drop(&lock, BOB, 3, false));
	assert_true(bftm_lock_owned(&lock, T0));
	/* Its host has booted since, and says so: that is the end of leases, too. */
	assert_true(bftm_lock_drop(&lock, BOB, 3, true));
	assert_false(bftm_lock_owned(&lock, T0));
	assert_true(bftm_lock_deadline(&lock) == 0);
}

static void a_writer_that_is_dropped_leaves_a_doubt(void **state)
{
	struct bftm_msg msg = asks(BOB, OF(3, 1), 1, BFTM_MODE_EX);

	(void)state;
	msg.flags = BFTM_FLAG_VALUE;
	msg.value_room = 8;
	FREE(step(msg, T0));
	msg.k = 2;
	msg.arg = BFTM_MODE_EX;
	msg.value_len = 1;
	msg.value[0] = 42;
	msg.value_k = (u32)reply.gno;
	FREE(step(msg, T0));
	assert_int_equal(reply.flags, BFTM_FLAG_VALUE);
	assert_true(bftm_lock_drop(&lock, BOB, 3, false));
	msg.attempt = OF(4, 1);
	msg.arg = BFTM_MODE_NL;
	msg.value_k = 0;
	msg.value_len = 0;
	FREE(step(msg, T0));
	assert_int_equal(reply.flags, BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_member)

/* A member that misbehaves: it would be there twice, by one name. */
static void who_waits_asserts_nothing(void **state)
{
	struct bftm_msg yield = { .type = BFTM_MSG_YIELD, .client = ALICE, .attempt = OF(1, 1) };

	(void)state;
	recovering(true);
	FREE(reassert(ALICE, OF(1, 1), 1, BFTM_MODE_PW, T0));
	FREE(holds(ALICE, OF(1, 1), 2, BFTM_MODE_PW, BFTM_MODE_NL, T0));
	yield.gno = reply.gno;
	step(yield, T0);
	assert_int_equal(bftm_lock_waiters(&lock), 1);
	assert_int_equal(reassert(ALICE, OF(1, 1), 3, BFTM_MODE_PW, T0), BFTM_MSG_WAIT);
	assert_int_equal(reply.position, 0);
	assert_int_equal(bftm_lock_waiters(&lock), 1);
	assert_int_equal(bftm_lock_holders(&lock), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_grant_without_a_lease_has_no_end),
		TEST(it_needs_the_right),
		TEST(a_waiter_is_forgotten_after_eight_seconds),
		TEST(a_wait_for_it_is_estimated),
		TEST(a_grant_in_the_way_is_probed),
		TEST(each_reader_is_probed_for_a_writer),
		TEST(who_is_not_in_the_way_is_not_probed),
		TEST(nothing_is_granted_while_it_recovers),
		TEST(what_is_asserted_again_is_granted),
		TEST(a_release_lets_nobody_in_while_it_recovers),
		TEST(only_what_is_held_is_asserted),
		TEST(an_eviction_ends_what_has_no_end),
		TEST(an_eviction_leaves_leases_alone),
		TEST(a_writer_that_is_dropped_leaves_a_doubt),
		cmocka_unit_test_setup(who_waits_asserts_nothing, fresh_member),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
