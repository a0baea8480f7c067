// SPDX-License-Identifier: GPL-2.0
/* The seed draws the processes that crash in the middle of a step in which they send, and liars. */
#include "world.h"

#define LATEST_STEP 12
#define FORGETTING 20	/* units, in which servers forget */
#define BURST 4		/* … all of them in so many of these */

/* In one of the first steps in which it sends; some processes get what it sends then. */
static void draw_crash(struct peer_world *w, struct peer_host *h, u32 latest)
{
	h->crash_step = (u32)rng_between(&w->fault, 1, latest);
	h->crash_set = rng_below(&w->fault, 1ull << (w->plan->n < 63 ? w->plan->n : 63));
}

/* Exactly f generals lie, some of them fall silent as well; the commander may be one. */
static void draw_traitors(struct peer_world *w)
{
	u32 left = w->plan->f;

	w->value[0] = (u32)rng_below(&w->fault, 2);
	while (left) {
		struct peer_host *h = &w->host[rng_below(&w->fault, w->plan->n)];

		left -= !h->lies;
		h->lies = true;
		h->lie = rng_next(&w->fault);
		if (rng_below(&w->fault, 2))
			draw_crash(w, h, w->plan->f + 1);
	}
}

/* f servers lie; more failures of servers than f nothing has to bear. */
static void draw_liars(struct peer_world *w)
{
	u32 left = w->plan->f;

	while (left) {
		/* Where all are equal it is one of these. */
		struct peer_host *h = &w->host[rng_below(&w->fault,
							 peer_servers(w->plan) ?: w->plan->n)];

		left -= !h->lies;
		h->lies = true;
	}
}

static void draw_losses(struct peer_world *w)
{
	u32 servers = peer_servers(w->plan), id = (u32)rng_below(&w->fault, servers), i;
	u64 from = rng_below(&w->fault, FORGETTING * PEER_UNIT);

	for (i = 0; i < w->plan->forgets; i++)
		peer_push(w, from + rng_below(&w->fault, BURST * PEER_UNIT), PEER_FORGET,
			  (id + i) % servers, 0);
}

static bool a_server_lies(const struct peer_world *w)
{
	return w->plan->algorithm->lie && peer_bears(w->plan, ASSUME_HONEST);
}

/* Up to f crash in the rounds of consensus; the most that the plan wants, elsewhere. */
static void draw_crashes(struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;
	bool has_rounds = plan->algorithm->task == TASK_AGREEMENT;
	u32 most = has_rounds ? plan->f : plan->crashes;
	/* An algorithm that bears crashes has to bear none as well. */
	u32 least = plan->without & ASSUME_NO_CRASH ? 1 : 0;
	u32 count = most ? (u32)rng_between(&w->fault, least, most) : 0;
	u32 first = a_server_lies(w) ? peer_servers(plan) : 0;

	while (count--)
		draw_crash(w, &w->host[first + rng_below(&w->fault, plan->n - first)],
			   has_rounds ? plan->f + 1 : LATEST_STEP);
}

static void apply_failure(struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;
	u32 victim = plan->failure == FAIL_IDLE || !peer_servers(plan) ? plan->idle : 0;

	if (plan->failure == FAIL_LIAR)
		w->host[victim].lies = true;
	else if (plan->failure == FAIL_IDLE || plan->failure == FAIL_SERVER)
		peer_push(w, plan->fails_at, PEER_CRASH, victim, 0);
}

void faults_draw(struct peer_world *w)
{
	const struct peer_algorithm *a = w->plan->algorithm;

	if (w->plan->exact)
		return;
	if (w->plan->until) {
		apply_failure(w);
		return;
	}
	if (a->task == TASK_AGREEMENT && a->servers) {
		draw_traitors(w);
		return;
	}
	if (a_server_lies(w))
		draw_liars(w);
	if (a->task == TASK_MUTEX && a->servers && peer_bears(w->plan, ASSUME_MEMORY))
		draw_losses(w);
	if (peer_bears(w->plan, ASSUME_NO_CRASH))
		draw_crashes(w);
}
