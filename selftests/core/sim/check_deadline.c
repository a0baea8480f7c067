// SPDX-License-Identifier: GPL-2.0
/*
 * Nobody is told that a lock is held, or won, after the deadline that was told
 * before; a deadline that has passed is never moved, and no other is moved to be nearer.
 */
#include "story.h"

/** struct deadline - of the current holding of a client and lock */
struct deadline {
	u64 hold;
	u64 end_ns;
};

static void *start(struct world *w)
{
	/* A host has at most so many holdings that matter: hash them. */
	return arena_array(&w->arena, struct deadline, 8 * w->plan->clients);
}

static struct deadline *find(void *state, const struct fact *f)
{
	return (struct deadline *)state + 8 * f->client + f->hold % 8;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct deadline *d = find(state, f);

	if (f->kind == FACT_WIN) {
		d->hold = f->hold;
		d->end_ns = f->end_ns;
		if (f->now_ns > f->end_ns)
			check_fails(w, &check_deadline, f->lock,
				    "c%u is told that it has %s, %s after the lease is over",
				    f->client + 1, story_lock(f->lock),
				    story_span(f->now_ns - f->end_ns));
		return;
	}
	if (d->hold != f->hold)
		return;
	if (f->now_ns > d->end_ns)
		check_fails(w, &check_deadline, f->lock,
			    "c%u is told that it still has %s, %s after its lease is over",
			    f->client + 1, story_lock(f->lock),
			    story_span(f->now_ns - d->end_ns));
	else if (f->kind == FACT_EXTEND && f->end_ns < d->end_ns)
		check_fails(w, &check_deadline, f->lock, "the end of c%u's lease of %s comes %s nearer",
			    f->client + 1, story_lock(f->lock), story_span(d->end_ns - f->end_ns));
	else if (f->kind == FACT_EXTEND)
		d->end_ns = f->end_ns;
}

const struct checker check_deadline = {
	.name = "deadline",
	.rule = "nobody is told that a lock is held after its deadline",
	.facts = FACT(WIN) | FACT(EXTEND) | FACT(TOLD),
	.start = start,
	.on_fact = on_fact,
};
