// SPDX-License-Identifier: GPL-2.0
/* States that are full: whose response gives way, and what is still answered. */
#include <errno.h>

#include "unit.h"

#include "types/object.h"
#include "order/room.h"

#define HEAD	sizeof(struct bftm_state_head)
#define ENTRY	sizeof(struct bftm_state_client)
#define BARE	(12u + 8u)	/* a response with one status and no bytes */

static u8 text[BFTM_OP_MAX];

static struct bftm_applied done(u32 client, u64 op, u32 len)
{
	return (struct bftm_applied){ .client = client, .op = op, .len = len, .response = text };
}

static void keeps(const u8 *body, u32 client, u64 op, u32 len)
{
	struct bftm_applied a;

	assert_true(bftm_state_find(body, client, &a));
	assert_int_equal(a.op, op);
	assert_false(a.gone);
	assert_int_equal(a.len, len);
}

static void lost(const u8 *body, u32 client, u64 op)
{
	struct bftm_applied a;

	assert_true(bftm_state_find(body, client, &a));
	assert_int_equal(a.op, op);
	assert_true(a.gone);
	assert_int_equal(a.len, 0);
	/* It is known all the same: no operation comes twice. */
	assert_false(bftm_op_follows(a.op, op));
	assert_true(bftm_op_follows(a.op, op + 1));
}

static void the_longest_give_way(void **state)
{
	const struct bftm_applied first[] = {
		done(1, 1, 30), done(2, 1, 100), done(3, 1, 0), done(4, 1, 100), done(5, 1, 70),
	};
	const struct bftm_applied then = done(6, 1, 10);
	const u32 full = HEAD + 6 * ENTRY + 310 + 3;
	u8 old[1024], new[1024];
	u32 room;

	(void)state;
	assert_int_not_equal(bftm_state_make(NULL, 1, first, 5, NULL, 0, old, sizeof(old)), 0);
	for (room = full + 5; room; room--) {
		u32 len = bftm_state_make(old, 2, &then, 1, (const u8 *)"app", 3, new, room);
		u32 want = room >= full ? full : room >= full - 100 ? full - 100 :
			   room >= full - 200 ? full - 200 : room >= full - 270 ? full - 270 :
			   room >= full - 300 ? full - 300 : 0;

		assert_int_equal(len, want);
		if (!len)
			continue;
		assert_true(bftm_state_ok(new, len, 2));
		keeps(new, 6, 1, 10);
		keeps(new, 3, 1, 0);
		if (len == full - 100)
			keeps(new, 2, 1, 100);
		if (len < full)
			lost(new, 4, 1);
		if (len < full - 100)
			lost(new, 2, 1);
		if (len < full - 200)
			lost(new, 5, 1);
		if (len < full - 270)
			lost(new, 1, 1);
		else
			keeps(new, 1, 1, 30);
	}
}

/* A response of this version stays, however long. */
static void news_do_not_give_way(void **state)
{
	const struct bftm_applied first[] = { done(1, 1, 10), done(2, 1, 200) };
	const struct bftm_applied then[] = { done(2, 2, 300), done(3, 1, 5) };
	const struct bftm_applied last[] = { done(1, 2, 400) };
	u8 old[1024], new[1024];
	u32 len;

	(void)state;
	bftm_state_make(NULL, 1, first, 2, NULL, 0, old, sizeof(old));
	len = bftm_state_make(old, 2, then, 2, NULL, 0, new, HEAD + 3 * ENTRY + 305);
	assert_int_equal(len, HEAD + 3 * ENTRY + 305);
	lost(new, 1, 1);
	keeps(new, 2, 2, 300);
	assert_int_equal(bftm_state_make(old, 2, then, 2, NULL, 0, new, len - 1), 0);

	/* One that lost its response gets the next one. */
	len = bftm_state_make(new, 3, last, 1, NULL, 0, old, HEAD + 3 * ENTRY + 406);
	assert_int_equal(len, HEAD + 3 * ENTRY + 405);
	keeps(old, 1, 2, 400);
	lost(old, 2, 2);
	keeps(old, 3, 1, 5);
}

static void hostile_marks(void **state)
{
	struct bftm_state_client c = { .response_len = cpu_to_le32(BFTM_RESPONSE_GONE) };
	const struct bftm_applied one = done(1, 1, 8);
	u8 body[128];
	u32 len = bftm_state_make(NULL, 1, &one, 1, NULL, 0, body, sizeof(body));

	(void)state;
	c.client = cpu_to_le32(1);
	memcpy(body + HEAD, &c, sizeof(c));
	assert_true(bftm_state_ok(body, len, 1));
	c.response_at = cpu_to_le32((u32)(HEAD + ENTRY));
	memcpy(body + HEAD, &c, sizeof(c));
	assert_false(bftm_state_ok(body, len, 1));
	c.response_at = 0;
	c.response_len = cpu_to_le32(BFTM_RESPONSE_GONE - 1);
	memcpy(body + HEAD, &c, sizeof(c));
	assert_false(bftm_state_ok(body, len, 1));
}

/* An object, as the daemon keeps it. */
static struct object {
	u8 body[2][BFTM_STATE_MAX];
	u8 *state;
	u32 len;
	u64 version;
	u32 limit;
} obj;

static int fresh_object(void **state)
{
	(void)state;
	obj.state = NULL;
	obj.len = 0;
	obj.version = 0;
	obj.limit = BFTM_STATE_DEFAULT;
	memset(text, 'x', sizeof(text));
	return 0;
}

static void ended(struct bftm_object_job *job)
{
	(void)job;
}

enum { FULL = -1, STUCK = -2 };	/* no room for the client; nor for any response */

/* One operation, as an iteration applies it. Return: status of the last answer. */
static int apply(u32 client, u64 op, const struct bftm_bytes *request)
{
	struct bftm_order_space space = {
		.base = obj.state, .base_len = obj.len, .limit = obj.limit,
	};
	enum bftm_order_turn turn = bftm_order_turn(&space, client, op);
	struct bftm_object_op one = { .body = request->data, .len = request->len, .own = true };
	struct bftm_object_job job = {
		.version = obj.version + 1, .room = bftm_order_left(&space),
		.spare = bftm_order_spare(&space), .op = &one, .count = 1, .done = ended,
	};
	struct bftm_object_answer answer = { .status = EMSGSIZE };
	u8 *next = obj.body[~obj.version & 1];
	struct bftm_applied applied;
	u64 version;
	int answers;

	if (turn == BFTM_TURN_FULL)
		return FULL;
	assert_int_equal(turn, BFTM_TURN_NOW);
	job.app = bftm_state_app(obj.state, obj.len, &job.app_len);
	bftm_object_apply(&job);
	assert_int_equal(job.error, 0);
	if (!job.applied) {
		bftm_object_free(&job);
		return STUCK;
	}
	answers = bftm_answers(one.response.data, one.response.len, &version);
	if (answers)
		bftm_answer_get(one.response.data, (u32)answers - 1, &answer);
	applied = (struct bftm_applied){
		.client = client, .op = op,
		.len = one.response.len, .response = one.response.data,
	};
	obj.version++;
	obj.len = bftm_state_make(obj.state, obj.version, &applied, 1, job.state.data,
				  job.state.len, next, obj.limit);
	obj.state = next;
	assert_true(obj.len && bftm_state_ok(obj.state, obj.len, obj.version));
	keeps(obj.state, client, op, one.response.len);
	bftm_object_free(&job);
	return (int)answer.status;
}

static int ask(u32 client, u64 op, const char *request, u32 more)
{
	struct bftm_bytes body = {}, all = {};
	int status;

	bftm_bytes_add(&all, request, (u32)strlen(request));
	bftm_bytes_add(&all, text, more);
	assert_int_equal(bftm_batch_add(&body, all.data, all.len), 0);
	status = apply(client, op, &body);
	bftm_bytes_free(&all);
	bftm_bytes_free(&body);
	return status;
}

/* A map of 40 KiB; five clients that each read 16 KiB, and leave. */
static void readers_that_left(void **state)
{
	u32 client;

	(void)state;
	assert_int_equal(ask(1, 1, "create map", 0), 0);
	assert_int_equal(ask(1, 2, "set a ", 16300), 0);
	assert_int_equal(ask(1, 3, "set b ", 16300), 0);
	assert_int_equal(ask(1, 4, "set c ", 8200), 0);
	for (client = 2; client <= 6; client++) {
		assert_int_equal(ask(client, 1, "get a", 0), 0);
		keeps(obj.state, client, 1, BARE + 16300);
		if (client > 2)
			lost(obj.state, client - 1, 1);
	}
	assert_true(obj.len <= obj.limit);
	/* The map goes on, also for who asks for a lot, or for one more. */
	assert_int_equal(ask(1, 5, "set c ", 8300), 0);
	assert_int_equal(ask(7, 1, "get b", 0), 0);
	assert_int_equal(ask(2, 2, "get c", 0), 0);
	lost(obj.state, 6, 1);
}

/* A full map can be read and emptied, whoever filled it; and by more than filled it. */
static void a_full_map_goes_on(void **state)
{
	char set[16] = "";
	u32 i, client;
	u64 op = 1;

	(void)state;
	assert_int_equal(ask(1, op++, "create map", 0), 0);
	for (i = 8192; i; i /= 2)
		do
			snprintf(set, sizeof(set), "set %08x ", (u32)op);
		while (!ask(1, op++, set, i));
	assert_true(obj.len > obj.limit - obj.limit / 16 - 64);
	for (client = 2; client < 50; client++)
		assert_int_equal(ask(client, 1, "get 00000002", 0), EMSGSIZE);
	for (client = 2; client < 50; client++)
		assert_int_equal(ask(client, 2, "get no", 0), ENODATA);
	assert_int_equal(ask(2, 3, "set no x", 0), EMSGSIZE);
	assert_int_equal(ask(2, 4, "delete 00000002", 0), 0);
	assert_int_equal(ask(3, 3, "set yes x", 0), 0);
}

/* At the very end new clients are kept out, and those that are known are answered. */
static void too_many_clients(void **state)
{
	u32 client = 0;
	int status;

	(void)state;
	obj.limit = BFTM_STATE_MIN;
	assert_int_equal(ask(client++, 1, "create register", 0), 0);
	assert_int_equal(ask(0, 2, "write ", 600), 0);
	assert_int_equal(ask(0, 3, "write ", 800), EMSGSIZE);
	while ((status = ask(client, 1, "read", 0)) != FULL) {
		assert_true(status == EMSGSIZE || !status);
		client++;
	}
	assert_in_range(client, 8, 20);
	assert_int_equal(ask(client + 1, 1, "read", 0), FULL);
	assert_int_equal(ask(3, 2, "type", 0), 0);
	assert_int_equal(ask(5, 2, "write ", 10), 0);
	assert_int_equal(ask(client, 1, "read", 0), 0);
}

/* Requests whose bare statuses are too many for what is left are all told so. */
static void statuses_that_do_not_fit(void **state)
{
	struct bftm_bytes body = {};
	u64 op;
	u32 i;

	(void)state;
	assert_int_equal(ask(1, 1, "create log", 0), 0);
	for (op = 2; !ask(1, op, "append ", 1000); op++)
		;
	for (i = 0; i < 1000; i++)
		assert_int_equal(bftm_batch_add(&body, "len", 3), 0);
	assert_int_equal(apply(2, 1, &body), EMSGSIZE);
	keeps(obj.state, 2, 1, BARE - 8);
	assert_int_equal(ask(2, 2, "len", 0), 0);
	bftm_bytes_free(&body);
}

/* A limit that was lowered below what is there: the client learns it. */
static void nothing_fits(void **state)
{
	(void)state;
	assert_int_equal(ask(1, 1, "create register", 0), 0);
	assert_int_equal(ask(1, 2, "write ", 2000), 0);
	obj.limit = 1500;
	assert_int_equal(ask(1, 3, "read", 0), STUCK);
	assert_int_equal(ask(2, 1, "read", 0), FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_give_way),
		cmocka_unit_test(news_do_not_give_way),
		cmocka_unit_test(hostile_marks),
		cmocka_unit_test_setup(readers_that_left, fresh_object),
		cmocka_unit_test_setup(a_full_map_goes_on, fresh_object),
		cmocka_unit_test_setup(too_many_clients, fresh_object),
		cmocka_unit_test_setup(statuses_that_do_not_fit, fresh_object),
		cmocka_unit_test_setup(nothing_fits, fresh_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
