// SPDX-License-Identifier: GPL-2.0
/*
 * Two clients that a server without its tokens should not believe. The first may take the
 * locks of one prefix: it says what it likes, whenever it likes. The second may take every
 * lock: it speaks before the quarantine is over, or tells of more than the wall clock
 * allows.
 */
#include <string.h>

#include "story.h"

/* Their numbers follow those of the clients that follow the protocol. */
static u32 of_one_prefix(const struct world *w)
{
	return w->plan->clients;
}

static u32 of_all_locks(const struct world *w)
{
	return w->plan->clients + 1;
}

void intruder_rules(struct world *w)
{
	u32 x = of_one_prefix(w);

	w->rule[0] = (struct bftm_rule){
		.client_first = x, .client_last = x, .prefix_len = 5, .prefix = "jobs/",
	};
	w->rule[1] = (struct bftm_rule){ .client_first = x, .client_last = x, .deny = true };
	w->rule[2] = (struct bftm_rule){ .client_last = ~0u, .leaseless = w->plan->leaseless };
}

static void come(struct world *w, u32 u, u64 at)
{
	queue_push(&w->queue, at, EVENT_INTRUDE, u)->stamp = w->server[u].stamp;
}

void intruder_start(struct world *w, u32 u)
{
	struct server *s = &w->server[u];
	u32 i;

	if (w->order || w->script || !w->plan->fence || !world_fault(w, FAULT_INTRUDER))
		return;
	for (i = 0; i < 3; i++)
		come(w, u, w->now + rng_below(&w->rng[RNG_INTRUDER], 2 * w->plan->lease_max));
	/* Twice the very first word that is heard after the quarantine. */
	for (i = 0; i < 2; i++)
		come(w, u, clock_when(&s->clock, s->cfg.quarantine_until_ns + 1, w->now));
}

static u64 draw_token(struct world *w, bool too_much)
{
	struct rng *r = &w->rng[RNG_INTRUDER];

	if (too_much)
		return rng_scale(r, server_wall(w) + 1, BFTM_TOKEN_UNKNOWN - 1);
	switch (rng_next(r) & 3) {
	case 0:
		return 0;
	case 1:
		return server_wall(w);
	default:
		return rng_below(r, 64);
	}
}

void intruder_speak(struct world *w, u32 u)
{
	struct rng *r = &w->rng[RNG_INTRUDER];
	struct server *s = &w->server[u];
	bool all = rng_next(r) & 1;
	struct bftm_msg req = {
		.type = BFTM_MSG_RECOVER, .proto = BFTM_PROTO_BACKOFF, .cluster = 1,
		.server = s->cfg.id, .server_epoch = s->cfg.epoch,
		.client = all ? of_all_locks(w) : of_one_prefix(w),
	};
	u64 now = clock_at(&s->clock, w->now);

	if (!s->up)
		return;
	w->stats.fault[FAULT_INTRUDER]++;
	req.token = draw_token(w, all && now > s->cfg.quarantine_until_ns);
	server_recover(w, u, &req, now);
}
