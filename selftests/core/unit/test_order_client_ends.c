// SPDX-License-Identifier: GPL-2.0
/* How an iteration ends: outranked, denied, in time, told to who has lost its memory. */
#include "order_iteration.h"

static struct bftm_rank rank_of(u64 count, u32 client)
{
	return (struct bftm_rank){ count, client, 1 };
}

/* Of seven, five are a quorum: it cannot be had any more when three refuse. */
static void exceptions_without_a_quorum(void **state)
{
	static const enum bftm_order_phase phases[] = {
		BFTM_ORDER_GETTING, BFTM_ORDER_MAKING, BFTM_ORDER_PROPOSING, BFTM_ORDER_COMMITTING,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(phases); i++) {
		fresh_iteration(state);
		reach(phases[i]);
		assert_int_equal(says_exception(0, rank_of(50, 1), false), BFTM_ORDER_ON);
		assert_int_equal(says_exception(0, rank_of(60, 1), false), BFTM_ORDER_ON);
		assert_int_equal(says_exception(1, rank_of(1, ME - 1), false), BFTM_ORDER_ON);
		assert_int_equal(o.phase, phases[i]);
		assert_int_equal(says_exception(5, rank_of(40, 2), false), BFTM_ORDER_ON);
		assert_int_equal(says_exception(6, rank_of(30, 2), false), BFTM_ORDER_OUTRANKED);
		assert_int_equal(order_out.send, 0);
		assert_int_equal(o.phase, BFTM_ORDER_IDLE);
		/* The highest is one server's word. */
		assert_int_equal(o.rank.count, 40);
		begin();
		assert_int_equal(o.rank.count, 41);
	}
}

/* The same count of a client with a higher number is higher. */
static void ties_are_exceptions(void **state)
{
	(void)state;
	begin();
	says_exception(0, o.rank, false);
	says_exception(1, rank_of(1, ME - 1), false);
	says_exception(2, (struct bftm_rank){ 1, ME, 0 }, false);
	says_exception(3, rank_of(0, ME + 1), false);
	assert_int_equal(o.excepted, 0);
	says_exception(4, (struct bftm_rank){ 1, ME, 2 }, false);
	says_exception(6, (struct bftm_rank){ 1, ME, 2 }, false);
	assert_int_equal(says_exception(5, rank_of(1, ME + 1), false), BFTM_ORDER_OUTRANKED);
	begin();
	assert_int_equal(o.rank.count, 2);
}

/* b liars with the highest ranks there are do not move it at all. */
static void liars_do_not_drive_ranks(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		begin();
		says_exception(0, rank_of(~0ull, ~0u), true);
		says_exception(1, rank_of(o.rank.count + 3, 1), false);
		says_exception(2, rank_of(o.rank.count + 3, 1), false);
	}
	assert_in_range(o.rank.count, 100, 500);
}

/*
 * One correct server has the rank that a dead client left, a liar tells one just
 * above: the other five answer, and the iteration goes on.
 */
static void a_liar_beside_one_outranked(void **state)
{
	u32 u;

	(void)state;
	begin();
	assert_int_equal(says_exception(5, rank_of(8254, 3), false), BFTM_ORDER_ON);
	assert_int_equal(says_exception(1, rank_of(o.rank.count + 2, 2), false), BFTM_ORDER_ON);
	for (u = 0; u < 7; u++)
		if (u != 1 && u != 5)
			got_one(u, state_id(0, 0), 0);
	assert_int_equal(order_out.verdict, BFTM_ORDER_MAKE);
}

/* A count after which none would be left is not believed, whoever says it. */
static void ranks_never_wrap(void **state)
{
	u32 u;

	(void)state;
	order_cfg.signed_ranks = true;
	begin();
	for (u = 0; u < 7; u++) {
		assert_int_equal(says_exception(u, rank_of(~0ull, 1), true), BFTM_ORDER_ON);
		assert_int_equal(says_exception(u, rank_of(BFTM_RANK_COUNT_MAX + 1, 1), true),
				 BFTM_ORDER_ON);
	}
	assert_int_equal(says_exception(0, rank_of(BFTM_RANK_COUNT_MAX, 1), true),
			 BFTM_ORDER_OUTRANKED);
	begin();
	assert_int_equal(o.rank.count, BFTM_RANK_COUNT_MAX + 2);
}

static void one_signed_rank_is_enough(void **state)
{
	(void)state;
	order_cfg.signed_ranks = true;
	order_cfg.n = 5;
	begin();
	assert_int_equal(says_exception(0, rank_of(50, 1), false), BFTM_ORDER_ON);
	assert_int_equal(says_exception(0, rank_of(1, ME), true), BFTM_ORDER_ON);
	assert_int_equal(says_exception(0, rank_of(60, 1), true), BFTM_ORDER_OUTRANKED);
	assert_int_equal(o.rank.count, 61);
	/* A cluster without signatures takes no word for one. */
	fresh_iteration(state);
	begin();
	assert_int_equal(says_exception(0, rank_of(60, 1), true), BFTM_ORDER_ON);
}

/*
 * A liar who is always the first ends each iteration with a signed rank just above. Answers of
 * the correct servers come when it is over, and counts in the next one.
 */
static void a_rank_told_after_the_end_counts(void **state)
{
	(void)state;
	order_cfg.signed_ranks = true;
	order_cfg.n = 5;
	begin();
	assert_int_equal(says_exception(0, rank_of(2, 1), true), BFTM_ORDER_OUTRANKED);
	assert_int_equal(says_exception(3, rank_of(8254, 1), true), BFTM_ORDER_ON);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	begin();
	assert_int_equal(o.rank.count, 8255);
	/* Without signatures, what b + 1 have said. */
	fresh_iteration(state);
	begin();
	assert_int_equal(order_wake(T0 + LIMIT), BFTM_ORDER_TIMEOUT);
	says_exception(0, rank_of(~0u, 1), false);
	begin();
	assert_in_range(o.rank.count, 2, 49);
	assert_int_equal(order_wake(now + LIMIT), BFTM_ORDER_TIMEOUT);
	says_exception(5, rank_of(50, 2), false);
	begin();
	assert_int_equal(o.rank.count, 51);
}

/* Iterations that end by the next of so many signed ranks, so far apart, until none is left. */
static u32 lost_to(u64 stock, u64 apart)
{
	u32 lost;

	for (lost = 0; ; lost++) {
		u64 next;

		begin();
		next = o.rank.count / apart + 1;
		if (next > stock)
			return lost;
		assert_int_equal(says_exception(0, rank_of(next * apart, 1), true),
				 BFTM_ORDER_OUTRANKED);
	}
}

/*
 * A liar has kept all that somebody signed who is gone, and shows the one that is next:
 * of 2^16, or of those of twelve days of time-outs, one a second. Where a correct server
 * is among those who except, the rank is no higher than needed.
 */
static void old_signed_ranks_one_by_one(void **state)
{
	u32 lost, u;

	(void)state;
	order_cfg.signed_ranks = true;
	order_cfg.n = 5;
	assert_in_range(lost_to(1u << 16, 1), 2, 17);
	fresh_iteration(state);
	order_cfg.signed_ranks = true;
	order_cfg.n = 5;
	assert_in_range(lost_to(1u << 20, (1u << 16) + 1), 2, 48);
	fresh_iteration(state);
	order_cfg.signed_ranks = false;
	for (lost = 0; lost < 100; lost++) {
		begin();
		for (u = 0; u < 3; u++)
			says_exception(u, rank_of(o.rank.count + 1, 1), false);
	}
	assert_int_equal(o.rank.count, 200);
}

/* A hundred honest clients whom no quorum answers, and whose ranks are all signed. */
static void signed_ranks_of_a_crowd(void **state)
{
	u64 highest = 0, least;
	u32 i;

	(void)state;
	order_cfg.signed_ranks = true;
	order_cfg.n = 5;
	for (i = 0; i < 1000; i++) {
		begin();
		least = o.rank.count;
		/* The others' time-outs, meanwhile. */
		highest = (highest > least ? highest : least) + 100;
		says_exception(0, rank_of(highest, 1), true);
		begin();
		order_time_out();
	}
	assert_in_range(o.rank.count, 1000, 1000u << 17);
}

static void b_plus_1_refusals(void **state)
{
	(void)state;
	reach(BFTM_ORDER_PROPOSING);
	bftm_order_refused(&o, &order_cfg, 3, BFTM_REFUSED_ACCESS, now, &order_out);
	bftm_order_refused(&o, &order_cfg, 3, BFTM_REFUSED_ACCESS, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
	/* For another reason each: of 2b + 1, b are liars who say what suits them. */
	bftm_order_refused(&o, &order_cfg, 4, BFTM_REFUSED_STATE, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
	bftm_order_refused(&o, &order_cfg, 1, 0, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
	bftm_order_refused(&o, &order_cfg, 3, BFTM_REFUSED_STATE, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DENIED);
	assert_int_equal(order_out.refusal, BFTM_REFUSED_STATE);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	bftm_order_refused(&o, &order_cfg, 5, BFTM_REFUSED_STATE, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
	begin();
	bftm_order_refused(&o, &order_cfg, 5, BFTM_REFUSED_STATE, now, &order_out);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
}

/* Only to those who have not answered; later and later; then it is over. */
static void what_is_lost_is_repeated(void **state)
{
	static const u32 pause[] = { 1, 1, 2, 4 };
	u64 due = T0;
	u32 i;

	(void)state;
	begin();
	got_one(2, state_id(0, 0), 0);
	for (i = 0; i < ARRAY_SIZE(pause); i++) {
		due += pause[i] * RESEND;
		assert_int_equal(o.wake_ns, due);
		order_wake(due - 1);
		assert_int_equal(order_out.send, 0);
		assert_int_equal(order_wake(due), BFTM_ORDER_ON);
		assert_int_equal(order_out.send, BFTM_ORDER_GET);
		assert_int_equal(order_out.to, ALL & ~4u);
	}
	assert_int_equal(order_wake(due + 8 * RESEND), BFTM_ORDER_TIMEOUT);
	assert_int_equal(order_out.send, 0);
	assert_int_equal(o.wake_ns, 0);
	assert_int_equal(order_wake(due + 100 * RESEND), BFTM_ORDER_ON);
}

/* +1 +2 +4 … to the rank, beside the one of each beginning; bounded. */
static void timeouts_raise_the_rank(void **state)
{
	u64 count = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++) {
		begin();
		count++;
		assert_int_equal(o.rank.count, count);
		order_time_out();
		count += 1ull << (i < 16 ? i : 16);
		assert_int_equal(o.rank.count, count);
	}
	reach(BFTM_ORDER_COMMITTING);
	for (i = 0; i < 5; i++)
		order_says(i, BFTM_ORDER_COMMITTED);
	count = o.rank.count;
	begin();
	order_time_out();
	assert_int_equal(o.rank.count, count + 2);
}

/*
 * One correct server has the rank of who is gone, too far off for time-outs alone, and
 * without it there is no quorum; of what it says nobody else says as much.
 */
static void a_rank_that_one_has_shown(void **state)
{
	u32 lost;

	(void)state;
	for (lost = 0; lost < 1000; lost++) {
		begin();
		if (o.rank.count > 1ull << 33)
			break;
		says_exception(5, rank_of(1ull << 33, 1), false);
		order_time_out();
	}
	assert_in_range(lost, 30, 36);
}

/* Lmax ends every phase, whatever comes then. */
static void an_old_iteration_is_abandoned(void **state)
{
	static const enum bftm_order_phase phases[] = {
		BFTM_ORDER_GETTING, BFTM_ORDER_MAKING, BFTM_ORDER_PROPOSING, BFTM_ORDER_COMMITTING,
	};
	size_t i;
	u32 how;

	for (i = 0; i < ARRAY_SIZE(phases); i++)
		for (how = 0; how < 4; how++) {
			fresh_iteration(state);
			reach(phases[i]);
			now = T0 + LIMIT - 1;
			order_says(6, BFTM_ORDER_NEEDBODY);
			assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
			assert_int_equal(o.phase, phases[i]);
			now = T0 + LIMIT;
			if (how == 0)
				order_says(6, BFTM_ORDER_PROPOSED);
			else if (how == 1)
				bftm_order_refused(&o, &order_cfg, 0, 1, now, &order_out);
			else if (how == 2 && phases[i] == BFTM_ORDER_MAKING)
				made(state_id(1, 'A'));
			else
				order_wake(now);
			assert_int_equal(order_out.verdict, BFTM_ORDER_TIMEOUT);
			assert_int_equal(order_out.send, 0);
			assert_int_equal(o.phase, BFTM_ORDER_IDLE);
		}
}

/* Server 6 said RECOVERING; the others commit. */
static void commit_with_one_that_recovers(void)
{
	u32 u;

	begin();
	answer(6, (struct bftm_order_msg){ .type = BFTM_ORDER_RECOVERING });
	for (u = 0; u < 5; u++)
		got_one(u, state_id(0, 0), 0);
	made(state_id(1, 'A'));
	assert_int_equal(order_out.to, 0x3f);
	for (u = 0; u < 5; u++)
		order_says(u, BFTM_ORDER_PROPOSED);
	assert_int_equal(order_out.to, 0x3f);
	for (u = 0; u < 5; u++)
		order_says(u, BFTM_ORDER_COMMITTED);
	assert_int_equal(order_out.verdict, BFTM_ORDER_DONE);
	assert_int_equal(order_out.send, BFTM_ORDER_INSTALL);
	assert_int_equal(order_out.to, 0x40);
	assert_int_equal(o.phase, BFTM_ORDER_INSTALLING);
}

static void a_server_that_recovers_is_told(void **state)
{
	(void)state;
	commit_with_one_that_recovers();
	order_says(6, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_out.send, BFTM_ORDER_INSTALL);
	assert_int_equal(order_out.to, 0x40);
	order_says(5, BFTM_ORDER_INSTALLED);
	assert_int_equal(o.phase, BFTM_ORDER_INSTALLING);
	order_says(6, BFTM_ORDER_INSTALLED);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	assert_int_equal(order_out.verdict, BFTM_ORDER_ON);
}

/* Nobody waits for it: it is neither outranked nor denied, and ends soon. */
static void installing_ends_quietly(void **state)
{
	u32 sends;

	(void)state;
	commit_with_one_that_recovers();
	says_exception(0, rank_of(50, 1), true);
	says_exception(1, rank_of(50, 1), true);
	bftm_order_refused(&o, &order_cfg, 0, 1, now, &order_out);
	bftm_order_refused(&o, &order_cfg, 1, 1, now, &order_out);
	assert_int_equal(o.phase, BFTM_ORDER_INSTALLING);
	for (sends = 1; o.phase; sends++) {
		assert_int_equal(order_wake(o.wake_ns), BFTM_ORDER_ON);
		assert_int_equal(order_out.send, o.phase ? BFTM_ORDER_INSTALL : 0);
	}
	assert_int_equal(sends, BFTM_INSTALL_SENDS + 1);
	assert_int_equal(o.rank.count, 1);
	/* Nor does it time out after it is done, whatever comes so late. */
	fresh_iteration(state);
	commit_with_one_that_recovers();
	now = T0 + LIMIT;
	assert_int_equal(order_says(5, BFTM_ORDER_INSTALLED), BFTM_ORDER_ON);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	assert_int_equal(o.timeouts, 0);
	fresh_iteration(state);
	commit_with_one_that_recovers();
	assert_int_equal(order_wake(T0 + LIMIT), BFTM_ORDER_ON);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	assert_int_equal(o.timeouts, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_iteration)
	const struct CMUnitTest tests[] = {
		TEST(exceptions_without_a_quorum),
		TEST(ties_are_exceptions),
		TEST(liars_do_not_drive_ranks),
		TEST(a_liar_beside_one_outranked),
		TEST(ranks_never_wrap),
		TEST(one_signed_rank_is_enough),
		TEST(a_rank_told_after_the_end_counts),
		TEST(old_signed_ranks_one_by_one),
		TEST(signed_ranks_of_a_crowd),
		TEST(b_plus_1_refusals),
		TEST(what_is_lost_is_repeated),
		TEST(timeouts_raise_the_rank),
		TEST(a_rank_that_one_has_shown),
		TEST(an_old_iteration_is_abandoned),
		TEST(a_server_that_recovers_is_told),
		TEST(installing_ends_quietly),
	};

	return cmocka_run_group_tests_name("order_client_ends", tests, NULL, NULL);
}
