// SPDX-License-Identifier: GPL-2.0
/* Every request of every built-in type, good and bad. */
#include "object.h"

#define KNOWS_REGISTER "read, write VALUE, cas OLD NEW, decide VALUE"
#define KNOWS_COUNTER "a counter knows add N, get, type"
#define BAD_KEY(word) word ": a key is 1 to 255 bytes without space and newline"

static void a_register(void **state)
{
	struct asked a = {};

	(void)state;
	says(&a, "create register", 0, "");
	says(&a, "read", 0, "");
	says(&a, "write two words", 0, "");
	says(&a, "read", 0, "two words");
	says(&a, "write ", 0, "");
	says(&a, "read", 0, "");
	says(&a, "cas  one", 0, "");
	says(&a, "read", 0, "one");
	says(&a, "cas two three", ESTALE, "one");
	says(&a, "cas one two of them", 0, "");
	says(&a, "read", 0, "two of them");
	says(&a, "cas two other", ESTALE, "two of them");
	says(&a, "cas one", EINVAL, "cas: OLD and NEW are needed, OLD without a space");
	says(&a, "cas", EINVAL, "cas: OLD and NEW are needed, OLD without a space");
	says(&a, "write", EINVAL, "write: VALUE is missing");
	says(&a, "read it", EINVAL,
	     "'read': a register knows " KNOWS_REGISTER ", type");
	says(&a, "", EINVAL, "'': a register knows " KNOWS_REGISTER ", type");
	says(&a, "type", 0, "register");
	says(&a, "read", 0, "two of them");
	forget(&a);
}

static void a_register_decides_once(void **state)
{
	static const char bad[] = "decide: VALUE of 1 byte or more is needed, since an empty register has decided nothing";
	struct asked a = {};

	(void)state;
	says(&a, "create register", 0, "");
	says(&a, "decide", EINVAL, bad);
	says(&a, "decide ", EINVAL, bad);
	says(&a, "decide one of them", 0, "one of them");
	says(&a, "decide other", 0, "one of them");
	says(&a, "decide", EINVAL, bad);
	says(&a, "read", 0, "one of them");
	says(&a, "write ", 0, "");
	says(&a, "decide other", 0, "other");
	forget(&a);
}

static void a_register_keeps_any_bytes(void **state)
{
	static const u8 request[] = "write a\0b\n\xff c";
	struct bftm_object_answer answer;
	struct asked a = {};

	(void)state;
	says(&a, "create register", 0, "");
	assert_int_equal(ask_bytes(&a, request, sizeof(request)), 0);
	assert_int_equal(ask(&a, "read"), 0);
	bftm_answer_get(a.response.data, 0, &answer);
	assert_int_equal(answer.len, sizeof(request) - 6);
	assert_memory_equal(answer.data, request + 6, answer.len);
	forget(&a);
}

static void a_counter(void **state)
{
	static const char range[] = "must be -9223372036854775808 to 9223372036854775807";
	static const char *const bad[] = { "", "-", "1 ", " 1", "1x", "+1", "0x1",
					   "9223372036854775808", "-9223372036854775809" };
	struct asked a = {};
	char request[64], words[128];
	size_t i;

	(void)state;
	says(&a, "create counter", 0, "");
	says(&a, "get", 0, "0");
	says(&a, "add 5", 0, "5");
	says(&a, "add -7", 0, "-2");
	says(&a, "add 9223372036854775807", 0, "9223372036854775805");
	says(&a, "add 3", ERANGE, "");
	says(&a, "add 2", 0, "9223372036854775807");
	says(&a, "add -9223372036854775808", 0, "-1");
	says(&a, "add -9223372036854775807", 0, "-9223372036854775808");
	says(&a, "add -1", ERANGE, "");
	says(&a, "get", 0, "-9223372036854775808");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(request, sizeof(request), "add %s", bad[i]);
		snprintf(words, sizeof(words), "add '%s': %s", bad[i], range);
		says(&a, request, EINVAL, words);
	}
	snprintf(words, sizeof(words), "add '': %s", range);
	says(&a, "add", EINVAL, words);
	says(&a, "get 1", EINVAL, "'get': " KNOWS_COUNTER);
	says(&a, "set 1", EINVAL, "'set': " KNOWS_COUNTER);
	says(&a, "type it", EINVAL, "'type': " KNOWS_COUNTER);
	says(&a, "get", 0, "-9223372036854775808");
	forget(&a);
}

static void a_map(void **state)
{
	struct asked a = {};

	(void)state;
	says(&a, "create map", 0, "");
	says(&a, "list", 0, "");
	says(&a, "get a", ENODATA, "");
	says(&a, "delete a", ENODATA, "");
	says(&a, "set b two words", 0, "");
	says(&a, "set a 1", 0, "");
	says(&a, "set aa ", 0, "");
	says(&a, "set c 3", 0, "");
	says(&a, "list", 0, "a 1\naa\x20\nb two words\nc 3\n");
	says(&a, "list a", 0, "a 1\naa\x20\n");
	says(&a, "list z", 0, "");
	says(&a, "list ", 0, "a 1\naa\x20\nb two words\nc 3\n");
	says(&a, "get b", 0, "two words");
	says(&a, "get aa", 0, "");
	says(&a, "set b 2", 0, "");
	says(&a, "delete aa", 0, "");
	says(&a, "get aa", ENODATA, "");
	says(&a, "cas b 1 5", ESTALE, "2");
	says(&a, "cas b 2 5 6", 0, "");
	says(&a, "cas new 1 5", ESTALE, "");
	says(&a, "cas new  5", 0, "");
	says(&a, "cas c 3 ", 0, "");
	says(&a, "cas c  4", 0, "");
	says(&a, "list", 0, "a 1\nb 5 6\nc 4\nnew 5\n");
	forget(&a);
}

static void a_map_does_all_lines_or_none(void **state)
{
	static const char before[] = "a 1\nb two words\n";
	struct asked a = {};

	(void)state;
	says(&a, "create map", 0, "");
	says(&a, "txn unless a\nset b two words\nset a 1\n", 0, "");
	says(&a, "list", 0, before);
	/* The first line that does not hold, and nothing of those before it. */
	says(&a, "txn set c 3\nunless a\nunless b", ESTALE, "unless a");
	says(&a, "txn delete a\nif b two", ESTALE, "if b two");
	says(&a, "txn set b 2\nif c ", ESTALE, "if c ");
	says(&a, "txn set a 2\ndelete c\nset a 3", ESTALE, "delete c");
	says(&a, "list", 0, before);
	/* Each line sees what those before it did. */
	says(&a, "txn set c 1\nif c 1\nset c 22\nif c 22\ndelete c\nunless c\nset 0 \nif 0 ", 0, "");
	says(&a, "list", 0, "0\x20\na 1\nb two words\n");
	says(&a, "txn if a 1\nif b two words\nif 0 \nunless c", 0, "");
	says(&a, "txn if a 1\nif b two words\nset a 0\nset b 2\ndelete 0", 0, "");
	says(&a, "list", 0, "a 0\nb 2\n");
	says(&a, "txn delete a\ndelete b\n", 0, "");
	says(&a, "list", 0, "");
	forget(&a);
}

/* The answer has a longer head than the request: the longest lines do not find room in it. */
static void a_line_too_long_for_the_answer_does_not_hold(void **state)
{
	static u8 request[BFTM_OP_MAX];
	struct asked a = {};
	u32 len, most;

	(void)state;
	says(&a, "create map", 0, "");
	memset(request, 'v', sizeof(request));
	memcpy(request, "txn if k ", 9);
	most = BFTM_OP_MAX - 8;
	for (len = most - 16; len <= most; len++)
		assert_int_equal(ask_bytes(&a, request, len), ESTALE);
	forget(&a);
}

#define BAD_LINE(n) "txn, line " #n ": must be if K V, unless K, set K V or delete K, where K is 1 to 255 bytes without space and newline"
#define NO_LINE "txn: a line or more is needed: if K V, unless K, set K V, delete K"

/* A malformed line is told whatever the lines before it would have done. */
static void bad_lines_of_a_map(void **state)
{
	static const char *const bad[] = {
		"", "if", "if ", "if a", "unless", "unless ", "unless a b", "set a", "set  b",
		"delete", "delete  ", "delete a b", "get a", " set a 1", "Set a 1", "set\ta 1",
	};
	char request[300];
	struct asked a = {};
	size_t i;

	(void)state;
	says(&a, "create map", 0, "");
	says(&a, "txn", EINVAL, NO_LINE);
	says(&a, "txn ", EINVAL, NO_LINE);
	says(&a, "txn \n", EINVAL, BAD_LINE(1));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(request, sizeof(request), "txn set a 1\nif a 2\n%s\nset b 1", bad[i]);
		says(&a, request, EINVAL, BAD_LINE(3));
	}
	snprintf(request, sizeof(request), "txn set %255s 1", "");
	memset(request + 8, 'k', 255);
	says(&a, request, 0, "");
	snprintf(request, sizeof(request), "txn delete %256s", "");
	memset(request + 11, 'k', 256);
	says(&a, request, EINVAL, BAD_LINE(1));
	forget(&a);
}

static void bad_requests_to_a_map(void **state)
{
	char request[300] = "get ";
	struct asked a = {};

	(void)state;
	says(&a, "create map", 0, "");
	says(&a, "set a 1", 0, "");
	says(&a, "get", EINVAL, BAD_KEY("get"));
	says(&a, "get ", EINVAL, BAD_KEY("get"));
	says(&a, "set  x", EINVAL, BAD_KEY("set"));
	says(&a, "set a\nb x", EINVAL, BAD_KEY("set"));
	says(&a, "delete", EINVAL, BAD_KEY("delete"));
	says(&a, "cas", EINVAL, BAD_KEY("cas"));
	says(&a, "set a", EINVAL, "set: the value is missing");
	says(&a, "get a b", EINVAL, "get: a key is all it takes");
	says(&a, "delete a b", EINVAL, "delete: a key is all it takes");
	says(&a, "cas a", EINVAL, "cas: K, OLD and NEW are needed, OLD without a space");
	says(&a, "cas a 1", EINVAL, "cas: K, OLD and NEW are needed, OLD without a space");
	says(&a, "put a 1", EINVAL,
	     "'put': a map knows set K V, get K, delete K, cas K OLD NEW, list [PREFIX], txn LINES, type");
	memset(request + 4, 'k', 256);
	says(&a, request, EINVAL, BAD_KEY("get"));
	request[4 + 255] = '\0';
	says(&a, request, ENODATA, "");
	says(&a, "list", 0, "a 1\n");
	forget(&a);
}

static void a_queue(void **state)
{
	static const char knows[] = "a queue knows push VALUE, pop, peek, len, type";
	struct asked a = {};
	char words[96];

	(void)state;
	says(&a, "create queue", 0, "");
	says(&a, "pop", ENODATA, "");
	says(&a, "peek", ENODATA, "");
	says(&a, "len", 0, "0");
	says(&a, "push one", 0, "");
	says(&a, "push ", 0, "");
	says(&a, "push three words here", 0, "");
	says(&a, "len", 0, "3");
	says(&a, "peek", 0, "one");
	says(&a, "pop", 0, "one");
	says(&a, "pop", 0, "");
	says(&a, "peek", 0, "three words here");
	says(&a, "pop", 0, "three words here");
	says(&a, "pop", ENODATA, "");
	says(&a, "push", EINVAL, "push: VALUE is missing");
	snprintf(words, sizeof(words), "'pop': %s", knows);
	says(&a, "pop 2", EINVAL, words);
	snprintf(words, sizeof(words), "'peek': %s", knows);
	says(&a, "peek ", EINVAL, words);
	snprintf(words, sizeof(words), "'len': %s", knows);
	says(&a, "len 1", EINVAL, words);
	says(&a, "len", 0, "0");
	forget(&a);
}

static void a_log(void **state)
{
	static const char from[] = "must be 0 to 9223372036854775807";
	struct asked a = {};
	char words[96];

	(void)state;
	says(&a, "create log", 0, "");
	says(&a, "len", 0, "0");
	says(&a, "read 0", 0, "");
	says(&a, "append a b", 0, "0");
	says(&a, "append ", 0, "1");
	says(&a, "append c", 0, "2");
	says(&a, "len", 0, "3");
	says(&a, "read 0", 0, "a b\n\nc\n");
	says(&a, "read 1 1", 0, "\n");
	says(&a, "read 1 9223372036854775807", 0, "\nc\n");
	says(&a, "read 0 0", 0, "");
	says(&a, "read 3", 0, "");
	says(&a, "read 9223372036854775807", 0, "");
	says(&a, "append", EINVAL, "append: VALUE is missing");
	says(&a, "read 0 1 2", EINVAL, "read: FROM and COUNT are all it takes");
	snprintf(words, sizeof(words), "read: FROM '': %s", from);
	says(&a, "read", EINVAL, words);
	says(&a, "read ", EINVAL, words);
	snprintf(words, sizeof(words), "read: FROM '-1': %s", from);
	says(&a, "read -1", EINVAL, words);
	snprintf(words, sizeof(words), "read: COUNT 'x': %s", from);
	says(&a, "read 0 x", EINVAL, words);
	says(&a, "len 0", EINVAL, "'len': a log knows append VALUE, read FROM [COUNT], len, type");
	forget(&a);
}

static void what_is_not_there(void **state)
{
	static const char *const requests[] = { "get", "read", "type", "pop", "", "creat", "list" };
	struct asked a = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		says(&a, requests[i], ENOENT, "");
	assert_int_equal(a.app.len, 0);
	says(&a, "create", EINVAL, "create: TYPE must be 1 to 31 letters, digits and ._-");
	says(&a, "create ", EINVAL, "create: TYPE must be 1 to 31 letters, digits and ._-");
	says(&a, "create a b", EINVAL, "create: TYPE must be 1 to 31 letters, digits and ._-");
	says(&a, "create xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", EINVAL,
	     "create: TYPE must be 1 to 31 letters, digits and ._-");
	says(&a, "create heap", EINVAL,
	     "create 'heap': no such type; there are counter, log, map, queue, register and those of the configuration");
	says(&a, "get", ENOENT, "");
	says(&a, "create counter", 0, "");
	says(&a, "create counter", EEXIST, "counter");
	says(&a, "create map", EEXIST, "counter");
	says(&a, "create", EEXIST, "counter");
	says(&a, "add 1", 0, "1");
	forget(&a);
}

/* Bytes that no type has made: every request is answered, and changes nothing. */
static void damaged_states(void **state)
{
	static const struct {
		const char *bytes;
		u32 len;
		const char *request;
	} damaged[] = {
		{ "counter\0001234567", 15, "get" },
		{ "counter\000123456789", 17, "add 1" },
		{ "queue\0\1\0\0", 9, "len" },
		{ "queue\0\5\0\0\0abcd", 14, "pop" },
		{ "queue\0\xff\xff\xff\xff", 10, "push x" },
		{ "log\0\1\0\0\0a\1", 10, "read 0" },
		{ "map\0\1\0\0\0a", 9, "list" },		/* no value */
		{ "map\0\1\0\0\0b\0\0\0\0\1\0\0\0a\0\0\0\0", 22, "get a" },	/* not in order */
		{ "map\0\1\0\0\0a\0\0\0\0\1\0\0\0a\0\0\0\0", 22, "set a 1" },	/* twice */
		{ "counter", 7, "get" },		/* no zero byte */
		{ "coun ter\0", 9, "get" },
		{ "\0\0", 2, "type" },
		{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 40, "type" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct asked a = {};

		assert_true(bftm_bytes_add(&a.app, damaged[i].bytes, damaged[i].len));
		says(&a, damaged[i].request, EBADMSG, "");
		assert_int_equal(a.app.len, damaged[i].len);
		assert_memory_equal(a.app.data, damaged[i].bytes, damaged[i].len);
		forget(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register),
		cmocka_unit_test(a_register_decides_once),
		cmocka_unit_test(a_register_keeps_any_bytes),
		cmocka_unit_test(a_counter),
		cmocka_unit_test(a_map),
		cmocka_unit_test(a_map_does_all_lines_or_none),
		cmocka_unit_test(a_line_too_long_for_the_answer_does_not_hold),
		cmocka_unit_test(bad_lines_of_a_map),
		cmocka_unit_test(bad_requests_to_a_map),
		cmocka_unit_test(a_queue),
		cmocka_unit_test(a_log),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(damaged_states),
	};

	return cmocka_run_group_tests_name("object types", tests, NULL, NULL);
}
