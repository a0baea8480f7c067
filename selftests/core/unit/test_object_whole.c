// SPDX-License-Identifier: GPL-2.0
/* Requests to all types alike: to be dumped, restored, deleted. */
#include <stdio.h>
#include <stdlib.h>

#include "object.h"

#define FULL (12 + 8)	/* bytes of a response with one bare status */

/* Puts what one object keeps into another, part by part, as bftmutexctl does. */
static u32 copy(struct asked *from, struct asked *to)
{
	char request[64], part[32 + BFTM_DUMP_MAX];
	struct bftm_object_answer answer;
	u32 at = 0, len, n, parts = 0;
	unsigned long long sum, first = 0;
	int head;

	do {
		snprintf(request, sizeof(request), "dump %u", at);
		assert_int_equal(ask(from, request), 0);
		bftm_answer_get(from->response.data, 0, &answer);
		assert_int_equal(sscanf((const char *)answer.data, "%u %llx\n%n", &len, &sum, &head), 2);
		first = parts ? first : sum;
		assert_true(sum == first);
		n = (u32)snprintf(part, 32, "restore %u ", at);
		memcpy(part + n, answer.data + head, answer.len - (u32)head);
		assert_int_equal(ask_bytes(to, part, n + answer.len - (u32)head), 0);
		at += answer.len - (u32)head;
		parts++;
	} while (at < len);
	assert_int_equal(to->app.len, from->app.len);
	assert_memory_equal(to->app.data, from->app.data, from->app.len);
	return parts;
}

static void a_dump_is_restored(void **state)
{
	struct asked a = {}, b = {};

	(void)state;
	says(&a, "create map", 0, "");
	says(&a, "set k two\nlines", 0, "");
	says(&a, "set l ", 0, "");
	assert_int_equal(copy(&a, &b), 1);
	says(&b, "list", 0, "k two\nlines\nl \n");
	says(&b, "type", 0, "map");
	forget(&a);
	forget(&b);
}

/* A long one comes in parts; and where there is little room, in more. */
static void a_long_one_in_parts(void **state)
{
	struct asked a = {}, b = {};
	static char request[16000];
	u32 i;

	(void)state;
	memset(request, 'x', sizeof(request) - 1);
	memcpy(request, "push ", 5);
	says(&a, "create queue", 0, "");
	for (i = 0; i < 3; i++)
		assert_int_equal(ask(&a, request), 0);
	assert_int_equal(copy(&a, &b), 4);
	forget(&b);
	a.room = a.app.len + 4096;
	assert_true(copy(&a, &b) > 4);
	forget(&b);
	a.room = a.app.len + FULL + 20;
	says(&a, "dump 0", EMSGSIZE, "");
	forget(&a);
}

static void bad_parts(void **state)
{
	static const u8 unknown[] = "restore 0 nothing\0x", whole[] = "restore 0 counter\0aaaaaaaa";
	struct asked a = {};

	(void)state;
	says(&a, "dump 0", ENOENT, "");
	says(&a, "restore", EINVAL, "restore: AT and BYTES are needed");
	says(&a, "restore 0", EINVAL, "restore: AT and BYTES are needed");
	says(&a, "restore -1 x", EINVAL, "restore: AT and BYTES are needed");
	says(&a, "restore 1 x", ESTALE, "");
	says(&a, "restore 0 counter", EINVAL,
	     "restore: BYTES do not begin with the name of a type that is known here");
	assert_int_equal(ask_bytes(&a, unknown, sizeof(unknown) - 1), EINVAL);
	assert_int_equal(a.app.len, 0);
	assert_int_equal(ask_bytes(&a, whole, sizeof(whole) - 1), 0);
	says(&a, "get", 0, "7016996765293437281");
	says(&a, "restore 0 x", EEXIST, "");
	says(&a, "restore 15 x", ESTALE, "");
	says(&a, "dump", EINVAL, "dump: AT is missing, where to begin");
	says(&a, "dump 0 1", EINVAL, "dump: AT is missing, where to begin");
	says(&a, "dump 17", ERANGE, "");
	says(&a, "get", 0, "7016996765293437281");
	forget(&a);
}

/* An object of any type can be made again; a key that has no name is not meant. */
static void what_is_deleted_is_not_there(void **state)
{
	struct asked a = {};

	(void)state;
	says(&a, "delete-object", ENOENT, "");
	says(&a, "create map", 0, "");
	says(&a, "set k v", 0, "");
	says(&a, "delete", EINVAL, "delete: a key is 1 to 255 bytes without space and newline");
	says(&a, "delete-object k", EINVAL,
	     "'delete-object': a map knows set K V, get K, delete K, cas K OLD NEW, list [PREFIX], "
	     "txn LINES, type");
	says(&a, "get k", 0, "v");
	says(&a, "delete-object", 0, "");
	assert_int_equal(a.app.len, 0);
	says(&a, "get k", ENOENT, "");
	says(&a, "create counter", 0, "");
	says(&a, "get", 0, "0");
	bftm_bytes_free(&a.app);
	assert_true(bftm_bytes_add(&a.app, "???", 3));
	says(&a, "get", EBADMSG, "");
	says(&a, "delete-object", 0, "");
	says(&a, "create map", 0, "");
	forget(&a);
}

static void kinds(void **state)
{
	(void)state;
	assert_int_equal(bftm_object_kind(NULL, 0), BFTM_OBJECT_NONE);
	assert_int_equal(bftm_object_kind((const u8 *)"counter", 7), BFTM_OBJECT_NONE);
	assert_int_equal(bftm_object_kind((const u8 *)"counter\0x", 9), BFTM_OBJECT_BUILTIN);
	assert_int_equal(bftm_object_kind((const u8 *)"account", 8), BFTM_OBJECT_PROGRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_is_restored),
		cmocka_unit_test(a_long_one_in_parts),
		cmocka_unit_test(bad_parts),
		cmocka_unit_test(what_is_deleted_is_not_there),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests_name("objects as a whole", tests, NULL, NULL);
}
