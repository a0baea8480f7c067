// SPDX-License-Identifier: GPL-2.0
/*
 * Conversions at one server that a holder delays: nobody waits for them, and they give back what
 * they were granted on the way, since the holder alone decides when they end.
 */
#include "waiters.h"

/* A request to convert to @mode, by a client that holds CR; one with a lower number goes before. */
static u8 convert(u32 client, u32 k, enum bftm_mode mode)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = 1,
				       .k = k, .lease_ns = L, .prio = client, .mode = mode,
				       .arg = BFTM_MODE_CR }, T0);
}

static u8 keep_cr(u32 client, u64 gno)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_YIELD, .client = client, .attempt = 1,
				       .gno = gno, .arg = BFTM_MODE_CR }, T0);
}

#define HAS(what, call) do { \
	FREE(call); \
	assert_int_equal(reply.mode, BFTM_MODE_ ## what); \
} while (0)

static int three_hold(void **state)
{
	fresh_queue(state);
	HAS(CR, convert(ALICE, 1, BFTM_MODE_CR));
	HAS(CR, convert(BOB, 1, BFTM_MODE_CR));
	HAS(CR, convert(CAROL, 1, BFTM_MODE_CR));
	return 0;
}

static void delays_no_other_conversion(void **state)
{
	(void)state;
	HAS(CR, convert(ALICE, 2, BFTM_MODE_EX));	/* Bob and Carol are in the way */
	HAS(PW, convert(CAROL, 2, BFTM_MODE_PW));
	NOT_PUSHED;
}

static void is_asked_by_a_worse_one_for_what_it_does_not_hold(void **state)
{
	u64 gno;

	(void)state;
	HAS(PR, convert(ALICE, 2, BFTM_MODE_PR));
	gno = reply.gno;
	HAS(PR, convert(ALICE, 3, BFTM_MODE_EX));
	HAS(CR, convert(CAROL, 2, BFTM_MODE_CW));
	PUSHED(INQUIRE, ALICE);
	assert_int_equal(push.mode, BFTM_MODE_PR);
	SILENT(keep_cr(ALICE, gno));
	PUSHED(FREE, ALICE);
	assert_int_equal(push.mode, BFTM_MODE_CR);
	/* She has asked for EX since, and does not get PR back before Carol. */
	assert_false(bftm_lock_expire(&cfg, &lock, T0, &push));
	PUSHED(FREE, CAROL);
	assert_int_equal(push.mode, BFTM_MODE_CW);
	assert_int_not_equal(bftm_lock_deadline(&lock), 1);
}

/* Alice would give her PR back, which therefore does not make Bob's conversion hard. */
static void counts_for_others_by_what_it_holds(void **state)
{
	(void)state;
	HAS(PR, convert(ALICE, 2, BFTM_MODE_PR));
	HAS(PR, convert(BOB, 2, BFTM_MODE_PR));
	HAS(PR, convert(ALICE, 3, BFTM_MODE_EX));
	HAS(PR, convert(BOB, 3, BFTM_MODE_PW));
	HAS(CR, convert(CAROL, 2, BFTM_MODE_CW));
	PUSHED(INQUIRE, ALICE);
	assert_int_not_equal(bftm_lock_deadline(&lock), 1);	/* Bob is not asked */
}

/*
 * Dave wants the mode that they hold, by the best priority of all, and waits since Carol converts to
 * one that excludes it. She does not wait for him in turn.
 */
static void waits_for_no_newcomer(void **state)
{
	(void)state;
	HAS(CR, convert(CAROL, 2, BFTM_MODE_EX));
	assert_int_equal(step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = DAVE, .attempt = 1, .k = 1,
						 .lease_ns = L, .prio = 1, .mode = BFTM_MODE_CR }, T0),
			 BFTM_MSG_WAIT);
	assert_int_equal(step((struct bftm_msg){ .type = BFTM_MSG_RELEASE, .client = ALICE, .attempt = 1 }, T0),
			 BFTM_MSG_RELEASED);
	NOT_PUSHED;
	assert_int_equal(step((struct bftm_msg){ .type = BFTM_MSG_RELEASE, .client = BOB, .attempt = 1 }, T0),
			 BFTM_MSG_RELEASED);
	PUSHED(FREE, CAROL);
	assert_int_equal(push.mode, BFTM_MODE_EX);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, three_hold)
	const struct CMUnitTest tests[] = {
		TEST(delays_no_other_conversion),
		TEST(is_asked_by_a_worse_one_for_what_it_does_not_hold),
		TEST(counts_for_others_by_what_it_holds),
		TEST(waits_for_no_newcomer),
	};

	return cmocka_run_group_tests_name("hard conversions", tests, NULL, NULL);
}
