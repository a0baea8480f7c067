// SPDX-License-Identifier: GPL-2.0
/* COMMIT_GET at the ordering server: a commit, and at once the get of the next iteration. */
#include "order_object.h"

static u8 signature[BFTM_SIGNATURE_LEN];

static u8 commit_get(u64 count, u64 then, u32 client, struct bftm_body *state, bool brought)
{
	struct bftm_order_msg req = {
		.type = BFTM_ORDER_COMMIT_GET, .client = client, .rank = rank_of(count, client),
		.then = rank_of(then, client), .id = state->id, .signature = signature,
	};

	memset(signature, (int)then, sizeof(signature));
	return step_at(LATER, req, brought ? state : NULL);
}

static void both_are_done(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	submit(ALICE, 1, op_of(10));
	submit(BOB, 1, op_of(20));
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_COMMITTED_GOT);
	assert_ptr_equal(obj.sc, one);
	assert_ptr_equal(obj.sp, one);
	assert_rank(obj.prop, 5, CAROL);
	assert_rank(obj.max, 7, CAROL);
	/* The operation that it reflects waits no more, and its client is told. */
	assert_int_equal(waiting.list.count, 1);
	assert_int_equal(reply.pending, 1);
	assert_int_equal(reply.data_len, sizeof(struct bftm_order_waiting));
	/* The next iteration is one as any other. */
	assert_int_equal(propose(7, CAROL, state_of(2, 1, "one")), BFTM_ORDER_PROPOSED);
}

/* The answer was lost: its own next rank does not refuse it, and nothing is done twice. */
static void it_is_repeated(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	commit_get(5, 7, CAROL, one, true);
	submit(BOB, 1, op_of(20));
	assert_int_equal(commit_get(5, 7, CAROL, one, false), BFTM_ORDER_COMMITTED_GOT);
	assert_int_equal(reply.pending, 1);
	assert_rank(obj.max, 7, CAROL);
	assert_rank(obj.prop, 5, CAROL);
}

/* Something came between, or it is another: what was promised since then stands. */
static void only_that_very_one_is(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one"), *two = state_of(2, 1, "one");

	(void)state;
	commit_get(5, 7, CAROL, one, true);
	assert_int_equal(commit_get(5, 8, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	assert_int_equal(commit_get(6, 7, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	assert_int_equal(commit_get(5, 7, CAROL, two, true), BFTM_ORDER_EXCEPTION);
	assert_int_equal(commit(5, CAROL, one), BFTM_ORDER_EXCEPTION);
	assert_rank(reply.max, 7, CAROL);
	assert_ptr_equal(obj.sc, one);
	/* The same once more, by the next: who gets it is not told that the first proposed it. */
	propose(7, CAROL, one);
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	propose(7, CAROL, two);
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	assert_ptr_equal(obj.sp, two);
	get(9, BOB);
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	assert_rank(obj.max, 9, BOB);
}

/* Without the body nothing is promised. */
static void needbody_changes_nothing(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	assert_int_equal(commit_get(5, 7, CAROL, one, false), BFTM_ORDER_NEEDBODY);
	assert_rank(obj.max, 0, 0);
	assert_null(obj.sc);
	assert_int_equal(get(1, ALICE), BFTM_ORDER_GOT);
}

static void a_lower_rank_is_excepted(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	get(6, BOB);
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_EXCEPTION);
	assert_rank(reply.rank, 5, CAROL);
	assert_rank(reply.max, 6, BOB);
	assert_rank(obj.max, 6, BOB);
	assert_null(obj.sc);
}

/* The signature is of the next rank. */
static void the_next_rank_is_signed(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	commit_get(5, 7, CAROL, one, true);
	assert_int_equal(get(6, BOB), BFTM_ORDER_EXCEPTION);
	assert_non_null(reply.signature);
	assert_int_equal(reply.signature[0], 7);
}

/* A server that has lost its memory takes the get alone: the rank that it repeats may install. */
static void a_memory_lost(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");

	(void)state;
	bftm_object_init(&obj, true);
	assert_int_equal(commit_get(5, 7, CAROL, one, true), BFTM_ORDER_RECOVERING);
	assert_rank(reply.rank, 7, CAROL);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 5, CAROL, one, true), BFTM_MSG_NONE);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 7, CAROL, one, true), BFTM_ORDER_INSTALLED);
}

/* Of the ranks each is its client's own, and the second is above the first. */
static void ranks_that_are_none(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one");
	struct bftm_order_msg req = {
		.type = BFTM_ORDER_COMMIT_GET, .client = CAROL, .rank = rank_of(5, CAROL),
		.then = rank_of(7, BOB), .id = one->id,
	};

	(void)state;
	assert_int_equal(step_at(LATER, req, one), BFTM_MSG_NONE);
	assert_int_equal(commit_get(5, 5, CAROL, one, true), BFTM_MSG_NONE);
	assert_int_equal(commit_get(5, 4, CAROL, one, true), BFTM_MSG_NONE);
	assert_int_equal(commit_get(0, 4, CAROL, one, true), BFTM_MSG_NONE);
	assert_int_equal(commit_get(5, BFTM_RANK_COUNT_MAX + 1, CAROL, one, true), BFTM_MSG_NONE);
	assert_null(obj.sc);
	assert_rank(obj.max, 0, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_object)
	const struct CMUnitTest tests[] = {
		TEST(both_are_done),
		TEST(it_is_repeated),
		TEST(only_that_very_one_is),
		TEST(needbody_changes_nothing),
		TEST(a_lower_rank_is_excepted),
		TEST(the_next_rank_is_signed),
		TEST(a_memory_lost),
		TEST(ranks_that_are_none),
	};

	return cmocka_run_group_tests_name("order_commit_get", tests, NULL, NULL);
}
