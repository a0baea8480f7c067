// SPDX-License-Identifier: GPL-2.0
/* Two holders by what hosts recorded: messages, leases, and what each assumption is worth. */
#include "unit.h"
#include "trace.h"

static void expect(const char *lines, bool no_leases, enum trace_verdict verdict, const char *finding)
{
	struct trace *t = trace_of(lines);
	struct trace_pairs p = judge(t, no_leases, 0);

	assert_string_equal(trace_verdict_name(p.verdict), trace_verdict_name(verdict));
	assert_int_equal(t->findings, finding ? 1 : 0);
	if (finding && !strstr(t->finding[0].text, finding))
		fail_msg("'%s' has no '%s'", t->finding[0].text, finding);
	free(p.found);
	trace_free(t);
}

static void test_a_release_orders_two_holders_by_messages_alone(void **state)
{
	static const char lines[] = CLUSTER FIRST(300, "released")
		MESSAGE("c1", 5, 300, "send", "RELEASE", 1, 2, 5, "")
		MESSAGE("s1", 3, 60, "recv", "RELEASE", 1, 2, 5, "") SECOND(61);

	(void)state;
	expect(lines, true, TRACE_NO, NULL);
	expect(lines, false, TRACE_NO, NULL);
}

static void test_a_lease_orders_them_if_clocks_keep_rho(void **state)
{
	(void)state;
	expect(CLUSTER FIRST(1000, "lost") SECOND(1151), false, TRACE_NO_BY_LEASES, NULL);
	expect(CLUSTER FIRST(1000, "lost") SECOND(1151), true, TRACE_POSSIBLY, NULL);
}

static void test_a_grant_before_the_lease_is_over_is_found(void **state)
{
	(void)state;
	expect(CLUSTER FIRST(1000, "lost") SECOND(1150), false, TRACE_POSSIBLY,
	       "server 1 granted A to client 2 (s1:5) with 0 ns left");
	expect(CLUSTER FIRST(1000, "lost") SECOND(150), false, TRACE_POSSIBLY,
	       "with 1000 ns left of the lease of client 1 (s1:2)");
}

static void test_a_client_that_overstays_is_found(void **state)
{
	(void)state;
	expect(CLUSTER FIRST(1001, "lost") SECOND(1151), false, TRACE_POSSIBLY,
	       "client 1 held A until c1:4, 1 ns longer than its servers granted");
}

/* A server that began anew answers the first TRY by CHALLENGE, and gets another one. */
static void test_a_client_that_asked_a_server_twice_did_not_overstay(void **state)
{
#define ASKED_TWICE(end) "{'e':'cluster','servers':2,'b':0,'rho_ppm':100000}\n" \
	MESSAGE("c1", 1, 100, "send", "TRY", 1, 1, 5, ",'k':1,'lease_ns':1000") \
	MESSAGE("c1", 2, 120, "recv", "FREE", 1, 1, 5, ",'k':1,'gno':1") \
	MESSAGE("c1", 3, 125, "recv", "CHALLENGE", 1, 2, 5, ",'server':2") \
	MESSAGE("c1", 4, 130, "send", "TRY", 1, 3, 5, ",'server':2,'k':1,'lease_ns':1000") \
	MESSAGE("c1", 5, 150, "recv", "FREE", 1, 3, 5, ",'server':2,'k':1,'gno':1") \
	HELD("c1", 6, 150, "won", 1, 5) HELD("c1", 7, end, "released", 1, 5)
	struct trace *t = trace_of(ASKED_TWICE(1000));
	struct trace_pairs p = judge(t, false, 0);

	(void)state;
	assert_int_equal(t->findings, 0);
	free(p.found);
	trace_free(t);
	t = trace_of(ASKED_TWICE(1001));
	p = judge(t, false, 0);
	assert_int_equal(t->findings, 1);
	free(p.found);
	trace_free(t);
}

static void test_a_holder_without_an_end_possibly_holds_for_ever(void **state)
{
	(void)state;
	expect(CLUSTER FIRST(140, "renewed") SECOND(1151), false, TRACE_POSSIBLY, NULL);
}

static void test_two_that_hear_of_each_other_inside_are_definitely_inside(void **state)
{
	static const char lines[] = CLUSTER FIRST(1000, "renewed") SECOND(150)
		MESSAGE("c1", 5, 1000, "send", "HELLO", 1, 7, 0, "")
		MESSAGE("c2", 4, 9, "recv", "HELLO", 1, 7, 0, "")
		MESSAGE("c2", 5, 9, "send", "HELLO", 2, 7, 0, "")
		MESSAGE("c1", 6, 1001, "recv", "HELLO", 2, 7, 0, "")
		HELD("c1", 7, 1002, "released", 1, 5);

	(void)state;
	expect(lines, true, TRACE_DEFINITELY, NULL);
}

static void test_modes_that_go_together_are_no_two_holders(void **state)
{
	struct trace *t = trace_of(CLUSTER FIRST(1000, "lost") SECOND(150));
	struct trace_pairs p;
	u32 i;

	(void)state;
	for (i = 0; i < t->events; i++)
		t->event[i].mode = BFTM_MODE_PR;
	trace_holds(t);
	p = judge(t, false, 0);
	assert_int_equal(p.verdict, TRACE_NO);
	assert_int_equal(t->findings, 0);
	trace_free(t);
}

static void test_clocks_that_are_near_each_other_drop_pairs(void **state)
{
	struct trace *t = trace_of(CLUSTER FIRST(1000, "lost") SECOND(150));
	struct trace_pairs p;

	(void)state;
	/* The second was inside from 8 to 20, the first from 150 to 1000. */
	p = judge(t, true, 130);
	assert_int_equal(p.verdict, TRACE_NO);
	p = judge(t, true, 131);
	assert_int_equal(p.verdict, TRACE_POSSIBLY);
	free(p.found);
	trace_free(t);
}

static void test_without_the_file_of_a_server_more_is_possible(void **state)
{
	static const char lines[] = CLUSTER FIRST(1000, "lost") SECOND(1151);
	struct trace *t = trace_new();
	struct trace_pairs p;
	char *text = strdup(lines), *at, *why = NULL;
	FILE *file;

	(void)state;
	for (at = text; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	file = fmemopen(text, strlen(text), "r");
	t->distrust = 1;
	assert_true(trace_read(t, file, "lines", &why) && trace_sort(t, &why));
	fclose(file);
	free(text);
	trace_holds(t);
	p = judge(t, false, 0);
	assert_int_equal(p.verdict, TRACE_POSSIBLY);
	free(p.found);
	trace_free(t);
}

static void test_a_doubled_datagram_comes_from_the_first_send(void **state)
{
	struct trace *t = trace_of(MESSAGE("c1", 1, 1, "send", "TRY", 1, 4, 5, ",'k':1")
				   MESSAGE("c1", 2, 2, "send", "TRY", 1, 4, 5, ",'k':1")
				   MESSAGE("s1", 1, 1, "recv", "TRY", 1, 4, 5, ",'k':1")
				   MESSAGE("s1", 2, 1, "recv", "TRY", 1, 9, 5, ",'k':1"));

	(void)state;
	assert_int_equal(t->event[event_of(t, "s1", 1)].from, event_of(t, "c1", 1));
	assert_int_equal(t->event[event_of(t, "s1", 2)].from, TRACE_NONE);
	trace_free(t);
}

static void test_pushes_are_told_apart_by_grant_and_send(void **state)
{
	struct trace *t = trace_of(
		MESSAGE("s1", 1, 1, "send", "FREE", 1, 0, 5, ",'k':1,'gno':3,'epoch':8")
		MESSAGE("s1", 2, 1, "send", "FREE", 1, 0, 5, ",'k':2,'gno':3,'epoch':8")
		MESSAGE("s1", 3, 1, "send", "FREE", 1, 0, 5, ",'k':2,'gno':4,'epoch':8")
		MESSAGE("c1", 1, 1, "recv", "FREE", 1, 0, 5, ",'k':2,'gno':4,'epoch':8")
		MESSAGE("c1", 2, 1, "recv", "FREE", 1, 0, 5, ",'k':2,'gno':3,'epoch':8")
		MESSAGE("c1", 3, 1, "recv", "FREE", 1, 0, 5, ",'k':2,'gno':3,'epoch':9"));

	(void)state;
	assert_int_equal(t->event[event_of(t, "c1", 1)].from, event_of(t, "s1", 3));
	assert_int_equal(t->event[event_of(t, "c1", 2)].from, event_of(t, "s1", 2));
	assert_int_equal(t->event[event_of(t, "c1", 3)].from, TRACE_NONE);
	trace_free(t);
}

static void test_files_that_contradict_each_other_are_refused(void **state)
{
	struct trace *t = trace_of(MESSAGE("a", 1, 1, "recv", "HELLO", 1, 1, 0, "")
				   MESSAGE("a", 2, 1, "send", "HELLO", 2, 1, 0, "")
				   MESSAGE("b", 1, 1, "recv", "HELLO", 2, 1, 0, "")
				   MESSAGE("b", 2, 1, "send", "HELLO", 1, 1, 0, ""));
	char *why = NULL;

	(void)state;
	assert_false(trace_order(t, &why));
	assert_non_null(strstr(why, "would have happened before itself"));
	free(why);
	trace_free(t);
}

static void test_a_lease_that_messages_contradict_is_left_out(void **state)
{
	/* The server's clock ran away: client 1 heard of client 2's win while it was inside. */
	static const char lines[] = CLUSTER FIRST(200, "renewed") SECOND(1151)
		MESSAGE("c2", 4, 8, "send", "HELLO", 2, 7, 0, "")
		MESSAGE("c1", 5, 300, "recv", "HELLO", 2, 7, 0, "")
		HELD("c1", 6, 1000, "lost", 1, 5);

	(void)state;
	expect(lines, false, TRACE_POSSIBLY, "messages contradict it");
}

static void test_a_line_that_is_wrong_names_field_and_range(void **state)
{
	static const struct { const char *line, *why; } bad[] = {
		{ "no", "lines:1: the line: must be an object of JSON, of less than 65536 bytes" },
		{ "{\"host\":\"a\",\"n\":1,\"t\":1}", "lines:1: e: must be given" },
		{ "{\"host\":\"a\",\"n\":1,\"t\":1,\"e\":\"sent\"}",
		  "lines:1: e: must be send, recv, won, renewed, lost, released, restart or cluster" },
		{ "{\"n\":1,\"t\":1,\"e\":\"restart\"}", "lines:1: host: must be the name of a host, of 1 to 64 bytes" },
		{ "{\"host\":\"a\",\"n\":1,\"t\":1,\"e\":\"send\",\"type\":\"WON\",\"client\":1,\"server\":1}",
		  "lines:1: type: must be the name of a message about locks, such as TRY" },
		{ "{\"host\":\"a\",\"n\":1,\"t\":1,\"e\":\"won\",\"client\":1,\"name\":\"A\"}",
		  "lines:1: attempt: must be given of a lock that is held" },
		{ "{\"host\":\"a\",\"n\":-1,\"t\":1,\"e\":\"restart\"}",
		  "lines:1: n: must be a number from 0 to 18446744073709551615" },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct trace *t = trace_new();
		FILE *file = fmemopen((void *)bad[i].line, strlen(bad[i].line), "r");
		char *why = NULL;

		assert_false(trace_read(t, file, "lines", &why));
		assert_string_equal(why, bad[i].why);
		free(why);
		fclose(file);
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_release_orders_two_holders_by_messages_alone),
		cmocka_unit_test(test_a_lease_orders_them_if_clocks_keep_rho),
		cmocka_unit_test(test_a_grant_before_the_lease_is_over_is_found),
		cmocka_unit_test(test_a_client_that_overstays_is_found),
		cmocka_unit_test(test_a_client_that_asked_a_server_twice_did_not_overstay),
		cmocka_unit_test(test_a_holder_without_an_end_possibly_holds_for_ever),
		cmocka_unit_test(test_two_that_hear_of_each_other_inside_are_definitely_inside),
		cmocka_unit_test(test_modes_that_go_together_are_no_two_holders),
		cmocka_unit_test(test_clocks_that_are_near_each_other_drop_pairs),
		cmocka_unit_test(test_without_the_file_of_a_server_more_is_possible),
		cmocka_unit_test(test_a_doubled_datagram_comes_from_the_first_send),
		cmocka_unit_test(test_pushes_are_told_apart_by_grant_and_send),
		cmocka_unit_test(test_files_that_contradict_each_other_are_refused),
		cmocka_unit_test(test_a_lease_that_messages_contradict_is_left_out),
		cmocka_unit_test(test_a_line_that_is_wrong_names_field_and_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
