// SPDX-License-Identifier: GPL-2.0
/* Conversions with a fencing token, and tokens that modes share. */
#include "client_convert.h"

static void convert_fenced(enum bftm_mode mode, bool once, u64 now)
{
	const struct bftm_conversion to = { .mode = mode, .once = once, .fence = true };

	bftm_contend_convert(&c, &cfg, &to, now, &out);
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

static void offers(u64 token, enum bftm_mode mode)
{
	struct bftm_msg msg;
	u32 i;

	for (i = 0; out.send[i].type != BFTM_MSG_STAMP; i++)
		assert_true(i + 1 < out.count);
	bftm_contender_message(&c.base, &out.send[i], out.send[i].to, &msg);
	assert_int_equal(msg.token, token);
	assert_int_equal(msg.mode, mode);
	assert_int_equal(out.send[i].to, ALL);
}

/* Inside in @mode, with token 7. */
static void hold_fenced(enum bftm_mode mode)
{
	u32 u;

	want.mode = mode;
	want.wait = BFTM_WAIT_QUEUE;
	want.fence = true;
	start(1, T0);
	for (u = 0; u < 5; u++) {
		const struct bftm_msg msg = {
			.type = FREE, .attempt = 1, .k = 1, .gno = 10, .mode = mode, .token = 6,
		};

		bftm_contend_answer(&c, &cfg, u, &msg, T0, 0, &out);
	}
	offers(7, mode);
	for (u = 0; u < 6; u++)
		stamps(u, BFTM_MSG_SACK, 7, 7, T0);
	assert_int_equal(out.verdict, BFTM_WON);
	assert_int_equal(c.base.token, 7);
}

/* The stronger mode is there with its own token, and not before. */
static void up_with_a_token(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold_fenced(BFTM_MODE_PR);
	convert_fenced(BFTM_MODE_EX, false, now);
	assert_int_equal(c.base.token, 7);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), 0);
	assert_int_equal(grant_to_five(BFTM_MODE_EX, 2, now), BFTM_PENDING);
	offers(8, BFTM_MODE_EX);
	for (u = 0; u < 5; u++)
		assert_int_equal(stamps(u, BFTM_MSG_SACK, 8, 8, now), BFTM_PENDING);
	/* Stamps of an offer before, and of others, are none of this one. */
	assert_int_equal(stamps(5, BFTM_MSG_SACK, 7, 7, now), BFTM_PENDING);
	assert_int_equal(stamps(6, BFTM_MSG_SACK, 8, 8, now), BFTM_CONVERTED);
	assert_int_equal(c.base.token, 8);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
}

/* The helper before had token 7, and no server has told this one of it yet. */
static void another_token_after_an_adoption(void **state)
{
	(void)state;
	want.mode = BFTM_MODE_EX;
	c.base.token = 7;
	bftm_contend_adopt(&c, &cfg, &want, 1, T0 + GOOD, 1, false);
	assert_int_equal(c.base.token, 7);
	convert_fenced(BFTM_MODE_EX, false, T0);
	offers(8, BFTM_MODE_EX);
}

/* Nobody can stamp it: what was held is held again, with the token that it had. */
static void up_without_a_token(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 i;

	(void)state;
	want.renew = true;
	hold_fenced(BFTM_MODE_PR);
	convert_fenced(BFTM_MODE_EX, false, now);
	grant_to_five(BFTM_MODE_EX, 2, now);
	for (i = 0; i < 2; i++) {
		const struct bftm_msg msg = {
			.type = BFTM_MSG_REFUSED, .attempt = 1, .arg = BFTM_REFUSED_TOKENS,
		};

		bftm_contend_answer(&c, &cfg, i, &msg, now, 0, &out);
	}
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
	now = c.base.wake_ns;
	assert_int_equal(now, T0 + 10 * MS + RESEND);
	assert_int_equal(wake(now, 0, 0), BFTM_KEPT);
	assert_int_equal(out.kept, BFTM_KEPT_TOKENS);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	assert_int_equal(c.base.token, 7);
	/* Stamps of the offer for EX may be under way: they are none for PW. */
	convert_fenced(BFTM_MODE_PW, false, now);
	grant_to_five(BFTM_MODE_PW, c.base.sends, now);
	offers(9, BFTM_MODE_PW);
	for (i = 0; i < 7; i++)
		assert_int_equal(stamps(i, BFTM_MSG_SACK, 8, 8, now), BFTM_PENDING);
}

/* A lock that is renewed stays so while its token is waited for. */
static void renewed_while_it_stamps(void **state)
{
	u64 now = T0 + 10 * MS, end;
	u32 i, u;

	(void)state;
	want.renew = true;
	hold_fenced(BFTM_MODE_PR);
	convert_fenced(BFTM_MODE_EX, false, now);
	grant_to_five(BFTM_MODE_EX, 2, now);
	end = bftm_contend_end(&c, &cfg);
	for (i = 0; i < 100 && now <= end; i++) {
		now = c.base.wake_ns;
		wake(now, 0, 0);
		if (bftm_out_to(&out, BFTM_MSG_TRY))
			break;
		/* One denies, and one is silent. */
		for (u = 0; u < 6; u++)
			stamps(u, u ? BFTM_MSG_SACK : BFTM_MSG_SNACK, c.base.token, 8, now);
		assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
	}
	assert_true(now <= end);
	grant_to_five(BFTM_MODE_EX, c.base.sends, now);
	assert_true(bftm_contend_end(&c, &cfg) > end);
	/* The caller has waited long enough. */
	bftm_contend_keep(&c, &cfg, now, &out);
	assert_int_equal(out.verdict, BFTM_KEPT);
	assert_int_equal(out.kept, BFTM_KEPT_ASKED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	assert_int_equal(c.base.token, 7);
}

/* A mode is given up at once; its token counts where no other is to be had. */
static void down_with_a_token(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold_fenced(BFTM_MODE_EX);
	convert_fenced(BFTM_MODE_PR, false, now);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	offers(8, BFTM_MODE_PR);
	for (u = 0; u < 6; u++)
		assert_int_equal(stamps(u, BFTM_MSG_SACK, 8, 8, now),
				 u < 5 ? BFTM_PENDING : BFTM_CONVERTED);
	assert_int_equal(c.base.token, 8);
	convert_fenced(BFTM_MODE_CR, true, now);
	bftm_contend_keep(&c, &cfg, now, &out);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_CR);
	assert_int_equal(c.base.token, 8);
}

static void report_token(u32 u, u64 token, u8 himask)
{
	const struct bftm_msg msg = {
		.type = FREE, .attempt = c.base.attempt, .k = 1, .gno = 10, .mode = want.mode,
		.token = token, .arg = himask,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, T0, 0, &out);
}

/* It offers to share the token that b + 1 servers say this mode may share; else the next one. */
static void a_shared_token(void **state)
{
	static const struct {
		enum bftm_mode mode;
		u8 himask[2];		/* of servers 0 and 1, and of the others */
		u64 offered;
	} row[] = {
		{ BFTM_MODE_PR, { 1 << BFTM_MODE_PR, 1 << BFTM_MODE_PR }, 7 },
		{ BFTM_MODE_PR, { 1 << BFTM_MODE_PR, 0 }, 7 },
		{ BFTM_MODE_PR, { 0, 0 }, 8 },
		{ BFTM_MODE_PR, { 1 << BFTM_MODE_EX, 1 << BFTM_MODE_EX }, 8 },
		{ BFTM_MODE_PR, { 1 << BFTM_MODE_PR | 1 << BFTM_MODE_CR, 1 << BFTM_MODE_EX }, 7 },
		{ BFTM_MODE_CW, { 1 << BFTM_MODE_PR, 1 << BFTM_MODE_PR }, 8 },
		{ BFTM_MODE_CW, { 1 << BFTM_MODE_CR, 1 << BFTM_MODE_CW }, 7 },
		{ BFTM_MODE_PW, { 1 << BFTM_MODE_CR, 1 << BFTM_MODE_CR }, 8 },
		{ BFTM_MODE_EX, { 1 << BFTM_MODE_EX, 1 << BFTM_MODE_EX }, 8 },
	};
	size_t i;
	u32 u;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		fresh_client(state);
		want.mode = row[i].mode;
		want.fence = true;
		start(1, T0);
		for (u = 0; u < 5; u++)
			report_token(u, 7, row[i].himask[u >= 2]);
		assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
		assert_int_equal(c.base.token, row[i].offered);
	}
	/* One liar's word is not enough. */
	fresh_client(state);
	want.mode = BFTM_MODE_PR;
	want.fence = true;
	start(1, T0);
	for (u = 0; u < 5; u++)
		report_token(u, 7, u ? 0 : 1 << BFTM_MODE_PR);
	assert_int_equal(c.base.token, 8);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
	const struct CMUnitTest tests[] = {
		TEST(up_with_a_token),
		TEST(another_token_after_an_adoption),
		TEST(up_without_a_token),
		TEST(renewed_while_it_stamps),
		TEST(down_with_a_token),
		TEST(a_shared_token),
	};

	return cmocka_run_group_tests_name("client convert fence", tests, NULL, NULL);
}
