// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of hosts and links, each kind in its own time, until the world
 * heals.
 */
#include "record.h"
#include "story.h"

/* These come by themselves; others are chances of a datagram or a step. */
static const struct {
	enum fault fault;
	size_t every;		/* its mean time in struct plan */
} timed[] = {
	{ FAULT_CUT, offsetof(struct plan, cut_every) },
	{ FAULT_CLOG, offsetof(struct plan, cut_every) },
	{ FAULT_CRASH, offsetof(struct plan, crash_every) },
	{ FAULT_KILL, offsetof(struct plan, kill_every) },
	{ FAULT_PAUSE, offsetof(struct plan, pause_every) },
	{ FAULT_RESTART, offsetof(struct plan, restart_every) },
	{ FAULT_SLEW, offsetof(struct plan, slew_every) },
	{ FAULT_EVICT_EARLY, offsetof(struct plan, crash_every) },
	{ FAULT_LIAR_CLOCK, offsetof(struct plan, slew_every) },
	{ FAULT_LIAR_AMNESIA, offsetof(struct plan, restart_every) },
};

static void plan_next(struct world *w, u32 i)
{
	u64 every = *(const u64 *)((const char *)w->plan + timed[i].every);
	u64 at = w->now + rng_below(&w->rng[RNG_FAULT], 2 * every + 1);

	if (at < w->heal_at)
		queue_push(&w->queue, at, EVENT_FAULT, 0)->part = i;
}

void fault_start(struct world *w)
{
	u32 i;

	for (i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		/* cppcheck-suppress arrayIndexThenCheck; 8 is not its length */
		if (plan_has(w->plan, timed[i].fault) &&
		    (i < 8 || w->plan->liars))
			plan_next(w, i);
	for (i = 0; w->plan->steps && w->plan->silent_at && i < w->plan->b; i++)
		queue_push(&w->queue, w->plan->silent_at, EVENT_SILENCE, i);
	if (w->plan->silent_at && !w->plan->steps)
		queue_push(&w->queue, w->plan->silent_at, EVENT_SILENCE,
			   (u32)rng_below(&w->rng[RNG_FAULT], w->plan->n));
}

static u32 draw_rate(struct world *w, bool liar, bool of_client)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u32 skew = w->plan->skew;

	if (liar && world_fault(w, FAULT_LIAR_CLOCK))
		return (u32)rng_between(r, PPM / 2, 2 * PPM);
	if (!plan_has(w->plan, FAULT_DRIFT))
		return PPM;
	/* Mostly the worst that is allowed: clients believe longer than servers. */
	switch (rng_next(r) & 7) {
	case 0:
	case 1:
		return (u32)rng_between(r, PPM - skew, PPM + skew);
	case 2:
		return of_client ? PPM + skew : PPM - skew;
	default:
		return of_client ? PPM - skew : PPM + skew;
	}
}

struct clock fault_clock(struct world *w, bool liar, bool of_client)
{
	static const u32 grain[4] = { 1, BFTM_TICK_NS, 279, BFTM_TICK_NS };
	struct rng *r = &w->rng[RNG_FAULT];
	struct clock c = { .since = w->now };

	c.base = rng_between(r, BFTM_NS_PER_SEC, 1000 * BFTM_NS_PER_SEC);
	c.rate = draw_rate(w, liar, of_client);
	c.grain = plan_has(w->plan, FAULT_GRAIN) ? grain[rng_next(r) & 3] : 1;
	return c;
}

/* Anything between one link and all links of some hosts. */
static void block_links(struct world *w, bool hold)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u64 until = w->now + rng_scale(r, 1, w->plan->order.cut_max ?: 3 * w->plan->lease_max);
	u64 servers = rng_next(r), clients = rng_next(r);
	u32 ways = 1 + (u32)rng_below(r, 3), x, u;

	if (until > w->heal_at)
		until = w->heal_at;
	for (x = 0; x < w->plan->clients; x++) {
		if (!(clients >> x % 64 & 1))
			continue;
		for (u = 0; u < w->plan->n; u++) {
			if (!(servers >> u & 1))
				continue;
			if (ways & 1)
				network_cut(w, TO_SERVER, x, u, until, hold);
			if (ways & 2)
				network_cut(w, TO_CLIENT, x, u, until, hold);
		}
	}
	tell(w, NO_LOCK, "what goes %s some servers is %s for %s",
	     ways == 1 ? "to" : ways == 2 ? "from" : "to and from",
	     hold ? "held back" : "lost", story_span(until - w->now));
}

static void pause_host(struct world *w)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u32 x = (u32)rng_below(r, w->plan->clients);
	u64 span = rng_next(r) & 1 ? rng_scale(r, 1, w->plan->lease_max) :
				     w->plan->lease_max * rng_between(r, 1, 10);
	struct client *c = &w->client[x];

	/* All processes of the host stop; the world goes on. */
	if (c->busy_until < w->now + span)
		c->busy_until = w->now + span;
	if (c->busy_until > w->heal_at)
		c->busy_until = w->heal_at;
	tell(w, NO_LOCK, "c%u stops for %s", x + 1, story_span(span));
}

static u64 down_time(struct world *w, bool host)
{
	struct rng *r = &w->rng[RNG_FAULT];

	if (w->order && host)
		return rng_next(r) & 1 ? 0 : rng_scale(r, 1, w->plan->order.down_max);
	/* A helper is started again at once; what it held may be saved. */
	if (!host && rng_next(r) & 3)
		return rng_scale(r, 1, w->plan->lease_max / 4);
	return rng_next(r) & 3 ? rng_scale(r, 1, 4 * w->plan->lease_max) : 0;
}

static void change_clock(struct world *w, bool liar)
{
	struct rng *r = &w->rng[RNG_FAULT];
	struct clock *c;
	u32 i = w->plan->clients;

	if (liar) {
		c = &w->server[rng_below(r, w->plan->liars)].clock;
		c->base += rng_scale(r, 1, 4 * w->plan->lease_max);
	} else {
		i = (u32)rng_below(r, w->plan->clients + w->plan->n - w->plan->liars);
		c = i < w->plan->clients ? &w->client[i].clock :
		    &w->server[w->plan->liars + i - w->plan->clients].clock;
	}
	if (i < w->plan->clients)
		record_look(w, i);
	clock_set_rate(c, w->now, draw_rate(w, liar, i < w->plan->clients));
}

static u32 some_server(struct world *w, bool liar)
{
	struct rng *r = &w->rng[RNG_FAULT];

	return liar ? (u32)rng_below(r, w->plan->liars) : (u32)rng_below(r, w->plan->n);
}

void fault_kill(struct world *w, u32 x)
{
	struct rng *r = &w->rng[RNG_FAULT];
	struct event *e;

	if (!world_fault(w, FAULT_KILL) || !rng_chance(r, 4 * w->plan->crash_step))
		return;
	e = queue_push(&w->queue, w->now + rng_scale(r, 1, w->plan->lease_max / 2), EVENT_FAULT, x);
	e->part = FAULTS + 1;
}

/*
 * Of those who have stamped a token one forgets it, and others are heard by one
 * client each, perhaps by nobody, until that one has been told what others know.
 */
static void forget_token(struct world *w, u32 lock, u64 token)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u64 until = w->now + 3 * w->plan->lease_max;
	struct bftm_lock_view view;
	u32 u, x, heard, gone = w->plan->n;

	for (u = w->plan->liars; u < w->plan->n; u++) {
		server_view(w, u, lock, &view);
		if (view.token_max != token)
			continue;
		if (gone == w->plan->n && !rng_below(r, 3)) {
			gone = u;
			continue;
		}
		heard = (u32)rng_below(r, w->plan->clients + 1);
		for (x = 0; x < w->plan->clients; x++) {
			if (x == heard)
				continue;
			network_cut(w, TO_SERVER, x, u, until, false);
			network_cut(w, TO_CLIENT, x, u, until, false);
		}
	}
	if (gone < w->plan->n)
		server_crash(w, gone, 0);
}

void fault_fenced(struct world *w, u32 lock, u64 token)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u64 until = w->now + 4 * w->plan->lease_max;
	u32 u, x, heard;

	if (!world_fault(w, FAULT_RESTART) || !w->plan->spaced || rng_next(r) & 1)
		return;
	if (w->plan->tangle) {
		forget_token(w, lock, token);
		return;
	}
	/* One who has stamped it forgets, another is not heard but by one client. */
	u = (u32)rng_below(r, w->plan->n);
	heard = (u32)rng_below(r, w->plan->clients);
	for (x = 0; x < w->plan->clients && world_fault(w, FAULT_CUT); x++) {
		if (x == heard)
			continue;
		network_cut(w, TO_SERVER, x, u, until, false);
		network_cut(w, TO_CLIENT, x, u, until, false);
	}
	server_crash(w, (u + 1 + (u32)rng_below(r, w->plan->n)) % w->plan->n, 0);
}

/* Each server has an administrator of its own, who comes sooner or later, or not at all. */
void fault_cut_off(struct world *w, u32 x)
{
	struct rng *r = &w->rng[RNG_FAULT];
	struct event *e;
	u32 u;

	if (!w->plan->leaseless || !world_fault(w, FAULT_EVICT) || rng_next(r) & 1)
		return;
	for (u = 0; u < w->plan->n; u++) {
		if (!(rng_next(r) & 3))
			continue;
		e = queue_push(&w->queue, w->now + rng_below(r, 2 * w->plan->lease_max), EVENT_EVICT, u);
		e->part = x;
		e->arg = (u32)w->client[x].incarnation;
	}
}

/* An administrator who does not look whether a host is cut off, at all servers. */
static void evict_early(struct world *w)
{
	u32 x = (u32)rng_below(&w->rng[RNG_FAULT], w->plan->clients), u;

	for (u = 0; u < w->plan->n; u++)
		server_evict(w, u, x, (u32)w->client[x].incarnation);
}

void fault_next(struct world *w, u32 i)
{
	struct rng *r = &w->rng[RNG_FAULT];
	enum fault fault = timed[i].fault;

	if (w->healed)
		return;
	w->stats.fault[fault] += fault != FAULT_CRASH && fault != FAULT_KILL &&
				 fault != FAULT_RESTART;
	switch (fault) {
	case FAULT_CUT:
	case FAULT_CLOG:
		block_links(w, fault == FAULT_CLOG);
		break;
	case FAULT_CRASH:
	case FAULT_KILL:
		client_down(w, (u32)rng_below(r, w->plan->clients), fault == FAULT_CRASH,
			    down_time(w, fault == FAULT_CRASH));
		break;
	case FAULT_PAUSE:
		pause_host(w);
		break;
	case FAULT_EVICT_EARLY:
		evict_early(w);
		break;
	case FAULT_RESTART:
	case FAULT_LIAR_AMNESIA:
		server_crash(w, some_server(w, fault == FAULT_LIAR_AMNESIA),
			     down_time(w, true));
		break;
	default:
		change_clock(w, fault == FAULT_LIAR_CLOCK);
	}
	plan_next(w, i);
}

/* Everything runs again. */
void fault_heal(struct world *w)
{
	u32 i;

	network_heal(w);
	for (i = 0; i < w->plan->n; i++)
		if (!w->server[i].up)
			server_up(w, i);
	for (i = 0; i < w->plan->clients; i++) {
		if (!w->client[i].up)
			client_up(w, i);
		w->client[i].busy_until = 0;
	}
}
