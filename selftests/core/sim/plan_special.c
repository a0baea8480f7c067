// SPDX-License-Identifier: GPL-2.0
/* Scenarios that are not a bit of everything. */
#include <stddef.h>

#include "plan.h"
#include "core/limits.h"

void plan_draw_scale(struct plan *p, const struct wish *wish)
{
	p->literal = false;
	p->clients = wish->clients == AS_DRAWN ? 10000 : wish->clients;
	p->n = wish->servers == AS_DRAWN ? 31 : wish->servers;
	p->b = (p->n - 1) / 3;
	p->liars = wish->liars == AS_DRAWN ? p->b : wish->liars;
	p->handles = 1;
	p->locks = wish->locks == AS_DRAWN ? p->clients / 4 + 1 : wish->locks;
	p->safety = 8 * p->lease_max * wish->length_pct / 100;
	/* One fault is one host's: with so many hosts there are more. */
	p->cut_every = p->crash_every = p->kill_every = p->pause_every = p->lease_max / 64;
	p->retry_max = 64 * (p->lease_max + 4 * p->delta);
	p->no_backoff = 0;
}

/* All contend for one lock in a quiet network. */
static void draw_quiet(struct plan *p, const struct wish *wish, u32 clients)
{
	p->n = wish->servers == AS_DRAWN ? 4 : wish->servers;
	p->b = (p->n - 1) / 3;
	p->literal = false;
	p->clients = wish->clients == AS_DRAWN ? clients : wish->clients;
	p->handles = p->locks = 1;
	p->delay = DELAY_UNIFORM;
	p->faults = wish->with;
	p->liars = plan_has(p, FAULT_LIARS) ? p->b : 0;
	p->think_max = p->once = p->cancel = p->no_backoff = p->hold_all = 0;
	p->backoff = wish->backoff_pct == AS_DRAWN ? 0 : wish->backoff_pct * (PPM / 100);
	p->renew = p->fence = 0;
	p->modes = wish->modes_pct == AS_DRAWN ? 0 : p->modes;
	p->values = wish->values_pct == AS_DRAWN ? 0 : p->values;
	p->waiters_max = BFTM_WAITERS_DEFAULT;
}

void plan_draw_fair(struct plan *p, const struct wish *wish)
{
	p->fair = true;
	draw_quiet(p, wish, 8);
	p->safety = 100 * p->lease_max * wish->length_pct / 100;
}

/* One client takes one lock after another; leases are long against a round trip. */
void plan_draw_steps(struct plan *p, const struct wish *wish)
{
	draw_quiet(p, wish, 1);
	p->steps = true;
	p->b = wish->b == AS_DRAWN ? p->b : wish->b;
	p->liars = plan_has(p, FAULT_LIARS) ? p->b : 0;
	p->locks = wish->locks == AS_DRAWN ? 64 : wish->locks;
	p->delay = wish->recorded ? DELAY_RECORDED : DELAY_NARROW;
	p->backoff = PPM;
	p->loss = 10000;
	p->slow = 2000;
	p->lease_min = p->lease_max;
	p->delta = p->lease_max / 256;
	p->slow_max = 10 * p->delta;
	p->resend = 4 * p->delta;
	p->think_max = p->delta;
	p->safety = 256 * p->lease_max * wish->length_pct / 100;
	/* The first acquires find out how long servers take. */
	p->silent_at = wish->silent ? 4 * p->lease_max : 0;
}

/*
 * The splits that matter come of the first sends: all ask at once. A renewal that one server
 * leaves unanswered takes 1/16 of a lease, and 6 δ from the next to the grant of another server
 * (with its epoch); of a lease that was taken late 3/16 are left.
 */
void plan_draw_silent(struct plan *p, struct rng *r, const struct wish *wish)
{
	draw_quiet(p, wish, 3 + (u32)rng_below(r, 3));
	p->renew = PPM;
	p->spaced = false;
	p->lease_min = p->lease_max;
	p->delta = p->lease_max / 128;
	p->resend = 4 * p->delta;
	p->think_max = 2 * p->delta;
	p->safety = 8 * p->lease_max * wish->length_pct / 100;
	/* Not while another is in quarantine since its start. */
	p->silent_at = rng_between(r, 2 * p->lease_max, 8 * p->lease_max);
}

/*
 * One in eight is a race of clocks: nothing but rates, grains and rounding
 * stands between two clients, and what arrives does so to the nanosecond.
 */
void plan_draw_race(struct plan *p, struct rng *r, const struct wish *wish)
{
	if (rng_below(r, 8) || wish->scale || wish->fair || wish->silent || p->sync)
		return;
	p->delay = DELAY_NONE;
	p->aim = rng_next(r) & 1 ? PPM : PPM * 7 / 10;
	p->no_backoff = 0;
	p->lease_min = p->lease_max;
	p->crash_step = PPM / 8;
	p->hold_all = PPM / 4 * 3;
	p->faults &= 1u << FAULT_RESTART | 1u << FAULT_LIARS | 1u << FAULT_SLEW |
		     1u << FAULT_KILL;
	p->faults |= 1u << FAULT_AIM | 1u << FAULT_DRIFT | 1u << FAULT_GRAIN;
	p->faults |= wish->with;
	p->faults &= ~wish->without;
	if (wish->servers == AS_DRAWN && wish->liars == AS_DRAWN &&
	    wish->b == AS_DRAWN && rng_next(r) & 1) {
		p->n = 1 + (u32)rng_below(r, 4) % 3;
		p->b = 0;
		p->liars = 0;
		p->literal = false;
	}
	if (!plan_has(p, FAULT_LIARS))
		p->liars = 0;
}

/*
 * One in eight is about tokens: servers forget them one at a time, as often as
 * they can, and holders stamp few servers more than they must. Half of those with
 * liars are tangles: each token gets to some of the servers, who knows it is heard
 * by few, and holders hold until the one who forgot it is back.
 */
void plan_draw_fence(struct plan *p, struct rng *r, const struct wish *wish)
{
	if (rng_below(r, 8) || wish->scale || wish->fair || wish->silent || p->sync || !p->fence ||
	    wish->servers != AS_DRAWN || wish->b != AS_DRAWN || wish->liars != AS_DRAWN)
		return;
	p->b = !rng_below(r, 4);
	p->n = p->b ? 6 : 2 + (u32)rng_below(r, 2);
	p->literal = false;
	p->fence = PPM;
	p->keep_tokens = false;
	p->spaced = true;
	p->handles = p->locks = 1;
	p->faults |= 1u << FAULT_RESTART | 1u << FAULT_CUT;
	p->faults &= ~(1u << FAULT_CRASH | 1u << FAULT_PAUSE | 1u << FAULT_STALL);
	p->cut_every = p->lease_max / 2;
	p->faults |= wish->with;
	p->faults &= ~wish->without;
	p->restart_every = 2 * p->lease_max;
	p->crash_step = PPM / 16;
	p->think_max = p->lease_max / 8;
	p->liars = plan_has(p, FAULT_LIARS) ? p->b : 0;
	if (!p->liars || rng_next(r) & 1)
		return;
	p->tangle = true;
	p->delay = DELAY_UNIFORM;
	p->faults &= ~(1u << FAULT_CUT | 1u << FAULT_CLOG | 1u << FAULT_SLOW | 1u << FAULT_AIM |
		       1u << FAULT_LIAR_CLOCK | 1u << FAULT_LIAR_AMNESIA);
	p->faults |= wish->with;
	p->hold_all = PPM;
	p->lease_min = p->lease_max;
	p->crash_step = 0;
	p->restart_every = 64 * p->lease_max;
	p->safety *= 4;
}
