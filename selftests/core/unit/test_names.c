// SPDX-License-Identifier: GPL-2.0
/* Requests of one host for one lock: which of them hold it together, and whose turn it is. */
#include <string.h>

#include "lock/acquire.h"
#include "lock/names.h"
#include "text/mode.h"
#include "unit.h"

#define REQUESTS	6

static struct bftm_names names;
static struct bftm_acquire_op op[REQUESTS];
static struct bftm_contender client[REQUESTS];

static int nobody(void **state)
{
	(void)state;
	memset(op, 0, sizeof(op));
	memset(client, 0, sizeof(client));
	bftm_names_init(&names);
	return 0;
}

static int all_left(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < REQUESTS; i++)
		if (op[i].name)
			bftm_name_leave(&names, &op[i]);
	bftm_names_free(&names);
	return 0;
}

static struct bftm_acquire_op *join(int i, const char *mode, bool adopted)
{
	op[i].client = &client[i];
	client[i].attempt = 100 + (u64)i;
	op[i].ask.name_len = 1;
	op[i].ask.name[0] = 'x';
	assert_int_equal(bftm_mode_parse(mode, &op[i].ask.mode), 0);
	assert_int_equal(bftm_name_join(&names, &op[i], adopted), 0);
	return &op[i];
}

static bool contends(int i)
{
	assert_int_equal(op[i].name->contender == &op[i],
			 op[i].place == BFTM_PLACE_ACTIVE);
	return op[i].name->contender == &op[i];
}

/* It is told whose turn it is when it wins and when it leaves. */
static int number(const struct bftm_acquire_op *next)
{
	if (!next)
		return -1;
	assert_ptr_equal(next->name->contender, next);
	assert_int_equal(next->place, BFTM_PLACE_ACTIVE);
	return (int)(next - op);
}

static int wins(int i)
{
	assert_true(contends(i));
	return number(bftm_name_won(&op[i]));
}

static int leaves(int i)
{
	return number(bftm_name_leave(&names, &op[i]));
}

/* Modes that a second one holds beside a first one: the table that every DLM has. */
static void two_modes_exclude_each_other_or_not(void **state)
{
	static const char *const modes[] = { "CR", "CW", "PR", "PW", "EX" };
	static const char beside[5][6] = {
		"yyyyn",
		"yynnn",
		"ynynn",
		"ynnnn",
		"nnnnn",
	};
	int first, second;

	for (first = 0; first < 5; first++) {
		for (second = 0; second < 5; second++) {
			nobody(state);
			join(0, modes[first], false);
			assert_int_equal(wins(0), -1);
			join(1, modes[second], false);
			assert_int_equal(contends(1), beside[first][second] == 'y');
			if (!contends(1)) {
				assert_true(bftm_name_excludes(&op[1]));
				assert_int_equal(leaves(0), 1);
			}
			all_left(state);
		}
	}
}

/* Those from @from on that hold together, and leave together. Return: the first that does not. */
static int one_batch(int from, int count, char *held)
{
	int at = from, next = from, begun = -1;

	strcat(held, from ? ", " : "");
	while (next == at) {
		strcat(held, at > from ? " " : "");
		strcat(held, bftm_mode_name(op[at].ask.mode));
		next = wins(at);
		at++;
	}
	assert_int_equal(next, -1);
	for (; from < at; from++) {
		next = leaves(from);
		if (next >= 0)
			begun = next;
	}
	assert_int_equal(begun, at < count ? at : -1);
	return at;
}

/* All come at once, and each wins as soon as it contends. */
static const struct {
	const char *come;
	const char *hold;
} orders[] = {
	{ "EX EX EX", "EX, EX, EX" },
	{ "PR PR PR", "PR PR PR" },
	{ "PR EX PR PR", "PR, EX, PR PR" },	/* readers do not overtake a writer */
	{ "PR PR EX PR EX PR", "PR PR, EX, PR, EX, PR" },
	{ "EX PR PR PW CR", "EX, PR PR, PW CR" },
	{ "PW CR CR PR", "PW CR CR, PR" },
	{ "CW CW PR CW", "CW CW, PR, CW" },
	{ "CR PW PW", "CR PW, PW" },
	{ "CR EX CR", "CR, EX, CR" },
	{ "CW CR PR PR CW", "CW CR, PR PR, CW" },
};

static void in_the_order_in_which_they_came(void **state)
{
	char words[64], held[64], *word, *rest;
	int i, count, at;

	(void)state;
	for (i = 0; i < (int)ARRAY_SIZE(orders); i++) {
		nobody(state);
		snprintf(words, sizeof(words), "%s", orders[i].come);
		*held = '\0';
		for (count = 0, word = strtok_r(words, " ", &rest); word;
		     word = strtok_r(NULL, " ", &rest))
			join(count++, word, false);
		for (at = 0; at < count;)
			at = one_batch(at, count, held);
		assert_string_equal(held, orders[i].hold);
		all_left(state);
	}
}

static void one_contends_at_a_time(void **state)
{
	(void)state;
	join(0, "PR", false);
	join(1, "PR", false);
	join(2, "PR", false);
	assert_true(contends(0));
	assert_false(contends(1));
	assert_false(contends(2));
	assert_int_equal(wins(0), 1);
	/* It gives up: the next one's turn, beside the holder. */
	assert_int_equal(leaves(1), 2);
	assert_int_equal(wins(2), -1);
}

static void the_last_holder_to_leave_lets_a_writer_begin(void **state)
{
	static const int order[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(order); i++) {
		nobody(state);
		join(0, "PR", false);
		wins(0);
		join(1, "CR", false);
		wins(1);
		join(2, "PR", false);
		wins(2);
		join(3, "EX", false);
		assert_int_equal(leaves(order[i][0]), -1);
		assert_int_equal(leaves(order[i][1]), -1);
		assert_int_equal(leaves(order[i][2]), 3);
		all_left(state);
	}
}

/* PW shuts out one holder of two. */
static void only_holders_that_it_excludes_are_waited_for(void **state)
{
	(void)state;
	join(0, "CR", false);
	wins(0);
	join(1, "PR", false);
	wins(1);
	join(2, "PW", false);
	assert_false(contends(2));
	assert_int_equal(leaves(1), 2);
	assert_int_equal(wins(2), -1);
}

static void those_behind_one_that_gives_up_move_on(void **state)
{
	(void)state;
	join(0, "PR", false);
	wins(0);
	join(1, "EX", false);
	join(2, "PR", false);
	join(3, "EX", false);
	assert_false(contends(2));
	/* The writer was cancelled, or its time is over. */
	assert_int_equal(leaves(1), 2);
	assert_int_equal(leaves(3), -1);
	join(4, "PR", false);
	assert_false(contends(4));
	assert_int_equal(wins(2), 4);
}

static void what_was_adopted_is_held(void **state)
{
	(void)state;
	join(0, "PR", true);
	join(1, "PR", true);
	assert_int_equal(op[1].place, BFTM_PLACE_ADOPTED);
	join(2, "PR", false);
	assert_true(contends(2));
	join(3, "PW", false);
	assert_int_equal(wins(2), -1);
	assert_int_equal(leaves(0), -1);
	assert_int_equal(leaves(2), -1);
	assert_int_equal(leaves(1), 3);
	/* Servers see to it that this does not come; here it is no reason to stumble. */
	join(4, "EX", true);
	join(5, "EX", true);
	assert_true(contends(3));
	assert_int_equal(leaves(4), -1);
}

static void a_request_is_found_by_its_attempt(void **state)
{
	struct bftm_name *name = join(0, "PR", false)->name;

	(void)state;
	wins(0);
	join(1, "PR", false);
	join(2, "EX", false);
	join(3, "CR", true);
	assert_ptr_equal(bftm_name_op(name, 100), &op[0]);
	assert_ptr_equal(bftm_name_op(name, 101), &op[1]);
	assert_null(bftm_name_op(name, 102));		/* it has asked nobody */
	assert_ptr_equal(bftm_name_op(name, 103), &op[3]);
}

static void who_asks_once_is_excluded_by_all_before_it(void **state)
{
	(void)state;
	join(0, "PR", false);
	join(1, "PR", false);
	assert_false(bftm_name_excludes(&op[1]));
	join(2, "PW", false);
	join(3, "CR", false);
	assert_true(bftm_name_excludes(&op[2]));
	assert_false(bftm_name_excludes(&op[3]));
	join(4, "PR", false);
	assert_true(bftm_name_excludes(&op[4]));	/* by the writer that waits */
	assert_null(bftm_name_once(op[0].name));
	op[0].ask.once = true;				/* contends: servers will tell it */
	op[3].ask.once = true;
	op[4].ask.once = true;
	assert_ptr_equal(bftm_name_once(op[0].name), &op[3]);
}

/* The first that waits begins when no holder excludes it any more, and nobody else contends. */
static void a_holder_that_excludes_fewer_lets_the_next_begin(void **state)
{
	(void)state;
	join(0, "EX", false);
	wins(0);
	join(1, "PR", false);
	join(2, "CR", false);
	assert_int_equal(number(bftm_name_next(op[0].name)), -1);
	assert_int_equal(bftm_mode_parse("PW", &op[0].ask.mode), 0);
	assert_int_equal(number(bftm_name_next(op[0].name)), -1);	/* the second does not overtake */
	assert_int_equal(bftm_mode_parse("PR", &op[0].ask.mode), 0);
	assert_int_equal(number(bftm_name_next(op[0].name)), 1);
	assert_int_equal(number(bftm_name_next(op[0].name)), -1);
	assert_int_equal(wins(1), 2);
}

/* Knowledge of a lock outlives those that asked for it. */
/* Somebody here waits for what a holder excludes, and servers do not hear of it. */
static void a_holder_that_others_wait_for_is_wanted(void **state)
{
	(void)state;
	join(0, "PR", false);
	wins(0);
	join(1, "CR", true);
	assert_false(bftm_name_wanted(&op[0]));
	join(2, "EX", false);
	join(3, "CR", false);
	assert_true(bftm_name_wanted(&op[0]));
	assert_true(bftm_name_wanted(&op[1]));
	leaves(2);
	assert_false(bftm_name_wanted(&op[0]));
	assert_false(bftm_name_wanted(&op[1]));
	/* One that contends beside a holder waits as soon as the holder has converted to more. */
	leaves(0);
	leaves(3);
	join(4, "PR", false);
	assert_true(contends(4));
	assert_false(bftm_name_wanted(&op[1]));
	assert_int_equal(bftm_mode_parse("CW", &op[1].ask.mode), 0);
	assert_true(bftm_name_wanted(&op[1]));
	leaves(4);
	assert_false(bftm_name_wanted(&op[1]));
	/* The one that is about to have it does not want it from itself. */
	leaves(1);
	join(5, "EX", false);
	assert_true(contends(5));
	assert_false(bftm_name_wanted(&op[5]));
}

static void a_holder_is_wanted_by_another_that_converts(void **state)
{
	(void)state;
	join(0, "PR", true);
	join(1, "PR", true);
	join(2, "CR", true);
	assert_int_equal(bftm_mode_parse("PW", &op[1].ask.goal), 0);
	assert_false(bftm_name_wanted(&op[0]));		/* that was an earlier conversion */
	op[1].ask.conversion = 1;
	op[1].ask.convert_once = true;
	assert_false(bftm_name_wanted(&op[0]));		/* it asks once, and does not wait */
	op[1].ask.convert_once = false;
	assert_true(bftm_name_wanted(&op[0]));
	assert_false(bftm_name_wanted(&op[1]));		/* by itself */
	assert_false(bftm_name_wanted(&op[2]));		/* PW is held beside CR */
	leaves(1);
	assert_false(bftm_name_wanted(&op[0]));
}

static void a_lock_is_remembered(void **state)
{
	struct bftm_name *name = join(0, "PR", false)->name;

	(void)state;
	name->prio = 7;
	assert_int_equal(leaves(0), -1);
	assert_int_equal(names.idle_count, 1);
	assert_ptr_equal(join(1, "EX", false)->name, name);
	assert_int_equal(names.idle_count, 0);
	join(2, "PR", false);
	assert_int_equal(leaves(1), 2);
	assert_int_equal(names.idle_count, 0);
	assert_int_equal(name->prio, 7);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, nobody, all_left)
	const struct CMUnitTest tests[] = {
		TEST(two_modes_exclude_each_other_or_not),
		TEST(in_the_order_in_which_they_came),
		TEST(one_contends_at_a_time),
		TEST(the_last_holder_to_leave_lets_a_writer_begin),
		TEST(only_holders_that_it_excludes_are_waited_for),
		TEST(those_behind_one_that_gives_up_move_on),
		TEST(what_was_adopted_is_held),
		TEST(a_request_is_found_by_its_attempt),
		TEST(who_asks_once_is_excluded_by_all_before_it),
		TEST(a_holder_that_excludes_fewer_lets_the_next_begin),
		TEST(a_holder_that_others_wait_for_is_wanted),
		TEST(a_holder_is_wanted_by_another_that_converts),
		TEST(a_lock_is_remembered),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
