// SPDX-License-Identifier: GPL-2.0
/* Modes at one client: which grants count for what is held, and conversions. */
#include "client_convert.h"

/* Inside with the grants of servers 0 ... 4, to send 1. */
static void hold(enum bftm_mode mode)
{
	u32 u;

	want.mode = mode;
	want.wait = BFTM_WAIT_QUEUE;
	start(1, T0);
	assert_int_equal(out.send[0].arg, BFTM_MODE_NL);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, mode, 1, 10, 0, T0), u < 4 ? BFTM_PENDING : BFTM_WON);
	assert_int_equal(bftm_contend_held(&c), mode);
}

static void convert(enum bftm_mode mode, bool once, u64 now)
{
	const struct bftm_conversion to = { .mode = mode, .once = once };

	bftm_contend_convert(&c, &cfg, &to, now, &out);
}

/* All have granted @mode to the last send. Return: when the client wakes. */
static u64 all_grant(enum bftm_mode mode, u64 now)
{
	u32 u;

	for (u = 0; u < 7; u++)
		grants(u, mode, c.base.sends, 20, 0, now);
	return c.base.wake_ns;
}

/* The lease is not to be renewed: what servers were not told they forget after a lease. */
static void a_mode_that_is_given_up_is_told_for_a_lease(void **state)
{
	u64 now = T0;
	u32 sends;

	(void)state;
	hold(BFTM_MODE_EX);
	convert(BFTM_MODE_PR, false, now);
	while (c.base.wake_ns <= bftm_contend_end(&c, &cfg)) {
		assert_true(now < T0 + 3 * L);
		now = c.base.wake_ns;
		sends = c.base.sends;
		wake(now, 0, 0);
		assert_int_equal(c.base.sends, sends + 1);
		grant_to_five(BFTM_MODE_PR, c.base.sends, now);
	}
	assert_true(now > T0 + L / 2);
	assert_int_equal(wake(c.base.wake_ns, 0, 0), BFTM_LAPSED);
}

/* Where all answer, nothing more is said. */
static void a_mode_that_is_given_up_is_told_once(void **state)
{
	(void)state;
	hold(BFTM_MODE_EX);
	convert(BFTM_MODE_PR, false, T0);
	assert_true(all_grant(BFTM_MODE_PR, T0) == bftm_contend_end(&c, &cfg) + 1);
}

/* A helper ends between its report that a mode is given up and the news to the servers. */
static void a_new_helper_tells_what_may_have_been_given_up(void **state)
{
	(void)state;
	want.mode = BFTM_MODE_PR;
	bftm_contend_adopt(&c, &cfg, &want, 7, T0 + L, 3, false);
	assert_true(c.base.wake_ns <= T0);
	wake(T0, 0, 0);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	assert_int_equal(out.send[0].to, ALL);
	assert_true(all_grant(BFTM_MODE_PR, T0) == bftm_contend_end(&c, &cfg) + 1);
	want.mode = BFTM_MODE_EX;
	bftm_contend_adopt(&c, &cfg, &want, 7, T0 + L, 3, false);
	assert_true(c.base.wake_ns == T0 + L + 1);
}

/* The kernel has won it by itself, and holds it as it was asked for. */
static void a_mode_that_was_never_given_up_is_not_told(void **state)
{
	(void)state;
	want.mode = BFTM_MODE_PR;
	want.whole = true;
	bftm_contend_adopt(&c, &cfg, &want, 7, T0 + L, 3, false);
	assert_true(c.base.wake_ns == T0 + L + 1);
}

/* Less than what was asked for is no grant. */
static void a_lesser_grant_does_not_count(void **state)
{
	static const enum bftm_mode lesser[] = { BFTM_MODE_NL, BFTM_MODE_CR, BFTM_MODE_PR,
						 BFTM_MODE_CW };
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_PW;
	want.wait = BFTM_WAIT_QUEUE;
	start(1, T0);
	asks_for(BFTM_MODE_PW, BFTM_MODE_NL);
	for (u = 0; u < 4; u++)
		grants(u, lesser[u], 1, 10, 0, T0);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, u & 1 ? BFTM_MODE_EX : BFTM_MODE_PW, 1, 11, 0, T0),
				 u < 4 ? BFTM_PENDING : BFTM_WON);
}

static void up(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, now);
	assert_int_equal(out.verdict, BFTM_PENDING);
	asks_for(BFTM_MODE_EX, BFTM_MODE_PR);
	assert_int_equal(out.send[0].to, 0x1f);		/* first those that count */
	/* Less than that renews what is held. */
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, BFTM_MODE_PR, 2, 10, 0, now), BFTM_PENDING);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + GOOD);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	/* It polls as all that wait, and asks all. */
	now = c.base.wake_ns;
	assert_true(now <= T0 + 10 * MS + L / 8);
	wake(now, 0, 0);
	asks_for(BFTM_MODE_EX, BFTM_MODE_PR);
	assert_int_equal(out.send[0].to, ALL);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, BFTM_MODE_EX, 3, 20, 0, now),
				 u < 4 ? BFTM_PENDING : BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_EX);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + GOOD);
}

/* Grants of what was held before are none of what is held now. */
static void old_grants_do_not_cover_the_new_mode(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, now);
	for (u = 2; u < 7; u++)
		grants(u, BFTM_MODE_EX, 2, 20, 0, now);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	assert_int_equal(c.server[0].k, 0);
	assert_int_equal(c.server[1].k, 0);
	/* Servers 0 and 1 renew a lesser one: no end of EX moves. */
	bftm_contend_renew(&c, &cfg, now + MS, &out);
	grants(0, BFTM_MODE_PR, 3, 10, 0, now + MS);
	grants(1, BFTM_MODE_PR, 3, 10, 0, now + MS);
	for (u = 2; u < 5; u++)
		grants(u, BFTM_MODE_EX, 3, 20, 0, now + MS);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + GOOD);
}

static void down_at_once_and_old_answers_do_not_count(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold(BFTM_MODE_EX);
	convert(BFTM_MODE_PR, false, now);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	assert_int_equal(out.send[0].to, ALL);		/* all that were asked may have granted */
	assert_int_equal(out.send[0].k, 2);
	grants(5, BFTM_MODE_EX, 1, 10, 0, now);		/* of what was given up */
	assert_int_equal(c.server[5].k, 0);
	/* Up again: an answer to the first send says nothing of a grant that was shrunk. */
	convert(BFTM_MODE_EX, false, now + MS);
	for (u = 0; u < 7; u++)
		assert_int_equal(grants(u, BFTM_MODE_EX, 1, 10, 0, now + MS), BFTM_PENDING);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	for (u = 0; u < 5; u++)
		assert_int_equal(grants(u, BFTM_MODE_EX, 3, 30, 0, now + MS),
				 u < 4 ? BFTM_PENDING : BFTM_CONVERTED);
}

/* Servers that have not heard of a shrink are told again, also when nobody renews. */
static void a_shrink_is_told_until_it_is_answered(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u, i;

	(void)state;
	hold(BFTM_MODE_EX);
	convert(BFTM_MODE_CR, false, now);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_CR, 2, 10, 0, now);
	for (i = 0; i < 3; i++) {
		now = c.base.wake_ns;
		assert_int_equal(wake(now, 0, 0), BFTM_PENDING);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY) & 0x60, 0x60);
		asks_for(BFTM_MODE_CR, BFTM_MODE_CR);
	}
	grants(5, BFTM_MODE_CR, c.base.sends, 10, 0, now);
	says(6, BFTM_MSG_WAIT, 1, now);			/* it has no grant at all */
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_CR, c.base.sends, 10, 0, now);
	assert_int_equal(c.base.wake_ns, bftm_contend_end(&c, &cfg) + 1);
}

/* CW and PR exclude different modes: PW lies on the way, for an instant. */
static void across(void **state)
{
	u64 now = T0 + 10 * MS;

	(void)state;
	hold(BFTM_MODE_CW);
	convert(BFTM_MODE_PR, false, now);
	asks_for(BFTM_MODE_PW, BFTM_MODE_CW);
	assert_int_equal(grant_to_five(BFTM_MODE_PW, 2, now), BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PW);
	convert(BFTM_MODE_PR, false, now);
	assert_int_equal(out.verdict, BFTM_CONVERTED);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + GOOD);
}

/* Grants of the new mode that are older than others of what is held: it waits for newer ones. */
static void the_end_never_comes_nearer(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, now);
	bftm_contend_renew(&c, &cfg, now + 5 * MS, &out);
	for (u = 0; u < 5; u++)
		grants(u, BFTM_MODE_PR, 3, 10, 0, now + 5 * MS);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + 5 * MS + GOOD);
	assert_int_equal(grant_to_five(BFTM_MODE_EX, 2, now + 6 * MS), BFTM_PENDING);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + 5 * MS + GOOD);
	assert_int_equal(grant_to_five(BFTM_MODE_EX, 3, now + 7 * MS), BFTM_CONVERTED);
	assert_int_equal(bftm_contend_end(&c, &cfg), now + 5 * MS + GOOD);
}

/* b liars that say so do not end it, and b + 1 servers do. */
static void a_deadlock_is_told_by_a_correct_server(void **state)
{
	u64 now = T0 + 10 * MS;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, now);
	assert_int_equal(grants(0, BFTM_MODE_PR, 2, 10, BFTM_FLAG_DEADLOCK, now), BFTM_PENDING);
	assert_int_equal(grants(0, BFTM_MODE_PR, 2, 10, BFTM_FLAG_DEADLOCK, now), BFTM_PENDING);
	assert_int_equal(grants(1, BFTM_MODE_PR, 2, 10, BFTM_FLAG_DEADLOCK, now), BFTM_KEPT);
	assert_int_equal(out.kept, BFTM_KEPT_DEADLOCK);
	assert_int_equal(bftm_contend_held(&c), BFTM_MODE_PR);
	asks_for(BFTM_MODE_PR, BFTM_MODE_PR);
	assert_int_equal(out.send[0].to, ALL);
	/* Over there meanwhile: what comes of it now is too late. */
	assert_int_equal(grants(2, BFTM_MODE_EX, 2, 20, 0, now), BFTM_PENDING);
	assert_int_equal(c.server[2].more_ns, 0);
}

static void once(void **state)
{
	u64 now = T0 + 10 * MS;
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, true, now);
	grants(0, BFTM_MODE_EX, 2, 20, 0, now);
	grants(1, BFTM_MODE_PR, 2, 10, 0, now);
	assert_int_equal(grants(2, BFTM_MODE_PR, 2, 10, 0, now), BFTM_PENDING);
	assert_int_equal(grants(3, BFTM_MODE_PR, 2, 10, 0, now), BFTM_KEPT);	/* n - F + 1 */
	assert_int_equal(out.kept, BFTM_KEPT_BLOCKED);
	for (u = 0; u < 7; u++)
		assert_int_equal(c.server[u].more_ns, 0);
	/* And given up by the caller. */
	convert(BFTM_MODE_EX, false, now + MS);
	bftm_contend_keep(&c, &cfg, now + 2 * MS, &out);
	assert_int_equal(out.verdict, BFTM_KEPT);
	assert_int_equal(out.kept, BFTM_KEPT_ASKED);
	bftm_contend_keep(&c, &cfg, now + 2 * MS, &out);
	assert_quiet();
}

/* It yields what it does not hold, and keeps what it does. */
static void a_converter_yields_the_rest(void **state)
{
	const u64 now = T0 + 10 * MS;
	const struct bftm_msg inquire = {
		.type = BFTM_MSG_INQUIRE, .attempt = 1, .k = 2, .gno = 20, .mode = BFTM_MODE_EX,
	};
	u32 u;

	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, now);
	for (u = 0; u < 4; u++)
		grants(u, BFTM_MODE_EX, 2, 20, 0, now);
	bftm_contend_answer(&c, &cfg, 0, &inquire, now, 0, &out);
	assert_int_equal(out.send[0].type, BFTM_MSG_YIELD);
	assert_int_equal(out.send[0].gno, 20);
	assert_int_equal(out.send[0].arg, BFTM_MODE_PR);
	assert_int_equal(grants(4, BFTM_MODE_EX, 2, 20, 0, now), BFTM_PENDING);
	/* The server has not heard of it. */
	assert_int_equal(grants(0, BFTM_MODE_EX, 2, 20, 0, now), BFTM_PENDING);
	assert_int_equal(out.send[0].type, BFTM_MSG_YIELD);
	assert_int_equal(grants(0, BFTM_MODE_EX, 2, 22, 0, now), BFTM_CONVERTED);
	/* A held mode is not yielded. */
	bftm_contend_answer(&c, &cfg, 1, &inquire, now, 0, &out);
	assert_quiet();
}

/* Server @u asks for its grant of @mode. */
static void inquires(u32 u, enum bftm_mode mode, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_INQUIRE, .attempt = 1, .k = 1, .gno = 10, .mode = mode,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
}

/* Somebody waits for the mode that is held: not for one that was, or is only on the way. */
static void wanted_is_the_mode_that_is_held(void **state)
{
	const u64 now = T0 + 10 * MS;

	(void)state;
	hold(BFTM_MODE_EX);
	inquires(0, BFTM_MODE_EX, now);
	inquires(1, BFTM_MODE_EX, now);
	assert_true(c.base.wanted);
	/* The waiter may be content with this mode: servers ask again if it is not. */
	convert(BFTM_MODE_PR, false, now);
	assert_false(c.base.wanted);
	inquires(2, BFTM_MODE_EX, now);
	inquires(3, BFTM_MODE_EX, now);
	assert_false(c.base.wanted);
	inquires(4, BFTM_MODE_PR, now);
	assert_false(c.base.wanted);
	/* Also while it converts to more; a grant that it only wants is not what it holds. */
	convert(BFTM_MODE_EX, false, now);
	inquires(5, BFTM_MODE_EX, now);
	assert_false(c.base.wanted);
	inquires(5, BFTM_MODE_PR, now);
	assert_true(c.base.wanted);
	/* A conversion that came to nothing has given nothing up. */
	bftm_contend_keep(&c, &cfg, now, &out);
	assert_true(c.base.wanted);
}

/* The lease of what is held goes on to count, whatever becomes of the conversion. */
static void over_in_the_middle(void **state)
{
	(void)state;
	hold(BFTM_MODE_PR);
	convert(BFTM_MODE_EX, false, T0 + GOOD);
	assert_int_equal(out.verdict, BFTM_PENDING);
	c.base.wake_ns = T0 + GOOD + 1;
	assert_int_equal(wake(T0 + GOOD + 1, 0, 0), BFTM_LAPSED);
	convert(BFTM_MODE_EX, false, T0 + GOOD + 2);
	assert_quiet();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
	const struct CMUnitTest tests[] = {
		TEST(a_mode_that_is_given_up_is_told_for_a_lease),
		TEST(a_mode_that_is_given_up_is_told_once),
		TEST(a_new_helper_tells_what_may_have_been_given_up),
		TEST(a_mode_that_was_never_given_up_is_not_told),
		TEST(a_lesser_grant_does_not_count),
		TEST(up),
		TEST(old_grants_do_not_cover_the_new_mode),
		TEST(down_at_once_and_old_answers_do_not_count),
		TEST(a_shrink_is_told_until_it_is_answered),
		TEST(across),
		TEST(the_end_never_comes_nearer),
		TEST(a_deadlock_is_told_by_a_correct_server),
		TEST(once),
		TEST(a_converter_yields_the_rest),
		TEST(wanted_is_the_mode_that_is_held),
		TEST(over_in_the_middle),
	};

	return cmocka_run_group_tests_name("client convert", tests, NULL, NULL);
}
