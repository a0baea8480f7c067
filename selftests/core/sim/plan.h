/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of a simulation: every parameter of a scenario, drawn from its seed. Not
 * only events are random but what can happen at all ("swarm testing", Groce et
 * al. 2012): a scenario in which half of the faults are off goes where one with
 * a bit of everything never comes.
 */
#ifndef BFTM_SIM_PLAN_H
#define BFTM_SIM_PLAN_H

#include "rng.h"

/** enum fault - what can go wrong; names in fault_names[] */
enum fault {
	FAULT_LOSS,		/* datagrams are lost */
	FAULT_DUP,		/* … arrive twice */
	FAULT_SLOW,		/* … take up to several leases */
	FAULT_AIM,		/* … arrive when they hurt most */
	FAULT_CUT,		/* one-way partitions: all is lost */
	FAULT_CLOG,		/* … or held back until they end */
	FAULT_CRASH,		/* hosts of clients go down with their applications */
	FAULT_KILL,		/* helpers are killed; who holds goes on holding */
	FAULT_PAUSE,		/* hosts of clients stop for 1 … 10 leases */
	FAULT_STALL,		/* a process is not scheduled between two steps */
	FAULT_RESTART,		/* servers lose their memory */
	FAULT_RECONF,		/* … and come back with another Δmax */
	FAULT_RECLAIM,		/* servers forget idle locks */
	FAULT_DRIFT,		/* rates of clocks, mostly at the ends of what ρ allows */
	FAULT_SLEW,		/* … which change */
	FAULT_GRAIN,		/* clocks as coarse as a tick */
	FAULT_LIARS,		/* servers lie */
	FAULT_LIAR_CLOCK,	/* clocks of liars ×0.5 … ×2, and steps */
	FAULT_LIAR_AMNESIA,	/* liars restart without quarantine */
	FAULT_INTRUDER,		/* servers that forgot tokens are told false ones */
	FAULT_EVICT,		/* clients that went down are evicted, by some servers */
	/* Never drawn, since they make two holders: */
	FAULT_EVICT_EARLY,	/* clients are evicted that run */
	FAULT_FORGET,		/* servers that restart serve at once */
	FAULT_OVERSTAY,		/* clients use a lock for Δmax beyond its end */
	FAULTS
};

extern const char *const fault_names[FAULTS];

/* Those that a seed may draw. */
#define FAULTS_DRAWN ((1u << FAULT_EVICT_EARLY) - 1)

/** enum delay_kind - distribution of a datagram's delay */
enum delay_kind {
	DELAY_NONE,		/* a perfect network: only leases matter */
	DELAY_CONSTANT,
	DELAY_UNIFORM,
	DELAY_HEAVY,		/* Pareto, cut off at some leases */
	DELAY_RECORDED,		/* of a file */
	DELAY_NARROW,		/* half of δ, give or take a fifth; never drawn */
	DELAYS
};

/** enum ask - whom clients ask first */
enum ask {
	ASK_ALL,		/* all servers, always */
	ASK_FIRST,		/* F of them */
	ASK_AUTO,		/* F or more */
	ASK_MIXED,		/* each client as it likes */
	ASKS
};

extern const char *const ask_names[ASKS];

#define RECORDED_MAX 4096

/** struct recorded - delays of a file, as multiples of their median in ppm */
struct recorded {
	u32 count;
	u32 ppm[RECORDED_MAX];
};

/**
 * struct order_plan - what is drawn for the ordering protocol only
 * @signed_ranks: b liars of 4b + 1 are masked
 * @head_start: of ranks: they need not begin at 1
 * @past:       0 or the rank that one had who is gone
 * @saw:        which servers have seen it, a bit mask
 * @ops:        that each application submits
 * @type:       of the object, an index
 * @huge:       some bodies are longer than a datagram
 * @caches:     clients keep the state that they saw last
 * @alone:      clients think that they are: they keep an operation to themselves at first, and read
 *              its response in the state that they have committed
 * @careless:   chance in ppm that an iteration does not take the modelled mutex
 * @continues:  chance in ppm that a client thinks that it will want more when it commits
 * @crash_send: chance that a client's host goes down while it tells servers
 * @limit:      Lmax
 * @state_max:  bytes of a state
 * @pause:      doublings of the pause between iterations, before the world heals
 * @tangle:     half of what is sent comes when it is not expected any more
 * @subsets:    each phase of an iteration gets to some of the servers
 * @lonely:     … and what is proposed often to one alone
 * @forgets:    chance that a server forgets the first promise of an iteration
 * @down_max, @cut_max, @aim_max: longest time that a client is down, that links
 *              are cut, that a datagram is aimed
 * @carried:    what is said is written into a datagram, and read again
 * @response_room: of a SUBMIT, see struct bftm_order_msg
 */
struct order_plan {
	bool signed_ranks, huge, caches, alone, tangle, subsets, lonely, carried;
	u32 head_start, past, saw, ops, type, careless, continues;
	u32 crash_send, forgets, state_max, pause;
	unsigned short response_room;
	u64 limit, down_max, cut_max, aim_max;
};

struct protocol;

#define AS_DRAWN ~0u

/**
 * struct wish - what the command line decides instead of the seed
 * @without: faults that are off, a bit mask
 * @with:    … that are on, whatever was drawn
 * @servers, @b, @liars, @clients, @locks, @rho_ppm: AS_DRAWN or a number
 * @skew_ppm:  AS_DRAWN for ρ, or how far off the rates of clocks are
 * @backoff_pct, @renew_pct, @fence_pct, @modes_pct, @values_pct, @leaseless_pct: AS_DRAWN or of
 *             so many in a hundred locks
 * @ask:       AS_DRAWN or enum ask
 * @lease_ns:  0 or Δmax
 * @length_pct: of the drawn length of the phase with faults
 * @scale:     one big cluster
 * @fair:      no faults, and all contend for one lock all the time
 * @silent:    nothing but one server that falls silent, while all contend and renew
 * @steps:     nothing but one client that nobody is in the way of; with @silent, b servers are
 *             silent
 * @sync:      as the paper assumes: delays within δ, perfect clocks
 * @m, @forget: AS_DRAWN or, with protocol_sigma, numbers of struct plan
 * @literal:   the first q answers decide
 * @check:     the only checker that counts, or NULL
 */
struct wish {
	const struct protocol *protocol;
	const struct recorded *recorded;
	u32 without;
	u32 with;
	u32 servers;
	u32 b;
	u32 liars;
	u32 clients;
	u32 locks;
	u32 rho_ppm;
	u32 skew_ppm;
	u32 backoff_pct;
	u32 renew_pct;
	u32 fence_pct;
	u32 modes_pct;
	u32 values_pct;
	u32 leaseless_pct;
	u32 m, forget;
	u32 ask;
	u64 lease_ns;
	u32 length_pct;
	bool scale;
	bool fair;
	bool silent;
	bool steps;
	bool sync;
	bool literal;
	const char *check;
};

/**
 * struct plan - a scenario before anything has happened
 * @faults:      that are on, a bit mask
 * @n, @b:       servers, and how many liars the clients reckon with
 * @liars:       the first of the servers
 * @m:           grants that win a lock; 0: F
 * @mixed:       … for all clients but the first, which needs no more than @spared demands
 * @spared:      servers that may restart without a quarantine, as they say; 0 if all keep it
 * @forget:      … and as they do, within one quarantine
 * @clients:     hosts
 * @handles:     of each host, one lock at a time each
 * @rho, @skew:  ρ, and how far rates of clocks are really off
 * @lease_max:   Δmax
 * @delta:       δ
 * @resend:      of the clients
 * @retry_max:   cap of a sleep
 * @delay:       how long datagrams take, around @delta
 * @loss … @stall: chances in ppm, of a datagram or a step
 * @crash_step:  that a server crashes after it has granted, likewise
 * @crash_every … @slew_every: mean time to the next, of the whole cluster
 * @safety:      length of the phase with faults
 * @lone:        after it one client contends; otherwise some do
 * @turns:       … each so often, 0 is once
 * @honest_end:  … and liars do not lie any more
 * @once, @no_backoff, @backoff, @cancel: chances of these ways to wait, else it
 *               is the queue; and of waiting no more
 * @renew, @fence: chances of a lock with these
 * @modes:       … that it is wanted in any mode, else in EX; and that its mode is changed
 * @values:      … that it is wanted with its value
 * @leaseless:   … that it is wanted without a lease
 * @roll:        servers have rolls of the members that may hold something
 * @ask:         enum ask
 * @kernel:      kernels take free locks by themselves
 * @waiters_max: of a lock at a server
 * @keep_tokens: servers keep over a restart which tokens they stamped
 * @fair:        nothing goes wrong, see struct wish
 * @silent_at:   when one server falls silent, 0 for never; likewise
 * @steps:       one client alone, likewise
 * @spaced:      not two servers at a time do not know that
 * @tangle:      and each token gets to some of the servers only
 * @hold_all:    chance of keeping a lock to the end of its lease
 * @hello:       helpers ask servers for their epoch when they start
 * @order:       of the ordering protocol
 */
struct plan {
	u64 seed;
	const struct protocol *protocol;
	const struct recorded *recorded;
	const char *check;
	u32 faults;
	u32 n, b, liars, m, spared, forget;
	u32 clients, handles, locks;
	u32 rho, skew;
	u64 lease_max, lease_min;
	u64 delta, resend, retry_max;
	bool literal, polynomial;
	u32 exponent;
	enum delay_kind delay;
	u32 loss, dup, slow, aim, stall, crash_step;
	u64 slow_max;
	u64 cut_every, crash_every, kill_every, pause_every, restart_every, slew_every;
	u64 think_max;
	u32 once, no_backoff, backoff, cancel, hold_all;
	u32 renew, fence, modes, values, leaseless, ask, waiters_max, turns;
	u64 safety, silent_at;
	bool lone, honest_end, hello, sync, roll, mixed, kernel;
	bool keep_tokens, spaced, tangle, fair, steps;
	struct order_plan order;
};

/** plan_draw() - the scenario of @seed, but for what @wish decides. */
void plan_draw(struct plan *p, u64 seed, const struct wish *wish);

/** plan_ask() - of client number @x */
enum ask plan_ask(const struct plan *p, u32 x);

/* plan_special.c: change what was drawn. */
void plan_draw_scale(struct plan *p, const struct wish *wish);
void plan_draw_fair(struct plan *p, const struct wish *wish);
void plan_draw_steps(struct plan *p, const struct wish *wish);
void plan_draw_silent(struct plan *p, struct rng *r, const struct wish *wish);
void plan_draw_fence(struct plan *p, struct rng *r, const struct wish *wish);
void plan_draw_race(struct plan *p, struct rng *r, const struct wish *wish);

/* plan_order.c: likewise, for the ordering protocol. */
void plan_draw_order(struct plan *p, struct rng *r, const struct wish *wish);

/** plan_check() - NULL or why nobody can simulate that. */
const char *plan_check(const struct wish *wish);

static inline bool plan_has(const struct plan *p, enum fault fault)
{
	return p->faults >> fault & 1;
}

#endif /* BFTM_SIM_PLAN_H */
