// SPDX-License-Identifier: GPL-2.0
/*
 * The worst case when servers lose their memory: a client has the promise of one
 * server, which forgets it and is told of newer states; another quorum, with that
 * server in it, goes on; then the client hears the rest of its quorum.
 */
#include "order.h"
#include "story.h"

static bool has_highest_rank(const struct world *w, u32 x)
{
	u32 i;

	for (i = 0; i < w->plan->clients; i++)
		if (i != x && w->order->client[i].core.rank.count >=
			      w->order->client[x].core.rank.count)
			return false;
	return true;
}

/* Nothing from this client, or from all others, gets to a server. */
static void cut(struct world *w, u32 x, bool others, u32 u, u64 until)
{
	u32 i;

	for (i = 0; i < w->plan->clients; i++)
		if ((i == x) != others)
			network_cut(w, TO_SERVER, i, u, until, false);
}

void order_fault_promise(struct world *w, u32 x)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u32 s, u;

	if (!world_fault(w, FAULT_RESTART) || !rng_chance(r, w->plan->order.forgets) ||
	    !has_highest_rank(w, x))
		return;
	s = w->plan->liars + (u32)rng_below(r, w->plan->n - w->plan->liars);
	if (!order_may_crash(w, s))
		return;
	for (u = 0; u < w->plan->n; u++)
		if (u != s)
			cut(w, x, false, u, w->now + 3 * w->plan->lease_max);
	w->order->promised = x + 1;
	w->order->forgetful = s;
}

bool order_fault_forgets(struct world *w, u32 u, u32 x, u8 type)
{
	if (w->order->promised != x + 1 || w->order->forgetful != u ||
	    (type != BFTM_ORDER_GOT && type != BFTM_ORDER_COMMITTED_GOT) || !world_fault(w, FAULT_RESTART))
		return false;
	server_crash(w, u, 0);
	return true;
}

void order_fault_recovered(struct world *w, u32 u)
{
	struct rng *r = &w->rng[RNG_FAULT];
	u32 n = w->plan->n, missed = n - bftm_order_quorum(n, w->plan->b), first, i, s;
	u64 until = w->now + rng_between(r, 1, w->plan->lease_max / 4);

	if (!w->order->promised || w->order->forgetful != u || w->healed)
		return;
	first = (u32)rng_below(r, n);
	for (i = 0; i < n; i++) {
		s = (first + i) % n;
		if (s == u)
			continue;
		cut(w, w->order->promised - 1, false, s, until);
		if (s >= w->plan->liars && missed) {
			cut(w, w->order->promised - 1, true, s, until + w->plan->lease_max / 4);
			missed--;
		}
	}
	w->order->promised = 0;
}

static u32 some(struct rng *r, u32 n, u32 count)
{
	u32 set = 0, u;

	while (bftm_count(set) < count) {
		u = (u32)rng_below(r, n);
		set |= 1u << u;
	}
	return set;
}

/* A quorum with all of those, or as few of them as may be, or drawn. */
static u32 quorum_about(struct rng *r, u32 n, u32 q, u32 those)
{
	u64 draw = rng_next(r);
	u32 set = draw & 1 && bftm_count(those) < q ? those : 0;
	u32 others = draw & 3 ? bftm_all(n) : bftm_all(n) & ~those, u;

	if (bftm_count(others) < q)
		others = bftm_all(n);
	while (bftm_count(set) < q) {
		u = (u32)rng_below(r, n);
		set |= 1u << u & others;
	}
	return set;
}

static void dies(struct world *w, u32 x)
{
	queue_push(&w->queue, w->now, EVENT_FAULT, x)->part = FAULTS;
}

static bool commits(u8 type)
{
	return type == BFTM_ORDER_COMMIT || type == BFTM_ORDER_COMMIT_GET;
}

/*
 * One iteration of two gets to a quorum and there to its end, or commits to those
 * alone that missed what it proposed; the other proposes to one server alone, and to
 * liars, and its client dies. Later quorums have those servers or not.
 */
static u32 reached_or_lonely(struct world *w, u32 x, u8 type)
{
	struct order_client *o = &w->order->client[x];
	struct rng *r = &w->rng[RNG_FAULT];
	u32 n = w->plan->n;

	if (type == BFTM_ORDER_GET) {
		o->dooms = (u8)rng_next(r) & 7;
		o->reached = quorum_about(r, n, bftm_order_quorum(n, w->plan->b),
					  w->order->lonely);
	} else if (type == BFTM_ORDER_PROPOSE && o->dooms & 1 && world_fault(w, FAULT_CRASH)) {
		o->reached = 1u << rng_between(r, w->plan->liars, n - 1);
		w->order->lonely |= o->reached;
		o->reached |= bftm_all(w->plan->liars);
		dies(w, x);
	} else if (commits(type) && o->dooms == 2 && world_fault(w, FAULT_CRASH) &&
		   w->order->lonely) {
		o->reached = w->order->lonely;
		dies(w, x);
	} else if (commits(type)) {
		w->order->lonely &= ~o->reached;
		if (type == BFTM_ORDER_COMMIT_GET)
			o->dooms = (u8)rng_next(r) & 7;
	}
	return o->reached;
}

u32 order_fault_reached(struct world *w, u32 x, u8 type)
{
	struct order_client *o = &w->order->client[x];
	struct rng *r = &w->rng[RNG_FAULT];
	u32 n = w->plan->n, q = bftm_order_quorum(n, w->plan->b);
	u64 draw;

	if (o->core.sends > 1 || type == BFTM_ORDER_INSTALL)
		return type == BFTM_ORDER_INSTALL ? bftm_all(n) : o->reached;
	if (w->plan->order.lonely)
		return reached_or_lonely(w, x, type);
	draw = rng_next(r);
	o->reached = bftm_all(n);
	/* A quorum of its own each time, or too few. */
	if (type == BFTM_ORDER_GET || draw & 1)
		o->reached = some(r, n, q);
	else if (draw & 2)
		o->reached = some(r, n, 1 + (u32)rng_below(r, q - 1));
	return o->reached;
}

void order_fault_keep(struct world *w, u32 u, struct packet *p)
{
	struct order_server *o = &w->order->server[u];
	struct packet **place = &o->old[o->olds % ORDER_OLD];

	if (!w->plan->order.forgets || !world_fault(w, FAULT_DUP) ||
	    (p->msg.type != BFTM_ORDER_PROPOSE && !commits(p->msg.type) &&
	     p->msg.type != BFTM_ORDER_INSTALL))
		return;
	if (*place)
		packet_drop(w, *place);
	p->refs++;
	*place = p;
	o->olds++;
}

void order_fault_old(struct world *w, u32 u)
{
	struct order_server *o = &w->order->server[u];
	struct server *s = &w->server[u];
	u64 at;
	u32 i;

	for (i = 0; i < ORDER_OLD && world_fault(w, FAULT_DUP); i++) {
		struct packet *p = o->old[i];
		struct event *e;

		if (!p)
			continue;
		at = clock_when(&s->clock, s->cfg.quarantine_until_ns + 1, w->now) +
		     rng_below(&w->rng[RNG_FAULT], w->plan->delta);
		if (at > w->heal_at)
			continue;
		p->refs++;
		e = queue_push(&w->queue, at, EVENT_ORDER_TO_SERVER, u);
		e->from = (u16)u;
		e->packet = p;
		w->stats.doubled++;
	}
}
