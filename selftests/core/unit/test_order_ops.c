// SPDX-License-Identifier: GPL-2.0
/* The operations that an iteration applies: those that b + 1 servers tell of. */
#include "order_iteration.h"

/* Servers that are not set did not answer. */
static struct told told[7];
static u32 heard;

static void tell(u32 u, struct bftm_body_id sc, struct bftm_body_id sp, u64 prop)
{
	told[u] = (struct told){ .sc = sc, .sp = sp, .prop = { prop, ME + 1, 1 } };
	heard |= 1u << u;
}

static enum bftm_order_verdict choose(void)
{
	enum bftm_order_verdict verdict;
	u32 u;

	begin();
	for (u = 0; u < order_cfg.n; u++)
		if (heard >> u & 1)
			got(u, told[u]);
	verdict = order_out.verdict;
	heard = 0;
	return verdict;
}

static const struct bftm_op *ops_of(u32 *total, u32 *holders)
{
	static struct bftm_op ret[64];

	*total = bftm_order_ops(&o, &order_cfg, ret, holders, 64);
	return ret;
}

static void operations_need_b_plus_1(void **state)
{
	const struct bftm_op a[] = { op_id(3, 1, 'a'), op_id(5, 2, 'b'), op_id(9, 1, 'c') };
	const struct bftm_op b[] = { op_id(1, 1, 'd'), op_id(5, 2, 'b') };
	const struct bftm_op c[] = { op_id(3, 1, 'x'), op_id(9, 1, 'c'), op_id(9, 1, 'c') };
	const struct bftm_op *op;
	u32 u, total, holders[64];

	(void)state;
	for (u = 0; u < 5; u++)
		tell(u, state_id(0, 0), state_id(0, 0), 0);
	told[0].op = a;
	told[0].count = ARRAY_SIZE(a);
	told[2].op = b;
	told[2].count = ARRAY_SIZE(b);
	told[4].op = c;
	told[4].count = ARRAY_SIZE(c);
	assert_int_equal(choose(), BFTM_ORDER_MAKE);
	op = ops_of(&total, holders);
	assert_int_equal(total, 2);
	assert_int_equal(op[0].client, 5);
	assert_int_equal(op[0].op, 2);
	assert_int_equal(op[0].id.digest[0], 'b');
	assert_int_equal(holders[0], 0x5);
	assert_int_equal(op[1].client, 9);
	assert_int_equal(holders[1], 0x11);
}

/* One says it twice, or twenty times: it is one server. */
static void repeating_it_does_not_help(void **state)
{
	struct bftm_op many[BFTM_ORDER_WAITING_MAX];
	u32 u, i, total, holders[64];

	(void)state;
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = op_id(3, 1, 'a');
	for (u = 0; u < 5; u++)
		tell(u, state_id(0, 0), state_id(0, 0), 0);
	told[1].op = many;
	told[1].count = ARRAY_SIZE(many);
	assert_int_equal(choose(), BFTM_ORDER_MAKE);
	ops_of(&total, holders);
	assert_int_equal(total, 0);
}

static void the_newer_operation_of_a_client(void **state)
{
	const struct bftm_op a[] = { op_id(3, 1, 'a') }, b[] = { op_id(3, 2, 'b') };
	const struct bftm_op *op;
	u32 order, u, total, holders[64];

	(void)state;
	for (order = 0; order < 2; order++) {
		for (u = 0; u < 5; u++) {
			tell(u, state_id(0, 0), state_id(0, 0), 0);
			told[u].op = u < 4 ? (u / 2 == order ? a : b) : NULL;
			told[u].count = u < 4;
		}
		assert_int_equal(choose(), BFTM_ORDER_MAKE);
		op = ops_of(&total, holders);
		assert_int_equal(total, 1);
		assert_int_equal(op[0].op, 2);
		assert_int_equal(op[0].id.digest[0], 'b');
		assert_int_equal(holders[0], order ? 0x3 : 0xc);
	}
}

static void no_more_than_there_is_room_for(void **state)
{
	struct bftm_op many[BFTM_ORDER_WAITING_MAX], ret[8];
	u32 u, i, room, holders[8];

	(void)state;
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = op_id(100 - i, 1, 'a');
	for (u = 0; u < 5; u++) {
		tell(u, state_id(0, 0), state_id(0, 0), 0);
		told[u].op = many;
		told[u].count = ARRAY_SIZE(many);
	}
	assert_int_equal(choose(), BFTM_ORDER_MAKE);
	for (room = 0; room <= 8; room++) {
		assert_int_equal(bftm_order_ops(&o, &order_cfg, ret, holders, room), room);
		for (i = 1; i < room; i++)
			assert_true(ret[i - 1].client < ret[i].client);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_iteration)
	const struct CMUnitTest tests[] = {
		TEST(operations_need_b_plus_1),
		TEST(repeating_it_does_not_help),
		TEST(the_newer_operation_of_a_client),
		TEST(no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests_name("order_ops", tests, NULL, NULL);
}
