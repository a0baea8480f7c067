// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing acknowledged is lost. At the end, a version that somebody had an answer
 * of, or a later one, is with q - b - 1 correct servers at least: q accepted it, b
 * of those may lie, and one may have lost its memory.
 */
#include "order.h"
#include "story.h"

/** struct kept - the version of the last answer */
struct kept {
	u64 version;
};

static void *start(struct world *w)
{
	return arena_take(&w->arena, sizeof(struct kept));
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct kept *k = state;
	u64 version;

	(void)w;
	if (bftm_answers(f->response, f->len, &version) >= 0 && version > k->version)
		k->version = version;
}

static void at_end(struct world *w, void *state)
{
	const struct kept *k = state;
	u32 u, have = 0, q = w->plan->n / 2 + w->plan->b + 1;	/* ⌈(n + 2b + 1) / 2⌉ */

	for (u = w->plan->liars; u < w->plan->n; u++) {
		const struct bftm_object *o = &w->order->server[u].object;

		have += !o->recovering && o->sp && o->sp->id.version >= k->version;
	}
	if (k->version && have + w->plan->b + 1 < q)
		check_fails(w, &check_kept, 0, "version %llu was answered, but %u servers have it",
			    (unsigned long long)k->version, have);
}

const struct checker check_kept = {
	.name = "kept",
	.rule = "what was answered is not lost",
	.facts = FACT(ANSWERED),
	.orders = true,
	.start = start,
	.on_fact = on_fact,
	.at_end = at_end,
};
