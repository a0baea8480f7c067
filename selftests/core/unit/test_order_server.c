// SPDX-License-Identifier: GPL-2.0
/*
 * The ordering server, rule by rule: ranks, states, and what waits. Bodies are in
 * test_order_server_bodies.c, which message is answered what in
 * test_order_server_matrix.c.
 */
#include "order_object.h"

static struct bftm_order_waiting read_waiting(u32 i)
{
	struct bftm_order_waiting w;

	assert_true(reply.data_len >= (i + 1) * sizeof(w));
	memcpy(&w, reply.data + i * sizeof(w), sizeof(w));
	return w;
}

static void got_tells_both_states_and_the_proposer(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one"), *two = state_of(2, 2, "two");

	(void)state;
	commit(3, ALICE, one);
	propose(4, BOB, two);
	assert_int_equal(get(5, CAROL), BFTM_ORDER_GOT);
	assert_true(bftm_body_same(&reply.id, &one->id));
	assert_true(bftm_body_same(&reply.sp, &two->id));
	assert_rank(reply.prop, 4, BOB);
	assert_int_equal(reply.prop.incarnation, 1);
	assert_int_equal(reply.pending, 0);
	assert_int_equal(reply.data_len, 0);
}

/* A server that missed the proposal has it with the commit. */
static void commit_also_proposes(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one"), *two = state_of(2, 2, "two");

	(void)state;
	propose(3, ALICE, one);
	assert_int_equal(commit(4, BOB, two), BFTM_ORDER_COMMITTED);
	assert_ptr_equal(obj.sc, two);
	assert_ptr_equal(obj.sp, two);
	assert_rank(obj.prop, 4, BOB);
	assert_rank(obj.max, 4, BOB);
}

static void ranks_are_taken_by_all_their_parts(void **state)
{
	struct bftm_order_msg req = { .type = BFTM_ORDER_GET, .client = BOB };

	(void)state;
	get(5, BOB);
	assert_int_equal(get(5, ALICE), BFTM_ORDER_EXCEPTION);
	assert_rank(reply.max, 5, BOB);
	assert_int_equal(reply.max.incarnation, 1);
	assert_int_equal(get(5, CAROL), BFTM_ORDER_GOT);
	assert_int_equal(get(4, CAROL), BFTM_ORDER_EXCEPTION);
	req.rank = (struct bftm_rank){ 6, BOB, 4 };
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_GOT);
	req.rank.incarnation = 3;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_EXCEPTION);
	assert_int_equal(get(0, BOB), BFTM_MSG_NONE);
	/* Nobody could have a higher one after that. */
	assert_int_equal(get(BFTM_RANK_COUNT_MAX + 1, ALICE), BFTM_MSG_NONE);
	assert_int_equal(get(~0ull, ALICE), BFTM_MSG_NONE);
	assert_int_equal(get(BFTM_RANK_COUNT_MAX, ALICE), BFTM_ORDER_GOT);
	assert_rank(obj.max, BFTM_RANK_COUNT_MAX, ALICE);
}

/* A state without its body, or with a bad one, raises no rank. */
static void what_is_not_taken_changes_nothing(void **state)
{
	static const u8 types[] = { BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT };
	struct bftm_body *good = state_of(1, 1, "one"), *bad = op_of(50), *other = op_of(60);
	size_t i;

	(void)state;
	bad->id.version = 1;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct bftm_order_msg req = {
			.type = types[i], .client = ALICE, .rank = rank_of(5, ALICE),
			.id = good->id,
		};

		assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_NEEDBODY);
		assert_true(bftm_body_same(&reply.id, &good->id));
		assert_int_equal(step_at(LATER, req, bad), BFTM_MSG_REFUSED);
		assert_int_equal(reply.offset, BFTM_REFUSED_STATE);
		req.id = bad->id;
		assert_int_equal(step_at(LATER, req, bad), BFTM_MSG_REFUSED);
		/* An operation's bytes are no state, also while they wait. */
		submit(ALICE, 1, other);
		req.id = other->id;
		assert_int_equal(step_at(LATER, req, other), BFTM_MSG_REFUSED);
		assert_rank(obj.max, 0, 0);
		assert_null(obj.sp);
	}
	assert_int_equal(commit(5, ALICE, good), BFTM_ORDER_COMMITTED);
}

static void a_signature_stays_with_its_rank(void **state)
{
	struct bftm_order_msg req = {
		.type = BFTM_ORDER_GET, .client = BOB, .rank = rank_of(5, BOB),
	};
	u8 signature[BFTM_SIGNATURE_LEN];

	(void)state;
	memset(signature, 0x77, sizeof(signature));
	req.signature = signature;
	step_at(LATER, req, NULL);
	get(5, BOB);		/* again, without */
	get(4, ALICE);
	assert_non_null(reply.signature);
	assert_memory_equal(reply.signature, signature, sizeof(signature));
	/* Of an older rank it is not taken; a newer one that has none shows none. */
	req.rank.count = 3;
	memset(signature, 0x66, sizeof(signature));
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_EXCEPTION);
	assert_int_equal(reply.signature[0], 0x77);
	/* Nor is it shown where there is no room for it. */
	req.room = BFTM_ORDER_PROOF_LEN - 1;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_EXCEPTION);
	assert_null(reply.signature);
	req.room = BFTM_ORDER_PROOF_LEN;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_EXCEPTION);
	assert_non_null(reply.signature);
	propose(6, BOB, state_of(1, 1, ""));
	get(4, ALICE);
	assert_null(reply.signature);
}

static void what_waits_is_told_in_order_from_where_asked(void **state)
{
	static const u32 client[] = { 30, 10, 50, 20, 40 };
	struct bftm_order_msg req = {
		.type = BFTM_ORDER_GET, .client = ALICE, .rank = rank_of(1, ALICE),
	};
	u32 i, k, room, told;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(client); i++)
		assert_int_equal(submit(client[i], i + 1, op_of(10 + i)), BFTM_ORDER_PENDING);
	for (i = 1; i < waiting.list.count; i++)
		assert_true(waiting.list.entry[i - 1].client < waiting.list.entry[i].client);
	for (room = BFTM_ORDER_GOT_LEN; room <= 400; room++)
		for (req.from = 0; req.from < 60; req.from += 5) {
			req.room = (u16)room;
			step_at(LATER, req, NULL);
			assert_int_equal(reply.type, BFTM_ORDER_GOT);
			assert_int_equal(reply.pending, 5);
			told = (room - 128) / 48 < 5 ? (room - 128) / 48 : 5;
			assert_int_equal(reply.data_len, told * 48);
			for (k = 0; k < told; k++) {
				u32 first = req.from ? (req.from + 9) / 10 * 10 - 10 : 0;

				assert_int_equal(le32_to_cpu(read_waiting(k).client),
						 (first + 10 * k) % 50 + 10);
			}
		}
	req.from = 20;
	req.room = 0;
	step_at(LATER, req, NULL);
	assert_int_equal(le64_to_cpu(read_waiting(0).op), 4);
	assert_int_equal(le32_to_cpu(read_waiting(0).len), 13);
	assert_memory_equal(read_waiting(0).digest, bodies[3].id.digest, BFTM_DIGEST_LEN);
}

static void a_newer_operation_replaces_the_older(void **state)
{
	struct bftm_body *one = op_of(10), *two = op_of(20);

	(void)state;
	submit(ALICE, 1, one);
	assert_null(obj.replaced);
	assert_int_equal(submit(ALICE, 2, two), BFTM_ORDER_PENDING);
	assert_ptr_equal(obj.replaced, one);
	assert_int_equal(waiting.list.count, 1);
	assert_ptr_equal(waiting.list.entry[0].body, two);
	assert_int_equal(submit(ALICE, 1, one), BFTM_MSG_NONE);
	assert_null(obj.replaced);
	assert_int_equal(submit(ALICE, 2, NULL), BFTM_ORDER_PENDING);
	assert_null(obj.replaced);
}

static void too_many_wait(void **state)
{
	struct bftm_order_msg req = { .type = BFTM_ORDER_SUBMIT, .client = 100, .op = 1 };
	struct bftm_body *op = op_of(10);
	u32 i;

	(void)state;
	for (i = 0; i < ROOM; i++) {
		assert_false(bftm_object_lacks_room(&obj, &req));
		submit(i, 1, op);
	}
	assert_true(bftm_object_lacks_room(&obj, &req));
	assert_int_equal(submit(100, 1, op), BFTM_MSG_REFUSED);
	assert_int_equal(reply.offset, BFTM_REFUSED_PENDING);
	assert_int_equal(waiting.list.count, ROOM);
	/* A newer one of somebody who waits needs no room. */
	req.client = 3;
	req.op = 2;
	assert_false(bftm_object_lacks_room(&obj, &req));
	assert_int_equal(submit(3, 2, op), BFTM_ORDER_PENDING);
	obj.pend = NULL;
	assert_true(bftm_object_lacks_room(&obj, &req));
	assert_int_equal(submit(3, 2, op), BFTM_MSG_REFUSED);
	assert_int_equal(get(1, ALICE), BFTM_ORDER_GOT);
	assert_int_equal(reply.pending, 0);
	assert_int_equal(commit(1, ALICE, state_of(1, 1, "")), BFTM_ORDER_COMMITTED);
}

static void the_longest_operation(void **state)
{
	struct bftm_body *op = op_of(BFTM_OP_MAX), *longer = op_of(BFTM_OP_MAX + 1);

	(void)state;
	assert_int_equal(submit(ALICE, 1, longer), BFTM_MSG_REFUSED);
	assert_int_equal(reply.offset, BFTM_REFUSED_STATE);
	assert_int_equal(submit(ALICE, 1, op), BFTM_ORDER_PENDING);
	assert_int_equal(submit(BOB, 1, state_of(1, 1, "")), BFTM_MSG_REFUSED);
}

/* Those who wait hear of it at once; the others keep their order. */
static void commit_drops_what_it_reflects(void **state)
{
	const struct bftm_applied applied[] = {
		{ .client = 2, .op = 5, .len = 3, .response = (const u8 *)"two" },
		{ .client = 4, .op = 6, .len = 4, .response = (const u8 *)"four" },
		{ .client = 5, .op = 1, .len = 0, .response = NULL },
	};
	struct bftm_body *one = state_with(1, applied, 3), *op[6];
	struct bftm_order_msg pushed;
	u32 client, before, i, seen = 0;

	(void)state;
	for (client = 1; client <= 5; client++) {
		op[client] = op_of(10);
		submit(client, 5, op[client]);
	}
	before = waiting.list.count;
	commit(1, ALICE, one);
	assert_int_equal(waiting.list.count, 3);
	assert_int_equal(waiting.list.entry[0].client, 1);
	assert_int_equal(waiting.list.entry[1].client, 3);
	assert_int_equal(waiting.list.entry[2].client, 5);
	for (i = waiting.list.count; i < before; i++) {
		const struct bftm_pending *p = &waiting.list.entry[i];

		assert_ptr_equal(p->body, op[p->client]);
		seen |= 1u << p->client;
		bftm_order_response(&obj, p, reply_data, &pushed);
		if (p->client == 4) {	/* a newer one of it was applied */
			assert_int_equal(pushed.type, BFTM_MSG_NONE);
			continue;
		}
		assert_int_equal(pushed.type, BFTM_ORDER_RESPONSE);
		assert_int_equal(pushed.client, p->client);
		assert_int_equal(pushed.op, 5);
		assert_int_equal(pushed.seq, 0);
		assert_int_equal(pushed.id.len, 3);
		assert_memory_equal(pushed.data, "two", 3);
	}
	assert_int_equal(seen, 1u << 2 | 1u << 4);
	assert_int_equal(submit(5, 5, NULL), BFTM_ORDER_PENDING);
}

/* It is said so, asked or unasked, and nothing else; and the next operation may come. */
static void a_response_that_is_gone(void **state)
{
	const struct bftm_applied a = { .client = ALICE, .op = 1, .gone = true };
	struct bftm_order_msg pushed, req = {
		.type = BFTM_ORDER_SUBMIT, .client = ALICE, .op = 1, .offset = 1040,
	};

	(void)state;
	submit(ALICE, 1, op_of(10));
	commit(1, BOB, state_with(1, &a, 1));
	assert_int_equal(waiting.list.count, 0);
	bftm_order_response(&obj, &waiting.list.entry[0], reply_data, &pushed);
	assert_int_equal(pushed.type, BFTM_ORDER_RESPONSE);
	assert_int_equal(pushed.id.len, BFTM_RESPONSE_GONE);
	assert_int_equal(pushed.data_len, 0);
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_RESPONSE);
	assert_int_equal(reply.id.len, BFTM_RESPONSE_GONE);
	assert_int_equal(reply.offset, 1040);
	assert_int_equal(reply.data_len, 0);
	assert_int_equal(submit(ALICE, 2, op_of(10)), BFTM_ORDER_PENDING);
}

/* Every subset of clients that a commit may reflect. */
static void every_subset_dropped(void **state)
{
	struct bftm_applied applied[ROOM];
	u32 mask, i, kept, count, left;

	for (mask = 0; mask < 1u << ROOM; mask++) {
		fresh_object(state);
		for (i = 0, count = 0; i < ROOM; i++) {
			submit(i, 1, op_of(1));
			if (mask >> i & 1)
				applied[count++] = (struct bftm_applied){ .client = i, .op = 1 };
		}
		commit(1, ALICE, state_with(1, applied, count));
		assert_int_equal(waiting.list.count, ROOM - count);
		for (i = 0, kept = 0, left = 0; i < ROOM; i++) {
			left |= 1u << waiting.list.entry[i].client;
			if (!(mask >> i & 1))
				assert_int_equal(waiting.list.entry[kept++].client, i);
		}
		assert_int_equal(left, (1u << ROOM) - 1);
	}
}
int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_object)
	const struct CMUnitTest tests[] = {
		TEST(got_tells_both_states_and_the_proposer),
		TEST(commit_also_proposes),
		TEST(ranks_are_taken_by_all_their_parts),
		TEST(what_is_not_taken_changes_nothing),
		TEST(a_signature_stays_with_its_rank),
		TEST(what_waits_is_told_in_order_from_where_asked),
		TEST(a_newer_operation_replaces_the_older),
		TEST(too_many_wait),
		TEST(the_longest_operation),
		TEST(commit_drops_what_it_reflects),
		TEST(a_response_that_is_gone),
		TEST(every_subset_dropped),
	};

	return cmocka_run_group_tests_name("order_server", tests, NULL, NULL);
}
