// SPDX-License-Identifier: GPL-2.0
/*
 * contend() of one client: the paper's literal rule, priorities, refusals,
 * and the repetition of RELEASE.
 */
#include "contender.h"

static int literal_client(void **state)
{
	fresh_client(state);
	cfg.n = 6;		/* 5b + 1: q = 5, F = 4 */
	cfg.literal = true;
	return 0;
}

/* Figure 1(a): the first q answers decide, "≤ b locked" wins. */
static const struct {
	const char *what;
	u32 free, locked, last;
	u8 type;
	enum bftm_phase phase;
} literal[] = {
	{ "F are not q yet", 0x07, 0, 0x08, BFTM_MSG_FREE, BFTM_PHASE_TRY },
	{ "q and all FREE", 0x0f, 0, 0x10, BFTM_MSG_FREE, BFTM_PHASE_HOLD },
	{ "q and b of them LOCKED", 0x0f, 0, 0x10, BFTM_MSG_LOCKED, BFTM_PHASE_HOLD },
	{ "FREE as the last of q", 0x07, 0x10, 0x08, BFTM_MSG_FREE, BFTM_PHASE_HOLD },
	{ "b + 1 of q LOCKED", 0x07, 0x10, 0x08, BFTM_MSG_LOCKED, BFTM_PHASE_BACKOFF },
	{ "b + 1 LOCKED, not q yet", 0x03, 0x10, 0x08, BFTM_MSG_LOCKED, BFTM_PHASE_TRY },
	{ "too many LOCKED for any q", 0, 0x30, 0x08, BFTM_MSG_LOCKED, BFTM_PHASE_BACKOFF },
	{ "b LOCKED and a WAIT of q", 0x07, 0x10, 0x08, BFTM_MSG_WAIT, BFTM_PHASE_TRY },
	{ "WAIT is no LOCKED", 0x0f, 0, 0x10, BFTM_MSG_WAIT, BFTM_PHASE_HOLD },
};

static void judge_the_first_q(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(literal); i++) {
		memset(&c, 0, sizeof(c));
		start(1, T0);
		all_say(literal[i].free, BFTM_MSG_FREE, T0);
		all_say(literal[i].locked, BFTM_MSG_LOCKED, T0);
		assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
		all_say(literal[i].last, literal[i].type, T0);
		if (c.base.phase != literal[i].phase)
			fail_msg("%s: phase %d", literal[i].what, c.base.phase);
	}
}

/* s grows with every round that more than b LOCKED have lost. */
static void literal_backoff_grows(void **state)
{
	u32 s;

	(void)state;
	start(1, T0);
	for (s = 1; s < 5; s++) {
		all_say(0x07, BFTM_MSG_FREE, c.sent_ns[1]);
		all_say(0x18, BFTM_MSG_LOCKED, c.sent_ns[1]);
		assert_int_equal(c.retries, s);
		wake(c.base.wake_ns, s + 1, 0);
	}
}

/* b silent servers do not keep the literal client from judging either. */
static void literal_with_b_silent(void **state)
{
	(void)state;
	for (cfg.b = 0; bftm_servers_needed_literal(cfg.b) <= BFTM_SERVERS_MAX; cfg.b++) {
		u32 u, q;

		cfg.n = bftm_servers_needed_literal(cfg.b);
		q = bftm_literal_quorum(cfg.n, cfg.b);
		assert_in_range(q, 1, cfg.n - cfg.b);
		memset(&c, 0, sizeof(c));
		start(1, T0);
		for (u = 0; u < q - 1; u++)
			assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0), BFTM_PENDING);
		assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0), BFTM_WON);
	}
}

static void reports(u32 u, u64 prio)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_LOCKED, .attempt = c.base.attempt, .k = 1, .prio = prio,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, T0, 0, &out);
}

/* 1 + max(own, (b + 1)-th largest ever reported): b liars inflate nothing. */
static void priorities(void **state)
{
	static const struct {
		u64 lam[3];
		u64 prio;	/* of the round after */
	} round[] = {
		{ { 0, 0, 0 }, 2 },
		{ { ~0ull, 0, 0 }, 3 },		/* one liar */
		{ { ~0ull, 50, 0 }, 51 },	/* a correct server saw 50 */
		{ { ~0ull, 20, 30 }, 52 },	/* own is more */
		{ { 0, 0, 100 }, 101 },		/* the liar's word is kept */
		{ { 0, 99, 100 }, 102 },
	};
	u64 attempt = 1;
	size_t i;
	u32 u;

	(void)state;
	start(attempt, T0);
	assert_int_equal(c.base.prio, 1);
	for (i = 0; i < ARRAY_SIZE(round); i++) {
		for (u = 0; u < 3; u++)
			reports(u, round[i].lam[u]);
		assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
		wake(c.base.wake_ns, ++attempt, 0);
		assert_int_equal(c.base.prio, round[i].prio);
	}
	/* A new request of the application goes on where the last one was. */
	bftm_contend_stop(&c, &cfg, &out);
	start(++attempt, T0);
	assert_int_equal(c.base.prio, 103);
}

/* There is none above the highest, and 0 would go before all. */
static void priorities_end(void **state)
{
	u32 u;

	(void)state;
	start(1, T0);
	for (u = 0; u < 3; u++)
		reports(u, ~0ull);
	wake(c.base.wake_ns, 2, 0);
	assert_true(c.base.prio == ~0ull);
}

/* Reports in answers to dead attempts are as true as any. */
static void priorities_of_strays_count(void **state)
{
	const struct bftm_msg msg = { .type = BFTM_MSG_RELEASED, .attempt = 99, .prio = 40 };
	u32 u;

	(void)state;
	for (u = 0; u < 2; u++)
		bftm_contend_answer(&c, &cfg, u, &msg, T0, 0, &out);
	start(1, T0);
	assert_int_equal(c.base.prio, 41);
}

static void b_refusals_do_nothing(void **state)
{
	u32 reason;

	(void)state;
	for (reason = BFTM_REFUSED_LEASE; reason <= BFTM_REFUSED_PROTO; reason++) {
		start(reason, T0);
		refuses(0, reason, T0);
		assert_quiet();
		refuses(0, reason, T0 + 1);
		assert_quiet();
		assert_int_equal(all_say(0x3e, BFTM_MSG_FREE, T0), BFTM_WON);
	}
}

static void b_plus_1_equal_refusals_end_it(void **state)
{
	u32 reason;

	(void)state;
	for (reason = BFTM_REFUSED_LEASE; reason <= BFTM_REFUSED_PROTO; reason++) {
		start(reason, T0);
		refuses(0, reason, T0);
		assert_int_equal(refuses(6, reason, T0), BFTM_REFUSED);
		assert_int_equal(out.refusal, reason);
		assert_cancelled(reason);
		assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
	}
}

/* Reasons are not added up; servers that do not grant are. */
static void different_refusals(void **state)
{
	(void)state;
	start(1, T0);
	refuses(0, BFTM_REFUSED_LEASE, T0);
	refuses(1, BFTM_REFUSED_LOCKS, T0);
	assert_quiet();
	assert_int_equal(refuses(2, BFTM_REFUSED_CLIENTS, T0), BFTM_PENDING);
	assert_cancelled(1);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	/* A server may change its mind: its last word counts. */
	wake(c.base.wake_ns, 2, 0);
	refuses(0, BFTM_REFUSED_LEASE, T0);
	refuses(0, BFTM_REFUSED_LOCKS, T0);
	refuses(1, BFTM_REFUSED_LEASE, T0);
	assert_quiet();
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
}

/* A client that has asked for so long, and had no answer, need not blame the time limit. */
static void a_round_in_vain(void **state)
{
	u64 now = T0;
	u32 n = 1;

	(void)state;
	assert_int_equal(bftm_round_ns(&cfg), 128 * 10 * MS);
	for (start(1, T0); c.base.phase == BFTM_PHASE_TRY; n++) {
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
		now = c.base.wake_ns;
		wake(now, n + 1, 0);
	}
	assert_int_equal(n, BFTM_ROUND_SENDS + 1);
	assert_int_equal(now, T0 + bftm_round_ns(&cfg));
}

/* Did anybody answer? Decides between "in use" and "not reachable". */
static void reached(void **state)
{
	(void)state;
	start(1, T0);
	assert_false(bftm_contend_reached(&c, &cfg));
	all_say(0x03, BFTM_MSG_LOCKED, T0);
	all_say(0x30, BFTM_MSG_FREE, T0);
	assert_false(bftm_contend_reached(&c, &cfg));
	says(3, BFTM_MSG_FREE, 1, T0);
	assert_true(bftm_contend_reached(&c, &cfg));
	says(2, BFTM_MSG_LOCKED, 1, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_true(bftm_contend_reached(&c, &cfg));
	wake(c.base.wake_ns, 2, 0);
	assert_true(bftm_contend_reached(&c, &cfg));
	while (c.base.phase == BFTM_PHASE_TRY)
		wake(c.base.wake_ns, 3, 0);
	assert_false(bftm_contend_reached(&c, &cfg));
	start(3, T0);
	assert_false(bftm_contend_reached(&c, &cfg));
}

/* Three sends, to those that did not answer. The lease's end does the rest. */
static void release_is_bounded(void **state)
{
	struct bftm_release r;

	(void)state;
	bftm_release_start(&r, &cfg, &(struct bftm_out){
		.release_attempt = 7, .release_to = 0x0f,
	}, T0);
	assert_int_equal(r.attempt, 7);
	assert_int_equal(r.wake_ns, T0 + RESEND);
	assert_int_equal(bftm_release_wake(&r, &cfg, T0 + RESEND - 1), 0);
	assert_false(bftm_release_answer(&r, &cfg, 1));
	assert_false(bftm_release_answer(&r, &cfg, 1));
	assert_false(bftm_release_answer(&r, &cfg, 6));	/* was not asked */
	assert_int_equal(bftm_release_wake(&r, &cfg, T0 + RESEND), 0x0d);
	assert_int_equal(r.wake_ns, T0 + 2 * RESEND);
	assert_false(bftm_release_answer(&r, &cfg, 0));
	assert_int_equal(bftm_release_wake(&r, &cfg, T0 + 2 * RESEND - 1), 0);
	assert_int_equal(bftm_release_wake(&r, &cfg, T0 + 2 * RESEND), 0x0c);
	assert_int_equal(r.sends, BFTM_RELEASE_SENDS);
	assert_int_equal(bftm_release_wake(&r, &cfg, r.wake_ns), 0);
	assert_int_equal(bftm_release_wake(&r, &cfg, ~0ull), 0);
	assert_false(bftm_release_answer(&r, &cfg, 2));
	assert_true(bftm_release_answer(&r, &cfg, 3));
}

static void release_that_all_acknowledge(void **state)
{
	struct bftm_release r;
	u32 u;

	(void)state;
	bftm_release_start(&r, &cfg, &(struct bftm_out){
		.release_attempt = 7, .release_to = ALL,
	}, T0);
	for (u = 0; u < 7; u++)
		assert_int_equal(bftm_release_answer(&r, &cfg, u), u == 6);
	assert_int_equal(bftm_release_wake(&r, &cfg, T0 + RESEND), 0);
}

/* A floor for a server that forgot: n - 1 - b others must have told. */
static void recovered(void **state)
{
	u64 top[BFTM_SERVERS_MAX] = { 0, 90, 70, 50, 30, 10, ~0ull - 1 }, floor = 1234;
	u32 known;

	(void)state;
	for (known = 0; known < 5; known++) {
		assert_false(bftm_recovered_token(&cfg, top, known, &floor));
		assert_int_equal(floor, 1234);
	}
	assert_true(bftm_recovered_token(&cfg, top, known, &floor));
	assert_int_equal(floor, 90);		/* the second of seven */
	/* With fewer than 5b + 1 the others do not know enough. */
	cfg.n = 5;
	assert_false(bftm_recovered_token(&cfg, top, 4, &floor));
	cfg.n = 6;
	assert_true(bftm_recovered_token(&cfg, top, 4, &floor));
	cfg.b = 0;
	cfg.n = 1;
	assert_false(bftm_recovered_token(&cfg, top, 0, &floor));
	cfg.n = 2;
	assert_true(bftm_recovered_token(&cfg, top, 1, &floor));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
#define LITERAL(f) cmocka_unit_test_setup(f, literal_client)
	const struct CMUnitTest tests[] = {
		LITERAL(judge_the_first_q),
		LITERAL(literal_backoff_grows),
		LITERAL(literal_with_b_silent),
		TEST(priorities),
		TEST(priorities_of_strays_count),
		TEST(priorities_end),
		TEST(b_refusals_do_nothing),
		TEST(b_plus_1_equal_refusals_end_it),
		TEST(different_refusals),
		TEST(a_round_in_vain),
		TEST(reached),
		TEST(recovered),
		TEST(release_is_bounded),
		TEST(release_that_all_acknowledge),
	};

	return cmocka_run_group_tests_name("client rules", tests, NULL, NULL);
}
