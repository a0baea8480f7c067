// SPDX-License-Identifier: GPL-2.0
/* The checker of locks' histories: good ones pass, each planted fault is found. */
#include <string.h>

#include "unit.h"

#include "selftests/module/torture/history.h"

struct history_story {
	const char *what;
	const char *blames;	/* how its complaint begins, NULL: there is none */
	const char *line[12];
};

/* HELD is 2, LOST is 3. */
static const struct history_story stories[] = {
	{ "nothing", NULL, { NULL } },
	{ "one after the other", NULL,
	  { "1 invoke a x", "2 enter a x 9 1", "5 leave a x", "6 enter b x 15 2" } },
	{ "after the deadline", NULL,
	  { "2 enter a x 9 1", "10 enter b x 15 2", "20 leave a x" } },
	{ "two locks at once", NULL, { "2 enter a x 9 1", "3 enter b y 9 1" } },
	{ "after a kill", NULL, { "2 enter a x 9 1", "4 kill a -", "5 enter b x 15 2" } },
	{ "it came further before it died", "overlap",
	  { "2 enter a x 9 1", "4 kill a -", "6 look a x 5 2 9", "5 enter b x 15 2" } },
	{ "won, and over before it ran", NULL,
	  { "20 enter a x 9 1", "12 enter b x 30 2" } },
	{ "renewed", NULL,
	  { "2 enter a x 9 0", "8 look a x 7 2 14", "15 enter b x 20 0" } },
	{ "both inside", "overlap", { "2 enter a x 9 1", "6 enter b x 15 2", "7 leave a x" } },
	{ "at the deadline", "overlap", { "2 enter a x 9 1", "9 enter b x 15 2" } },
	{ "behind a short one in a long one", "overlap",
	  { "2 enter a x 9 0", "10 enter b x 50 0", "11 leave b x", "12 enter c x 30 0",
	    "13 enter d x 15 0", "20 leave c x" } },
	{ "inside by a renewal that it was told of", "overlap",
	  { "2 enter a x 9 0", "8 look a x 7 2 14", "10 enter b x 20 0" } },
	{ "inside after the kill of another", "overlap",
	  { "2 enter a x 9 1", "4 kill b -", "5 enter c x 15 2" } },
	{ "the same process twice", "twice", { "2 enter a x 9 1", "4 enter a y 9 1" } },
	{ "a token twice", "token",
	  { "2 enter a x 9 7", "3 leave a x", "4 enter b x 15 7" } },
	{ "a token twice, once over before it ran", "token",
	  { "20 enter a x 9 7", "12 enter b x 30 7" } },
	{ "a lower token", "token",
	  { "2 enter a x 9 7", "3 leave a x", "4 enter b x 15 6" } },
	{ "a lower token, one without between", "token",
	  { "2 enter a x 9 7", "3 leave a x", "4 enter b x 15 0", "5 leave b x",
	    "6 enter c x 15 6" } },
	{ "held after the deadline", "late", { "2 enter a x 9 1", "11 look a x 10 2 9" } },
	{ "asked before it, told after it", NULL, { "2 enter a x 9 1", "11 look a x 9 2 9" } },
	{ "lost before the deadline", "early", { "2 enter a x 9 1", "5 look a x 4 3 9" } },
	{ "lost after it", NULL, { "2 enter a x 9 1", "11 look a x 4 3 9" } },
	{ "a deadline that moves back", "moved back",
	  { "2 enter a x 9 0", "5 look a x 4 2 8" } },
	{ "granted in quarantine", "quarantine", { "5 granted s1 - 1000 1" } },
	{ "granted after it", NULL, { "5 granted s1 - 1000 0", "6 granted s1 - 0 3" } },
	{ "two updates", NULL,
	  { "2 read a x 1", "3 begin a x 1 1", "4 wrote a x 1 1", "5 read b x 2",
	    "6 begin b x 2 2", "7 wrote b x 2 2", "9 final - x 2" } },
	{ "a lost update", "lost update",
	  { "2 read a x 1", "3 begin a x 1 1", "4 wrote a x 1 1", "5 read b x 2",
	    "6 begin b x 2 1", "7 wrote b x 2 1", "9 final - x 1" } },
	{ "one that was refused", NULL,
	  { "2 read a x 1", "3 begin a x 1 1", "4 refuse a x 1 1", "5 read b x 2",
	    "6 begin b x 2 1", "7 wrote b x 2 1", "9 final - x 1" } },
	{ "one that vanished", "final",
	  { "2 read a x 1", "3 begin a x 1 1", "4 wrote a x 1 1", "9 final - x 0" } },
	{ "one that nobody made", "gap", { "5 read b x 2", "6 begin b x 2 2", "7 wrote b x 2 2" } },
	{ "one that died may have made it", NULL,
	  { "2 read a x 1", "3 begin a x 1 1", "5 read b x 2", "6 begin b x 2 2",
	    "7 wrote b x 2 2", "9 final - x 2" } },
	{ "or not", NULL,
	  { "2 read a x 1", "3 begin a x 1 1", "5 read b x 2", "6 begin b x 2 1",
	    "7 wrote b x 2 1", "9 final - x 1" } },
	{ "or was the last, and did not", NULL,
	  { "2 read a x 1", "3 begin a x 1 1", "9 final - x 0" } },
	{ "a stale token was let in", "stale",
	  { "2 read a x 4", "3 begin a x 4 1", "4 wrote a x 4 1", "5 read b x 3",
	    "6 begin b x 3 2", "7 wrote b x 3 2" } },
	{ "updates in the wrong order", "order",
	  { "6 read a x 1", "7 begin a x 1 1", "8 wrote a x 1 1", "2 read b x 1",
	    "3 begin b x 1 2", "4 wrote b x 1 2" } },
	/* Modes: EX is 0, PW 1, PR 2, CW 3, CR 4. */
	{ "two readers", NULL, { "2 enter a x 9 1 2", "3 enter b x 9 1 2" } },
	{ "a writer beside a reader", "overlap", { "2 enter a x 9 1 2", "3 enter b x 9 2" } },
	{ "a writer behind a long reader and a short one", "overlap",
	  { "2 enter a x 50 0 2", "3 enter b x 9 0 2", "10 enter c x 20 0 0" } },
	{ "a reader beside a writer", "overlap", { "2 enter a x 9 1", "3 enter b x 9 2 2" } },
	{ "a concurrent writer beside a reader", "overlap",
	  { "2 enter a x 9 0 2", "3 enter b x 9 0 3" } },
	{ "two protected writers", "overlap", { "2 enter a x 9 0 1", "3 enter b x 9 0 1" } },
	{ "a concurrent reader beside all but EX", NULL,
	  { "1 enter a x 90 0 4", "2 enter b x 9 0 1", "10 enter c x 19 0 2",
	    "20 enter d x 29 0 3", "21 enter e x 29 0 3" } },
	{ "… and beside EX", "overlap", { "1 enter a x 9 0 4", "2 enter b x 9 0 0" } },
	{ "a reader after a writer became one", NULL,
	  { "2 enter a x 19 1 0", "5 mode a x 2 0 1", "6 enter b x 19 2 2" } },
	{ "a reader before it did", "overlap",
	  { "2 enter a x 19 1 0", "5 enter b x 19 2 2", "6 mode a x 2 0 1" } },
	{ "a reader that writes when the other is gone", NULL,
	  { "2 enter a x 19 1 2", "3 enter b x 19 1 2", "5 leave b x", "6 mode a x 0 25 2" } },
	{ "a reader that writes while the other reads", "overlap",
	  { "2 enter a x 19 1 2", "3 enter b x 19 1 2", "6 mode a x 0 25 2", "7 leave b x" } },
	{ "a reader that wrote before the deadline of its new mode", "overlap",
	  { "2 enter a x 9 0 2", "6 mode a x 0 25 0", "20 enter b x 30 0 2" } },
	{ "up, down, and another reader", NULL,
	  { "2 enter a x 19 1 2", "3 mode a x 0 25 2", "4 mode a x 2 0 2", "5 enter b x 9 3 2" } },
	{ "up with the token of another", "token",
	  { "2 enter a x 19 5 2", "3 enter b x 19 5 2", "5 leave b x", "6 mode a x 0 25 5" } },
	{ "up with a token that is too low", "token",
	  { "2 enter a x 19 5 2", "3 enter b x 19 7 2", "5 leave b x", "6 mode a x 0 25 6" } },
	{ "sharers in another order than their tokens", NULL,
	  { "2 enter a x 9 5 2", "3 enter b x 9 4 2" } },
	{ "a writer with the token of the reader before", "token",
	  { "2 enter a x 9 5 2", "3 leave a x", "4 enter b x 9 5" } },
	{ "a conversion that makes the lease shorter", "moved back",
	  { "2 enter a x 9 0 2", "3 mode a x 0 8 0" } },
	{ "a conversion of one that is not inside", "converted",
	  { "2 enter a x 9 0 2", "3 leave a x", "4 mode a x 0 9 0" } },
	{ "what is read stays so", NULL,
	  { "2 read a x 1", "3 saw a x 1 0", "4 read a x 1", "5 saw a x 1 0" } },
	{ "written beside one that reads", "unsteady",
	  { "2 read a x 1", "3 saw a x 1 0", "4 read a x 1", "5 saw a x 1 1" } },
	{ "healed in time", NULL,
	  { "2 enter a x 9 1", "3 leave a x", "4 heal - -", "100 enter b x 200 2" } },
	{ "healed late", "healing", { "2 invoke a x", "4 heal - -", "105 enter b x 200 2" } },
	{ "not healed", "healing",
	  { "2 enter a x 9 1", "4 heal - -", "10 invoke b x", "12 fail b x 110" } },
};

static void all_stories(void **state)
{
	char text[512];
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stories); i++) {
		const struct history_story *s = &stories[i];
		struct history h = { .heal_bound_ns = 100 };

		memset(text, 0, sizeof(text));
		h.to = fmemopen(text, sizeof(text) - 1, "w");
		for (k = 0; k < ARRAY_SIZE(s->line) && s->line[k]; k++)
			assert_true(history_add(&h, s->line[k]));
		history_check(&h);
		fclose(h.to);
		if (!!h.violations != !!s->blames ||
		    (s->blames && strncmp(text, s->blames, strlen(s->blames)) != 0))
			fail_msg("%s: %d violations: %s", s->what, (int)h.violations, text);
		history_free(&h);
	}
}

static void what_is_no_line(void **state)
{
	static const char *const wrong[] = {
		"", "1", "1 invoke a", "x invoke a b", "1 enters a b 1 2", "1 enter a b 1",
		"1 enter a b 1 x", "1 final - b",
		"1 enter a b 1 2 5", "1 mode a b 5 1 2", "1 mode a b 1 2",
	};
	struct history h = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		if (history_add(&h, wrong[i]))
			fail_msg("'%s' was taken", wrong[i]);
	assert_int_equal(h.count, 0);
	history_free(&h);
}

/*
 * The input of bftmutex-lin: requests that were answered, those that may have been applied, and no
 * others.
 */
static void for_lin(void **state)
{
	static const char *const lines[] = {
		"2 read a x 1", "3 begin a x 1 1", "4 refuse a x 1 1", "5 read b x 2",
		"6 begin b x 2 1", "7 wrote b x 2 1", "8 read c x 3", "9 begin c x 3 2",
		"10 read d x 4", "11 saw d x 4 2",
	};
	struct history h = {};
	char text[1024] = "";
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		assert_true(history_add(&h, lines[i]));
	h.to = fmemopen(text, sizeof(text) - 1, "w");
	history_lin(&h, h.to);
	fclose(h.to);
	assert_string_equal(text,
		"{\"client\":1,\"process\":1,\"object\":\"x\",\"request\":\"add 1\","
		"\"invoke_ns\":5,\"return_ns\":7,\"status\":0,\"response\":\"1\"}\n"
		"{\"client\":1,\"process\":2,\"object\":\"x\",\"request\":\"add 1\","
		"\"invoke_ns\":8,\"return_ns\":null,\"status\":null,\"response\":null}\n"
		"{\"client\":1,\"process\":3,\"object\":\"x\",\"request\":\"get\","
		"\"invoke_ns\":10,\"return_ns\":11,\"status\":0,\"response\":\"2\"}\n");
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_stories),
		cmocka_unit_test(what_is_no_line),
		cmocka_unit_test(for_lin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
