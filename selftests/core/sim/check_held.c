// SPDX-License-Identifier: GPL-2.0
/*
 * A client that holds a lock and renews it keeps it until it gives it back, when nothing is wrong
 * but that one server of n >= 3b + 1, b >= 1, falls silent: F others can be asked. All grants that
 * they gave to waiting clients they give to the holder (plan_draw_silent() says why there is time
 * for it).
 */
#include "story.h"

static void *start(struct world *w)
{
	(void)w;
	return NULL;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	(void)state;
	/* Later on nobody renews. */
	if (w->plan->silent_at && !w->plan->faults && !w->healed)
		check_fails(w, &check_held, f->lock, "c%u renews its lease of %s, and it is over",
			    f->client + 1, story_lock(f->lock));
}

const struct checker check_held = {
	.name = "held",
	.rule = "who renews a lock keeps it although a server falls silent",
	.facts = FACT(OVER),
	.start = start,
	.on_fact = on_fact,
};
