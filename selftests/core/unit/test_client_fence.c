// SPDX-License-Identifier: GPL-2.0
/* contend() of one client that wants a fencing token. n = 7, b = 1: q = 6. */
#include "contender.h"

#define FREE	BFTM_MSG_FREE
#define SACK	BFTM_MSG_SACK
#define SNACK	BFTM_MSG_SNACK

static int fenced_client(void **state)
{
	fresh_client(state);
	want.fence = true;
	return 0;
}

static enum bftm_verdict free_with(u32 u, u64 hi, u64 now)
{
	const struct bftm_msg msg = { .type = FREE, .attempt = c.base.attempt, .k = 1, .token = hi,
				      .mode = want.mode };

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

/* F grants, all of which report this highest token. */
static void win(u64 attempt, u64 hi)
{
	u32 u;

	start(attempt, T0);
	for (u = 0; u < 5; u++)
		assert_int_equal(free_with(u, hi, T0 + 1), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), ALL);
	assert_true(out.round_over);
}

/* Server @u answers the offer of @token, and reports @hi. */
static enum bftm_verdict stamps(u32 u, u8 type, u64 token, u64 hi, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .attempt = c.base.attempt, .gno = token, .token = hi,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static enum bftm_verdict does_not_know(u32 u, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_REFUSED, .attempt = c.base.attempt, .arg = BFTM_REFUSED_TOKENS,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static void won_when_q_accept(void **state)
{
	u32 u;

	(void)state;
	assert_int_equal(bftm_fence_quorum(7, 1), 6);
	win(1, 41);
	assert_int_equal(c.base.token, 42);
	for (u = 0; u < 5; u++)
		assert_int_equal(stamps(u, SACK, 42, 42, T0 + 2), BFTM_PENDING);
	for (u = 0; u < 5; u++)			/* each has one voice */
		assert_int_equal(stamps(u, SACK, 42, 42, T0 + 2), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
	assert_int_equal(stamps(6, SACK, 42, 42, T0 + 3), BFTM_WON);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	assert_int_equal(c.base.wake_ns, T0 + GOOD + 1);
}

/* The end is compared last: a token of a lease that is over is none. */
static void not_after_the_end(void **state)
{
	u32 u;

	(void)state;
	win(1, 0);
	for (u = 0; u < 5; u++)
		stamps(u, SACK, 1, 1, T0 + GOOD);
	assert_int_equal(stamps(5, SACK, 1, 1, T0 + GOOD), BFTM_WON);
	win(2, 0);
	for (u = 0; u < 5; u++)
		stamps(u, SACK, c.base.token, c.base.token, T0 + GOOD);
	assert_int_equal(stamps(5, SACK, c.base.token, c.base.token, T0 + GOOD + 1), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_cancelled(2);
}

/* The (b + 1)-th largest of what was ever reported, and one more. */
static void b_liars_inflate_nothing(void **state)
{
	(void)state;
	start(1, T0);
	free_with(0, ~0ull - 1, T0);
	free_with(1, 30, T0);
	free_with(2, BFTM_TOKEN_UNKNOWN, T0);	/* says nothing */
	free_with(3, 29, T0);
	free_with(4, 0, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
	assert_int_equal(c.base.token, 31);
}

/* n - q may refuse, as b liars will; one more means that it is too low. */
static void refused_more_than_n_minus_q_times(void **state)
{
	u32 u;

	(void)state;
	win(1, 10);
	assert_int_equal(stamps(0, SNACK, 11, 50, T0 + 2), BFTM_PENDING);
	assert_quiet();
	stamps(0, SNACK, 11, 50, T0 + 2);
	assert_quiet();
	for (u = 1; u < 4; u++)
		stamps(u, SACK, 11, 11, T0 + 2);
	stamps(4, SNACK, 11, 20, T0 + 2);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), ALL);
	assert_int_equal(c.base.token, 21);		/* 50 is one server's word */
	assert_int_equal(c.accepted | c.denied, 0);
	/* Answers to the old offer are about the old one. */
	for (u = 0; u < cfg.n; u++)
		assert_int_equal(stamps(u, SACK, 11, 11, T0 + 3), BFTM_PENDING);
	for (u = 0; u < cfg.n; u++) {
		stamps(u, SNACK, 11, 11, T0 + 3);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), 0);
	}
	assert_int_equal(c.base.token, 21);
	for (u = 0; u < 6; u++)
		stamps(u, SACK, 21, 21, T0 + 4);
	assert_int_equal(out.verdict, BFTM_WON);
}

/* Each higher than the one before, whatever is reported. */
static void offers_only_grow(void **state)
{
	u64 last;
	u32 i;

	(void)state;
	win(1, 0);
	for (i = 0; i < 100; i++) {
		if (i < 16)
			assert_int_equal(c.base.token, (2u << i) - 1);
		last = c.base.token;
		stamps(1, SNACK, c.base.token, 0, T0 + 2);
		stamps(2, SNACK, c.base.token, 0, T0 + 2);
		assert_true(c.base.token > last && c.base.token <= last + BFTM_STEP_MAX);
	}
}

static void resent_to_the_silent(void **state)
{
	(void)state;
	win(1, 0);
	assert_int_equal(c.base.wake_ns, T0 + 1 + RESEND);
	stamps(0, SACK, 1, 1, T0 + 2);
	does_not_know(2, T0 + 2);		/* it may have learned by then */
	wake(c.base.wake_ns - 1, 9, 0);
	assert_quiet();
	wake(c.base.wake_ns, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), ALL & ~1u);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY) | out.release_to, 0);
	assert_int_equal(c.base.wake_ns, T0 + 1 + 2 * RESEND);
	wake(c.base.wake_ns, 9, 0);
	assert_int_equal(c.base.wake_ns, T0 + 1 + 4 * RESEND);
	/* A server that denies would deny again. */
	stamps(1, SNACK, 1, 9, c.base.wake_ns - 1);
	assert_quiet();
	wake(c.base.wake_ns, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), ALL);
	assert_int_equal(c.base.token, 3);
}

/* The lease ends without a token: give back, and begin anew with another attempt. */
static void lapsed_before_fenced(void **state)
{
	u32 sends = 0;

	(void)state;
	win(1, 5);
	while (c.base.phase == BFTM_PHASE_FENCE && sends++ < 100)
		assert_int_equal(wake(c.base.wake_ns, 2, 0), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_cancelled(1);
	assert_false(bftm_contender_alive(&c.base));
	wake(c.base.wake_ns, 2, 0);
	assert_int_equal(c.base.attempt, 2);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	/* Tokens that were tried are not tried again. */
	for (u32 u = 0; u < 5; u++)
		free_with(u, 0, c.sent_ns[1]);
	assert_int_equal(c.base.token, 7);
}

static void asked_once(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_NOT;
	win(1, 5);
	assert_int_equal(wake(T0 + GOOD + 1, 2, 0), BFTM_UNREACHABLE);
	assert_cancelled(1);
	assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
}

/* The lock was had, and then nobody answers: that is not waited for till the end of the lease. */
static void asked_once_and_silent_then(void **state)
{
	enum bftm_verdict verdict = BFTM_PENDING;
	u64 over, last = 0;
	u32 i;

	(void)state;
	want.wait = BFTM_WAIT_NOT;
	want.lease_ns = BFTM_LEASE_MAX_NS;
	win(1, 5);
	over = T0 + 1 + bftm_round_ns(&cfg);
	assert_true(over < bftm_contend_end(&c, &cfg));
	for (i = 0; i < 100 && c.base.phase == BFTM_PHASE_FENCE; i++) {
		last = c.base.wake_ns;
		verdict = wake(last, 2, 0);
	}
	assert_int_equal(verdict, BFTM_UNREACHABLE);
	assert_int_equal(last, over);
	assert_cancelled(1);
}

/* b + 1 that do not know: a correct one is among them, and it may last. */
static void too_many_do_not_know(void **state)
{
	(void)state;
	win(1, 5);
	does_not_know(0, T0 + 2);
	does_not_know(1, T0 + 2);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);	/* till the end they may learn */
	assert_int_equal(wake(T0 + GOOD + 1, 2, 0), BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
	assert_cancelled(1);
	/* A request that waits for nothing is told sooner. */
	want.wait = BFTM_WAIT_NOT;
	win(6, 5);
	does_not_know(0, T0 + 2);
	does_not_know(1, T0 + 2);
	assert_int_equal(wake(c.base.wake_ns, 7, 0), BFTM_REFUSED);
	want.wait = BFTM_WAIT_QUEUE;
	/* One may lie. */
	win(8, 5);
	does_not_know(0, T0 + 2);
	assert_int_equal(wake(T0 + GOOD + 1, 9, 0), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	/* And who has learned does know. */
	win(10, 5);
	does_not_know(0, T0 + 2);
	does_not_know(1, T0 + 2);
	stamps(1, SACK, c.base.token, c.base.token, T0 + 3);
	assert_int_equal(wake(T0 + GOOD + 1, 11, 0), BFTM_PENDING);
}

/* To the end of the lease, or of the attempt. */
static enum bftm_verdict wake_to_the_end(void)
{
	enum bftm_verdict verdict = BFTM_PENDING;
	u32 i;

	for (i = 0; i < 1000 && c.base.phase == BFTM_PHASE_FENCE; i++)
		verdict = wake(c.base.wake_ns, 2, 0);
	assert_int_not_equal(c.base.phase, BFTM_PHASE_FENCE);
	return verdict;
}

/* n = 4, q = 3: three servers have granted the lock, and two of these stamp. */
static void two_of_four_stamp(void)
{
	u32 u;

	cfg.n = 4;
	memset(&c, 0, sizeof(c));
	start(1, T0);
	for (u = 0; u < 3; u++)
		free_with(u, 5, T0 + 1);
	stamps(0, SACK, 6, 6, T0 + 2);
	stamps(1, SACK, 6, 6, T0 + 2);
}

/* One has forgotten, one is down. Both others stamp, and that is all. */
static void one_has_forgotten_and_one_is_down(void **state)
{
	u32 again;

	(void)state;
	for (again = 0; again < 2; again++) {
		want.wait = again ? BFTM_WAIT_NOT : BFTM_WAIT_QUEUE;
		two_of_four_stamp();
		does_not_know(2, T0 + 2);
		assert_true(bftm_fence_lacks(&c, &cfg));
		assert_int_equal(wake_to_the_end(), BFTM_REFUSED);
		assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
		assert_cancelled(1);
	}
}

/* The lease is no longer than it takes to ask the silent once more: it asks sooner. */
static void one_lease_is_enough_to_know(void **state)
{
	(void)state;
	want.lease_ns = RESEND;
	two_of_four_stamp();
	assert_int_equal(wake_to_the_end(), BFTM_PENDING);	/* the fourth may be slow */
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_true(c.stamps >= BFTM_STAMP_SILENT);
	two_of_four_stamp();
	does_not_know(2, T0 + 2);
	assert_int_equal(wake_to_the_end(), BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
}

/* n = 7, q = 6: nobody has forgotten anything, and two are stopped. */
static void two_are_down(void **state)
{
	u32 u;

	(void)state;
	win(1, 5);
	for (u = 0; u < 5; u++)
		stamps(u, SACK, 6, 6, T0 + 2);
	assert_true(bftm_fence_lacks(&c, &cfg));
	assert_int_equal(wake_to_the_end(), BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
	/* One of them is back. */
	win(2, 5);
	for (u = 0; u < 5; u++)
		stamps(u, SACK, c.base.token, 6, T0 + 2);
	assert_int_equal(stamps(5, SACK, c.base.token, 6, T0 + 2), BFTM_WON);
}

/* One is so far ahead that no offer gets there, or lies and says so; and one is down. */
static void one_is_far_ahead_and_one_is_down(void **state)
{
	u32 u, i;

	(void)state;
	cfg.n = 6;			/* q = 5 */
	start(1, T0);
	for (u = 0; u < 4; u++)
		free_with(u, 6, T0 + 1);
	for (i = 0; i < 10000 && c.base.phase == BFTM_PHASE_FENCE; i++) {
		for (u = 0; u < 4; u++)
			assert_int_equal(stamps(u, SACK, c.base.token, c.base.token, c.base.wake_ns - 1),
					 BFTM_PENDING);
		assert_int_equal(stamps(4, SNACK, c.base.token, 1ull << 60, c.base.wake_ns - 1),
				 BFTM_PENDING);
		wake(c.base.wake_ns, 2, 0);
	}
	assert_true(i < 100);		/* one lease */
	assert_int_equal(out.verdict, BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
}

/*
 * A stamp that was not finished: n = 4, b = 1, so q = n - b and each correct server is
 * needed. The liar is silent, and one of the three has stamped more before. "More than
 * n - q refusals" never comes; what follows a refusal does.
 */
static void a_leftover_of_an_unfinished_stamp(void **state)
{
	u64 hi[3] = { 5, 5, 1000 };
	u32 u, i;

	(void)state;
	cfg.n = 4;
	start(1, T0);
	for (u = 0; u < 3; u++)
		free_with(u, hi[u], T0 + 1);
	for (i = 0; i < 20 && out.verdict == BFTM_PENDING; i++) {
		for (u = 0; u < 3 && out.verdict == BFTM_PENDING; u++) {
			bool higher = c.base.token > hi[u];

			if (higher)
				hi[u] = c.base.token;
			stamps(u, higher ? SACK : SNACK, c.base.token, hi[u], c.base.wake_ns - 1);
		}
		if (out.verdict == BFTM_PENDING)
			wake(c.base.wake_ns, 2, 0);
	}
	assert_int_equal(out.verdict, BFTM_WON);
	assert_true(c.base.token > 1000 && c.base.token < 3000 && i < 12);
}

/* Held up for the whole lease it has asked once: that says nothing about servers. */
static void held_up_for_a_lease(void **state)
{
	u32 u;

	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	win(1, 5);
	for (u = 0; u < 5; u++)
		stamps(u, SACK, 6, 6, T0 + 2);
	assert_int_equal(wake(T0 + GOOD + 1, 2, 0), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_true(c.reached);
}

/* Fewer than F answer: it is not about tokens, and nobody else has the lock. */
static void too_few_answer(void **state)
{
	u32 u;

	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	win(1, 5);
	for (u = 0; u < 4; u++)
		stamps(u, SACK, 6, 6, T0 + 2);
	assert_int_equal(wake_to_the_end(), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_false(bftm_contend_reached(&c, &cfg));
}

/* Held, but nobody knows yet: what moves the end then is no news. */
static void grants_that_come_while_fencing(void **state)
{
	u64 t1 = T0 + RESEND;
	u32 u;

	(void)state;
	start(1, T0);
	for (u = 0; u < 3; u++)
		free_with(u, 0, T0 + 1);
	wake(t1, 9, 0);
	says(3, FREE, 2, t1 + 1);
	says(4, FREE, 2, t1 + 1);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
	for (u = 0; u < cfg.n; u++) {
		says(u, FREE, 2, t1 + 2);
		assert_false(out.extended);
		assert_int_equal(out.verdict, BFTM_PENDING);
	}
	assert_int_equal(bftm_contend_end(&c, &cfg), t1 + GOOD);
	for (u = 0; u < cfg.n; u++) {
		says(u, BFTM_MSG_INQUIRE, 2, t1 + 3);
		assert_quiet();
	}
	/* Nothing is due twice: the alarm is always ahead of its time. */
	while (c.base.phase == BFTM_PHASE_FENCE) {
		u64 at = c.base.wake_ns;

		wake(at, 9, 0);
		assert_true(c.base.wake_ns > at);
	}
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
}

static void alarms_of_a_short_lease_that_grew(void **state)
{
	u32 u;

	(void)state;
	want.lease_ns = 30 * MS;
	cfg.resend_ns = 20 * MS;
	start(1, T0);
	for (u = 0; u < 3; u++)
		free_with(u, 0, T0 + 1);
	wake(T0 + 20 * MS, 9, 0);
	says(3, FREE, 2, T0 + 21 * MS);
	says(4, FREE, 2, T0 + 21 * MS);
	for (u = 0; u < cfg.n; u++)
		says(u, FREE, 2, T0 + 22 * MS);		/* after the alarm was set */
	while (c.base.phase == BFTM_PHASE_FENCE) {
		u64 at = c.base.wake_ns;

		wake(at, 9, 0);
		assert_true(c.base.wake_ns > at);
	}
}

static void cancelled_while_fencing(void **state)
{
	(void)state;
	win(1, 0);
	assert_true(bftm_contender_alive(&c.base));
	bftm_contend_stop(&c, &cfg, &out);
	assert_cancelled(1);
	stamps(0, SACK, 1, 1, T0 + 2);
	assert_quiet();
}

/* For every n and the most liars: n - b correct ones are enough to fence. */
static void b_silent_or_denying_servers_cost_nothing(void **state)
{
	u32 n, b, u, i, kind;

	(void)state;
	for (kind = 0; kind < 2; kind++)
		for (n = 1; n <= BFTM_SERVERS_MAX; n++) {
			b = (n - 1) / 3;
			cfg.n = n;
			cfg.b = b;
			memset(&c, 0, sizeof(c));
			start(1, T0);
			for (u = b; u < n && c.base.phase == BFTM_PHASE_TRY; u++)
				free_with(u, 3, T0 + 1);
			for (i = 0; kind && i < b; i++)
				stamps(i, SNACK, c.base.token, ~0ull - 1, T0 + 2);
			assert_int_equal(c.base.token, 4);
			for (u = b; u < n && c.base.phase == BFTM_PHASE_FENCE; u++)
				stamps(u, SACK, 4, 4, T0 + 2);
			assert_int_equal(out.verdict, BFTM_WON);
		}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fenced_client)
	const struct CMUnitTest tests[] = {
		TEST(won_when_q_accept),
		TEST(not_after_the_end),
		TEST(b_liars_inflate_nothing),
		TEST(refused_more_than_n_minus_q_times),
		TEST(offers_only_grow),
		TEST(resent_to_the_silent),
		TEST(lapsed_before_fenced),
		TEST(asked_once),
		TEST(asked_once_and_silent_then),
		TEST(too_many_do_not_know),
		TEST(one_has_forgotten_and_one_is_down),
		TEST(one_lease_is_enough_to_know),
		TEST(two_are_down),
		TEST(one_is_far_ahead_and_one_is_down),
		TEST(a_leftover_of_an_unfinished_stamp),
		TEST(held_up_for_a_lease),
		TEST(too_few_answer),
		TEST(grants_that_come_while_fencing),
		TEST(alarms_of_a_short_lease_that_grew),
		TEST(cancelled_while_fencing),
		TEST(b_silent_or_denying_servers_cost_nothing),
	};

	return cmocka_run_group_tests_name("client fence", tests, NULL, NULL);
}
