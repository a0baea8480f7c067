// SPDX-License-Identifier: GPL-2.0
/* Values of JSON that programs print: bytes, numbers, what is not known. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "text/json.h"

#define BYTES(text) (text), sizeof(text) - 1

static const struct {
	const char *bytes;
	size_t len;
	const char *json;
} bytes[] = {
	{ BYTES(""), "\"\"" },
	{ BYTES("a\\b\"c"), "\"a\\\\b\\\"c\"" },
	{ BYTES("two\nlines"), "\"two\\nlines\"" },
	{ BYTES("a\0b"), "\"a\\u0000b\"" },
	{ BYTES("\x7f"), "\"\x7f\"" },
	{ BYTES("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92"), "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92\"" },
	{ BYTES("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"),
	  "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"" },
	/* Cut off, no beginning, spelled too long, a surrogate, above U+10FFFF. */
	{ BYTES("a\xc3"), "{\"base64\":\"YcM=\"}" },
	{ BYTES("\xe2\x82"), "{\"base64\":\"4oI=\"}" },
	{ BYTES("\xc3("), "{\"base64\":\"wyg=\"}" },
	{ BYTES("\xff"), "{\"base64\":\"/w==\"}" },
	{ BYTES("\x80"), "{\"base64\":\"gA==\"}" },
	{ BYTES("\xc1\xbf"), "{\"base64\":\"wb8=\"}" },
	{ BYTES("\xe0\x9f\xbf"), "{\"base64\":\"4J+/\"}" },
	{ BYTES("\xf0\x8f\xbf\xbf"), "{\"base64\":\"8I+/vw==\"}" },
	{ BYTES("\xed\xa0\x80"), "{\"base64\":\"7aCA\"}" },
	{ BYTES("\xf4\x90\x80\x80"), "{\"base64\":\"9JCAgA==\"}" },
	{ BYTES("\xf5\x80\x80\x80"), "{\"base64\":\"9YCAgA==\"}" },
	{ BYTES("\0\xff\0"), "{\"base64\":\"AP8A\"}" },
};

static const char *printed(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void bytes_of_all_kinds(void **state)
{
	struct json_object *o, *read;
	size_t i, len;
	char *back;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		o = bftm_json_bytes(bytes[i].bytes, bytes[i].len);
		assert_string_equal(printed(o), bytes[i].json);
		/* As who reads it gets it. */
		read = json_tokener_parse(printed(o));
		back = bftm_json_read_bytes(read, &len);
		assert_non_null(back);
		assert_int_equal(len, bytes[i].len);
		assert_memory_equal(back, bytes[i].bytes, len + 1);
		free(back);
		json_object_put(read);
		json_object_put(o);
	}
}

static void what_is_no_bytes(void **state)
{
	static const char *const others[] = {
		"1", "null", "[]", "{}", "{\"base64\":5}", "{\"base64\":\"abc\"}",
		"{\"base64\":\"a?==\"}", "{\"base64\":\"YQ==\",\"more\":1}",
	};
	struct json_object *o;
	size_t i, len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		o = json_tokener_parse(others[i]);
		assert_null(bftm_json_read_bytes(o, &len));
		json_object_put(o);
	}
}

static void members(void **state)
{
	struct json_object *o = json_object_new_object();

	(void)state;
	bftm_json_add_number(o, "epoch", UINT64_MAX);
	bftm_json_add_number(o, "token", 0);
	bftm_json_add_number(o, "version", 7);
	bftm_json_add_text(o, "name", NULL);
	bftm_json_add_bool(o, "suspect", false);
	assert_string_equal(printed(o), "{\"epoch\":\"18446744073709551615\",\"token\":\"0\","
			    "\"version\":7,\"name\":null,\"suspect\":false}");
	json_object_put(o);
}

static void time_of_day(void **state)
{
	struct json_object *o = json_object_new_object();
	const char *text;
	char rest;
	int n[7];

	(void)state;
	ctl_add_time(o);
	text = json_object_get_string(json_object_object_get(o, "time"));
	assert_int_equal(strlen(text), strlen("2026-11-27T02:15:57.123456Z"));
	assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%6d%c", n, n + 1, n + 2, n + 3,
				n + 4, n + 5, n + 6, &rest), 8);
	assert_int_equal(rest, 'Z');
	json_object_put(o);
}

/* To people: the same in all tables, and of any length. */
static void shown_to_people(void **state)
{
	static const struct {
		const char *key, *json, *text;
	} cases[] = {
		{ "name", "\"a\\nb\\\\\"", "a\\x0ab\\\\" },
		{ "name", "{\"base64\":\"/w==\"}", "\\xff" },
		{ "name", "null", "-" },
		{ "deadline_ns", "\"1500000000\"", "1.5s" },
		{ "suspect", "true", "yes" },
		{ "epoch", "\"18446744073709551615\"", "18446744073709551615" },
		{ "version", "7", "7" },
	};
	char longer[3000];
	struct json_object *o, *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		o = json_tokener_parse(cases[i].json);
		text = ctl_shown(cases[i].key, o);
		assert_string_equal(json_object_get_string(text), cases[i].text);
		json_object_put(text);
		json_object_put(o);
	}
	memset(longer, 'x', sizeof(longer));
	o = bftm_json_bytes(longer, sizeof(longer));
	text = ctl_shown("value", o);
	assert_int_equal(json_object_get_string_len(text), sizeof(longer));
	json_object_put(text);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_all_kinds),
		cmocka_unit_test(what_is_no_bytes),
		cmocka_unit_test(members),
		cmocka_unit_test(time_of_day),
		cmocka_unit_test(shown_to_people),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
