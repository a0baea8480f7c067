// SPDX-License-Identifier: GPL-2.0
/* Traces as people see them: cuts, chains of messages, drawings. */
#include "unit.h"
#include "trace.h"

static void test_a_cut_leaves_out_what_came_from_after_it(void **state)
{
	/* The server's clock is ahead: at 100 it has an answer to what was sent at 200. */
	struct trace *t = trace_of(MESSAGE("c1", 1, 50, "send", "HELLO", 1, 1, 0, "")
				   MESSAGE("c1", 2, 200, "send", "HELLO", 1, 2, 0, "")
				   MESSAGE("s1", 1, 80, "recv", "HELLO", 1, 1, 0, "")
				   MESSAGE("s1", 2, 90, "recv", "HELLO", 1, 2, 0, "")
				   MESSAGE("s1", 3, 95, "send", "CHALLENGE", 1, 2, 0, ""));
	u32 *cut = trace_cut_at(t, 100);

	(void)state;
	assert_int_equal(cut[t->event[event_of(t, "c1", 1)].host], 1);
	assert_int_equal(cut[t->event[event_of(t, "s1", 1)].host], 1);
	free(cut);
	trace_free(t);
}

/* Returns the output of a function, in memory that the next call frees. */
static char *printed(const struct trace *t, u32 event, const u32 *cut)
{
	static char *text;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	if (cut)
		trace_cut_print(t, cut, false, out);
	else
		trace_why_print(t, event, false, out);
	fclose(out);
	return text;
}

static void test_a_cut_shows_holders_grants_and_datagrams_under_way(void **state)
{
	struct trace *t = trace_of(CLUSTER FIRST(300, "released")
		MESSAGE("c1", 5, 300, "send", "RELEASE", 1, 2, 5, "")
		MESSAGE("s1", 3, 400, "recv", "RELEASE", 1, 2, 5, ""));
	u32 *cut = trace_cut_at(t, 200);

	(void)state;
	assert_string_equal(printed(t, 0, cut), "holds    client 1 A attempt 5\n"
			    "granted  server 1 client 1 A attempt 5\n");
	free(cut);
	cut = trace_cut_at(t, 300);
	assert_string_equal(printed(t, 0, cut), "granted  server 1 client 1 A attempt 5\n"
			    "on way   server 1 RELEASE client 1 A attempt 5\n");
	free(cut);
	trace_free(t);
}

static void test_why_names_the_chain_to_an_entry(void **state)
{
	static const char *const chain[] = { "c1:3", "c1:4", "c1:5", "s1:3", "s1:5", "c2:2", "c2:3" };
	struct trace *t = trace_of(CLUSTER FIRST(300, "released")
		MESSAGE("c1", 5, 300, "send", "RELEASE", 1, 2, 5, "")
		MESSAGE("s1", 3, 60, "recv", "RELEASE", 1, 2, 5, "")
		MESSAGE("c2", 1, 7, "send", "TRY", 2, 1, 6, ",'k':1,'lease_ns':1000")
		MESSAGE("s1", 5, 60, "send", "FREE", 2, 0, 6, ",'k':1,'gno':2")
		MESSAGE("c2", 2, 8, "recv", "FREE", 2, 0, 6, ",'k':1,'gno':2")
		HELD("c2", 3, 8, "won", 2, 6));
	struct trace_pairs p = judge(t, false, 0);
	const char *at = printed(t, event_of(t, "c2", 3), NULL);
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(chain); i++) {
		at = strstr(at, chain[i]);
		assert_non_null(at);
	}
	free(p.found);
	trace_free(t);
}

static void test_a_drawing_has_each_host_message_and_holding(void **state)
{
	struct trace *t = trace_of(CLUSTER FIRST(1000, "lost") SECOND(1151));
	struct trace_pairs p = judge(t, false, 0);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_true(trace_draw(t, out));
	fclose(out);
	assert_non_null(strstr(text, ">c1</text>"));
	assert_non_null(strstr(text, "<line class=\"m\""));
	assert_non_null(strstr(text, "<line class=\"h\""));
	assert_non_null(strstr(text, "<line class=\"l\""));
	free(text);
	free(p.found);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cut_leaves_out_what_came_from_after_it),
		cmocka_unit_test(test_a_cut_shows_holders_grants_and_datagrams_under_way),
		cmocka_unit_test(test_why_names_the_chain_to_an_entry),
		cmocka_unit_test(test_a_drawing_has_each_host_message_and_holding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
