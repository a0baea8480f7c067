// SPDX-License-Identifier: GPL-2.0
/* A client that holds a lock without a lease: it has no end, and is told again after a restart. */
#include "contender.h"

#define FREE	BFTM_MSG_FREE
#define NEVER	(~0ull)

static int fresh_member(void **state)
{
	fresh_client(state);
	want.lease_ns = BFTM_LEASE_NONE;
	want.wait = BFTM_WAIT_QUEUE;
	return 0;
}

static enum bftm_verdict grants(u32 u, enum bftm_mode mode, u32 k, u64 gno, u64 now)
{
	const struct bftm_msg msg = {
		.type = FREE, .attempt = c.base.attempt, .k = k, .gno = gno, .mode = mode,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static void restarts(u32 u, u64 now)
{
	bftm_contend_restarted(&c, &cfg, u, now, &out);
}

/* Inside with the grants of servers 0 ... 4. */
static void hold(enum bftm_mode mode)
{
	u32 u;

	want.mode = mode;
	start(1, T0);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, mode, 1, 10, T0), u < 4 ? BFTM_PENDING : BFTM_WON);
}

/* REASSERT of @mode went to these servers, and nothing else. */
static void asserts(u32 to, enum bftm_mode mode)
{
	struct bftm_msg msg;

	assert_int_equal(out.count, 1);
	assert_int_equal(out.send[0].to, to);
	bftm_contender_message(&c.base, &out.send[0], to, &msg);
	assert_int_equal(msg.type, BFTM_MSG_TRY);
	assert_int_equal(msg.flags, BFTM_FLAG_REASSERT);
	assert_int_equal(msg.mode, mode);
	assert_int_equal(msg.arg, mode);
	assert_int_equal(msg.attempt, 1);
	assert_true(msg.lease_ns == BFTM_LEASE_NONE);
	assert_int_equal(msg.k, c.base.sends);
}

static void it_has_no_end(void **state)
{
	(void)state;
	want.renew = true;
	hold(BFTM_MODE_EX);
	assert_true(bftm_contend_end(&c, &cfg) == NEVER);
	assert_true(c.base.wake_ns == NEVER);
	bftm_contend_stop(&c, &cfg, &out);
	assert_cancelled(1);
	assert_true(out.release_surely);
}

/* b servers may be down for ever: PROBE finds what they have forgotten to take back. */
static void its_release_is_repeated_until_all_but_b_have_answered(void **state)
{
	struct bftm_release r;
	u64 now = T0;
	u32 i;

	(void)state;
	hold(BFTM_MODE_EX);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&r, &cfg, &out, now);
	for (i = 0; i < 20; i++) {
		assert_true(i < 2 || r.wake_ns >= now + BFTM_NS_PER_SEC || i == 2);
		now = r.wake_ns;
		assert_int_equal(bftm_release_wake(&r, &cfg, now), ALL);
	}
	for (i = 0; i < 5; i++)
		assert_false(bftm_release_answer(&r, &cfg, i));
	assert_int_equal(bftm_release_wake(&r, &cfg, r.wake_ns), 3 << 5);
	assert_false(bftm_release_answer(&r, &cfg, 5));
	assert_int_equal(bftm_release_wake(&r, &cfg, r.wake_ns), 0);
}

static void a_server_that_has_forgotten_needs_no_release(void **state)
{
	struct bftm_release r;
	u32 u;

	(void)state;
	hold(BFTM_MODE_EX);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&r, &cfg, &out, T0);
	for (u = 0; u < 5; u++)
		bftm_release_answer(&r, &cfg, u);
	assert_false(bftm_release_restarted(&r, 0));
	assert_false(bftm_release_restarted(&r, 5));
	assert_int_equal(r.unanswered, 1 << 6);
	assert_true(bftm_release_restarted(&r, 6));
	/* Where no PROBE comes the server has to hear of it. */
	out.release_surely = false;
	bftm_release_start(&r, &cfg, &out, T0);
	for (u = 0; u < 7; u++)
		assert_false(bftm_release_restarted(&r, u));
	assert_int_equal(r.unanswered, ALL);
}

static void a_liar_does_not_set_the_pace(void **state)
{
	u64 now = T0;
	u32 i, sends;

	(void)state;
	hold(BFTM_MODE_EX);
	restarts(2, now);
	asserts(1 << 2, BFTM_MODE_EX);
	sends = c.base.sends;
	for (i = 0; i < 100; i++) {
		restarts(2, now + i);
		assert_quiet();
	}
	/* Another one that restarts is told with the next. */
	restarts(3, now + i);
	assert_quiet();
	assert_int_equal(c.base.sends, sends);
	wake(c.base.wake_ns, 0, 0);
	asserts(3 << 2, BFTM_MODE_EX);
}

/* The value goes along, or a server that has not forgotten would never hear of it. */
static void what_is_owed_goes_along(void **state)
{
	struct bftm_written value = { .any = true, .len = 1, .bytes = { 42 } };
	struct bftm_conversion to = { .mode = BFTM_MODE_PR, .leaves = &value };
	struct bftm_msg msg;
	u32 u;

	(void)state;
	want.value = true;
	want.mode = BFTM_MODE_EX;
	start(1, T0);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_EX, 1, 10, T0);
	if (c.base.phase == BFTM_PHASE_VALUE)
		wake(c.base.wake_ns, 0, 0);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	bftm_contend_convert(&c, &cfg, &to, T0, &out);
	restarts(1, T0);
	assert_int_equal(out.send[0].flags, BFTM_FLAG_REASSERT | BFTM_FLAG_VALUE);
	bftm_contender_message(&c.base, &out.send[0], out.send[0].to, &msg);
	assert_int_equal(msg.value_len, 1);
	assert_int_equal(msg.value_k, 10);
}

/* No renewal comes that would say it again. */
static void a_mode_that_is_given_up_is_told_until_each_server_has_answered(void **state)
{
	const struct bftm_conversion to = { .mode = BFTM_MODE_PR, .fence = true };
	u32 u, i;

	(void)state;
	hold(BFTM_MODE_EX);
	bftm_contend_convert(&c, &cfg, &to, T0, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	for (u = 0; u < 6; u++)
		grants(u, BFTM_MODE_PR, c.base.sends, 10, T0);
	for (i = 1; i < 100; i++) {
		assert_true(c.base.wake_ns <= T0 + i * BFTM_NS_PER_SEC);
		wake(T0 + i * BFTM_NS_PER_SEC, 0, 0);
		assert_true(bftm_out_to(&out, BFTM_MSG_TRY) >> 6 & 1);
	}
	/* The conversion ends when it has its token, and the news goes on. */
	for (u = 0; u < 6; u++)
		says_of(u, BFTM_MSG_SACK, 0, c.base.token, T0 + (i - 1) * BFTM_NS_PER_SEC);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	wake(T0 + i * BFTM_NS_PER_SEC, 0, 0);
	assert_true(bftm_out_to(&out, BFTM_MSG_TRY) >> 6 & 1);
	grants(6, BFTM_MODE_PR, c.base.sends, 10, T0 + i * BFTM_NS_PER_SEC);
	assert_true(c.base.wake_ns == NEVER);
}

/* PROBE comes for somebody who waits; of b + 1 servers that say so one is correct. */
static void a_holder_that_is_probed_is_wanted(void **state)
{
	struct bftm_msg probe = { .type = BFTM_MSG_PROBE, .attempt = 1, .mode = BFTM_MODE_EX };

	(void)state;
	hold(BFTM_MODE_EX);
	bftm_contend_answer(&c, &cfg, 3, &probe, T0, 0, &out);
	assert_quiet();
	bftm_contend_answer(&c, &cfg, 3, &probe, T0, 0, &out);
	assert_false(c.base.wanted);
	bftm_contend_answer(&c, &cfg, 4, &probe, T0, 0, &out);
	assert_quiet();
	assert_true(c.base.wanted);
	assert_true(bftm_contend_end(&c, &cfg) == NEVER);
}

/* Polls and their end go by eight seconds, and sleeps as well. */
static void a_wait_has_a_pace(void **state)
{
	(void)state;
	start(1, T0);
	assert_true(c.poll_ns == T0 + BFTM_NS_PER_SEC);
	want.wait = BFTM_WAIT_BACKOFF;
	start(2, T0);
	all_say(0x7, BFTM_MSG_LOCKED, T0);
	assert_true(c.base.wake_ns >= T0 + BFTM_PACE_NS);
	assert_true(c.base.wake_ns <= T0 + 3 * BFTM_PACE_NS);
}

/* There may be one each second while servers are down: PROBE finds what it leaves there. */
static void an_attempt_that_never_won_is_released_as_any_other(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_BACKOFF;
	start(1, T0);
	all_say(0x7, BFTM_MSG_LOCKED, T0);
	assert_cancelled(1);
	assert_false(out.release_surely);
	start(2, T0);
	bftm_contend_stop(&c, &cfg, &out);
	assert_cancelled(2);
	assert_false(out.release_surely);
}

static void a_restarted_server_is_told_until_it_grants(void **state)
{
	u64 now = T0;
	u32 i;

	(void)state;
	hold(BFTM_MODE_EX);
	assert_true(bftm_contend_retold(&c, 2));
	restarts(2, now);
	asserts(1 << 2, BFTM_MODE_EX);
	assert_int_equal(c.base.sends, 2);
	for (i = 0; i < 10; i++) {
		assert_false(bftm_contend_retold(&c, 2));
		assert_true(c.base.wake_ns > now && c.base.wake_ns <= now + BFTM_NS_PER_SEC);
		now = c.base.wake_ns;
		wake(now, 0, 0);
		asserts(1 << 2, BFTM_MODE_EX);
	}
	/* The old grant counts all the while. */
	assert_true(bftm_contend_end(&c, &cfg) == NEVER);
	says(2, BFTM_MSG_WAIT, 0, now);
	assert_false(bftm_contend_retold(&c, 2));
	grants(2, BFTM_MODE_EX, c.base.sends, 1000, now);
	assert_true(bftm_contend_retold(&c, 2));
	assert_true(c.base.wake_ns == NEVER);
	assert_int_equal(out.verdict, BFTM_PENDING);
}

/* One that has evicted the helper that won it, and restarts, would wait while the lock is held. */
static void a_server_that_has_evicted_needs_no_word(void **state)
{
	struct bftm_msg msg = { .type = BFTM_MSG_REFUSED, .attempt = 1, .arg = BFTM_REFUSED_ACCESS };

	(void)state;
	hold(BFTM_MODE_EX);
	restarts(2, T0);
	bftm_contend_answer(&c, &cfg, 2, &msg, T0, 0, &out);
	assert_false(bftm_contend_retold(&c, 2));
	msg.arg = BFTM_REFUSED_EVICTED;
	bftm_contend_answer(&c, &cfg, 2, &msg, T0, 0, &out);
	assert_true(bftm_contend_retold(&c, 2));
	assert_true(c.base.wake_ns == NEVER);
	assert_true(bftm_contend_end(&c, &cfg) == NEVER);
}

static void a_server_that_did_not_grant_need_not_know(void **state)
{
	(void)state;
	hold(BFTM_MODE_EX);
	restarts(6, T0);
	assert_quiet();
	assert_true(bftm_contend_retold(&c, 6));
}

/* It does not hold yet, so the grant that was forgotten is none. */
static void a_waiter_does_not_count_what_was_forgotten(void **state)
{
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	start(1, T0);
	for (u = 0; u < 4; u++)
		grants(u, BFTM_MODE_EX, 1, 10, T0);
	restarts(0, T0);
	assert_quiet();
	assert_true(bftm_contend_retold(&c, 0));
	assert_int_equal(grants(4, BFTM_MODE_EX, 1, 10, T0), BFTM_PENDING);
	assert_int_equal(grants(0, BFTM_MODE_EX, 1, 1000, T0), BFTM_WON);
}

/* With a lease the quarantine of the server is enough. */
static void a_lease_is_not_asserted(void **state)
{
	(void)state;
	want.lease_ns = L;
	hold(BFTM_MODE_EX);
	restarts(2, T0);
	assert_quiet();
	assert_true(bftm_contend_retold(&c, 2));
	bftm_contend_stop(&c, &cfg, &out);
	assert_false(out.release_surely);
}

static void convert(enum bftm_mode mode, u64 now)
{
	const struct bftm_conversion to = { .mode = mode };

	bftm_contend_convert(&c, &cfg, &to, now, &out);
}

/* Of a conversion the grants of the mode wanted are none before it is held. */
static void a_conversion_counts_anew(void **state)
{
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, T0);
	for (u = 0; u < 4; u++)
		grants(u, BFTM_MODE_EX, 2, 20, T0);
	restarts(0, T0);
	asserts(1 << 0, BFTM_MODE_PR);
	assert_int_equal(grants(4, BFTM_MODE_EX, 2, 20, T0), BFTM_PENDING);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	grants(0, BFTM_MODE_PR, 3, 1000, T0);
	assert_true(bftm_contend_retold(&c, 0));
	assert_int_equal(grants(5, BFTM_MODE_EX, 2, 20, T0), BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
}

/* A server is to know the mode that is held now, and not one that was given up meanwhile. */
static void a_mode_that_was_given_up_does_not_count(void **state)
{
	(void)state;
	hold(BFTM_MODE_EX);
	restarts(0, T0);
	asserts(1 << 0, BFTM_MODE_EX);
	convert(BFTM_MODE_PR, T0);
	grants(0, BFTM_MODE_EX, 2, 1000, T0);
	assert_false(bftm_contend_retold(&c, 0));
	wake(c.reassert_ns, 0, 0);
	assert_int_equal(out.send[0].flags, BFTM_FLAG_REASSERT);
	assert_int_equal(out.send[0].arg, BFTM_MODE_PR);
	grants(0, BFTM_MODE_PR, c.base.sends, 1001, T0);
	assert_true(bftm_contend_retold(&c, 0));
}

/* A new helper does not know by which servers the earlier one has won. */
static void an_adopted_lock_is_told_to_all(void **state)
{
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	bftm_contend_adopt(&c, &cfg, &want, 1, NEVER, 5, false);
	for (u = 0; u < 7; u++)
		assert_false(bftm_contend_retold(&c, u));
	/* Now, and again: the epoch of servers may be known, and none has to be new. */
	assert_true(c.base.wake_ns <= T0);
	wake(T0, 0, 0);
	asserts(ALL, BFTM_MODE_EX);
	assert_true(c.base.wake_ns > T0 && c.base.wake_ns <= T0 + BFTM_NS_PER_SEC);
	bftm_contend_adopt(&c, &cfg, &want, 1, NEVER, 5, false);
	bftm_contend_renew(&c, &cfg, T0, &out);
	asserts(ALL, BFTM_MODE_EX);
	assert_int_equal(c.base.sends, 5 + BFTM_ADOPT_SENDS + 1);
	grants(6, BFTM_MODE_EX, c.base.sends, 20, T0);
	assert_true(bftm_contend_retold(&c, 6));
	/* One that has granted already restarts, and is told like the others. */
	restarts(6, T0);
	assert_false(bftm_contend_retold(&c, 6));
	wake(c.base.wake_ns, 0, 0);
	asserts(ALL, BFTM_MODE_EX);
	/* And one that has heard it, but whose grants do not count. */
	cfg.forgetful = 1 << 5;
	grants(5, BFTM_MODE_EX, c.base.sends, 20, T0);
	assert_true(bftm_contend_retold(&c, 5));
	restarts(5, T0);
	assert_false(bftm_contend_retold(&c, 5));
	bftm_contend_stop(&c, &cfg, &out);
	assert_true(bftm_contend_retold(&c, 6));
}

static void an_offer_of_a_token_counts_for_eight_seconds(void **state)
{
	const u64 life = bftm_lease_at_client(BFTM_PACE_NS, cfg.rho_ppm);
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	want.fence = true;
	start(1, T0);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_EX, 1, 10, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_FENCE);
	for (u = 0; u < 5; u++)
		says_of(u, BFTM_MSG_SACK, 0, 1, T0);
	/* The sixth comes when the first may have forgotten: it is asked anew. */
	assert_int_equal(says_of(5, BFTM_MSG_SACK, 0, 1, T0 + life + 1), BFTM_PENDING);
	assert_true(c.base.token > 1);
	for (u = 0; u < 6; u++)
		says_of(u, BFTM_MSG_SACK, 0, c.base.token, T0 + life + 2);
	assert_int_equal(out.verdict, BFTM_WON);
}

/* Such a server may have a quarantine that is over before the offer is. */
static void a_server_that_grants_leases_alone_stamps_none(void **state)
{
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	want.fence = true;
	start(1, T0);
	refuses(6, BFTM_REFUSED_ACCESS, T0);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_EX, 1, 10, T0);
	for (u = 1; u < 7; u++)
		assert_int_equal(says_of(u, BFTM_MSG_SACK, 0, 1, T0), BFTM_PENDING);
	assert_int_equal(says_of(0, BFTM_MSG_SACK, 0, 1, T0), BFTM_WON);
}

/* A client without a lease waits for a token for as long as if it had one. */
static void without_tokens_it_gives_up(void **state)
{
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	want.fence = true;
	start(1, T0);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_EX, 1, 10, T0);
	while (c.base.phase == BFTM_PHASE_FENCE) {
		assert_true(c.base.wake_ns <= T0 + BFTM_PACE_NS);
		wake(c.base.wake_ns, 0, 0);
		for (u = 0; u < 7 && c.base.phase == BFTM_PHASE_FENCE; u++)
			refuses(u, BFTM_REFUSED_TOKENS, c.base.wake_ns - 1);
	}
	assert_int_equal(out.verdict, BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_TOKENS);
}

/* Its roll will name the client: till then it is no answer, from however many servers. */
static void a_roll_that_lacks_the_client_ends_nothing(void **state)
{
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_EX;
	start(1, T0);
	for (u = 0; u < 7; u++) {
		refuses(u, BFTM_REFUSED_UNNOTED, T0);
		assert_quiet();
	}
	wake(c.base.wake_ns, 0, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x7f);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, BFTM_MODE_EX, 1, 10, T0), u < 4 ? BFTM_PENDING : BFTM_WON);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_member)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_has_no_end),
		TEST(its_release_is_repeated_until_all_but_b_have_answered),
		TEST(a_server_that_has_forgotten_needs_no_release),
		TEST(a_liar_does_not_set_the_pace),
		TEST(what_is_owed_goes_along),
		TEST(a_server_that_grants_leases_alone_stamps_none),
		TEST(a_roll_that_lacks_the_client_ends_nothing),
		TEST(a_mode_that_is_given_up_is_told_until_each_server_has_answered),
		TEST(a_holder_that_is_probed_is_wanted),
		TEST(a_wait_has_a_pace),
		TEST(an_attempt_that_never_won_is_released_as_any_other),
		TEST(a_restarted_server_is_told_until_it_grants),
		TEST(a_server_that_has_evicted_needs_no_word),
		TEST(a_server_that_did_not_grant_need_not_know),
		TEST(a_waiter_does_not_count_what_was_forgotten),
		TEST(a_lease_is_not_asserted),
		TEST(a_conversion_counts_anew),
		TEST(a_mode_that_was_given_up_does_not_count),
		TEST(an_adopted_lock_is_told_to_all),
		TEST(an_offer_of_a_token_counts_for_eight_seconds),
		TEST(without_tokens_it_gives_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
