// SPDX-License-Identifier: GPL-2.0
/* contend() of one client: how a round is lost, and what it does about it. */
#include "contender.h"

#define B	(L + 4 * 10 * MS)	/* Δ + 4δ */

/* Loses the round that is out, by three LOCKED, with these random bits. */
static void lose(u64 now, u64 rnd)
{
	const struct bftm_msg msg = { .type = BFTM_MSG_LOCKED, .attempt = c.base.attempt, .k = 1 };
	u32 u;

	for (u = 0; u < 3; u++) {
		assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
		bftm_contend_answer(&c, &cfg, u, &msg, now, rnd, &out);
	}
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
}

static void more_than_n_minus_f_locked(void **state)
{
	(void)state;
	start(4, T0);
	says(6, BFTM_MSG_FREE, 1, T0);
	all_say(0x03, BFTM_MSG_LOCKED, T0);
	assert_quiet();
	says(2, BFTM_MSG_LOCKED, 1, T0 + 1);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_cancelled(4);
	assert_true(out.round_over);
	assert_int_equal(out.said_locked, 0x07);
	assert_int_equal(out.said_free, 0x40);
	assert_int_equal(out.silent, 0x38);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_int_equal(c.base.wake_ns, T0 + 1 + B);
}

/* Figure 1(a): d is drawn from [B … 2^s B], whatever the random bits are. */
static void sleep_is_within_b_and_2_to_the_s_b(void **state)
{
	u64 now = T0, most = B, rnd = unit_seed(__func__);
	u32 s, i;

	(void)state;
	cfg.retry_max_ns = ~0ull;
	start(1, now);
	for (s = 1; s <= 20; s++) {
		struct bftm_contend before = c;
		u64 extreme[] = { 0, 1, 2 * most - B, 2 * most - B + 1, ~0ull, ~0ull - 1,
				  1ull << 63, unit_random(&rnd), unit_random(&rnd) };

		most *= 2;
		for (i = 0; i < ARRAY_SIZE(extreme); i++) {
			c = before;
			lose(now, extreme[i]);
			assert_int_equal(c.retries, s);
			assert_in_range(c.base.wake_ns - now, B, most);
			if (extreme[i] <= most - B)	/* both ends are reached */
				assert_int_equal(c.base.wake_ns - now, B + extreme[i]);
		}
		now = c.base.wake_ns;
		wake(now, s + 1, 0);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
		assert_int_equal(c.base.attempt, s + 1);
		assert_int_equal(c.base.rounds, s + 1);
	}
}

static void polynomial_sleep(void **state)
{
	u32 s, e, i;

	(void)state;
	cfg.polynomial = true;
	cfg.retry_max_ns = ~0ull;
	for (e = 1; e <= 8; e++) {
		u64 now = T0;

		cfg.exponent = e;
		start(1, now);
		for (s = 1; s <= 12; s++) {
			u64 most = B;

			for (i = 0; i < e; i++)
				if (__builtin_mul_overflow(most, (u64)s, &most))
					most = ~0ull;
			lose(now, most - B);
			assert_int_equal(c.base.wake_ns - now, most);
			if (most > 1ull << 60)
				break;
			now = c.base.wake_ns;
			wake(now, s + 1, 0);
		}
	}
}

static void sleep_is_capped_and_never_below_b(void **state)
{
	static const u64 cap[] = { 0, 1, B - 1, B, B + 1, 3 * B, 60000 * MS };
	u64 now;
	size_t i;
	u32 s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cap); i++) {
		cfg.retry_max_ns = cap[i];
		now = T0;
		start(1, now);
		for (s = 1; s < 100; s++) {	/* 2^s is far beyond 64 bits */
			lose(now, ~0ull / 7 * s);
			assert_in_range(c.base.wake_ns - now, B, cap[i] > 2 * B ? cap[i] : 2 * B);
			now = c.base.wake_ns;
			wake(now, s + 1, 0);
		}
	}
}

static void no_backoff_tries_again_at_once(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_NO_BACKOFF;
	start(1, T0);
	lose(T0 + 5, ~0ull);
	assert_cancelled(1);
	/* One delay, or it would ask at the speed of the wire. */
	assert_int_equal(c.base.wake_ns, T0 + 5 + cfg.delta_ns);
	wake(c.base.wake_ns, 2, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(c.base.attempt, 2);
}

/* Sleeping it neither listens nor wakes up early. */
static void asleep(void **state)
{
	(void)state;
	start(1, T0);
	lose(T0, 77);
	wake(c.base.wake_ns - 1, 2, 0);
	assert_quiet();
	says(5, BFTM_MSG_LOCKED, 1, T0 + 1);
	assert_quiet();
	bftm_contend_again(&c, 5, &out);
	assert_quiet();
	wake(c.base.wake_ns, 2, 0);
	assert_int_equal(c.base.sends, 1);
	/* A new round knows nothing of the answers to the old one. */
	assert_int_equal(all_say(0x0f, BFTM_MSG_FREE, c.sent_ns[1]), BFTM_PENDING);
}

/* The answers, and what a request that asks only once is told. */
static const struct {
	const char *what;
	u32 free, locked, wait;
	enum bftm_verdict verdict;
	bool timeout;		/* only after the last resend */
} once[] = {
	{ "somebody has it", 0, 0x07, 0, BFTM_LOST_ROUND, false },
	{ "it is contended", 0x0f, 0x70, 0, BFTM_LOST_ROUND, false },
	{ "a liar waits along", 0, 0x03, 0x40, BFTM_LOST_ROUND, false },
	{ "all are in quarantine", 0, 0, 0x07, BFTM_LOST_ROUND, false },
	{ "nobody is there", 0, 0, 0, BFTM_UNREACHABLE, true },
	{ "only liars are there", 0, 0x01, 0, BFTM_UNREACHABLE, true },
	{ "one too few are there", 0x0f, 0, 0, BFTM_UNREACHABLE, true },
	{ "half of them, split", 0x03, 0x0c, 0, BFTM_UNREACHABLE, true },
	{ "F are there and split", 0x0f, 0x30, 0, BFTM_LOST_ROUND, true },
};

static void asked_once(void **state)
{
	size_t i;

	(void)state;
	want.wait = BFTM_WAIT_NOT;
	for (i = 0; i < ARRAY_SIZE(once); i++) {
		enum bftm_verdict got;

		memset(&c, 0, sizeof(c));
		start(1, T0);
		got = all_say(once[i].free, BFTM_MSG_FREE, T0);
		assert_int_equal(got, BFTM_PENDING);
		got = all_say(once[i].wait, BFTM_MSG_WAIT, T0);
		if (got == BFTM_PENDING)
			got = all_say(once[i].locked, BFTM_MSG_LOCKED, T0);
		if (once[i].timeout) {
			assert_int_equal(got, BFTM_PENDING);
			while (got == BFTM_PENDING && c.base.phase == BFTM_PHASE_TRY)
				got = wake(c.base.wake_ns, 2, 0);
		}
		if (got != once[i].verdict)
			fail_msg("%s: verdict %d", once[i].what, got);
		assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
	}
}

/* s grows when a correct server named a competitor, not for silence or b liars. */
static void only_competitors_make_it_sleep_longer(void **state)
{
	static const struct {
		u32 free, locked, wait;
		bool grows;
	} table[] = {
		{ 0, 0x07, 0, true }, { 0, 0x03, 0x40, true }, { 0, 0x01, 0x60, false },
		{ 0, 0, 0x07, false }, { 0x0f, 0x01, 0, false }, { 0, 0, 0, false },
		{ 0x0f, 0x70, 0, true },
	};
	u64 attempt;
	size_t i;
	u32 s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		memset(&c, 0, sizeof(c));
		start(1, T0);
		for (s = 1; s < 6; s++) {
			u64 now = c.sent_ns[1];

			attempt = c.base.attempt;
			all_say(table[i].free, BFTM_MSG_FREE, now);
			all_say(table[i].wait, BFTM_MSG_WAIT, now);
			all_say(table[i].locked, BFTM_MSG_LOCKED, now);
			while (c.base.phase == BFTM_PHASE_TRY)
				wake(c.base.wake_ns, 99, 0);
			assert_int_equal(c.retries, table[i].grows ? s : 1);
			wake(c.base.wake_ns, attempt + 1, 0);
		}
	}
}

/* Resends go to the silent only, at growing pauses, and end. */
static void resend_schedule(void **state)
{
	static const u32 pause[] = { 1, 1, 2, 4, 8, 8, 8 };
	u64 now = T0;
	u32 i;

	(void)state;
	start(1, now);
	says(0, BFTM_MSG_FREE, 1, now);
	says(1, BFTM_MSG_LOCKED, 1, now);
	says(2, BFTM_MSG_WAIT, 1, now);
	for (i = 0; i < BFTM_ROUND_SENDS; i++) {
		assert_int_equal(c.base.sends, i + 1);
		assert_int_equal(c.base.wake_ns, now + pause[i] * RESEND);
		wake(c.base.wake_ns - 1, 2, 0);
		assert_quiet();
		now = c.base.wake_ns;
		wake(now, 2, 0);
		if (i < BFTM_ROUND_SENDS - 1) {
			assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x78);
			assert_int_equal(c.sent_ns[c.base.sends], now);
			assert_int_equal(out.release_to, 0);
		}
	}
	assert_cancelled(1);
	assert_int_equal(out.silent, 0x78);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
}

/* New epochs: the same send again, once a server and round, for all servers. */
static void new_epochs(void **state)
{
	u32 u;

	(void)state;
	cfg.n = 31;
	cfg.b = 10;
	start(1, T0);
	for (u = 0; u < cfg.n; u++) {
		bftm_contend_again(&c, u, &out);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 1u << u);
		assert_int_equal(out.release_to, 0);
		assert_int_equal(c.base.sends, 1);
		assert_int_equal(c.base.wake_ns, T0 + RESEND);
		bftm_contend_again(&c, u, &out);
		assert_quiet();
	}
	for (u = 10; u < 30; u++)
		assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0 + 9), BFTM_PENDING);
	assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0 + 9), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	bftm_contend_again(&c, 3, &out);
	assert_quiet();
	/* The next round may. */
	start(2, T0);
	bftm_contend_again(&c, 3, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 1u << 3);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
	const struct CMUnitTest tests[] = {
		TEST(more_than_n_minus_f_locked),
		TEST(sleep_is_within_b_and_2_to_the_s_b),
		TEST(polynomial_sleep),
		TEST(sleep_is_capped_and_never_below_b),
		TEST(no_backoff_tries_again_at_once),
		TEST(asleep),
		TEST(asked_once),
		TEST(only_competitors_make_it_sleep_longer),
		TEST(resend_schedule),
		TEST(new_epochs),
	};

	return cmocka_run_group_tests_name("client backoff", tests, NULL, NULL);
}
