// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks: none is used twice, and liars drive nobody's up. A client begins with at
 * most one more than anybody has used before, or up to 2^32 more after a time-out
 * or one signed rank, which is its own step.
 */
#include "order.h"
#include "story.h"

/** struct ranks - the highest count anybody used, and the last of each client */
struct ranks {
	u64 highest;
	struct bftm_rank *last;
};

static void *start(struct world *w)
{
	struct ranks *r = arena_take(&w->arena, sizeof(*r));

	r->highest = w->plan->order.past;
	r->last = arena_array(&w->arena, struct bftm_rank, w->plan->clients);
	return r;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct ranks *r = state;
	struct bftm_rank *last = &r->last[f->client];
	u64 step = f->part ? 1ull << 33 : 1;

	if (last->incarnation != f->rank->incarnation)
		step += w->plan->order.head_start;

	if (last->incarnation == f->rank->incarnation && last->count >= f->rank->count)
		check_fails(w, &check_ranks, 0, "c%u uses rank %s again", f->client + 1,
			    story_rank(f->rank));
	if (f->rank->count > r->highest + step)
		check_fails(w, &check_ranks, 0,
			    "c%u begins with rank %s, but nobody used more than %llu",
			    f->client + 1, story_rank(f->rank), (unsigned long long)r->highest);
	*last = *f->rank;
	if (r->highest < f->rank->count)
		r->highest = f->rank->count;
}

const struct checker check_ranks = {
	.name = "ranks",
	.rule = "ranks are used once, and grow by the clients' own steps only",
	.facts = FACT(RANK),
	.orders = true,
	.start = start,
	.on_fact = on_fact,
};
