// SPDX-License-Identifier: GPL-2.0
/*
 * The state that an iteration proposes, for hand-made answers to GET; lines 2.14–24
 * and 2.33–43, each of their branches and each correction.
 */
#include "order_iteration.h"

/* Servers that are not set did not answer. */
static struct told told[7];
static u32 heard;
static bool refresh;		/* for servers that recover */

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
	o.refresh = refresh;
	for (u = 0; u < order_cfg.n; u++)
		if (heard >> u & 1)
			got(u, told[u]);
	verdict = order_out.verdict;
	heard = 0;
	return verdict;
}

#define CHOSEN(id, applied) do { \
	const struct bftm_body_id want = id; \
	assert_int_equal(choose(), BFTM_ORDER_MAKE); \
	assert_int_equal(o.base.version, want.version); \
	assert_int_equal(o.base.digest[0], want.digest[0]); \
	assert_int_equal(o.applies, applied); \
} while (0)

#define S(version, letter) state_id(version, letter)
#define NOTHING S(0, 0)

/* The first so many servers have it as committed, and nothing newer. */
static void same(u32 servers, struct bftm_body_id id)
{
	u32 u;

	for (u = 0; u < servers; u++)
		tell(u, id, id, 3);
}

static void nothing_was_before(void **state)
{
	(void)state;
	same(5, NOTHING);
	CHOSEN(NOTHING, true);
	assert_int_equal(o.completed, 0);
}

/* One who knows nothing commits it once more, for it may be at b + 1 only. */
static void a_newcomer_commits_again(void **state)
{
	(void)state;
	same(4, S(5, 'A'));
	tell(4, S(4, 'Z'), S(5, 'A'), 3);
	CHOSEN(S(5, 'A'), false);
	assert_int_equal(o.completed, 4);
	assert_int_equal(o.holders, 0x1f);
}

/* Five are q: as many as would say so to COMMIT. */
static void a_newcomer_hears_of_q(void **state)
{
	(void)state;
	same(5, S(5, 'A'));
	CHOSEN(S(5, 'A'), true);
	assert_int_equal(o.completed, 5);
	o.completed = 0;
	same(3, S(5, 'A'));
	tell(3, S(5, 'A'), S(6, 'B'), 4);
	tell(4, S(5, 'A'), S(6, 'B'), 4);
	CHOSEN(S(6, 'B'), false);
	same(4, S(5, 'A'));
	tell(4, S(5, 'C'), S(5, 'C'), 3);
	o.completed = 0;
	CHOSEN(S(5, 'A'), false);
}

/*
 * It applies nothing to what is completed, whatever tells it that this is: answers of all, other
 * states that were proposed above it, or an iteration before.
 */
static void a_refresh_commits_again(void **state)
{
	(void)state;
	refresh = true;
	same(5, S(5, 'A'));
	CHOSEN(S(5, 'A'), false);
	o.completed = 0;
	same(3, S(5, 'A'));
	tell(3, S(5, 'A'), S(6, 'B'), 4);
	tell(4, S(5, 'A'), S(6, 'C'), 4);
	CHOSEN(S(5, 'A'), false);
	assert_int_equal(o.completed, 5);
	same(5, S(5, 'A'));
	CHOSEN(S(5, 'A'), false);
	refresh = false;
}

static void one_who_committed_it_goes_on(void **state)
{
	(void)state;
	o.completed = 5;
	same(5, S(5, 'A'));
	CHOSEN(S(5, 'A'), true);
}

/* Lines 2.18–19, which random search does not miss: σc at b + 1, above what is sure. */
static void committed_at_some_is_rescued_first(void **state)
{
	u32 u;

	(void)state;
	o.completed = 4;
	for (u = 0; u < 2; u++)
		tell(u, S(5, 'A'), S(5, 'A'), 3);
	for (u = 2; u < 5; u++)
		tell(u, S(4, 'Z'), S(5, 'B'), 9);	/* a newer proposer's */
	CHOSEN(S(5, 'A'), false);
	assert_int_equal(o.holders, 0x3);
}

/* Lines 2.20–21. */
static void proposed_is_rescued(void **state)
{
	u32 u;

	(void)state;
	o.completed = 4;
	for (u = 0; u < 3; u++)
		tell(u, S(4, 'Z'), S(5, 'B'), 9);
	for (u = 3; u < 5; u++)
		tell(u, S(4, 'Z'), S(4, 'Z'), 2);
	CHOSEN(S(5, 'B'), false);
	assert_int_equal(o.holders, 0x7);
}

/* Version first, then proposer: the last one that may have been completed. */
static void the_newest_proposal_wins(void **state)
{
	(void)state;
	o.completed = 4;
	tell(0, S(4, 'Z'), S(5, 'B'), 9);
	tell(1, S(4, 'Z'), S(5, 'B'), 9);
	tell(2, S(4, 'Z'), S(5, 'C'), 8);
	tell(3, S(4, 'Z'), S(5, 'C'), 8);
	tell(4, S(4, 'Z'), S(4, 'Z'), 99);
	CHOSEN(S(5, 'B'), false);
	tell(0, S(4, 'Z'), S(5, 'B'), 7);
	tell(1, S(4, 'Z'), S(5, 'B'), 7);
	tell(2, S(4, 'Z'), S(5, 'C'), 8);
	tell(3, S(4, 'Z'), S(5, 'C'), 8);
	tell(4, S(4, 'Z'), S(4, 'Z'), 99);
	CHOSEN(S(5, 'C'), false);
}

/*
 * Two servers that agree in state and proposer are two. As a set they were one,
 * and an older state of b + 1 proposers would be found instead.
 */
static void answers_are_a_multiset(void **state)
{
	(void)state;
	o.completed = 4;
	tell(0, S(4, 'Z'), S(5, 'B'), 9);
	tell(1, S(4, 'Z'), S(5, 'B'), 9);
	tell(2, S(4, 'Z'), S(5, 'C'), 8);
	tell(3, S(4, 'Z'), S(5, 'C'), 7);
	tell(4, S(4, 'Z'), S(4, 'Z'), 2);
	CHOSEN(S(5, 'B'), false);
}

/* Different proposers of one state add up, even with another between them. */
static void proposers_of_one_state_add_up(void **state)
{
	(void)state;
	o.completed = 4;
	tell(0, S(4, 'Z'), S(5, 'B'), 9);
	tell(1, S(4, 'Z'), S(5, 'C'), 8);
	tell(2, S(4, 'Z'), S(5, 'B'), 7);
	tell(3, S(4, 'Z'), S(5, 'C'), 6);
	tell(4, S(4, 'Z'), S(4, 'Z'), 2);
	CHOSEN(S(5, 'B'), false);	/* met twice before C is */
}

/* A proposal of b + 1 is one step above the state of a quorum; less one, it is sure. */
static void completed_is_one_below_what_is_proposed(void **state)
{
	(void)state;
	o.completed = 2;
	same(3, S(4, 'Z'));
	tell(3, S(4, 'Z'), S(5, 'B'), 9);
	tell(4, S(4, 'Z'), S(5, 'C'), 8);
	/* completed = 4: neither B nor C may be at a quorum; Z is applied to. */
	CHOSEN(S(4, 'Z'), true);
	assert_int_equal(o.completed, 4);
	tell(0, S(4, 'Z'), S(4, 'Z'), 2);
	tell(1, S(4, 'Z'), S(4, 'Z'), 2);
	tell(2, S(4, 'Z'), S(4, 'Z'), 2);
	tell(3, S(4, 'Z'), S(4, 'Z'), 2);
	tell(4, S(3, 'Y'), S(5, 'C'), 8);
	o.completed = 0;
	/* One alone may be a liar: 3 is sure. */
	CHOSEN(S(4, 'Z'), false);
	assert_int_equal(o.completed, 3);
}

static void versions_of_liars_move_nothing(void **state)
{
	static const u64 versions[] = { 0, 1, 4, 5, 6, 1000, ~0ull - 1, ~0ull };
	size_t i, k;
	u32 u, liar;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(versions); i++)
		for (k = 0; k < ARRAY_SIZE(versions); k++)
			for (liar = 0; liar < 5; liar++) {
				for (u = 0; u < 5; u++)
					tell(u, S(5, 'A'), S(5, 'A'), 3);
				tell(liar, S(versions[i], 'L'), S(versions[k], 'M'), ~0ull);
				o.completed = 4;
				CHOSEN(S(5, 'A'), false);
				assert_int_equal(o.completed, 4);
				assert_false(o.holders >> liar & 1);
				for (u = 0; u < 5; u++)
					tell(u, S(5, 'A'), S(5, 'A'), 3);
				tell(liar, S(versions[i], 'L'), S(versions[k], 'M'), ~0ull);
				o.completed = 5;
				CHOSEN(S(5, 'A'), true);
			}
}

/* ⊥: no state is committed at b + 1; and one that is may be too old. */
static void answers_that_say_too_little(void **state)
{
	u32 u;

	(void)state;
	for (u = 0; u < 5; u++)
		tell(u, S(u + 1, (char)('A' + u)), NOTHING, 0);
	assert_int_equal(choose(), BFTM_ORDER_UNSURE);
	assert_int_equal(o.phase, BFTM_ORDER_IDLE);
	same(5, S(3, 'A'));
	o.completed = 4;
	assert_int_equal(choose(), BFTM_ORDER_UNSURE);
	/* A rescue needs no σc. */
	for (u = 0; u < 5; u++)
		tell(u, S(u, (char)('A' + u)), u < 2 ? S(5, 'B') : NOTHING, 9);
	o.completed = 4;
	CHOSEN(S(5, 'B'), false);
}

/* Same version, length or digest is not the same state. */
static void whole_ids_decide(void **state)
{
	struct bftm_body_id a = S(5, 'A'), longer = a, other = a;
	u32 u;

	(void)state;
	longer.len++;
	other.digest[BFTM_DIGEST_LEN - 1] = 1;
	tell(0, a, NOTHING, 0);
	tell(1, longer, NOTHING, 0);
	tell(2, other, NOTHING, 0);
	for (u = 3; u < 5; u++)
		tell(u, S(u, 'X'), NOTHING, 0);
	assert_int_equal(choose(), BFTM_ORDER_UNSURE);
}

static void the_newest_committed_counts(void **state)
{
	(void)state;
	tell(0, S(4, 'Z'), S(5, 'A'), 1);
	tell(1, S(4, 'Z'), S(5, 'A'), 1);
	tell(2, S(5, 'A'), S(5, 'A'), 1);
	tell(3, S(5, 'A'), S(5, 'A'), 1);
	tell(4, S(9, 'L'), S(9, 'L'), 9);
	CHOSEN(S(5, 'A'), false);
	assert_int_equal(o.holders, 0xf);
}

/* Answers that are not in the quorum do not count: those of an earlier iteration. */
static void other_answers_do_not_count(void **state)
{
	u32 u;

	(void)state;
	for (u = 2; u < 7; u++)
		tell(u, S(9, 'X'), S(9, 'X'), 1);
	CHOSEN(S(9, 'X'), true);
	o.completed = 0;
	same(4, S(5, 'A'));
	tell(6, S(9, 'X'), S(9, 'X'), 1);
	CHOSEN(S(5, 'A'), false);
	assert_int_equal(o.quorum, 0x4f);
}

/* With all servers there are, and as many liars: what they say is not chosen. */
static void random_answers(void **state)
{
	u64 rnd = unit_seed(__func__);
	u32 round, u, b, correct;

	(void)state;
	for (round = 0; round < 100000; round++) {
		order_cfg.b = b = (u32)unit_between(&rnd, 0, 5);
		order_cfg.n = (u32)unit_between(&rnd, 4 * b + 1, 4 * b + 7 < 31 ? 4 * b + 7 : 31);
		o.completed = unit_between(&rnd, 0, 6);
		begin();
		for (u = 0; u < order_cfg.n && o.phase == BFTM_ORDER_GETTING; u++) {
			char lie = u < b ? 'L' : 'A';

			got(u, (struct told){
				.sc = S(unit_between(&rnd, 1, 6), lie),
				.sp = S(unit_between(&rnd, 1, 6), lie),
				.prop = { unit_between(&rnd, 0, 3), ME, 1 },
			});
		}
		assert_int_not_equal(o.phase, BFTM_ORDER_GETTING);
		if (o.phase == BFTM_ORDER_IDLE)
			continue;
		for (u = b, correct = 0; u < order_cfg.n; u++)
			correct += o.holders >> u & 1;
		assert_true(correct);
		assert_int_equal(o.base.digest[0], 'A');
		assert_true(o.applies ? o.base.version == o.completed :
					o.base.version > o.completed);
		bftm_order_unmade(&o);
	}
}
int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_iteration)
	const struct CMUnitTest tests[] = {
		TEST(nothing_was_before),
		TEST(a_newcomer_commits_again),
		TEST(a_newcomer_hears_of_q),
		TEST(a_refresh_commits_again),
		TEST(one_who_committed_it_goes_on),
		TEST(committed_at_some_is_rescued_first),
		TEST(proposed_is_rescued),
		TEST(the_newest_proposal_wins),
		TEST(answers_are_a_multiset),
		TEST(proposers_of_one_state_add_up),
		TEST(completed_is_one_below_what_is_proposed),
		TEST(versions_of_liars_move_nothing),
		TEST(answers_that_say_too_little),
		TEST(whole_ids_decide),
		TEST(the_newest_committed_counts),
		TEST(other_answers_do_not_count),
		TEST(random_answers),
	};

	return cmocka_run_group_tests_name("order_choose", tests, NULL, NULL);
}
