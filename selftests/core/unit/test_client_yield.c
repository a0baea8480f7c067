// SPDX-License-Identifier: GPL-2.0
/* INQUIRE and YIELD at one client: which grants it gives back, and which count. */
#include "contender.h"

#define INQUIRE	BFTM_MSG_INQUIRE
#define FREE	BFTM_MSG_FREE

static int queueing_client(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_QUEUE;
	return 0;
}

static void assert_yields(u32 u, u64 gno)
{
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_YIELD), 1u << u);
	assert_int_equal(out.send[0].type, BFTM_MSG_YIELD);
	assert_int_equal(out.send[0].gno, gno);
	assert_int_equal(out.release_to | bftm_out_to(&out, BFTM_MSG_TRY) | bftm_out_to(&out, BFTM_MSG_STAMP), 0);
}

/* It holds the lock by others' grants, and wants this one under another number. */
static void assert_yields_but_keeps(u32 u, u64 gno)
{
	assert_yields(u, gno);
	assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
}

/* Grants of servers 0 … 3, number 10 each: one too few. */
static void start_with_four(u64 attempt)
{
	u32 u;

	start(attempt, T0);
	for (u = 0; u < 4; u++)
		assert_int_equal(says_of(u, FREE, 1, 10, T0), BFTM_PENDING);
}

static void what_is_yielded_does_not_count(void **state)
{
	(void)state;
	start_with_four(1);
	says_of(0, INQUIRE, 1, 10, T0);
	assert_yields(0, 10);
	assert_int_equal(says_of(4, FREE, 1, 10, T0), BFTM_PENDING);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_YIELD), 0);
	/* A copy of the grant that was given back: the server may not have heard. */
	says_of(0, FREE, 1, 10, T0);
	assert_yields(0, 10);
	says_of(0, FREE, 1, 9, T0);
	assert_yields(0, 9);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	/* A new one counts. */
	assert_int_equal(says_of(0, FREE, 1, 11, T0), BFTM_WON);
}

/* INQUIRE overtook the FREE that it is about. */
static void inquired_before_granted(void **state)
{
	(void)state;
	start_with_four(1);
	says_of(4, INQUIRE, 1, 10, T0);
	assert_yields(4, 10);
	says_of(4, FREE, 1, 10, T0);
	assert_yields(4, 10);
	assert_int_equal(says_of(4, FREE, 1, 12, T0), BFTM_WON);
}

/* It is about an older grant: the newer one stays. */
static void an_old_inquiry_takes_no_new_grant(void **state)
{
	(void)state;
	start_with_four(1);
	says_of(0, FREE, 1, 12, T0);
	says_of(0, INQUIRE, 1, 10, T0);
	assert_yields(0, 10);
	assert_int_equal(says_of(4, FREE, 1, 10, T0), BFTM_WON);
}

/* One server's yields are not another's. */
static void numbers_are_each_servers_own(void **state)
{
	(void)state;
	start_with_four(1);
	says_of(5, INQUIRE, 1, ~0ull, T0);
	assert_yields(5, ~0ull);
	says_of(5, FREE, 1, ~0ull, T0);
	assert_yields(5, ~0ull);
	assert_int_equal(says_of(6, FREE, 1, 1, T0), BFTM_WON);
}

/* Nothing that a liar asks is worth more than its own voice. */
static void b_inquirers_cost_nothing(void **state)
{
	static const u64 gno[] = { 0, 1, 9, 10, 11, ~0ull };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(gno); i++) {
		start_with_four(i + 1);
		says_of(6, FREE, 1, 10, T0);
		assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
		start_with_four(10 + i);
		says_of(6, INQUIRE, 1, gno[i], T0);
		assert_yields(6, gno[i]);
		assert_int_equal(says_of(5, FREE, 1, 10, T0), BFTM_WON);
	}
}

static void a_holder_does_not_yield(void **state)
{
	u32 u;

	(void)state;
	start_with_four(1);
	assert_int_equal(says_of(4, FREE, 1, 10, T0), BFTM_WON);
	for (u = 0; u < cfg.n; u++) {
		says_of(u, INQUIRE, 1, 10, T0 + 1);
		assert_quiet();
	}
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	/* Its renewals count as ever. */
	bftm_contend_renew(&c, &cfg, T0 + 5, &out);
	for (u = 0; u < 5; u++)
		says_of(u, FREE, 2, 10, T0 + 6);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + 5 + GOOD);
}

/* b liars can say that somebody waits; one server more cannot. */
static void b_plus_one_inquirers_say_that_somebody_waits(void **state)
{
	(void)state;
	start_with_four(1);
	says_of(6, INQUIRE, 1, 10, T0);		/* before it is held: about a grant to yield */
	says_of(5, INQUIRE, 1, 10, T0);
	assert_int_equal(says_of(4, FREE, 1, 10, T0), BFTM_WON);
	assert_false(c.base.wanted);
	says_of(6, INQUIRE, 1, 10, T0 + 1);
	says_of(6, INQUIRE, 1, 10, T0 + 2);
	assert_false(c.base.wanted);
	says_of(0, INQUIRE, 1, 10, T0 + 2);
	assert_true(c.base.wanted);
	assert_quiet();
	/* The next attempt is not wanted before it is held. */
	start_with_four(2);
	assert_false(c.base.wanted);
	assert_int_equal(says_of(4, FREE, 1, 11, T0), BFTM_WON);
	says_of(0, INQUIRE, 1, 11, T0 + 1);
	assert_false(c.base.wanted);
}

/* A server whose grant was yielded before helps no holder, until it grants anew. */
static void a_yielded_grant_renews_nothing(void **state)
{
	u32 u;

	(void)state;
	start_with_four(1);
	says_of(0, INQUIRE, 1, 10, T0);
	says_of(4, FREE, 1, 10, T0);
	assert_int_equal(says_of(5, FREE, 1, 10, T0), BFTM_WON);
	bftm_contend_renew(&c, &cfg, T0 + 5, &out);
	for (u = 0; u < 5; u++) {
		says_of(u, FREE, 2, 10, T0 + 6);
		if (u)
			assert_int_equal(out.count, 0);
		else
			assert_yields_but_keeps(u, 10);		/* the old one */
	}
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	says_of(0, FREE, 2, 11, T0 + 7);
	assert_true(out.extended);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + 5 + GOOD);
}

static void a_dead_attempt_releases(void **state)
{
	(void)state;
	start_with_four(1);
	bftm_contend_stop(&c, &cfg, &out);
	says_of(0, INQUIRE, 1, 10, T0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_YIELD), 0);
	assert_int_equal(out.release_to, 1);
	assert_int_equal(out.release_attempt, 1);
	start(2, T0);
	bftm_contend_answer(&c, &cfg, 3, &(struct bftm_msg){ .type = INQUIRE, .attempt = 1,
			    .gno = 10 }, T0, 0, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_YIELD), 0);
	assert_int_equal(out.release_to, 8);
	assert_int_equal(out.release_attempt, 1);
}

/* A new attempt has yielded nothing. */
static void yields_are_the_attempts_own(void **state)
{
	u32 u;

	(void)state;
	start(1, T0);
	for (u = 0; u < cfg.n; u++)
		says_of(u, INQUIRE, 1, 50, T0);
	start(2, T0);
	for (u = 0; u < 4; u++)
		says_of(u, FREE, 1, 50, T0);
	assert_int_equal(says_of(4, FREE, 1, 50, T0), BFTM_WON);
}

/* A client that does not queue may be asked as well; what it gave back is LOCKED to it. */
static void a_round_may_be_lost_by_yielding(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_BACKOFF;
	start_with_four(1);
	says_of(0, INQUIRE, 1, 10, T0);
	assert_yields(0, 10);
	says_of(1, INQUIRE, 1, 10, T0);
	assert_yields(1, 10);
	says_of(2, INQUIRE, 1, 10, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_int_equal(out.release_to, ALL);
	assert_int_equal(out.said_locked, 0x07);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, queueing_client)
	const struct CMUnitTest tests[] = {
		TEST(what_is_yielded_does_not_count),
		TEST(inquired_before_granted),
		TEST(an_old_inquiry_takes_no_new_grant),
		TEST(numbers_are_each_servers_own),
		TEST(b_inquirers_cost_nothing),
		TEST(a_holder_does_not_yield),
		TEST(b_plus_one_inquirers_say_that_somebody_waits),
		TEST(a_yielded_grant_renews_nothing),
		TEST(a_dead_attempt_releases),
		TEST(yields_are_the_attempts_own),
		TEST(a_round_may_be_lost_by_yielding),
	};

	return cmocka_run_group_tests_name("client yield", tests, NULL, NULL);
}
