// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of one host that can hold a lock together: when each of them begins to ask servers,
 * and what those are told that ask once.
 * A holder that takes a lesser mode lets others begin.
 */
#include "beside.h"

static void tries(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.once = true;
	ask.timeout_at_ns = T0 + 1;
	bftm_acquire_begin(&ask);
}

static void adopts(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.attempt = id;
	ask.end_ns = T0 + 1;
	bftm_acquire_held(&ask);
}

/* A server says that somebody else has the lock; enough others have said so. */
static void locked_for(u64 id)
{
	contended = true;
	answer(id, BFTM_MSG_LOCKED);
}

/* The kernel has waited: the program hears at once whether servers answered. */
static void the_kernel_has_waited(void **state)
{
	struct bftm_ask ask = ask_of(1, BFTM_LOCK_EX);

	(void)state;
	cl.conf.n = 4;
	cl.cfg.n = 4;
	cl.cfg.b = 1;
	bftm_acquire_expired(&ask);
	ask.id = 2;
	ask.silent = bftm_all(4);
	bftm_acquire_expired(&ask);
	/* As many answered as win a lock, and servers that this cluster does not have. */
	ask.id = 3;
	ask.silent = ~bftm_all(bftm_win(&cl.cfg));
	bftm_acquire_expired(&ask);
	assert_string_equal(story, "late 1, failed 2, late 3");
}

/* A lock that the kernel asked for goes on where the kernel stood, and never back. */
static void the_kernel_knows_a_priority(void **state)
{
	static const struct {
		u64 kernel, begins;
	} cases[] = { { 0, 0 }, { 41, 41 }, { 7, 41 } };
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct bftm_ask ask = ask_of(i + 1, BFTM_LOCK_EX);

		ask.timeout_at_ns = T0 + 1;
		ask.prio = cases[i].kernel;
		begun_prio = ~0ull;
		bftm_acquire_begin(&ask);
		assert_int_equal(begun_prio, cases[i].begins);
		free_for(i + 1);
		releases(i + 1);
	}
}

static void readers_hold_together_and_a_writer_comes_between(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	waits(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_EX);
	waits(4, BFTM_LOCK_PR);
	free_for(1);
	free_for(2);
	releases(1);
	releases(2);
	free_for(3);
	releases(3);
	free_for(4);
	assert_string_equal(story, "asks 1, holds 1, asks 2, holds 2, gives back 1, gives back 2, "
			    "asks 3, holds 3, gives back 3, asks 4, holds 4");
}

static void an_answer_to_a_holder_does_not_begin_another(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_PR);
	free_for(1);			/* a renewal */
	assert_string_equal(story, "asks 1, holds 1, asks 2");
}

static void one_that_is_adopted_is_beside_a_reader(void **state)
{
	(void)state;
	adopts(1, BFTM_LOCK_PR);
	waits(2, BFTM_LOCK_EX);
	waits(3, BFTM_LOCK_PR);
	bftm_acquire_cancel(2);
	assert_string_equal(story, "asks 3");
}

static void who_waits_here_too_long_lets_others_by(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_EX);
	waits(3, BFTM_LOCK_PR);
	identity.names.tree.rbh_root->waiting.tqh_first->timer.fire(
		&identity.names.tree.rbh_root->waiting.tqh_first->timer);
	assert_string_equal(story, "asks 1, holds 1, late 2, asks 3");
}

static void who_asks_once_is_busy_behind_what_it_excludes(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	tries(2, BFTM_LOCK_EX);
	tries(3, BFTM_LOCK_PW);
	tries(4, BFTM_LOCK_PR);
	free_for(4);
	waits(5, BFTM_LOCK_EX);
	tries(6, BFTM_LOCK_PR);		/* would overtake the writer */
	tries(7, BFTM_LOCK_CR);
	assert_string_equal(story, "asks 1, holds 1, busy 2, busy 3, asks 4, holds 4, busy 6, busy 7");
}

/* While a first one asks for it, two more that can hold it too wait for the answers. */
static void who_asks_once_waits_for_the_first_answers(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	tries(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_EX);
	free_for(1);
	free_for(2);
	free_for(3);
	assert_string_equal(story, "asks 1, busy 4, holds 1, asks 2, holds 2, asks 3, holds 3");
}

static void and_is_busy_when_others_have_it(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	waits(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_PR);
	locked_for(1);
	tries(5, BFTM_LOCK_PR);
	contended = false;
	free_for(1);
	free_for(3);
	assert_string_equal(story, "asks 1, busy 2, busy 4, busy 5, holds 1, asks 3, holds 3");
}

static void but_not_for_ever(void **state)
{
	struct bftm_acquire_op *op;

	(void)state;
	waits(1, BFTM_LOCK_PR);
	tries(2, BFTM_LOCK_PR);
	op = bftm_name_once(bftm_name_find(&identity.names, (const u8 *)"x", 1));
	assert_non_null(op);
	assert_int_equal(op->timer.at_ns, T0 + 1);
	op->timer.fire(&op->timer);
	assert_string_equal(story, "asks 1, late 2");
}

/* EX to CW to CR: each begins as soon as nothing that is held excludes it. */
static void others_begin_when_a_holder_takes_a_lesser_mode(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_EX);
	free_for(1);
	waits(2, BFTM_LOCK_CW);
	waits(3, BFTM_LOCK_PW);
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_PR, 0);
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	free_for(2);
	converts(2, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	assert_string_equal(story, "asks 1, holds 1, converts 1, converts 1, asks 2, holds 2, "
			    "converts 2, asks 3");
}

/* Servers know who goes before: it is held as before until they have answered. */
static void one_that_wants_more_keeps_nobody_here_from_asking(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 1);
	waits(2, BFTM_LOCK_PR);
	assert_string_equal(story, "asks 1, holds 1, converts 1, asks 2");
}

static void a_conversion_of_an_earlier_daemon_is_taken_over(void **state)
{
	(void)state;
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 7);
	waits(2, BFTM_LOCK_EX);
	assert_string_equal(story, "converts 1");
	releases(1);
	assert_string_equal(story, "converts 1, gives back 1, asks 2");
}

/* Holders hear of those that wait here, before them or after; and once more in another mode. */
static void holders_hear_of_those_that_wait_here(void **state)
{
	(void)state;
	waits(1, BFTM_LOCK_PR);
	free_for(1);
	waits(2, BFTM_LOCK_CR);
	adopts(3, BFTM_LOCK_PR);
	tries(4, BFTM_LOCK_PR);
	assert_string_equal(wanted, "");
	waits(5, BFTM_LOCK_EX);
	assert_string_equal(wanted, "1, 3");
	free_for(2);			/* it came before */
	assert_string_equal(wanted, "1, 3, 2");
	free_for(2);
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_CR, 0);
	assert_string_equal(wanted, "1, 3, 2, 1");
	converts(1, BFTM_LOCK_CR, BFTM_LOCK_EX, 8);
	assert_string_equal(wanted, "1, 3, 2, 1, 1");
}

/* Servers need not tell them: they know what each of them holds, perhaps. */
static void and_of_those_that_convert_here(void **state)
{
	(void)state;
	adopts(1, BFTM_LOCK_PR);
	adopts(2, BFTM_LOCK_PR);
	converts(2, BFTM_LOCK_PR, BFTM_LOCK_CR, 0);
	assert_string_equal(wanted, "");
	converts(2, BFTM_LOCK_CR, BFTM_LOCK_EX, 7);
	assert_string_equal(wanted, "1");
	/* An earlier daemon went on with that one. */
	adopts(3, BFTM_LOCK_CR);
	assert_string_equal(wanted, "1, 3");
	converts(3, BFTM_LOCK_CR, BFTM_LOCK_EX, 8);
	assert_string_equal(wanted, "1, 3, 2, 3");
}

static void or_reported_where_that_cannot_be(void **state)
{
	(void)state;
	unknown = true;
	converts(1, BFTM_LOCK_PR, BFTM_LOCK_EX, 7);
	converts(2, BFTM_LOCK_PR, BFTM_LOCK_PR, 0);	/* nobody waits */
	assert_string_equal(story, "cannot convert 1");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, one_cluster, forgotten)
	const struct CMUnitTest tests[] = {
		TEST(readers_hold_together_and_a_writer_comes_between),
		TEST(the_kernel_has_waited),
		TEST(the_kernel_knows_a_priority),
		TEST(an_answer_to_a_holder_does_not_begin_another),
		TEST(one_that_is_adopted_is_beside_a_reader),
		TEST(who_waits_here_too_long_lets_others_by),
		TEST(who_asks_once_is_busy_behind_what_it_excludes),
		TEST(who_asks_once_waits_for_the_first_answers),
		TEST(and_is_busy_when_others_have_it),
		TEST(but_not_for_ever),
		TEST(others_begin_when_a_holder_takes_a_lesser_mode),
		TEST(one_that_wants_more_keeps_nobody_here_from_asking),
		TEST(a_conversion_of_an_earlier_daemon_is_taken_over),
		TEST(or_reported_where_that_cannot_be),
		TEST(holders_hear_of_those_that_wait_here),
		TEST(and_of_those_that_convert_here),
	};

	return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
