// SPDX-License-Identifier: GPL-2.0
/* Files that are no recordings, or not whole: each is refused with its line, or does no harm. */
#include "unit.h"
#include "trace.h"

#define RESTART "{\"host\":\"a\",\"n\":1,\"t\":1,\"e\":\"restart\""

static void refused(const char *text, size_t len, const char *expected)
{
	struct trace *t = trace_new();
	FILE *file = fmemopen((void *)text, len, "r");
	char *why = NULL;

	assert_non_null(file);
	if (trace_read(t, file, "lines", &why))
		fail_msg("it was read: %s", expected);
	assert_string_equal(why, expected);
	free(why);
	fclose(file);
	trace_free(t);
}

static void test_a_line_is_one_object_and_nothing_more(void **state)
{
	static const char object[] = "an object of JSON, of less than 65536 bytes";
	static const char *const bad[] = {
		RESTART "}\n" RESTART,		/* the disk was full */
		RESTART "}\n" RESTART "}" RESTART "}\n",
		RESTART "}\n" RESTART "} 1\n",
		RESTART "}\n[1]\n",
		RESTART "}\n{\"host\":\"\xff\"}\n",
	};
	char expected[100];
	u32 i;

	(void)state;
	snprintf(expected, sizeof(expected), "lines:2: the line: must be %s", object);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		refused(bad[i], strlen(bad[i]), expected);
	/* A zero byte in a line. */
	refused(RESTART "}\n" RESTART "}\0x\n", sizeof(RESTART "}\n" RESTART "}\0x\n") - 1, expected);
}

static void test_a_line_without_end_takes_no_memory(void **state)
{
	size_t len = 1 << 20;
	char *text = malloc(len);

	(void)state;
	memset(text, ' ', len);
	text[0] = '{';
	refused(text, len, "lines:1: the line: must be an object of JSON, of less than 65536 bytes");
	free(text);
}

static void test_numbers_that_would_overflow_are_refused(void **state)
{
	static const struct { const char *line, *why; } bad[] = {
		{ "{\"host\":\"a\",\"n\":1,\"t\":4611686018427387905,\"e\":\"restart\"}",
		  "lines:1: t: must be a number from 0 to 4611686018427387904" },
		{ "{\"host\":\"a\",\"n\":1,\"t\":1,\"wall_ns\":\"18446744073709551615\",\"e\":\"restart\"}",
		  "lines:1: wall_ns: must be a number from 0 to 4611686018427387904" },
		{ "{\"host\":\"a\",\"n\":1e3,\"t\":1,\"e\":\"restart\"}",
		  "lines:1: n: must be a number from 0 to 18446744073709551615" },
		{ "{\"e\":\"cluster\",\"servers\":32}", "lines:1: servers: must be a number from 0 to 31" },
		{ "{\"e\":\"cluster\",\"b\":11}", "lines:1: b: must be a number from 0 to 10" },
		{ "{\"e\":\"cluster\",\"rho_ppm\":100001}",
		  "lines:1: rho_ppm: must be a number from 0 to 100000" },
		{ RESTART ",\"name\":\"\"}", "lines:1: name: must be the name of a lock, of 1 to 64 bytes" },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		refused(bad[i].line, strlen(bad[i].line), bad[i].why);
}

/* Anybody can send a TRY that asks for 500 years; the server hears it, and grants nothing. */
static void test_a_lease_that_no_server_grants_orders_nothing(void **state)
{
	struct trace *t = trace_of(CLUSTER
		MESSAGE("c1", 1, 100, "send", "TRY", 1, 1, 5, ",'k':1,'lease_ns':'18446744073709551614'"));

	(void)state;
	assert_true(t->event[0].lease == TRACE_NO_LEASE);
	trace_free(t);
}

#define NAMED(n, e, attempt, name) \
	"{'host':'c1','n':" #n ",'t':" #n ",'e':'" e "','client':1,'attempt':" #attempt ",'name':" name "}\n"

static void test_names_are_told_apart_behind_a_zero_byte(void **state)
{
	struct trace *t = trace_of(NAMED(1, "won", 5, "'A\\u0000B'") NAMED(2, "won", 6, "'A\\u0000C'")
				   NAMED(3, "lost", 5, "'A\\u0000B'"));
	struct trace_pairs p = judge(t, false, 0);

	(void)state;
	assert_int_equal(t->names, 2);
	assert_int_equal(p.verdict, TRACE_NO);
	free(p.found);
	trace_free(t);
}

static void test_names_cannot_write_to_a_terminal_or_a_drawing(void **state)
{
	struct trace *t = trace_of("{'host':'<\\u001b','n':1,'t':1,'e':'won','client':1,'attempt':5,"
				   "'name':'\\u001b\\n\\\"<&'}\n");
	struct trace_pairs p = judge(t, false, 0);
	char *text = NULL;
	u32 *cut = trace_cut_at(t, 1);
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_string_equal(trace_label(t, 0), "<\\x1b:1");
	assert_true(trace_draw(t, out));
	trace_cut_print(t, cut, false, out);
	trace_event_print(t, 0, false, out);
	fclose(out);
	for (i = 0; i < size; i++)
		assert_true(text[i] == '\n' || (u8)text[i] >= ' ');
	assert_non_null(strstr(text, ">&#60;\\x1b</text>"));
	assert_non_null(strstr(text, ">\\x1b\\x0a&#34;&#60;&#38;</text>"));
	assert_non_null(strstr(text, "client 1 \\x1b\\x0a\"<& attempt 5\n"));
	free(text);
	free(cut);
	free(p.found);
	trace_free(t);
}

#define ABOUT(number, b) \
	"{\"host\":\"h\",\"e\":\"cluster\",\"cluster\":" #number ",\"servers\":4,\"b\":" #b \
	",\"protocol\":\"backoff\",\"m\":null,\"lease_ns\":1,\"lease_max_ns\":1,\"rho_ppm\":500}\n"
#define OF(n, number) \
	"{\"host\":\"h\",\"n\":" #n ",\"t\":1,\"e\":\"send\",\"type\":\"HELLO\",\"client\":1,\"server\":1" \
	",\"cluster\":" #number "}\n"

/* A trace with the cluster that the lines name; NULL: they are refused, and @ret_why says why. */
static struct trace *chosen(const char *text, char **ret_why)
{
	struct trace *t = trace_new();
	FILE *file = fmemopen((void *)text, strlen(text), "r");

	t->rho_ppm = 2000;
	if (!trace_read(t, file, "lines", ret_why))
		fail_msg("%s", *ret_why);
	fclose(file);
	if (trace_cluster_choose(t, ret_why))
		return t;
	trace_free(t);
	return NULL;
}

static void test_the_cluster_that_was_recorded_counts(void **state)
{
	static const char *const good[] = {
		ABOUT(7, 1) OF(1, 7),
		OF(1, 7) ABOUT(7, 1) ABOUT(7, 1),
		ABOUT(8, 0) ABOUT(7, 1) OF(1, 7),
		ABOUT(7, 1) ABOUT(8, 1) OF(1, 7) OF(2, 8),
		ABOUT(0, 1) OF(1, null),
	};
	struct trace *t;
	char *why;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		t = chosen(good[i], &why);
		assert_non_null(t);
		assert_int_equal(t->servers, 4);
		assert_int_equal(t->b, 1);
		assert_int_equal(t->m, 0);
		assert_int_equal(t->rho_ppm, 500);
		trace_free(t);
	}
}

static void test_an_old_recording_says_nothing_of_the_cluster(void **state)
{
	char *why;
	struct trace *t = chosen(OF(1, 7) ABOUT(8, 1), &why);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->servers, 0);
	assert_int_equal(t->rho_ppm, 2000);
	trace_free(t);
}

static void test_files_that_say_different_things_are_refused(void **state)
{
	static const char *const bad[] = {
		ABOUT(7, 1) ABOUT(7, 0) OF(1, 7),
		ABOUT(7, 1) ABOUT(8, 0) OF(1, 7) OF(2, 8),
		ABOUT(0, 1) ABOUT(7, 0) OF(1, 7),
	};
	char *why;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(chosen(bad[i], &why));
		assert_non_null(strstr(why, "has 4 servers, b 1, m 0, rho 500 ppm, and cluster "));
		free(why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_is_one_object_and_nothing_more),
		cmocka_unit_test(test_the_cluster_that_was_recorded_counts),
		cmocka_unit_test(test_an_old_recording_says_nothing_of_the_cluster),
		cmocka_unit_test(test_files_that_say_different_things_are_refused),
		cmocka_unit_test(test_a_line_without_end_takes_no_memory),
		cmocka_unit_test(test_numbers_that_would_overflow_are_refused),
		cmocka_unit_test(test_a_lease_that_no_server_grants_orders_nothing),
		cmocka_unit_test(test_names_are_told_apart_behind_a_zero_byte),
		cmocka_unit_test(test_names_cannot_write_to_a_terminal_or_a_drawing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
