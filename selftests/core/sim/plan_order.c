// SPDX-License-Identifier: GPL-2.0
/* Scenarios of the ordering protocol: much happens within a few time-outs. */
#include "core/lease.h"
#include "core/ordering/wire.h"
#include "core/quorum.h"
#include "plan.h"

static void draw_servers(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u8 liars[16] = { 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3 };
	u64 draw = rng_next(r);

	p->literal = false;
	p->b = liars[draw & 15];
	p->order.signed_ranks = !(draw >> 4 & 3);
	if (wish->b != AS_DRAWN)
		p->b = wish->b;
	if (wish->servers != AS_DRAWN && wish->b == AS_DRAWN)
		while (p->b && bftm_servers_needed_order(p->b, true) > wish->servers)
			p->b--;
	p->n = bftm_servers_needed_order(p->b, p->order.signed_ranks);
	p->n += draw >> 8 & 1 ? 0 : (u32)(draw >> 16 & 3);
	/* With b = 0 a single server orders nothing that could go wrong. */
	if (!p->b)
		p->n = 2 + (u32)(draw >> 20 & 3);
	if (wish->servers != AS_DRAWN) {
		p->n = wish->servers;
		p->order.signed_ranks |= p->n < bftm_servers_needed_order(p->b, false);
	}
	p->liars = rng_chance(r, PPM / 8) ? (u32)rng_below(r, p->b + 1) : p->b;
	if (wish->liars != AS_DRAWN)
		p->liars = wish->liars < p->n ? wish->liars : p->n;
	if (!plan_has(p, FAULT_LIARS))
		p->liars = 0;
}

static void draw_clients(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 continues[4] = { 0, PPM / 4, PPM / 2, PPM };
	u64 draw = rng_next(r);

	p->handles = 1;
	p->locks = 0;
	p->clients = 2 + (u32)(draw & 3) % 3;		/* 2, 3, 4, 2 */
	if (!(draw >> 2 & 63))
		p->clients = 5 + (u32)(draw >> 8 & 3);
	if (wish->clients != AS_DRAWN)
		p->clients = wish->clients;
	p->order.ops = 1 + (u32)(draw >> 12 & 3);
	if (!(draw >> 16 & 63))
		p->order.ops = 20;
	p->order.type = (u32)(draw >> 24 & 15);
	p->order.huge = !(draw >> 28 & 31) && p->order.ops <= 2 && p->clients <= 3;
	p->order.caches = draw >> 33 & 1;
	p->order.response_room = draw >> 34 & 1 ? 0 : BFTM_ORDER_ROOM_SURE;
	p->order.carried = !(draw >> 35 & 7);
	p->order.continues = continues[draw >> 38 & 3];
	p->order.alone = draw >> 40 & 1;
	p->order.state_max = BFTM_STATE_DEFAULT;
}

static void draw_times(struct plan *p, struct rng *r, const struct wish *wish)
{
	p->lease_max = wish->lease_ns ?: rng_scale(r, BFTM_LEASE_MIN_NS, 10 * BFTM_NS_PER_SEC);
	p->lease_min = p->lease_max;
	/* An iteration of the healed world takes 12 δ, and 24 δ to fetch bodies. */
	p->delta = p->lease_max >> rng_between(r, 6, 9);
	p->resend = rng_next(r) & 1 ? 4 * p->delta : rng_scale(r, 2 * p->delta, 8 * p->delta);
	p->safety = rng_scale(r, 32 * p->delta, 256 * p->delta);
	/* A recovering server is silent for a lease first. */
	if (plan_has(p, FAULT_RESTART))
		p->safety = rng_scale(r, p->lease_max, 4 * p->lease_max);
	p->safety = p->safety * wish->length_pct / 100;
	p->think_max = rng_scale(r, p->delta, 2 * p->safety / p->order.ops);
	p->slow_max = rng_scale(r, p->delta, rng_next(r) & 1 ? 64 * p->delta : 4 * p->lease_max);
}

static void draw_rates(struct plan *p, struct rng *r)
{
	u64 least = p->safety / 8 + 1, most = 2 * p->safety + 1;

	p->cut_every = rng_scale(r, least, most);
	p->crash_every = rng_scale(r, least, most);
	p->kill_every = rng_scale(r, least, most);
	p->pause_every = rng_scale(r, least, most);
	p->restart_every = rng_scale(r, least, most);
	p->slew_every = rng_scale(r, least, most);
	p->order.crash_send = rng_next(r) & 1 ? 0 : (u32)rng_scale(r, 2000, 100000);
	p->stall = (u32)rng_scale(r, 1000, 30000);
	p->crash_step = PPM / 64;
}

/*
 * Servers forget, and are told again, as often as they can within the time of a
 * few iterations: these may take longer than a server is silent.
 */
static void forgetful(struct plan *p, struct rng *r, const struct wish *wish)
{
	u64 draw = rng_next(r);

	if (wish->servers == AS_DRAWN && wish->b == AS_DRAWN && draw & 1) {
		p->b = 0;
		p->n = 3;
		p->liars = 0;
	}
	if (draw & 2)
		p->rho = p->skew = BFTM_RHO_MAX_PPM;
	p->delta = p->lease_max / (24 + (u32)(draw >> 8 & 15));
	p->resend = p->delta * (2 + (draw >> 12 & 15));
	p->safety = p->lease_max * (2 + (draw >> 16 & 7));
	p->delay = draw >> 23 & 3 ? DELAY_NONE : p->delay;
	p->order.aim_max = rng_scale(r, 8 * p->delta, 4 * p->lease_max);
	p->order.down_max = 1 + p->delta;
	p->think_max = rng_below(r, p->lease_max / 4);
	p->order.ops += 12;
	p->order.crash_send = draw >> 20 & 1 ? 10000 : 0;
	p->order.head_start = 64;
	p->loss /= 4;
	p->crash_step = draw >> 21 & 1 ? PPM / 8 : PPM / 256;
	p->order.forgets = draw >> 22 & 1 ? PPM : PPM / 4;
}

/* Nothing is lost by chance: who hears of what is drawn, phase by phase. */
static void subsets(struct plan *p, struct rng *r)
{
	p->order.lonely = rng_next(r) & 1;
	p->order.subsets = true;
	p->faults &= 1u << FAULT_LIARS | 1u << FAULT_CRASH;
	p->delay = DELAY_UNIFORM;
	p->order.crash_send /= 8;
	p->crash_every *= 4;
	p->order.ops += 4;
	p->safety *= 4;
	p->think_max = 4 * p->delta;
}

/*
 * Half are tangles: clients that know of nobody begin one iteration after the
 * other, die in the middle and are back at once; of what they send a part is
 * lost, and another part comes after several iterations of others.
 */
static void tangle(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 aim[4] = { 50000, 150000, 300000, 500000 };
	u64 draw = rng_next(r);

	p->order.tangle = true;
	p->delay = draw & 1 ? DELAY_UNIFORM : DELAY_NONE;
	p->faults &= 1u << FAULT_RESTART | 1u << FAULT_LIARS | 1u << FAULT_DRIFT |
		     1u << FAULT_CUT | 1u << FAULT_DUP | 1u << FAULT_LOSS;
	p->faults |= 1u << FAULT_AIM | 1u << FAULT_CRASH;
	p->aim = aim[draw >> 1 & 3];
	p->order.aim_max = rng_scale(r, 8 * p->delta, 256 * p->delta);
	p->loss = (u32)rng_scale(r, 10000, 400000);
	p->resend = 2 * p->delta + rng_below(r, 2 * p->delta);
	p->order.crash_send = draw >> 3 & 1 ? (u32)rng_scale(r, 10000, 300000) : 0;
	p->order.down_max = 1 + rng_below(r, 8 * p->delta);
	p->order.ops = 3 + (u32)(draw >> 4 & 7);
	p->order.huge = false;
	p->order.pause = (u32)(draw >> 8 & 3);
	p->think_max = rng_below(r, 8 * p->delta);
	p->cut_every = rng_scale(r, 8 * p->delta, p->safety + 8 * p->delta);
	p->order.cut_max = rng_scale(r, 8 * p->delta, 128 * p->delta);
	p->crash_step = PPM / 16;
	p->order.head_start = draw >> 10 & 1 ? 64 : 0;
	if (plan_has(p, FAULT_RESTART))
		forgetful(p, r, wish);
	else if (draw >> 11 & 1)
		subsets(p, r);
}

/*
 * In one of eight somebody used ranks for long, is gone, and all servers, some or one
 * have seen the last: clients are far behind, and liars can keep them there.
 */
static void draw_past(struct plan *p, struct rng *r)
{
	u64 draw = rng_next(r);

	if (draw & 7)
		return;
	p->order.past = (u32)rng_scale(r, 64, 1u << 31);
	p->order.saw = ~0u;
	if (draw & 8)
		p->order.saw = draw & 16 ? (u32)(draw >> 32) :
					   1u << rng_between(r, p->liars, p->n - 1);
}

void plan_draw_order(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 careless[4] = { 0, PPM / 2, PPM, PPM };

	/* The silence after a start is that of the longest lease of them all. */
	p->faults &= ~(1u << FAULT_RECONF | 1u << FAULT_RECLAIM);
	draw_servers(p, r, wish);
	draw_clients(p, r, wish);
	draw_times(p, r, wish);
	draw_rates(p, r);
	p->order.careless = careless[rng_below(r, 4)];
	p->order.pause = 6;
	p->order.aim_max = 64 * p->delta;
	p->order.down_max = p->safety / 4 + 1;
	p->order.cut_max = 3 * p->lease_max;
	p->fence = p->renew = p->backoff = 0;
	p->spaced = false;
	if (rng_next(r) & 1)
		tangle(p, r, wish);
	/* Of a clock that may run slow, while those of servers run fast. */
	p->order.limit = bftm_lease_at_client(p->lease_max, p->rho);
	p->faults |= wish->with;
	p->faults &= ~wish->without;
	if (!plan_has(p, FAULT_LIARS))
		p->liars = 0;
	draw_past(p, r);
}
