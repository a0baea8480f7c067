// SPDX-License-Identifier: GPL-2.0
/*
 * How many servers must say what: the arithmetic that every proof rests on,
 * checked against its meaning and not against its formula.
 */
#include "unit.h"

#include "core/limits.h"
#include "core/quorum.h"

/* F is the smallest size of which any two sets share b + 1 servers. */
static void f_is_the_least_that_intersects_in_a_correct_server(void **state)
{
	u32 n, b, f;

	(void)state;
	for (n = 1; n <= BFTM_SERVERS_MAX; n++)
		for (b = 0; b <= n; b++) {
			f = bftm_free_needed(n, b);
			assert_true(2 * f >= n + b + 1);
			assert_true(2 * (f - 1) < n + b + 1);
		}
}

/* The correct servers alone make F exactly from n = 3b + 1 on. */
static void f_is_reached_without_the_liars_iff_3b_plus_1(void **state)
{
	u32 n, b;

	(void)state;
	for (n = 1; n <= BFTM_SERVERS_MAX; n++)
		for (b = 0; b <= n; b++)
			assert_int_equal(n - b >= bftm_free_needed(n, b),
					 n >= bftm_servers_needed(b));
}

/* b liars that say LOCKED are not enough to take a round from anybody. */
static void liars_alone_cannot_lock_out(void **state)
{
	u32 n, b;

	(void)state;
	for (b = 0; bftm_servers_needed(b) <= BFTM_SERVERS_MAX; b++)
		for (n = bftm_servers_needed(b); n <= BFTM_SERVERS_MAX; n++)
			assert_true(b <= n - bftm_free_needed(n, b));
}

/* The paper's q: any two sets share 3b + 1; b LOCKED among q leave F FREE. */
static void literal_quorum(void **state)
{
	u32 n, b, q;

	(void)state;
	for (n = 1; n <= BFTM_SERVERS_MAX; n++)
		for (b = 0; b <= n; b++) {
			q = bftm_literal_quorum(n, b);
			assert_true(2 * q >= n + 3 * b + 1);
			assert_true(2 * (q - 1) < n + 3 * b + 1);
			assert_int_equal(n - b >= q, n >= bftm_servers_needed_literal(b));
			assert_int_equal(q - b, bftm_free_needed(n, b));
		}
}

/* Do some two of these sets of at least @size servers share at most @b? */
static bool some_pair_is_disjoint_enough(u32 n, u32 size, u32 b)
{
	u32 x, y;

	for (x = 0; x < 1u << n; x++) {
		if ((u32)__builtin_popcount(x) < size)
			continue;
		for (y = 0; y < 1u << n; y++)
			if ((u32)__builtin_popcount(y) >= size &&
			    (u32)__builtin_popcount(x & y) <= b)
				return true;
	}
	return false;
}

/* Set by set: two winners always share a correct server, with F - 1 they need not. */
static void every_pair_of_winners(void **state)
{
	u32 n, b, f;

	(void)state;
	for (n = 1; n <= 9; n++)
		for (b = 0; 3 * b < n; b++) {
			f = bftm_free_needed(n, b);
			assert_false(some_pair_is_disjoint_enough(n, f, b));
			assert_true(some_pair_is_disjoint_enough(n, f - 1, b));
		}
}

/* Set by set: two of m servers share b + r + 1, and not always one more. */
static void every_pair_of_sigma_winners(void **state)
{
	u32 n, b, m, r;

	(void)state;
	for (n = 1; n <= 7; n++)
		for (b = 0; 3 * b < n; b++) {
			assert_int_equal(bftm_grants_needed(n, b, 0), bftm_free_needed(n, b));
			m = bftm_sigma_default(n, b);
			assert_true(m >= bftm_free_needed(n, b) && m <= n - b);
			for (m = bftm_free_needed(n, b); m <= n - b; m++) {
				assert_int_equal(bftm_grants_needed(n, b, m), m);
				r = bftm_spared(n, b, m);
				assert_false(some_pair_is_disjoint_enough(n, m, b + r));
				assert_true(some_pair_is_disjoint_enough(n, m, b + r + 1));
			}
		}
}

/* The numbers that protocol.rst gives; F of 7 servers leaves one server to forget. */
static void sigma_spares(void **state)
{
	(void)state;
	assert_int_equal(bftm_spared(4, 0, 3), 1);
	assert_int_equal(bftm_spared(4, 1, 3), 0);
	assert_int_equal(bftm_spared(5, 0, 3), 0);
	assert_int_equal(bftm_spared(5, 0, 4), 2);
	assert_int_equal(bftm_spared(7, 1, 0), 1);
	assert_int_equal(bftm_spared(7, 1, 6), 3);
	assert_int_equal(bftm_spared(31, 0, 24), 16);
}

/*
 * Two sets that accepted tokens share a correct server; with 5b + 1 servers
 * 2b + 1 of them, of which 2b may have lost their memory. The correct servers
 * alone are always enough, and a token that b liars refuse is not refused.
 */
static void fence_quorum(void **state)
{
	u32 n, b, q;

	(void)state;
	for (b = 0; bftm_servers_needed(b) <= BFTM_SERVERS_MAX; b++)
		for (n = bftm_servers_needed(b); n <= BFTM_SERVERS_MAX; n++) {
			q = bftm_fence_quorum(n, b);
			assert_true(2 * q - n >= b + 1);
			assert_true(q <= n - b);
			assert_true(b <= n - q);
			/* Never more than there is to gain, never less than F. */
			assert_true(q <= bftm_literal_quorum(n, b));
			assert_true(q >= bftm_free_needed(n, b));
			if (n >= bftm_servers_needed_literal(b)) {
				assert_true(2 * q - n >= 3 * b + 1);
				assert_true(2 * (q - 1) < n + 3 * b + 1);
			} else {
				assert_int_equal(q, n - b);
			}
		}
}

/*
 * Two sets that took a state share 2b + 1 servers, b + 1 of them correct. The
 * correct servers alone are enough from 4b + 1 on; from 6b + 1 also those that
 * have not seen a rank which only b correct ones have.
 */
static void order_quorum(void **state)
{
	u32 n, b, q;

	(void)state;
	for (n = 1; n <= BFTM_SERVERS_MAX; n++)
		for (b = 0; b <= n; b++) {
			q = bftm_order_quorum(n, b);
			assert_true(2 * q >= n + 2 * b + 1);
			assert_true(2 * (q - 1) < n + 2 * b + 1);
			assert_int_equal(n - b >= q, n >= bftm_servers_needed_order(b, true));
			if (n >= bftm_servers_needed_order(b, false))
				assert_true(n - b - b >= q);
			else
				assert_true(!b || n < 2 * b || n - 2 * b < q);
		}
}

/*
 * After a restart: n - 1 - b others tell, b of them lie. With 5b + 1 servers
 * the (b + 1)-th largest is no lower than a token that was fenced.
 */
static void recovery_finds_what_was_fenced(void **state)
{
	u32 n, b, told, accepted;

	(void)state;
	for (b = 0; bftm_servers_needed_literal(b) <= BFTM_SERVERS_MAX; b++)
		for (n = bftm_servers_needed_literal(b); n <= BFTM_SERVERS_MAX; n++) {
			told = n - 1 - b;
			/* Of q, one was itself; b did not tell, b lied. */
			accepted = bftm_fence_quorum(n, b) - 1;
			assert_true(accepted >= 2 * b);
			assert_true(accepted - 2 * b >= b + 1 || n == 1);
			assert_true(accepted - b <= told);
		}
}

static int descending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void kth_largest_is_what_sorting_says(void **state)
{
	u64 rnd = unit_seed(__func__), value[BFTM_SERVERS_MAX], sorted[BFTM_SERVERS_MAX];
	u32 round, i, k, n;

	(void)state;
	for (round = 0; round < 20000; round++) {
		/* Few different values, so that many are equal; or any at all. */
		u64 mask = round % 3 ? (1u << round % 4) - 1 : ~0ull;

		n = (u32)unit_between(&rnd, 1, BFTM_SERVERS_MAX);
		for (i = 0; i < n; i++)
			value[i] = unit_random(&rnd) & mask;
		/* cppcheck-suppress uninitvar; n is 1 at least */
		memcpy(sorted, value, sizeof(value[0]) * n);
		qsort(sorted, n, sizeof(sorted[0]), descending);
		for (k = 1; k <= n; k++)
			assert_int_equal(bftm_kth_largest(value, n, k), sorted[k - 1]);
	}
}

static void kth_largest_of_too_few(void **state)
{
	const u64 value[] = { 7, ~0ull, 7 };

	(void)state;
	assert_int_equal(bftm_kth_largest(value, 3, 0), 0);
	assert_int_equal(bftm_kth_largest(value, 3, 4), 0);
	assert_int_equal(bftm_kth_largest(value, 0, 1), 0);
	assert_int_equal(bftm_kth_largest(value, 3, 1), ~0ull);
	assert_int_equal(bftm_kth_largest(value, 3, 2), 7);
	assert_int_equal(bftm_kth_largest(value, 3, 3), 7);
}

/* The (b + 1)-th largest lies between what correct servers hold. */
static void liars_move_the_kth_largest_nowhere(void **state)
{
	u64 rnd = unit_seed(__func__), value[BFTM_SERVERS_MAX];
	u32 round, i, n, b;

	(void)state;
	for (round = 0; round < 20000; round++) {
		u64 most = 0, got;

		b = (u32)unit_between(&rnd, 0, 10);
		n = (u32)unit_between(&rnd, bftm_servers_needed(b), BFTM_SERVERS_MAX);
		for (i = 0; i < n; i++) {
			value[i] = i < b ? (round & 1 ? ~0ull : unit_random(&rnd)) :
					   unit_between(&rnd, 100, 200);
			if (i >= b && value[i] > most)
				most = value[i];
		}
		got = bftm_kth_largest(value, n, b + 1);
		assert_true(got <= most);
		assert_true(got >= 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f_is_the_least_that_intersects_in_a_correct_server),
		cmocka_unit_test(f_is_reached_without_the_liars_iff_3b_plus_1),
		cmocka_unit_test(liars_alone_cannot_lock_out),
		cmocka_unit_test(literal_quorum),
		cmocka_unit_test(every_pair_of_winners),
		cmocka_unit_test(every_pair_of_sigma_winners),
		cmocka_unit_test(sigma_spares),
		cmocka_unit_test(fence_quorum),
		cmocka_unit_test(order_quorum),
		cmocka_unit_test(recovery_finds_what_was_fenced),
		cmocka_unit_test(kth_largest_is_what_sorting_says),
		cmocka_unit_test(kth_largest_of_too_few),
		cmocka_unit_test(liars_move_the_kth_largest_nowhere),
	};

	return cmocka_run_group_tests_name("quorum", tests, NULL, NULL);
}
