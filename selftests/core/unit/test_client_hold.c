// SPDX-License-Identifier: GPL-2.0
/* contend() of one client that holds: renewal, and locks of an earlier helper. */
#include "contender.h"

#define HALF	(T0 + L / 2)

static int renewing_client(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_QUEUE;
	want.renew = true;
	return 0;
}

static void hold(u64 attempt, u64 now)
{
	start(attempt, now);
	assert_int_equal(all_say(0x1f, BFTM_MSG_FREE, now + 1), BFTM_WON);
}

/* Those say FREE to send @k; was the hold extended by the last of them? */
static bool refreshed(u32 set, u32 k, u64 now)
{
	bool extended = false;
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1) {
			assert_int_equal(says(u, BFTM_MSG_FREE, k, now), BFTM_PENDING);
			extended = out.extended;
		}
	return extended;
}

static void renewed_at_half_of_the_lease(void **state)
{
	u64 from = T0, now;
	u32 k;

	(void)state;
	hold(1, T0);
	for (k = 2; k < 40; k++) {
		assert_int_equal(c.base.wake_ns, from + L / 2);
		now = c.base.wake_ns;
		assert_int_equal(wake(now, 99, 0), BFTM_PENDING);
		/* Those by whose grants it holds; never NOQUEUE, whatever it waits by. */
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), k == 2 ? 0x1f : 0x5f);
		assert_int_equal(out.send[0].k, k);
		assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
		assert_int_equal(out.send[0].flags, 0);
		assert_int_equal(c.base.sends, k);
		assert_int_equal(c.base.attempt, 1);
		assert_false(refreshed(0x0f, k, now + 1));
		assert_int_equal(bftm_contend_end(&c, &cfg), from + GOOD);
		assert_true(refreshed(0x40, k, now + 1));
		assert_int_equal(bftm_contend_end(&c, &cfg), now + GOOD);
		from = now;
	}
}

static void not_renewed_unless_wanted(void **state)
{
	(void)state;
	want.renew = false;
	hold(1, T0);
	assert_int_equal(c.base.wake_ns, T0 + GOOD + 1);
	bftm_contend_renew(&c, &cfg, T0 + 5 * MS, &out);	/* but once */
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x1f);
	assert_true(refreshed(0x1f, 2, T0 + 6 * MS));
	assert_int_equal(c.base.wake_ns, T0 + 5 * MS + GOOD + 1);
}

/* Answers are lost: soon again, later each time, and never after the end. */
static void renewals_are_repeated_until_the_end(void **state)
{
	u64 end = T0 + GOOD, last = HALF;
	u32 sends = 0;

	(void)state;
	hold(1, T0);
	while (c.base.wake_ns <= end) {
		assert_true(c.base.wake_ns >= last);
		assert_true(c.base.wake_ns - last <= (sends ? L / 16 : 0));
		last = c.base.wake_ns;
		assert_int_equal(wake(last, 99, 0), BFTM_PENDING);
		/* Not F answers by now: all are asked, and who grants then counts. */
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), sends ? ALL : 0x1f);
		sends++;
	}
	assert_int_equal(sends, 9);		/* after 0, 40, 40, then 62.5 ms each */
	assert_int_equal(c.base.wake_ns, end + 1);
	assert_int_equal(wake(end + 1, 99, 0), BFTM_LAPSED);
	assert_cancelled(1);
	/* A renewal that completes now is discarded, and given back. */
	says(0, BFTM_MSG_FREE, c.base.sends, end + 2);
	assert_int_equal(out.release_to, 1);
	assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
}

/* Two of its five are silent, and one that had granted nothing takes part from now on. */
static void servers_that_did_not_grant_are_recruited(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_BACKOFF;
	hold(1, T0);
	wake(HALF, 99, 0);
	assert_int_equal(out.send[0].flags, 0);
	assert_false(refreshed(0x07, 2, HALF + 1));
	assert_int_equal(c.base.wake_ns, HALF + RESEND);
	wake(HALF + RESEND, 99, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(out.send[0].k, 3);
	assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
	assert_int_equal(out.send[0].flags, 0);
	/* A place in a queue is no grant; what comes of it is. */
	says(5, BFTM_MSG_WAIT, 3, HALF + RESEND + 1);
	assert_quiet();
	assert_false(refreshed(0x20, 3, HALF + RESEND + 2));
	assert_true(refreshed(0x40, 3, HALF + RESEND + 3));
	assert_int_equal(bftm_contend_end(&c, &cfg), HALF + GOOD);
	assert_int_equal(c.base.wake_ns, HALF + L / 2);
	wake(HALF + L / 2, 99, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
}

/* The answer that would extend comes too late: it only shows the lapse. */
static void a_renewal_that_completes_late_is_discarded(void **state)
{
	(void)state;
	hold(1, T0);
	wake(HALF, 99, 0);
	refreshed(0x0f, 2, HALF + 1);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, T0 + GOOD), BFTM_PENDING);
	assert_true(out.extended);		/* at the last instant */
	hold(2, T0);
	wake(HALF, 99, 0);
	refreshed(0x0f, 2, HALF + 1);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, T0 + GOOD + 1), BFTM_LAPSED);
	assert_false(out.extended);
	assert_cancelled(2);
}

/* Late answers to the first send move the end as well, and that is told. */
static void every_move_of_the_end_is_told(void **state)
{
	(void)state;
	want.renew = false;
	want.wait = BFTM_WAIT_BACKOFF;
	start(1, T0);
	all_say(0x07, BFTM_MSG_FREE, T0);
	wake(T0 + RESEND, 0, 0);
	says(3, BFTM_MSG_FREE, 2, T0 + RESEND);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, T0 + RESEND), BFTM_WON);
	assert_false(out.extended);
	says(5, BFTM_MSG_FREE, 2, T0 + RESEND);
	assert_false(out.extended);
	says(6, BFTM_MSG_FREE, 2, T0 + RESEND);
	assert_false(out.extended);
	says(0, BFTM_MSG_FREE, 2, T0 + RESEND);
	assert_true(out.extended);
	assert_int_equal(c.base.wake_ns, T0 + RESEND + GOOD + 1);
}

static void renew_in_other_phases(void **state)
{
	(void)state;
	bftm_contend_renew(&c, &cfg, T0, &out);
	assert_quiet();
	start(1, T0);
	bftm_contend_renew(&c, &cfg, T0, &out);
	assert_quiet();
	all_say(0x1f, BFTM_MSG_FREE, T0);
	bftm_contend_renew(&c, &cfg, T0 + GOOD, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x1f);
	bftm_contend_renew(&c, &cfg, T0 + GOOD + 1, &out);
	assert_int_equal(out.verdict, BFTM_LAPSED);
	assert_cancelled(1);
	bftm_contend_renew(&c, &cfg, T0 + GOOD + 2, &out);
	assert_quiet();
}

/* A program that asks all the time has its lock renewed by the answers to the first time. */
static void renewed_faster_than_servers_answer(void **state)
{
	u32 i;

	(void)state;
	start(1, T0);
	all_say(0x1f, BFTM_MSG_FREE, T0);
	for (i = 0; i < 2 * BFTM_SENDS; i++)
		bftm_contend_renew(&c, &cfg, T0 + MS + i, &out);
	assert_int_equal(c.base.sends, 2);
	for (i = 0; i < 5; i++)
		says(i, BFTM_MSG_FREE, 2, T0 + 2 * MS);
	assert_true(out.extended);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + MS + GOOD);
	/* It has been answered: the next one goes out. */
	bftm_contend_renew(&c, &cfg, T0 + 2 * MS, &out);
	assert_int_equal(c.base.sends, 3);
	/* Nobody answers: it is sent again, by the program or by time, at the same time. */
	bftm_contend_renew(&c, &cfg, c.poll_ns, &out);
	assert_int_equal(c.base.sends, 4);
}

static void adopt(u64 attempt, u64 end, u32 sends, u64 now)
{
	memset(&c, 0, sizeof(c));
	bftm_contend_adopt(&c, &cfg, &want, attempt, end, sends, false);
	assert_int_equal(c.base.wake_ns, end + 1);
	bftm_contend_renew(&c, &cfg, now, &out);
}

/* A new helper: it holds until the end it was told, and renews at once. */
static void adopted(void **state)
{
	const u64 end = T0 + 300 * MS;

	(void)state;
	want.renew = false;
	adopt(77, end, 12, T0);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_int_equal(c.base.attempt, 77);
	assert_int_equal(c.base.sends, 12 + BFTM_ADOPT_SENDS + 1);
	assert_int_equal(out.send[0].flags, 0);
	assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
	assert_int_equal(bftm_contend_end(&c, &cfg), end);
	assert_false(refreshed(0x0f, c.base.sends, T0 + 1));
	assert_true(refreshed(0x10, c.base.sends, T0 + 1));
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	assert_int_equal(c.base.wake_ns, T0 + GOOD + 1);
}

/* An answer to the dead helper's sends says nothing about ours. */
static void answers_to_the_helper_before(void **state)
{
	const u64 end = T0 + 300 * MS;
	u32 u, k;

	(void)state;
	adopt(77, end, 12, T0);
	for (u = 0; u < cfg.n; u++)
		for (k = 0; k <= 12 + BFTM_ADOPT_SENDS; k += k < 20 ? 1 : 91) {
			says(u, BFTM_MSG_FREE, k, T0 + 1);
			assert_false(out.extended);
		}
	says(0, BFTM_MSG_FREE, 12 + BFTM_ADOPT_SENDS, T0 + 1);
	assert_int_equal(bftm_contend_end(&c, &cfg), end);
}

static void adopted_until_its_end(void **state)
{
	const u64 end = T0 + 300 * MS;

	(void)state;
	adopt(77, end, 0, T0);
	while (c.base.wake_ns <= end)
		assert_int_equal(wake(c.base.wake_ns, 99, 0), BFTM_PENDING);
	assert_int_equal(wake(end + 1, 99, 0), BFTM_LAPSED);
	assert_cancelled(77);
	/* Nor is it taken over after that, but servers are told. */
	adopt(78, end, 0, end);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	adopt(79, end, 0, end + 1);
	assert_int_equal(out.verdict, BFTM_LAPSED);
	assert_cancelled(79);
}

/* An end that is known to be later than what servers confirm stays. */
static void a_known_end_is_never_taken_back(void **state)
{
	const u64 end = T0 + 2 * L;

	(void)state;
	adopt(77, end, 0, T0);
	assert_false(refreshed(ALL, c.base.sends, T0 + 1));
	assert_int_equal(bftm_contend_end(&c, &cfg), end);
	/* Nor does it outlive its attempt. */
	bftm_contend_stop(&c, &cfg, &out);
	start(78, T0);
	assert_int_equal(bftm_contend_end(&c, &cfg), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, renewing_client)
	const struct CMUnitTest tests[] = {
		TEST(renewed_at_half_of_the_lease),
		TEST(not_renewed_unless_wanted),
		TEST(renewals_are_repeated_until_the_end),
		TEST(servers_that_did_not_grant_are_recruited),
		TEST(a_renewal_that_completes_late_is_discarded),
		TEST(every_move_of_the_end_is_told),
		TEST(renew_in_other_phases),
		TEST(renewed_faster_than_servers_answer),
		TEST(adopted),
		TEST(answers_to_the_helper_before),
		TEST(adopted_until_its_end),
		TEST(a_known_end_is_never_taken_back),
	};

	return cmocka_run_group_tests_name("client hold", tests, NULL, NULL);
}
