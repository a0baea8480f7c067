// SPDX-License-Identifier: GPL-2.0
/*
 * Clusters of the real cores under a bad network, worst clocks and liars: in
 * true time no two clients are ever inside. SEED=… ./test_cluster repeats it.
 */
#include "unit.h"

#include "cluster.h"

#define SELDOM	(4 * BFTM_NS_PER_SEC)	/* restarts of a server */
#define OFTEN	(50 * BFTM_NS_PER_MS)

static const struct cluster_plan good[] = {
	{ "one server", 1, 0, 0, 3, false, 2000, 2000, 50000, SELDOM, false },
	{ "three honest", 3, 0, 0, 3, false, 100000, 100000, 50000, SELDOM, false },
	{ "four, one liar", 4, 1, 1, 3, false, 2000, 2000, 50000, 0, false },
	{ "four, restarts", 4, 1, 1, 4, false, 100000, 100000, 100000, SELDOM, false },
	{ "five, one liar", 5, 1, 1, 6, false, 50000, 50000, 100000, SELDOM, false },
	{ "six, literal", 6, 1, 1, 4, true, 100000, 100000, 50000, SELDOM, false },
	{ "seven, two liars", 7, 2, 2, 5, false, 100000, 100000, 150000, SELDOM, false },
	{ "seven, no liar came", 7, 2, 0, 16, false, 1, 1, 0, 0, false },
	{ "eleven, literal", 11, 2, 2, 3, true, 1000, 1000, 20000, SELDOM, false },
	{ "thirty-one, ten liars", 31, 10, 10, 3, false, 100000, 100000, 50000, SELDOM, false },
};

/* What the assumptions are there for: each of these must be found out. */
static const struct cluster_plan bad[] = {
	{ "more liars than b", 4, 1, 2, 4, false, 2000, 2000, 50000, 0, false },
	{ "more liars than b of seven", 7, 2, 3, 4, false, 2000, 2000, 50000, 0, false },
	{ "a liar and b = 0", 3, 0, 1, 4, false, 2000, 2000, 50000, 0, false },
	{ "clocks worse than ρ", 4, 1, 1, 4, false, 2000, 200000, 50000, 0, false },
	{ "no quarantine", 4, 1, 1, 4, false, 2000, 2000, 50000, OFTEN, true },
};

#define STEPS		10000	/* for each server; at least LEAST together */
#define LEAST		40000
#define BAD_STEPS	2000000	/* at most, for each */

static u64 seed;

static void nobody_meets_anybody_inside(void **state)
{
	struct cluster_report r;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		u64 steps = STEPS * good[i].n;

		cluster_run(&good[i], seed + i, steps > LEAST ? steps : LEAST, &r);
		printf("# %s: %llu wins, %llu lapses in %.1f s\n", good[i].name,
		       (unsigned long long)r.wins, (unsigned long long)r.lapses,
		       (double)r.time_ns / 1e9);
		if (r.overlaps)
			fail_msg("%s: two inside at %llu ns; SEED=%llu", good[i].name,
				 (unsigned long long)r.first_ns, (unsigned long long)seed);
		/* Whatever happens to them, clients get in. */
		assert_true(r.wins >= LEAST / 10000);
	}
}

static void broken_assumptions_are_found_out(void **state)
{
	struct cluster_report r;
	u64 steps, round;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (steps = 0, round = 0; steps < BAD_STEPS; steps += r.steps, round++) {
			cluster_run(&bad[i], seed + 1000 * i + round, BAD_STEPS / 100, &r);
			if (r.overlaps)
				break;
		}
		if (!r.overlaps)
			fail_msg("%s: nothing found in %llu steps", bad[i].name,
				 (unsigned long long)steps);
		printf("# %s: found after %llu steps\n", bad[i].name,
		       (unsigned long long)(steps + r.steps));
	}
}

static void a_seed_repeats_everything(void **state)
{
	struct cluster_report first, second;

	(void)state;
	cluster_run(&good[3], seed, 5000, &first);
	cluster_run(&good[3], seed, 5000, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	cluster_run(&good[3], seed + 1, 5000, &second);
	assert_int_not_equal(first.trace, second.trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_meets_anybody_inside),
		cmocka_unit_test(broken_assumptions_are_found_out),
		cmocka_unit_test(a_seed_repeats_everything),
	};

	seed = unit_seed("cluster");
	return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
