// SPDX-License-Identifier: GPL-2.0
/* The cost of an acquire that nobody is in the way of: steps, messages and time. */
#include <stdio.h>

#include "sim.h"
#include "story.h"

void steps_message(struct world *w, u8 type)
{
	if (!w->plan->steps || w->healed)
		return;
	/* RELEASED answers what nobody waits for. */
	w->stats.step_messages += type == BFTM_MSG_TRY || type == BFTM_MSG_FREE ||
				  type == BFTM_MSG_LOCKED || type == BFTM_MSG_WAIT ||
				  type == BFTM_MSG_RELEASE;
}

void steps_won(struct world *w, const struct bftm_contender *c, u64 now)
{
	u64 bucket = (now - c->begun_ns) * STEPS_PER_TRIP / w->plan->delta;

	if (!w->plan->steps || w->healed)
		return;
	w->stats.step_wins++;
	w->stats.step_one += c->sends == 1 && !c->asking.rest_ns;
	w->stats.step_after[bucket < STEPS_BUCKETS ? bucket : STEPS_BUCKETS - 1]++;
}

/* After how many round trips so many of a thousand had it. */
static double after(const struct stats *s, u64 permille)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < STEPS_BUCKETS - 1; i++) {
		sum += s->step_after[i];
		if (sum * 1000 >= s->step_wins * permille)
			break;
	}
	return (double)(i + 1) / STEPS_PER_TRIP;
}

void steps_print(const struct stats *s)
{
	double wins = (double)s->step_wins;

	if (!s->step_wins)
		return;
	printf("  acquires %.0f: one step %.2f %%, messages %.1f each, round trips p50 %.2f, "
	       "p99 %.2f, p999 %.2f\n", wins, 100 * (double)s->step_one / wins,
	       (double)s->step_messages / wins, after(s, 500), after(s, 990), after(s, 999));
}
