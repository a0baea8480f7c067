// SPDX-License-Identifier: GPL-2.0
/* Suspicion: a client suspects servers, some have excuses, and all can prove themselves. */
#include "asking.h"

/* An acquire in which @deny and @silent do not do, and the others are asked. */
static void second_step(u32 deny, u32 silent)
{
	hear(t.first & ~deny & ~silent, true);
	hear(t.first & deny, false);
	if (silent)
		bftm_ask_due(&cfg, &t, t.begun_ns + t.hedge_ns + 1);
	bftm_ask_more(&t, ALL, t.begun_ns + t.hedge_ns + 1);
	won();
}

static void one_step(void)
{
	hear(t.asked, true);
	won();
}

/* Server @u misses, in a lock of which it is asked first; where many do, by noise. */
static void miss(u32 u)
{
	want.lock = 1;
	for (begin(T0); !(t.first >> u & 1) && want.lock < 1000; begin(T0))
		want.lock++;
	second_step(1u << u, 0);
}

static void second_miss_is_suspicious(void **state)
{
	(void)state;
	miss(3);
	assert_int_equal(ask.suspected, 0);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	want.lock = 1;
	begin(T0);
	assert_int_equal(t.asked & ~t.probe & 1u << 3, 0);
}

/* FREE in time makes up for a miss, one for each point. */
static void a_miss_is_forgotten(void **state)
{
	int i;

	(void)state;
	miss(3);
	want.lock = 1;
	for (i = 0; i < 200; i++) {
		begin(T0);
		one_step();
		want.lock++;
	}
	miss(3);
	assert_int_equal(ask.suspected, 0);
}

/* No answer by h, and FREE later, is as bad as none. */
static void late_is_missed(void **state)
{
	u32 u;

	(void)state;
	begin(T0);
	u = bftm_lowest(t.first);
	hear(t.first & ~(1u << u), true);
	bftm_ask_due(&cfg, &t, T0 + H);		/* not over yet */
	assert_int_equal(ask.server[u].score, 0);
	bftm_ask_heard(&cfg, &t, u, true, T0, T0 + H + 1);
	assert_true(ask.server[u].score);
	/* Once. */
	bftm_ask_due(&cfg, &t, T0 + H + 1);
	assert_int_equal(ask.server[u].score, 64);
}

/* More than b that deny: others want the lock, and nobody lies. */
static void contention_is_nobodys_fault(void **state)
{
	u32 u, one, i;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(T0);
		one = lowest(t.first);
		second_step(one | lowest(t.first & ~one), 0);
	}
	assert_int_equal(ask.suspected, 0);
	for (u = 0; u < 7; u++)
		assert_int_equal(ask.server[u].score, 0);
}

/*
 * Honest servers deny a TRY that has overtaken RELEASE of this very host. One that has answered
 * RELEASE has no such excuse, and none has it twice in 16 attempts.
 */
static void own_release_is_an_excuse(void **state)
{
	u32 one, two;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0 - 4 * TRIP);
	begin(T0);
	assert_int_equal(t.own, ALL);
	one = lowest(t.first);
	two = lowest(t.first & ~one);
	second_step(one, 0);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
	/* The steps are counted all the same. */
	ask.adapts = true;
	begin(T0);
	second_step(two, 0);
	assert_int_equal(ask.server[bftm_lowest(two)].score, 0);
	assert_int_equal(ask.pressure, 128);
	begin(T0);
	second_step(one, 0);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 64);
	begin(T0 + 1);
	assert_int_equal(t.own, 0);
	want.lock = 1 + BFTM_ASK_RELEASES;
	begin(T0);
	assert_int_equal(t.own, 0);
}

static void an_excuse_lasts_16_attempts(void **state)
{
	u32 i, one;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0);
	for (i = 0; i < 33; i++) {
		begin(T0);
		one = lowest(t.first);
		if (i % 16)
			one_step();
		else
			second_step(one, 0);
	}
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
}

static void who_answers_release_has_no_excuse(void **state)
{
	u32 one;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0);
	begin(T0);
	one = lowest(t.first);
	/* RELEASE of another lock. */
	bftm_ask_release_heard(&ask, 1 + BFTM_ASK_RELEASES, bftm_lowest(one));
	bftm_ask_release_heard(NULL, 1, bftm_lowest(one));
	begin(T0);
	assert_int_equal(t.own, ALL);
	bftm_ask_release_heard(&ask, 1, bftm_lowest(one));
	begin(T0);
	assert_int_equal(t.own, ALL & ~one);
	second_step(one, 0);
	begin(T0);
	second_step(one, 0);
	assert_int_equal(ask.suspected, one);
}

/* FREE and then INQUIRE is a denial; a denial and then FREE is none. */
static void the_last_word_counts(void **state)
{
	u32 one;

	(void)state;
	begin(T0);
	one = lowest(t.first);
	hear(t.first, true);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL & ~one);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 64);
	ask.server[bftm_lowest(one)].score = 0;
	begin(T0);
	hear(t.first & ~one, true);
	hear(one, false);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
	/* A server whose grants do not count can say what it likes. */
	cfg.forgetful = one;
	begin(T0);
	t.first |= one;
	hear(t.first, true);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL & ~one);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
}

/* A suspected server is asked as well, and says so. */
static void proves(u32 u, bool free)
{
	begin(T0);
	t.probe = 1u << u;
	t.asked |= t.probe;
	hear(1u << u, free);
}

/* 1, 2, 4 … 64 times FREE in time in a row, and it is trusted. */
static void suspicion_ends_by_proof(void **state)
{
	u32 level, i, owed;

	(void)state;
	for (level = 1; level <= 9; level++) {
		ask.missed = 0;
		miss(3);
		miss(3);
		owed = 1u << ((level < 7 ? level : 7) - 1);
		for (i = 1; i < owed; i++)
			proves(3, true);
		assert_int_equal(ask.suspected, 1u << 3);
		proves(3, false);		/* the count begins anew */
		for (i = 0; i < owed; i++) {
			assert_int_equal(ask.suspected, 1u << 3);
			proves(3, true);
		}
		assert_int_equal(ask.suspected, 0);
	}
}

/* 1,024 FREE in a row make up for one suspicion. */
static void levels_sink(void **state)
{
	u32 i;

	(void)state;
	ask.server[0].level = 2;
	for (i = 0; i < 2048; i++) {
		assert_int_equal(ask.server[0].level, 2 - i / 1024);
		begin(T0);
		t.first = t.asked = 1;
		hear(1, true);
	}
	assert_int_equal(ask.server[0].level, 0);
}

/* Where one in 64 is missed, a server is suspected at the third. */
static void noise_is_tolerated(void **state)
{
	(void)state;
	ask.missed = BFTM_ASK_ONE / 20;
	miss(3);
	miss(3);
	assert_int_equal(ask.suspected, 0);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	/* However much is missed, a miss weighs 4. */
	ask.missed = BFTM_ASK_ONE;
	ask.server[2].score = 0;
	miss(2);
	assert_int_equal(ask.server[2].score, 4);
}

/* A liar that was found makes nobody ask more. */
static void suspicion_takes_pressure_away(void **state)
{
	(void)state;
	ask.adapts = true;
	miss(3);
	assert_int_equal(ask.pressure, 128);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	assert_int_equal(ask.pressure, 128);
	assert_int_equal(ask.spare, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(second_miss_is_suspicious, fresh),
		cmocka_unit_test_setup(a_miss_is_forgotten, fresh),
		cmocka_unit_test_setup(late_is_missed, fresh),
		cmocka_unit_test_setup(contention_is_nobodys_fault, fresh),
		cmocka_unit_test_setup(own_release_is_an_excuse, fresh),
		cmocka_unit_test_setup(an_excuse_lasts_16_attempts, fresh),
		cmocka_unit_test_setup(who_answers_release_has_no_excuse, fresh),
		cmocka_unit_test_setup(the_last_word_counts, fresh),
		cmocka_unit_test_setup(suspicion_ends_by_proof, fresh),
		cmocka_unit_test_setup(levels_sink, fresh),
		cmocka_unit_test_setup(noise_is_tolerated, fresh),
		cmocka_unit_test_setup(suspicion_takes_pressure_away, fresh),
	};

	return cmocka_run_group_tests_name("ask suspect", tests, NULL, NULL);
}
