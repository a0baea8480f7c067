// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl top: what it reckons from two looks, and the order of its tables. */
#include "unit.h"

#include <string.h>

#include "ctl/top.h"

static struct json_object *parse(const char *text)
{
	struct json_object *o = json_tokener_parse(text);

	assert_non_null(o);
	return o;
}

static const struct {
	const char *now, *before;
	u64 elapsed_ns;
	double rate;
} rates[] = {
	{ "{\"won\":12}", "{\"won\":2}", 1000000000, 10 },
	{ "{\"won\":12}", "{\"won\":2}", 4000000000, 2.5 },
	{ "{\"won\":2}", "{\"won\":2}", 1000000000, 0 },
	{ "{\"won\":18446744073709551615}", "{\"won\":18446744073709551614}", 1000000000, 1 },
	{ "{\"won\":2}", "{\"won\":12}", 1000000000, -1 },	/* the daemon is another one */
	{ "{\"won\":2}", NULL, 1000000000, -1 },
	{ "{\"won\":2}", "{\"lost\":1}", 1000000000, -1 },
	{ "{\"won\":null}", "{\"won\":1}", 1000000000, -1 },
	{ "{\"won\":2}", "{\"won\":1}", 0, -1 },
};

static void growth_in_a_second(void **state)
{
	struct json_object *now, *before;
	double rate;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		now = parse(rates[i].now);
		before = rates[i].before ? parse(rates[i].before) : NULL;
		rate = top_rate(now, before, "won", rates[i].elapsed_ns);
		assert_true(rate == rates[i].rate);
		json_object_put(now);
		json_object_put(before);
	}
	assert_true(top_rate(NULL, NULL, "won", 1) < 0);
}

/* Names of rows once they are sorted. */
static void sorted(const char *rows, unsigned int by, bool reverse, const char *want)
{
	struct top_order order = { .by = by, .reverse = reverse };
	struct json_object *array = parse(rows);
	char names[64] = "";
	size_t i;

	top_sort(array, &order);
	for (i = 0; i < json_object_array_length(array); i++)
		strncat(names, json_object_get_string(ctl_member(json_object_array_get_idx(array, i), "name")), 8);
	assert_string_equal(names, want);
	json_object_put(array);
}

static void rows_in_order(void **state)
{
	static const char rows[] = "[{\"name\":\"b\",\"remaining_ns\":10,\"state\":\"held\"},"
		"{\"name\":\"d\",\"remaining_ns\":null,\"state\":\"pending\"},"
		"{\"name\":\"a\",\"remaining_ns\":9,\"state\":\"held\"},"
		"{\"name\":\"c\",\"remaining_ns\":null,\"state\":\"failed\"}]";

	(void)state;
	assert_string_equal(top_key(0), "name");
	sorted(rows, 0, false, "abcd");
	sorted(rows, 0, true, "dcba");
	assert_string_equal(top_key(1), "remaining_ns");
	sorted(rows, 1, false, "abcd");
	/* Rows without a value stay behind. */
	sorted(rows, 1, true, "bacd");
	assert_string_equal(top_key(2), "state");
	sorted(rows, 2, false, "cabd");
	/* No row has one. */
	assert_string_equal(top_key(3), "waiters");
	sorted(rows, 3, false, "abcd");
	sorted("[]", 0, false, "");
	assert_string_equal(top_key(4), "pid");
	assert_null(top_key(5));
}

static void the_same_at_another_look(void **state)
{
	struct json_object *before = parse("[{\"id\":1,\"sent\":5},{\"id\":3,\"sent\":6}]");
	struct json_object *now = parse("{\"id\":3}"), *none = parse("{\"id\":2}"), *no_id = parse("{}");

	(void)state;
	assert_ptr_equal(top_same(before, now, "id"), json_object_array_get_idx(before, 1));
	assert_null(top_same(before, none, "id"));
	assert_null(top_same(before, no_id, "id"));
	assert_null(top_same(NULL, now, "id"));
	json_object_put(before);
	json_object_put(now);
	json_object_put(none);
	json_object_put(no_id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_in_a_second),
		cmocka_unit_test(rows_in_order),
		cmocka_unit_test(the_same_at_another_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
