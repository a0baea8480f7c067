// SPDX-License-Identifier: GPL-2.0
/* The seed draws the processes that crash, each in the middle of a step in which it sends. */
#include "world.h"

#define LATEST_STEP 12

void faults_draw(struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;
	u32 count;

	if (!peer_bears(plan, ASSUME_NO_CRASH) || !plan->crashes)
		return;
	/* An algorithm that bears crashes has to bear none as well. */
	count = (u32)rng_between(&w->fault, !!(plan->without & ASSUME_NO_CRASH), plan->crashes);
	while (count--) {
		struct peer_host *h = &w->host[rng_below(&w->fault, plan->n)];

		h->crash_step = (u32)rng_between(&w->fault, 1, LATEST_STEP);
		h->crash_set = (u32)rng_below(&w->fault, 1ull << plan->n);
	}
}
