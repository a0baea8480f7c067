// SPDX-License-Identifier: GPL-2.0
/* How operations are packed, applied, limited and passed over. */
#include "object.h"

#define FULL (12 + 8)	/* bytes of a response with one bare status */

static void add(struct bftm_bytes *body, const char *request)
{
	assert_int_equal(bftm_batch_add(body, request, (u32)strlen(request)), 0);
}

/* Text and status of answer @i. */
static void answered(const struct bftm_bytes *response, u32 i, u32 status, const char *text)
{
	struct bftm_object_answer answer;

	bftm_answer_get(response->data, i, &answer);
	assert_int_equal(answer.status, status);
	assert_int_equal(answer.len, strlen(text));
	assert_memory_equal(answer.data, text, answer.len);
}

static void done(struct bftm_object_job *job)
{
	++*(int *)job->arg;
}

/* Applies operations to an object; the job has to be freed. */
static void apply(struct bftm_object_job *job, struct bftm_object_op *op, u32 count)
{
	int calls = 0;

	job->version = 7;
	job->room = job->room ?: BFTM_STATE_DEFAULT;
	job->op = op;
	job->count = count;
	job->done = done;
	/* cppcheck-suppress autoVariables; it is done before this returns */
	job->arg = &calls;
	bftm_object_apply(job);
	assert_int_equal(calls, 1);
	assert_int_equal(job->error, 0);
}

static struct bftm_object_op of(const struct bftm_bytes *body)
{
	return (struct bftm_object_op){ .body = body->data, .len = body->len };
}

static void requests_are_packed(void **state)
{
	struct bftm_bytes body = {};
	struct bftm_object_job job = {};
	struct bftm_object_op op;
	u64 version = 0;

	(void)state;
	add(&body, "get");
	add(&body, "create counter");
	add(&body, "add 3");
	add(&body, "");
	add(&body, "add 4");
	assert_int_equal(bftm_batch_count(body.data, body.len), 5);
	op = of(&body);
	apply(&job, &op, 1);
	assert_true(op.applied);
	assert_int_equal(job.applied, 1);
	assert_int_equal(bftm_answers(op.response.data, op.response.len, &version), 5);
	assert_int_equal(version, 7);
	answered(&op.response, 0, ENOENT, "");
	answered(&op.response, 1, 0, "");
	answered(&op.response, 2, 0, "3");
	answered(&op.response, 3, EINVAL, "'': a counter knows add N, get, type");
	answered(&op.response, 4, 0, "7");
	assert_int_equal(job.state.len, 16);
	assert_memory_equal(job.state.data, "counter\0\7\0\0\0\0\0\0\0", 16);
	bftm_object_free(&job);
	bftm_bytes_free(&body);
}

/* As many as fit, by their bytes and by their statuses. */
static void packs_have_an_end(void **state)
{
	static u8 request[BFTM_OP_MAX + 1];
	struct bftm_bytes body = {};
	u32 n = 0;

	(void)state;
	memset(request, 'x', sizeof(request));
	assert_int_equal(bftm_batch_add(&body, request, BFTM_OP_MAX - 7), -EMSGSIZE);
	assert_int_equal(bftm_batch_add(&body, request, UINT32_MAX), -EMSGSIZE);
	assert_int_equal(body.len, 0);
	assert_int_equal(bftm_batch_add(&body, request, BFTM_OP_MAX - 8), 0);
	assert_int_equal(body.len, BFTM_OP_MAX);
	assert_int_equal(bftm_batch_count(body.data, body.len), 1);
	assert_int_equal(bftm_batch_add(&body, "", 0), -EMSGSIZE);
	bftm_bytes_free(&body);

	while (!bftm_batch_add(&body, "", 0))
		n++;
	assert_int_equal(n, (BFTM_OP_MAX - 12) / 8);
	assert_int_equal(bftm_batch_count(body.data, body.len), n);
	bftm_bytes_free(&body);
}

/* Bodies that nobody has packed get a response without answers. */
static void what_is_no_pack(void **state)
{
	static const struct {
		const char *bytes;
		u32 len;
	} bad[] = {
		{ "", 0 }, { "\1\0\0", 3 }, { "\1\0\0\0", 4 }, { "\1\0\0\0\1\0\0\0", 8 },
		{ "\1\0\0\0\0\0\0\0x", 9 }, { "\2\0\0\0\0\0\0\0", 8 },
		{ "\0\0\0\0\0\0\0\0", 8 }, { "\xff\xff\xff\xff\0\0\0\0", 8 },
		{ "\1\0\0\0\xff\xff\xff\xff", 8 },
	};
	struct asked a = {};
	u64 version = 0;
	size_t i;

	(void)state;
	says(&a, "create counter", 0, "");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(bftm_batch_count((const u8 *)bad[i].bytes, bad[i].len), 0);
		assert_true(ask_body(&a, (const u8 *)bad[i].bytes, bad[i].len));
		assert_int_equal(bftm_answers(a.response.data, a.response.len, &version), 0);
	}
	says(&a, "get", 0, "0");
	forget(&a);
}

/* Each request has a number of its own, in the order in which they are done. */
static void numbers_grow(void **state)
{
	struct bftm_bytes body = {}, more = {};
	struct bftm_object_job job = {};
	struct bftm_object_op op[4];
	u64 version = 0;

	(void)state;
	add(&body, "create counter");
	add(&body, "add 3");
	add(&more, "add 4");
	op[0] = of(&body);
	op[1] = of(&more);
	op[2] = of(&body);
	op[3] = of(&more);
	apply(&job, op, 4);
	assert_int_equal(job.applied, 4);
	assert_int_equal(bftm_answers(op[0].response.data, op[0].response.len, &version), 2);
	assert_int_equal(bftm_answers_number(op[0].response.data), 700000);
	assert_int_equal(bftm_answers(op[1].response.data, op[1].response.len, &version), 1);
	assert_int_equal(version, 7);
	assert_int_equal(bftm_answers_number(op[1].response.data), 700002);
	assert_int_equal(bftm_answers(op[2].response.data, op[2].response.len, &version), 2);
	assert_int_equal(bftm_answers_number(op[2].response.data), 700003);
	assert_int_equal(bftm_answers_number(op[3].response.data), 700005);
	answered(&op[3].response, 0, 0, "14");
	bftm_object_free(&job);
	bftm_bytes_free(&body);
	bftm_bytes_free(&more);
}

static void responses_are_looked_into_with_care(void **state)
{
	static const char response[] = "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0ab";
	u64 version = 0;
	u32 len;

	(void)state;
	assert_int_equal(bftm_answers((const u8 *)response, 22, &version), 1);
	assert_int_equal(version, 1);
	for (len = 0; len < 22; len++)
		assert_int_equal(bftm_answers((const u8 *)response, len, &version), -EBADMSG);
	assert_int_equal(bftm_answers((const u8 *)response, 23, &version), -EBADMSG);
}

/* The first that does not fit, and all behind it; what fits stays. */
static void a_state_has_an_end(void **state)
{
	struct bftm_bytes create = {}, more = {};
	struct bftm_object_job job = {};
	struct bftm_object_op op[3];

	(void)state;
	add(&create, "create queue");
	add(&more, "push 12345678");
	add(&more, "push 1234567890123456789012345678901234567890");
	add(&more, "push 1");
	add(&more, "len");
	op[0] = of(&create);
	op[1] = of(&more);
	op[2] = of(&create);
	job.room = 6 + 12 + FULL + 12 + 4 * 8 + FULL + 5;
	apply(&job, op, 3);
	assert_int_equal(job.applied, 3);
	answered(&op[0].response, 0, 0, "");
	answered(&op[1].response, 0, 0, "");
	answered(&op[1].response, 1, EMSGSIZE, "");
	answered(&op[1].response, 2, EMSGSIZE, "");
	answered(&op[1].response, 3, EMSGSIZE, "");
	/* Another operation is judged by itself. */
	answered(&op[2].response, 0, EEXIST, "queue");
	assert_int_equal(job.state.len, 6 + 12);
	assert_true(job.state.len + op[0].response.len + op[1].response.len +
		    op[2].response.len <= job.room);
	bftm_object_free(&job);
	bftm_bytes_free(&create);
	bftm_bytes_free(&more);
}

/* A queue without room to spare: what is taken out makes room for the answer. */
static void a_full_queue_can_be_emptied(void **state)
{
	struct asked a = {};

	(void)state;
	says(&a, "create queue", 0, "");
	says(&a, "push 123456789", 0, "");
	a.room = a.app.len + FULL;
	says(&a, "peek", EMSGSIZE, "");
	says(&a, "push x", EMSGSIZE, "");
	says(&a, "wrong", EINVAL, "");
	says(&a, "pop", 0, "123456789");
	says(&a, "len", 0, "0");
	forget(&a);
}

/* An operation whose bare statuses have no room is not applied. */
static void no_room_at_all(void **state)
{
	struct bftm_bytes create = {}, get = {};
	struct bftm_object_job job = {};
	struct bftm_object_op op[2];

	(void)state;
	add(&create, "create counter");
	add(&get, "get");
	op[0] = of(&create);
	op[1] = of(&get);
	job.room = 16 + FULL + FULL - 1;
	apply(&job, op, 2);
	assert_int_equal(job.applied, 1);
	assert_true(op[0].applied);
	assert_false(op[1].applied);
	assert_null(op[1].response.data);
	bftm_object_free(&job);

	/* The first one is told so, if at all possible. */
	job = (struct bftm_object_job){ .room = FULL - 1 };
	apply(&job, op, 2);
	assert_int_equal(job.applied, 1);
	assert_true(op[0].applied);
	assert_int_equal(op[0].response.len, FULL - 8);
	assert_false(op[1].applied);
	assert_null(job.state.data);
	bftm_object_free(&job);
	job = (struct bftm_object_job){ .room = FULL - 9 };
	apply(&job, op, 2);
	assert_int_equal(job.applied, 0);
	bftm_object_free(&job);
	bftm_bytes_free(&create);
	bftm_bytes_free(&get);
}

static void a_response_has_an_end(void **state)
{
	static char request[6000] = "append ";
	struct bftm_bytes body = {};
	struct bftm_object_job job = {};
	struct bftm_object_op op;
	struct asked a = {};
	u32 i;

	(void)state;
	memset(request + 7, 'x', sizeof(request) - 8);
	says(&a, "create log", 0, "");
	for (i = 0; i < 4; i++)
		assert_int_equal(ask(&a, request), 0);
	says(&a, "read 0", EMSGSIZE, "");
	assert_int_equal(ask(&a, "read 0 2"), 0);
	assert_int_equal(strlen(said(&a)), 2 * (sizeof(request) - 8 + 1));
	for (i = 0; i < 3; i++)
		add(&body, "read 0 1");
	add(&body, "len");
	op = of(&body);
	job.app = a.app.data;
	job.app_len = a.app.len;
	apply(&job, &op, 1);
	assert_true(op.response.len <= BFTM_OP_MAX);
	answered(&op.response, 2, EMSGSIZE, "");
	answered(&op.response, 3, EMSGSIZE, "");
	bftm_object_free(&job);
	bftm_bytes_free(&body);
	forget(&a);
}

/* Operations of a type for which this daemon has no program. */
static void types_of_others(void **state)
{
	struct bftm_bytes create = {}, get = {}, counter = {};
	struct bftm_object_job job = {}, second = {}, third = {};
	struct bftm_object_op op[3];

	(void)state;
	add(&create, "create bank");
	add(&get, "get");
	add(&counter, "type");
	add(&counter, "create counter");
	op[0] = of(&create);
	op[1] = of(&get);
	apply(&job, op, 2);
	assert_int_equal(job.applied, 1);
	assert_false(op[0].applied);
	answered(&op[1].response, 0, ENOENT, "");
	bftm_object_free(&job);

	/* Of the own application: an answer is better than none. */
	op[0] = of(&create);
	op[0].own = true;
	apply(&second, op, 1);
	assert_int_equal(second.applied, 1);
	bftm_object_free(&second);

	op[0] = of(&get);
	op[1] = of(&get);
	op[1].own = true;
	op[2] = of(&counter);
	op[2].own = true;
	third.app = (const u8 *)"bank\0money";
	third.app_len = 10;
	apply(&third, op, 3);
	assert_int_equal(third.applied, 2);
	assert_false(op[0].applied);
	answered(&op[1].response, 0, ENOPKG, "");
	answered(&op[2].response, 0, 0, "bank");
	answered(&op[2].response, 1, EEXIST, "bank");
	assert_int_equal(third.state.len, 10);
	bftm_object_free(&third);
	bftm_bytes_free(&create);
	bftm_bytes_free(&get);
	bftm_bytes_free(&counter);
}

static void nothing_to_do(void **state)
{
	struct bftm_object_job job = { .app = (const u8 *)"log", .app_len = 4 };

	(void)state;
	apply(&job, NULL, 0);
	assert_int_equal(job.applied, 0);
	assert_int_equal(job.state.len, 4);
	bftm_object_cancel(&job);
	bftm_object_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_packed),
		cmocka_unit_test(packs_have_an_end),
		cmocka_unit_test(what_is_no_pack),
		cmocka_unit_test(numbers_grow),
		cmocka_unit_test(responses_are_looked_into_with_care),
		cmocka_unit_test(a_state_has_an_end),
		cmocka_unit_test(a_full_queue_can_be_emptied),
		cmocka_unit_test(no_room_at_all),
		cmocka_unit_test(a_response_has_an_end),
		cmocka_unit_test(types_of_others),
		cmocka_unit_test(nothing_to_do),
	};

	return cmocka_run_group_tests_name("object", tests, NULL, NULL);
}
