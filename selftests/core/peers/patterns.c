// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns of failures, each with a number: for consensus all ways in which up to f processes crash
 * in one of the f + 1 rounds and reach a set of processes in it; for generals all traitors and all
 * their lies, if f = 1.
 */
#include "world.h"

static u64 power(u64 base, u32 exponent)
{
	u64 product = 1;

	while (exponent--)
		product *= base;
	return product;
}

/* Crashes of one process: a round and a set of receivers. */
static u64 crash_ways(const struct peer_plan *plan)
{
	return (u64)(plan->f + 1) << plan->n;
}

static u64 crash_sets(const struct peer_plan *plan, u32 set)
{
	u32 count = (u32)__builtin_popcount(set);

	return count <= plan->f ? power(crash_ways(plan), count) : 0;
}

static void apply_crashes(struct peer_world *w, u64 pattern)
{
	u64 ways = crash_ways(w->plan);
	u32 set = 0, id;

	while (pattern >= crash_sets(w->plan, set))
		pattern -= crash_sets(w->plan, set++);
	for (id = 0; id < w->plan->n; id++) {
		if (!(set >> id & 1))
			continue;
		w->host[id].crash_step = (u32)(pattern % ways >> w->plan->n) + 1;
		w->host[id].crash_set = pattern & ((1ull << w->plan->n) - 1);
		pattern /= ways;
	}
}

/* Of one traitor, f = 1: the order, and a bit for each message that it sends. */
static u64 lie_ways(const struct peer_plan *plan, u32 traitor)
{
	return 2ull << (traitor ? plan->n - 2 : plan->n - 1);
}

static void apply_lies(struct peer_world *w, u64 pattern)
{
	u32 traitor = 0;

	while (pattern >= lie_ways(w->plan, traitor))
		pattern -= lie_ways(w->plan, traitor++);
	w->host[traitor].lies = true;
	w->value[0] = pattern & 1;
	w->host[traitor].lie = pattern >> 1;
}

u64 pattern_count(const struct peer_plan *plan)
{
	u64 count = 0;
	u32 i;

	if (plan->algorithm->servers) {
		for (i = 0; i < plan->n; i++)
			count += lie_ways(plan, i);
		return count;
	}
	for (i = 0; i < 1u << plan->n; i++)
		count += crash_sets(plan, i);
	return count;
}

void pattern_apply(struct peer_world *w, u64 pattern)
{
	if (w->plan->algorithm->servers)
		apply_lies(w, pattern);
	else
		apply_crashes(w, pattern);
}
