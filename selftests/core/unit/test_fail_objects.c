// SPDX-License-Identifier: GPL-2.0
/* Objects without memory: nothing is applied then, and nothing is said. */
#include "fail.h"
#include "object.h"

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X250 X50 X50 X50 X50 X50 ""
#define X500 X250 X250 ""

/* Responses grow from 256 bytes by doubling: each piece of "list" is the first beyond once. */
static const struct {
	const char *what;
	const char *before[6];
	const char *request;
	u32 status;
} requests[] = {
	{ "a new object", { NULL }, "create counter", 0 },
	{ "a second one", { "create map" }, "create counter", EEXIST },
	{ "its type", { "create map" }, "type", 0 },
	{ "counter: add", { "create counter" }, "add 5", 0 },
	{ "counter: get", { "create counter" }, "get", 0 },
	{ "counter: unknown", { "create counter" }, "set", EINVAL },
	{ "counter: long words", { "create counter" }, "add " X50, EINVAL },
	{ "unknown long word", { "create counter" }, X50, EINVAL },
	{ "register: write", { "create register" }, "write " X500, 0 },
	{ "register: cas", { "create register", "write a" }, "cas a " X500, 0 },
	{ "register: cas, another value", { "create register", "write a" }, "cas b c", ESTALE },
	{ "register: read", { "create register", "write " X500 }, "read", 0 },
	{ "log: append", { "create log" }, "append " X500, 0 },
	{ "log: read", { "create log", "append a", "append " X500 }, "read 0", 0 },
	{ "log: no number", { "create log" }, "read " X50, EINVAL },
	{ "log: len of what", { "create log" }, "len of", EINVAL },
	{ "queue: push", { "create queue" }, "push " X500, 0 },
	{ "queue: pop", { "create queue", "push a" }, "pop", 0 },
	{ "map: set", { "create map" }, "set k " X500, 0 },
	{ "map: cas", { "create map", "set k a" }, "cas k a " X500, 0 },
	{ "map: cas, another value", { "create map", "set k a" }, "cas k b c", ESTALE },
	{ "map: get", { "create map", "set k " X500 }, "get k", 0 },
	{ "map: list", { "create map", "set " X250 " bcdef", "set y" X250 "yyyy " X250 X250 "123456789",
			 "set z 1", "set zz " X500 X500 X500 }, "list", 0 },
	{ "map: list of some", { "create map", "set a 1", "set bb 2" }, "list bb", 0 },
};

/* Applies it once, with the @nth allocation failing. Return: false when none has. */
static bool attempt(size_t i, const struct bftm_bytes *app, const struct bftm_bytes *body, u32 nth)
{
	struct asked a = {};
	struct bftm_object_op op = { .body = body->data, .len = body->len, .own = true };
	struct bftm_object_job job = {
		.app = app->data, .app_len = app->len, .version = 7, .room = BFTM_STATE_DEFAULT,
		.op = &op, .count = 1, .done = asked_done, .arg = &a,
	};
	struct bftm_object_answer answer;
	struct fail failed;
	u64 version;

	fail_begin(nth, "realloc");
	bftm_object_apply(&job);
	failed = fail_end();
	assert_true(a.done);
	if (job.error) {
		assert_non_null(failed.call);
		assert_int_equal(job.error, -ENOMEM);
		assert_int_equal(job.applied, 0);
		assert_null(job.state.data);
		assert_null(op.response.data);
		return true;
	}
	assert_int_equal(job.applied, 1);
	assert_int_equal(bftm_answers(op.response.data, op.response.len, &version), 1);
	assert_true(version == 7);
	bftm_answer_get(op.response.data, 0, &answer);
	assert_int_equal(answer.status, requests[i].status);
	/* Only words about a bad request may be missing. */
	if (failed.call) {
		assert_int_equal(answer.status, EINVAL);
		assert_int_equal(answer.len, 0);
	}
	bftm_object_free(&job);
	return failed.call;
}

static void every_allocation_fails(void **state)
{
	struct bftm_bytes body;
	struct asked a;
	size_t i, k;
	u32 nth;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		a = (struct asked){};
		body = (struct bftm_bytes){};
		for (k = 0; requests[i].before[k]; k++)
			assert_int_equal(ask(&a, requests[i].before[k]), 0);
		assert_int_equal(bftm_batch_add(&body, requests[i].request,
						(u32)strlen(requests[i].request)), 0);
		for (nth = 1; attempt(i, &a.app, &body, nth); nth++)
			;
		/* The first is there in all of them: state, or response. */
		print_message("# %s: %u allocations\n", requests[i].what, nth - 1);
		assert_true(nth > 2);
		bftm_bytes_free(&body);
		forget(&a);
	}
}

/* A batch to which nothing can be added is as it was. */
static void a_batch_keeps_what_it_has(void **state)
{
	static const u32 lens[] = { 0, 248, 244 };
	static const u8 zeroes[512];
	struct bftm_bytes op;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		op = (struct bftm_bytes){};
		if (lens[i])
			assert_int_equal(bftm_batch_add(&op, zeroes, lens[i]), 0);
		fail_begin(1, "realloc");
		assert_int_equal(bftm_batch_add(&op, zeroes, sizeof(zeroes)), -ENOMEM);
		assert_non_null(fail_end().call);
		assert_int_equal(bftm_batch_count(op.data, op.len), lens[i] ? 1 : 0);
		assert_int_equal(bftm_batch_add(&op, zeroes, sizeof(zeroes)), 0);
		assert_int_equal(bftm_batch_count(op.data, op.len), lens[i] ? 2 : 1);
		bftm_bytes_free(&op);
	}
}

/* Version and count, status and answer: none, or the first of both. */
static void a_response_says_what_it_lacks(void **state)
{
	static const u8 zeroes[256];
	static const struct {
		u32 len;
		bool begun;
	} full[] = { { 256, false }, { 248, false }, { 244, true } };
	struct bftm_bytes response;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(full); i++) {
		response = (struct bftm_bytes){};
		assert_true(bftm_bytes_add(&response, zeroes, full[i].len));
		fail_begin(1, "realloc");
		assert_int_equal(bftm_answers_begin(&response, 1, 0, 1), full[i].begun);
		assert_int_equal(!fail_end().call, full[i].begun);
		response.len = full[i].len;
		fail_begin(1, "realloc");
		assert_false(bftm_answer_add(&response, 0, zeroes, 5));
		assert_non_null(fail_end().call);
		bftm_bytes_free(&response);
	}
}

/* A length that cannot be is no reason to ask for memory. */
static void bytes_are_not_without_end(void **state)
{
	struct bftm_bytes bytes = {};

	(void)state;
	assert_false(bftm_bytes_add(&bytes, NULL, UINT32_MAX / 4 + 1));
	assert_null(bytes.data);
	bytes.len = UINT32_MAX / 4 + 1;
	bytes.size = UINT32_MAX / 2;
	assert_false(bftm_bytes_add(&bytes, NULL, 1));
	assert_null(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_fails),
		cmocka_unit_test(a_batch_keeps_what_it_has),
		cmocka_unit_test(a_response_says_what_it_lacks),
		cmocka_unit_test(bytes_are_not_without_end),
	};

	return cmocka_run_group_tests_name("fail_objects", tests, NULL, NULL);
}
