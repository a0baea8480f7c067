// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "plan.h"
#include "core/quorum.h"
#include "protocol.h"

const char *const fault_names[FAULTS] = {
	"loss", "dup", "slow", "aim", "cut", "clog", "crash", "kill", "pause", "stall",
	"restart", "reconf", "reclaim", "drift", "slew", "grain", "liars", "liar-clock",
	"liar-amnesia", "intruder", "evict", "evict-early",
	"forget", "overstay",
};

const char *const ask_names[ASKS] = { "all", "first", "auto", "mixed" };

#define SYNC_FAULTS (1u << FAULT_LIARS | 1u << FAULT_CRASH | 1u << FAULT_DUP)
/* Faults that lose a grant, or its owner, are for leases only. */
#define LEASE_FAULTS (1u << FAULT_CRASH | 1u << FAULT_KILL | 1u << FAULT_RESTART | \
		      1u << FAULT_RECONF | 1u << FAULT_RECLAIM | 1u << FAULT_LIARS)

static u32 servers_needed(const struct plan *p)
{
	if (p->literal)
		return bftm_servers_needed_literal(p->b);
	return p->protocol->orders ? bftm_servers_needed_order(p->b, false) :
				     p->protocol->core->servers_needed(p->b);
}

static bool plan_leased(const struct plan *p)
{
	return p->protocol->core->traits & BFTM_LEASED;
}

static void draw_servers(struct plan *p, struct rng *r, const struct wish *wish)
{
	/* Few servers make bugs of leases plain, more those of quorums. */
	static const u8 liars[16] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3 };
	u64 draw = rng_next(r);
	u32 least;

	p->b = liars[draw & 15];
	p->literal = wish->literal || !(draw >> 4 & 15);
	least = servers_needed(p);
	while (least > BFTM_SERVERS_MAX) {
		p->b--;
		least = servers_needed(p);
	}
	p->n = least + ((draw >> 8 & 1) ? (u32)(draw >> 16 & 7) % 3 : 0);
	if (p->b >= 3 && (draw >> 9 & 15) == 0) {
		p->b = (u32)rng_between(r, 4, p->literal ? 6 : 10);
		/* A protocol that needs 5b + 1 has no cluster that large. */
		while (servers_needed(p) > BFTM_SERVERS_MAX)
			p->b--;
		p->n = servers_needed(p);
	}
	if (wish->servers != AS_DRAWN) {
		p->n = wish->servers;
		while (p->b && servers_needed(p) > p->n)
			p->b--;
	}
	if (wish->b != AS_DRAWN) {
		/* As wished, whether n servers are enough for it or not. */
		p->b = wish->b;
		if (wish->servers == AS_DRAWN)
			p->n = servers_needed(p);
	}
	if (p->n < bftm_servers_needed_literal(p->b) && !wish->literal)
		p->literal = false;
	p->liars = rng_chance(r, PPM / 8) ? (u32)rng_below(r, p->b + 1) : p->b;
	if (wish->liars != AS_DRAWN)
		p->liars = wish->liars < p->n ? wish->liars : p->n;
}

/* Sigma: of numbers of its own, so that the rest of a scenario is that of other protocols. */
static void draw_sigma(struct plan *p, u64 seed, const struct wish *wish)
{
	struct rng r = { .state = seed ^ 0x7369676d };
	u32 least = bftm_free_needed(p->n, p->b), spared;

	if (!p->protocol->spares)
		return;
	p->literal = false;
	p->m = least <= p->n - p->b ? (u32)rng_between(&r, least, p->n - p->b) : least;
	if (wish->m != AS_DRAWN)
		p->m = wish->m;
	p->mixed = !rng_below(&r, 4);
	spared = bftm_spared(p->n, p->b, p->m);
	p->spared = rng_below(&r, 4) ? spared : (u32)rng_below(&r, spared + 1);
	p->forget = p->spared;
	if (wish->forget != AS_DRAWN) {
		p->mixed = false;
		p->forget = wish->forget;
		p->spared = wish->forget < spared ? wish->forget : spared;
	}
}

static void draw_clients(struct plan *p, struct rng *r, const struct wish *wish)
{
	u64 draw = rng_next(r);

	p->clients = 2 + (u32)(draw & 3) % 3;		/* 2, 3, 4, 2 */
	if (!(draw >> 2 & 31))
		p->clients = 5 + (u32)(draw >> 8 & 7);
	p->handles = 1 + !(draw >> 12 & 3);
	p->locks = 1 + !(draw >> 14 & 7);
	if (wish->clients != AS_DRAWN)
		p->clients = wish->clients;
	if (wish->locks != AS_DRAWN)
		p->locks = wish->locks;
}

static void draw_times(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 rho[8] = { 1, 200, 2000, 2000, 10000, 50000, 100000, 100000 };

	p->rho = rho[rng_below(r, 8)];
	if (wish->rho_ppm != AS_DRAWN)
		p->rho = wish->rho_ppm;
	p->skew = wish->skew_ppm != AS_DRAWN ? wish->skew_ppm : p->rho;
	p->lease_max = rng_scale(r, 2 * BFTM_LEASE_MIN_NS, 30 * BFTM_NS_PER_SEC);
	/* Without a lease all waits have a pace of their own: the other times are to be like it. */
	if (p->leaseless && p->lease_max < BFTM_PACE_NS)
		p->lease_max += BFTM_PACE_NS;
	/* Round figures have other rounding errors than crooked ones. */
	if (rng_next(r) & 1)
		p->lease_max -= p->lease_max % BFTM_NS_PER_MS;
	if (wish->lease_ns)
		p->lease_max = wish->lease_ns;
	p->lease_min = rng_next(r) & 1 ? p->lease_max : p->lease_max / 8;
	if (p->lease_min < BFTM_LEASE_MIN_NS)
		p->lease_min = BFTM_LEASE_MIN_NS;
	p->delta = p->lease_max >> rng_between(r, 4, 10);
	if (p->delta < BFTM_DELTA_MIN_NS)
		p->delta = BFTM_DELTA_MIN_NS;
	p->resend = rng_next(r) & 1 ? 4 * p->delta : rng_scale(r, 2 * p->delta, 32 * p->delta);
	p->retry_max = (p->lease_max + 4 * p->delta) * rng_between(r, 1, 16);
	p->polynomial = !(rng_next(r) & 3);
	p->exponent = (u32)rng_between(r, 1, 3);
	p->think_max = rng_scale(r, p->lease_max / 64 + 1, 2 * p->lease_max);
}

static void draw_network(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 aim[4] = { 30000, 300000, 700000, PPM };

	p->delay = (enum delay_kind)rng_below(r, wish->recorded ? DELAY_NARROW : DELAY_RECORDED);
	p->recorded = wish->recorded;
	p->loss = (u32)rng_scale(r, 1000, 300000);
	p->dup = (u32)rng_scale(r, 1000, 500000);
	p->slow = (u32)rng_scale(r, 1000, 500000);
	p->slow_max = rng_scale(r, p->delta, 4 * p->lease_max);
	p->aim = aim[rng_below(r, 4)];
	p->stall = (u32)rng_scale(r, 1000, 100000);
	p->crash_step = PPM / 128;
}

/* How often the rarer things happen, on average, in the whole cluster. */
static void draw_rates(struct plan *p, struct rng *r)
{
	u64 least = p->lease_max / 2, most = 16 * p->lease_max;

	p->cut_every = rng_scale(r, least, most);
	p->crash_every = rng_scale(r, least, most);
	p->kill_every = rng_scale(r, least, most);
	p->pause_every = rng_scale(r, least, most);
	p->restart_every = rng_scale(r, least, most);
	p->slew_every = rng_scale(r, least, most);
}

static void draw_faults(struct plan *p, struct rng *r, const struct wish *wish)
{
	/* Each with one chance in two, or nearly nothing, or nearly all. */
	switch (rng_below(r, 8)) {
	case 0:
		p->faults = (u32)(rng_next(r) & rng_next(r) & rng_next(r));
		break;
	case 1:
		p->faults = (u32)(rng_next(r) | rng_next(r) | rng_next(r));
		break;
	default:
		p->faults = (u32)rng_next(r);
	}
	p->faults &= FAULTS_DRAWN;
	/* Clocks of one rate and honest servers prove little. */
	if (rng_below(r, 4))
		p->faults |= 1u << FAULT_DRIFT | 1u << FAULT_LIARS;
	p->sync = wish->sync;
	if (p->sync)
		p->faults &= SYNC_FAULTS;
	if (!plan_leased(p))
		p->faults &= ~LEASE_FAULTS;
	p->faults |= wish->with;
	p->faults &= ~wish->without;
	if (!plan_has(p, FAULT_LIARS))
		p->liars = 0;
}

static void draw_rest(struct plan *p, struct rng *r, const struct wish *wish)
{
	u32 leases = (u32)rng_between(r, 3, 6);

	p->safety = leases * p->lease_max * wish->length_pct / 100;
	p->lone = rng_next(r) & 1;
	p->honest_end = !(rng_next(r) & 3);
	p->hello = rng_next(r) & 1;
	p->once = rng_next(r) & 3 ? 0 : PPM / 4;
	p->cancel = rng_next(r) & 1 ? PPM / 8 : 0;
	/* Meant for one that is preferred. */
	p->no_backoff = rng_next(r) & 7 ? 0 : PPM / 4;
}

/* Some clusters wait in the queue, some as in Figure 1, some in both ways. */
static void draw_ways(struct plan *p, struct rng *r, const struct wish *wish)
{
	static const u32 backoff[8] = { 0, 0, 0, 0, PPM / 8, PPM / 2, PPM * 7 / 8, PPM };
	u64 draw = rng_next(r);

	p->backoff = p->literal || p->protocol->needs_sync ? PPM : backoff[draw & 7];
	p->renew = draw >> 3 & 1 ? PPM / 2 : 0;
	p->fence = draw >> 4 & 1 ? draw >> 5 & 1 ? PPM : PPM / 4 : 0;
	if (wish->backoff_pct != AS_DRAWN)
		p->backoff = wish->backoff_pct * (PPM / 100);
	if (wish->renew_pct != AS_DRAWN)
		p->renew = wish->renew_pct * (PPM / 100);
	if (wish->fence_pct != AS_DRAWN)
		p->fence = wish->fence_pct * (PPM / 100);
	p->waiters_max = draw >> 6 & 7 ? BFTM_WAITERS_DEFAULT : 1 + (draw >> 9 & 1);
	p->keep_tokens = !(draw >> 10 & 3);
	p->turns = draw >> 13 & 7 ? 1 : 6;
	p->spaced = p->fence && draw >> 12 & 1;
	if (p->protocol->needs_sync || !plan_leased(p))
		p->renew = p->fence = 0;
}

/* Members recover together with the servers, and that takes time: one cluster in eight. */
static void draw_leaseless(struct plan *p, u64 seed, const struct wish *wish)
{
	struct rng r = { .state = seed ^ 0x73746179 };

	p->leaseless = rng_below(&r, 8) ? 0 : (u32)rng_between(&r, PPM / 4, PPM);
	if (wish->leaseless_pct != AS_DRAWN)
		p->leaseless = wish->leaseless_pct * (PPM / 100);
	else if (wish->scale || wish->fair || wish->silent || wish->steps || wish->lease_ns)
		p->leaseless = 0;
	if (p->protocol->orders || p->protocol->needs_sync ||
	    !(p->protocol->core->traits & BFTM_LEASELESS))
		p->leaseless = 0;
	p->roll = p->leaseless && rng_next(&r) & 1;
}

/* Most clusters know exclusive locks alone; of numbers of their own, so that seeds stay. */
static void draw_modes(struct plan *p, u64 seed, const struct wish *wish)
{
	static const u32 modes[8] = { 0, 0, 0, 0, PPM / 4, PPM, PPM, PPM };
	static const u32 values[4] = { 0, 0, PPM / 2, PPM };
	struct rng r = { .state = seed ^ 0x6d6f6465 };

	p->modes = modes[rng_below(&r, 8)];
	if (wish->modes_pct != AS_DRAWN)
		p->modes = wish->modes_pct * (PPM / 100);
	if (p->protocol->needs_sync || !(p->protocol->core->traits & BFTM_SHARES))
		p->modes = 0;
	p->values = values[rng_below(&r, 4)];
	if (wish->values_pct != AS_DRAWN)
		p->values = wish->values_pct * (PPM / 100);
	if (p->protocol->needs_sync || !(p->protocol->core->traits & BFTM_VALUES))
		p->values = 0;
}

/* Of numbers of their own as well. */
static void draw_ask(struct plan *p, u64 seed, const struct wish *wish)
{
	struct rng r = { .state = seed ^ 0x61736b };

	p->ask = wish->ask != AS_DRAWN ? wish->ask : (u32)rng_below(&r, ASKS);
}

/*
 * Of numbers of their own as well. A kernel on core/backoff/host.c knows nothing of members, and the
 * figures are measured with helpers alone.
 */
static void draw_kernel(struct plan *p, u64 seed, const struct wish *wish)
{
	struct rng r = { .state = seed ^ 0x6b65726e };

	p->kernel = rng_next(&r) & 1 && p->protocol->releases && plan_leased(p) && !p->literal &&
		    !p->leaseless && !wish->scale && !wish->fair && !wish->silent && !wish->steps;
}

enum ask plan_ask(const struct plan *p, u32 x)
{
	struct rng r = { .state = p->seed ^ 0x61736b ^ (u64)x << 32 };

	return p->ask == ASK_MIXED ? (enum ask)rng_below(&r, ASK_MIXED) : (enum ask)p->ask;
}

void plan_draw(struct plan *p, u64 seed, const struct wish *wish)
{
	struct rng r = { .state = seed ^ 0x706c616e };

	*p = (struct plan){ .seed = seed, .protocol = wish->protocol, .check = wish->check };
	draw_servers(p, &r, wish);
	draw_clients(p, &r, wish);
	draw_leaseless(p, seed, wish);
	draw_times(p, &r, wish);
	draw_network(p, &r, wish);
	draw_rates(p, &r);
	draw_rest(p, &r, wish);
	draw_ways(p, &r, wish);
	if (!p->protocol->orders)
		draw_modes(p, seed, wish);
	draw_ask(p, seed, wish);
	if (!p->protocol->orders)
		draw_kernel(p, seed, wish);
	if (wish->scale)
		plan_draw_scale(p, wish);
	draw_faults(p, &r, wish);
	if (p->protocol->orders) {
		plan_draw_order(p, &r, wish);
		return;
	}
	if (wish->fair)
		plan_draw_fair(p, wish);
	if (wish->steps) {
		plan_draw_steps(p, wish);
		return;
	}
	if (wish->silent)
		plan_draw_silent(p, &r, wish);
	plan_draw_race(p, &r, wish);
	plan_draw_fence(p, &r, wish);
	draw_sigma(p, seed, wish);
	if (p->sync) {
		/* Section 3: "any message … arrives by time T' + δ". */
		p->delay = DELAY_UNIFORM;
		p->no_backoff = 0;
		p->rho = 1;
		p->lease_min = p->lease_max;
	}
}

const char *plan_check(const struct wish *wish)
{
	if (wish->servers != AS_DRAWN && (!wish->servers || wish->servers > BFTM_SERVERS_MAX))
		return "--servers: 1 to 31";
	if (wish->b != AS_DRAWN && wish->b > 6 && wish->servers == AS_DRAWN)
		return "--b: 0 to 6, or with --servers";
	if ((wish->m != AS_DRAWN || wish->forget != AS_DRAWN) &&
	    (!wish->protocol->spares || wish->servers == AS_DRAWN || wish->b == AS_DRAWN))
		return "--m, --forget: with --protocol sigma, --servers and --b";
	if (wish->m != AS_DRAWN && (wish->m > wish->servers ||
				    2 * wish->m < wish->servers + wish->b + 1))
		return "--m: from (n + b + 1) / 2 to n";
	if (wish->skew_ppm != AS_DRAWN && wish->skew_ppm >= PPM)
		return "--skew: 0 to 999999";
	if (wish->clients != AS_DRAWN && (!wish->clients || wish->clients > 1000000))
		return "--clients: 1 to 1000000";
	if (wish->locks != AS_DRAWN && (!wish->locks || wish->locks > 1000000))
		return "--locks: 1 to 1000000";
	if (wish->rho_ppm != AS_DRAWN &&
	    (wish->rho_ppm < BFTM_RHO_MIN_PPM || wish->rho_ppm > BFTM_RHO_MAX_PPM))
		return "--rho: 1 to 100000";
	if ((wish->backoff_pct != AS_DRAWN && wish->backoff_pct > 100) ||
	    (wish->renew_pct != AS_DRAWN && wish->renew_pct > 100) ||
	    (wish->fence_pct != AS_DRAWN && wish->fence_pct > 100) ||
	    (wish->modes_pct != AS_DRAWN && wish->modes_pct > 100) ||
	    (wish->values_pct != AS_DRAWN && wish->values_pct > 100) ||
	    (wish->leaseless_pct != AS_DRAWN && wish->leaseless_pct > 100))
		return "--backoff, --renew, --fence, --modes, --values, --leaseless: 0 to 100";
	if (wish->lease_ns && (wish->lease_ns < 2 * BFTM_LEASE_MIN_NS ||
			       wish->lease_ns > 60 * BFTM_NS_PER_SEC))
		return "--lease: 2ms to 60s";
	return NULL;
}
