// SPDX-License-Identifier: GPL-2.0
/*
 * COMMIT_GET: a client that will need another iteration commits, and has the answers to
 * its next get at once.
 */
#include "order_iteration.h"

#define Q 5u

/* State A of version 1 is proposed at a quorum, and more is wanted. */
static void commit_and_go_on(void)
{
	u32 u;

	reach(BFTM_ORDER_PROPOSING);
	for (u = 0; u < Q; u++) {
		o.more = true;
		order_says(u, BFTM_ORDER_PROPOSED);
	}
	assert_int_equal(o.phase, BFTM_ORDER_COMMITTING);
}

static void committed_got(void)
{
	u32 u;

	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED_GOT);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE_MAKE);
}

/* Three round trips, and two for each one that follows. */
static void a_round_trip_less(void **state)
{
	u64 asked;
	u32 u;

	(void)state;
	commit_and_go_on();
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT_GET);
	assert_int_equal(order_out.to, ALL);
	assert_int_equal(o.rank.count, 1);
	assert_int_equal(bftm_order_then(&o).count, 2);
	assert_int_equal(bftm_order_then(&o).client, ME);
	assert_int_equal(bftm_order_then(&o).incarnation, 1);
	asked = now;
	now += 5 * MS;
	for (u = 6; u > 2; u--)
		assert_int_equal(order_says(u, BFTM_ORDER_COMMITTED_GOT), BFTM_ORDER_ON);
	assert_int_equal(order_says(2, BFTM_ORDER_COMMITTED_GOT), BFTM_ORDER_DONE_MAKE);
	assert_int_equal(order_out.send, 0);
	assert_int_equal(o.completed, 1);
	/* The next one is where MAKE would have brought it: what was committed is the base. */
	assert_int_equal(o.phase, BFTM_ORDER_MAKING);
	assert_int_equal(o.rank.count, 2);
	assert_int_equal(o.then, 0);
	assert_true(o.applies);
	assert_true(bftm_body_same(&o.base, &o.next));
	assert_int_equal(o.quorum, 0x7c);
	assert_int_equal(o.holders, 0x7c);
	/* It began when its get went out. */
	assert_int_equal(o.begun_ns, asked);
	assert_int_equal(o.wake_ns, asked + LIMIT);
	o.more = false;
	assert_int_equal(made(state_id(2, 'B')), BFTM_ORDER_ON);
	assert_int_equal(order_out.send, BFTM_ORDER_PROPOSE);
	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_PROPOSED);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT);
	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE);
	assert_int_equal(o.completed, 2);
	begin();
	assert_int_equal(o.rank.count, 3);
}

/* COMMIT after it would be refused by the next rank; what the caller wants now is no matter. */
static void it_is_repeated_as_it_was(void **state)
{
	u32 sends;

	(void)state;
	commit_and_go_on();
	order_says(3, BFTM_ORDER_COMMITTED_GOT);
	for (sends = 1; sends < BFTM_ORDER_SENDS; sends++) {
		o.more = sends & 1;
		assert_int_equal(order_wake(o.wake_ns), BFTM_ORDER_ON);
		assert_int_equal(order_out.send, BFTM_ORDER_COMMIT_GET);
		assert_int_equal(order_out.to, ALL & ~8u);
		assert_int_equal(bftm_order_then(&o).count, 2);
	}
	assert_int_equal(order_wake(o.wake_ns), BFTM_ORDER_TIMEOUT);
}

/* Some may have promised it, however the iteration ended. */
static void its_rank_is_used(void **state)
{
	u32 how, u;

	for (how = 0; how < 4; how++) {
		fresh_iteration(state);
		commit_and_go_on();
		assert_int_equal(o.then, 2);
		if (how == 0)
			order_time_out();
		else if (how == 1)
			bftm_order_unmade(&o);
		for (u = 0; how == 2 && u < 3; u++)
			says_exception(u, (struct bftm_rank){ 1, ME + 1, 1 }, false);
		for (u = 0; how == 3 && u < 2; u++)
			bftm_order_refused(&o, &order_cfg, u, 4, now, &order_out);
		assert_int_equal(o.phase, BFTM_ORDER_IDLE);
		assert_int_equal(o.then, 0);
		begin();
		assert_int_equal(order_out.send, BFTM_ORDER_GET);
		assert_true(o.rank.count > 2);
	}
}

/* As any other: above what b + 1 have shown, and above one that is proven. */
static void a_rank_as_any_other(void **state)
{
	u32 u;

	(void)state;
	reach(BFTM_ORDER_PROPOSING);
	says_exception(6, (struct bftm_rank){ 90, 1, 1 }, false);
	says_exception(5, (struct bftm_rank){ 70, 1, 1 }, false);
	for (u = 0; u < Q; u++) {
		o.more = true;
		order_says(u, BFTM_ORDER_PROPOSED);
	}
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT_GET);
	assert_int_equal(o.rank.count, 1);
	assert_int_equal(o.then, 71);
	/* The exceptions were to the first: the next begins with none. */
	committed_got();
	assert_int_equal(o.rank.count, 71);
	assert_int_equal(o.excepted, 0);
}

/* A message that is no answer to this very request, or not to a request of this kind. */
static void only_its_own_answer_counts(void **state)
{
	struct bftm_order_msg msg = { .type = BFTM_ORDER_COMMITTED_GOT };
	struct bftm_order before;
	u32 wrong, u;

	(void)state;
	commit_and_go_on();
	before = o;
	for (wrong = 0; wrong < 6; wrong++) {
		msg.rank = o.rank;
		msg.then = bftm_order_then(&o);
		msg.then.count += wrong == 0;
		msg.then.client += wrong == 1;
		msg.then.incarnation += wrong == 2;
		msg.rank.count += wrong == 3;
		msg.rank.incarnation += wrong == 4;
		if (wrong == 5)
			msg.then = (struct bftm_rank){};
		bftm_order_answer(&o, &order_cfg, 6, &msg, true, now, &order_out);
		assert_memory_equal(&o, &before, sizeof(o));
	}
	order_says(6, BFTM_ORDER_COMMITTED);
	order_says(6, BFTM_ORDER_GOT);
	assert_memory_equal(&o, &before, sizeof(o));
	/* And without it nobody is done with what nobody was asked. */
	fresh_iteration(state);
	reach(BFTM_ORDER_COMMITTING);
	for (u = 0; u < 7; u++)
		assert_int_equal(order_says(u, BFTM_ORDER_COMMITTED_GOT), BFTM_ORDER_ON);
	assert_int_equal(o.answered, 0);
}

/* One that recovers at this rank is told of the state before it hears of the next rank. */
static void not_while_a_server_recovers(void **state)
{
	u32 u;

	(void)state;
	begin();
	order_says(6, BFTM_ORDER_RECOVERING);
	for (u = 0; u < Q; u++)
		got_one(u, state_id(0, 0), 0);
	made(state_id(1, 'A'));
	for (u = 0; u < Q; u++) {
		o.more = true;
		order_says(u, BFTM_ORDER_PROPOSED);
	}
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT);
	assert_int_equal(order_out.to, 0x3f);
	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE);
	assert_int_equal(order_out.send, BFTM_ORDER_INSTALL);
	assert_int_equal(order_out.to, 0x40);
	begin();
	assert_int_equal(order_out.send, BFTM_ORDER_GET);
	assert_int_equal(order_out.to, ALL);
}

/* It answers the get alone: it is not asked again, and is told at the end of that iteration. */
static void one_that_recovers_at_the_next(void **state)
{
	struct bftm_order_msg msg = { .type = BFTM_ORDER_RECOVERING };
	u32 u;

	(void)state;
	commit_and_go_on();
	msg.rank = o.rank;
	bftm_order_answer(&o, &order_cfg, 5, &msg, false, now, &order_out);
	assert_int_equal(o.recovering, 0);
	msg.rank = bftm_order_then(&o);
	bftm_order_answer(&o, &order_cfg, 6, &msg, false, now, &order_out);
	assert_int_equal(o.recovering, 0x40);
	/* Nor is one that has answered. */
	order_says(0, BFTM_ORDER_COMMITTED_GOT);
	bftm_order_answer(&o, &order_cfg, 0, &msg, false, now, &order_out);
	assert_int_equal(o.recovering, 0x40);
	order_wake(o.wake_ns);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT_GET);
	assert_int_equal(order_out.to, 0x3e);
	for (u = 1; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED_GOT);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE_MAKE);
	made(state_id(2, 'B'));
	assert_int_equal(order_out.to, 0x3f);
	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_PROPOSED);
	for (u = 0; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED);
	assert_int_equal(order_out.send, BFTM_ORDER_INSTALL);
	assert_int_equal(order_out.to, 0x40);
	assert_int_equal(o.rank.count, 2);
}

static void a_body_goes_with_it(void **state)
{
	(void)state;
	commit_and_go_on();
	order_says(1, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_out.send, BFTM_ORDER_COMMIT_GET);
	assert_int_equal(order_out.to, 2);
	assert_int_equal(o.bodyless, 2);
	committed_got();
	assert_int_equal(o.bodyless, 0);
}

/* Lmax of each is its own: the second is older than the answers that it begins with. */
static void each_is_abandoned_in_its_time(void **state)
{
	u64 asked;

	(void)state;
	commit_and_go_on();
	assert_int_equal(order_wake(T0 + LIMIT), BFTM_ORDER_TIMEOUT);
	fresh_iteration(state);
	commit_and_go_on();
	asked = now;
	now += RESEND;
	order_wake(o.wake_ns);
	committed_got();
	now = asked + LIMIT - 1;
	assert_int_equal(made(state_id(2, 'B')), BFTM_ORDER_ON);
	assert_int_equal(order_out.send, BFTM_ORDER_PROPOSE);
	now = asked + LIMIT;
	assert_int_equal(order_says(0, BFTM_ORDER_PROPOSED), BFTM_ORDER_TIMEOUT);
}

/* Refusals of the first do not refuse the second. */
static void refusals_are_of_one(void **state)
{
	(void)state;
	commit_and_go_on();
	bftm_order_refused(&o, &order_cfg, 6, 4, now, &order_out);
	committed_got();
	bftm_order_refused(&o, &order_cfg, 5, 4, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
	assert_int_equal(o.phase, BFTM_ORDER_MAKING);
}

static enum bftm_order_verdict tells_of(u32 u, const struct bftm_op *op, u32 pending)
{
	struct bftm_order_waiting p = {
		.client = cpu_to_le32(op->client), .op = cpu_to_le64(op->op),
		.len = cpu_to_le32(op->id.len),
	};

	memcpy(p.digest, op->id.digest, sizeof(p.digest));
	return answer(u, (struct bftm_order_msg){
		.type = BFTM_ORDER_COMMITTED_GOT, .pending = pending, .data = (const u8 *)&p,
		.data_len = sizeof(p),
	});
}

/* As with GOT: b + 1 tell of it alike, and the next one asks for room for more. */
static void what_waits_is_told(void **state)
{
	const struct bftm_op real = op_id(3, 9, 'r'), lie = op_id(2, 9, 'l');
	struct bftm_op ret[8];
	u32 holders[8], u;

	(void)state;
	commit_and_go_on();
	tells_of(0, &real, 4);
	tells_of(1, &lie, 7);
	tells_of(2, &real, 4);
	for (u = 3; u < Q; u++)
		order_says(u, BFTM_ORDER_COMMITTED_GOT);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE_MAKE);
	assert_int_equal(o.waiting, 7);
	assert_int_equal(bftm_order_ops(&o, &order_cfg, ret, holders, 8), 1);
	assert_int_equal(ret[0].client, 3);
	assert_int_equal(ret[0].op, 9);
	assert_int_equal(holders[0], 5);
}

static void room_for_as_many_as_waited(void **state)
{
	static const struct { u32 waiting, room; } cases[] = {
		{ 0, 2 }, { 1, 4 }, { 9, 20 }, { 10, 22 }, { 11, 22 }, { ~0u, 22 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		o.waiting = cases[i].waiting;
		assert_int_equal(bftm_order_room(&o, BFTM_ORDER_COMMIT_GET),
				 32 + 48 * cases[i].room);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_iteration)
	const struct CMUnitTest tests[] = {
		TEST(a_round_trip_less),
		TEST(it_is_repeated_as_it_was),
		TEST(its_rank_is_used),
		TEST(a_rank_as_any_other),
		TEST(only_its_own_answer_counts),
		TEST(not_while_a_server_recovers),
		TEST(one_that_recovers_at_the_next),
		TEST(a_body_goes_with_it),
		TEST(each_is_abandoned_in_its_time),
		TEST(refusals_are_of_one),
		TEST(what_waits_is_told),
		TEST(room_for_as_many_as_waited),
	};

	return cmocka_run_group_tests_name("order_client_next", tests, NULL, NULL);
}
