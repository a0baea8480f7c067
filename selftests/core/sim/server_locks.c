// SPDX-License-Identifier: GPL-2.0
/*
 * The lock table of a server, as kmod/locks/locks.c has it: made when asked for,
 * reclaimed when idle, with a timer for whoever waits.
 */
#include "story.h"

/* As in kmod/locks/locks.c: how long the tombs of an idle lock are kept. */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)

/* No higher token was stamped for a lock that is not in the table. */
static u64 highest_token(const struct server *s)
{
	if (!server_knows(s))
		return BFTM_TOKEN_UNKNOWN;
	return s->tokens.floor > s->hi ? s->tokens.floor : s->hi;
}

/* Will a server that does not know be told? The judge's own arithmetic. */
static bool may_learn(const struct world *w)
{
	return w->plan->n > 1 && w->plan->n >= 5 * w->plan->b + 1;
}

u64 server_token_gap(const struct world *w, u32 l)
{
	u64 least = NEVER, most = 0, hi;
	struct bftm_lock_view view;
	u32 u;

	for (u = w->plan->liars; u < w->plan->n; u++) {
		const struct server *s = &w->server[u];

		hi = highest_token(s);
		if (hi == BFTM_TOKEN_UNKNOWN && may_learn(w))
			return NEVER;
		if (hi == BFTM_TOKEN_UNKNOWN)
			continue;	/* it is so for ever, and others may be too few */
		server_view(w, u, l, &view);
		if (s->touched_ns[l] && view.token_max != BFTM_TOKEN_UNKNOWN)
			hi = view.token_max;
		least = hi < least ? hi : least;
		most = hi > most ? hi : most;
	}
	return least < most ? most - least : 0;
}

void server_forget_locks(struct world *w, u32 u)
{
	struct server *s = &w->server[u];
	u32 l;

	for (l = 0; l < w->plan->locks; l++) {
		s->touched_ns[l] = 0;
		s->expire_at[l] = NEVER;
	}
	memset(s->locks, 0, w->plan->locks * w->protocol->core->server->lock_size);
}

static void reclaim(struct server *s, u32 l, const struct bftm_lock_view *view)
{
	if (view->grant > s->first_gno)
		s->first_gno = view->grant;
	if (view->token_max != BFTM_TOKEN_UNKNOWN && view->token_max > s->hi)
		s->hi = view->token_max;
	s->touched_ns[l] = 0;
}

/* A value goes only where its room is needed: by FAULT_RECLAIM. */
static bool keeps(const struct world *w, u32 u, u32 l)
{
	const struct bftm_server_ops *ops = w->protocol->core->server;

	return ops->keeps && ops->keeps(server_state(w, u, l));
}

static bool may_be_reclaimed(struct world *w, u32 u, u32 l, const struct bftm_lock_view *view,
			     u64 now)
{
	const struct server *s = &w->server[u];

	if (view->attempt || view->waiters ||
	    !w->protocol->core->server->idle(server_state(w, u, l), now))
		return false;
	if (s->touched_ns[l] + IDLE_NS <= now && !keeps(w, u, l))
		return true;
	if (!world_fault(w, FAULT_RECLAIM) || !rng_chance(&w->rng[RNG_SERVER], PPM / 8))
		return false;
	w->stats.fault[FAULT_RECLAIM]++;
	return true;
}

void server_arm(struct world *w, u32 u, u32 l)
{
	struct server *s = &w->server[u];
	struct bftm_lock_view view;
	struct event *e;
	u64 at;

	server_view(w, u, l, &view);
	at = w->protocol->core->server->deadline(server_state(w, u, l));
	/* Expiry is of interest to those that wait; what is due at once is due. */
	if (!at || (!view.waiters && at > clock_at(&s->clock, w->now)))
		return;
	at = clock_when(&s->clock, at, w->now);
	/* The timer is not always on time. */
	if (!w->healed && !w->script && !(rng_next(&w->rng[RNG_SERVER]) & 7))
		at += rng_scale(&w->rng[RNG_SERVER], 1, w->plan->lease_max / 4);
	if (s->expire_at[l] <= at)
		return;
	s->expire_at[l] = at;
	e = queue_push(&w->queue, at, EVENT_EXPIRE, u);
	e->part = l;
	e->stamp = s->stamp;
}

struct bftm_server_cfg server_limits(const struct server *s)
{
	struct bftm_server_cfg cfg = s->cfg;

	cfg.recovering = s->members.awaited;
	return cfg;
}

void server_drop(struct world *w, u32 u, u32 x, u32 incarnation, bool leased)
{
	u32 l;

	for (l = 0; l < w->plan->locks; l++) {
		if (!w->server[u].touched_ns[l] ||
		    !w->protocol->core->server->drop(server_state(w, u, l), x, incarnation, leased))
			continue;
		tell(w, l, "s%u: what c%u had of %s is over", u + 1, x + 1, story_lock(l));
		server_arm(w, u, l);
	}
}

static void expire(struct world *w, u32 u, u32 l, u64 now)
{
	const struct bftm_server_cfg cfg = server_limits(&w->server[u]);
	struct bftm_msg push;

	if (w->protocol->core->server->expire(&cfg, server_state(w, u, l), now,
					      &push))
		tell_more(w, l, "s%u: a grant of %s is over", u + 1, story_lock(l));
	server_push(w, u, l, &push);
}

void server_expire(struct world *w, u32 u, u32 l)
{
	struct server *s = &w->server[u];

	struct bftm_lock_view view;

	s->expire_at[l] = NEVER;
	if (!s->up || !s->touched_ns[l])
		return;
	expire(w, u, l, clock_at(&s->clock, w->now));
	server_view(w, u, l, &view);
	if (!view.places && w->protocol->core->server->wants_room)
		w->protocol->core->server->move_room(server_state(w, u, l), NULL, 0);
	server_arm(w, u, l);
}

void server_enlarge(struct world *w, u32 u, u32 l, u32 waiters)
{
	const struct bftm_server_ops *ops = w->protocol->core->server;
	struct room *room = &w->server[u].room[l];

	if (room->waiters < waiters || ops->room(server_state(w, u, l))) {
		room->block = arena_take(&w->arena, ops->room_size(waiters));
		room->waiters = waiters;
	}
	ops->move_room(server_state(w, u, l), room->block, room->waiters);
}

void *server_lock(struct world *w, u32 u, const struct bftm_msg *req, bool make, u64 now)
{
	const struct bftm_server_ops *ops = w->protocol->core->server;
	struct server *s = &w->server[u];
	u32 l = lock_number(req);
	struct bftm_lock_view view;

	if (s->touched_ns[l]) {
		if (rng_next(&w->rng[RNG_SERVER]) & 1)
			expire(w, u, l, now);
		server_view(w, u, l, &view);
		if (may_be_reclaimed(w, u, l, &view, now))
			reclaim(s, l, &view);
	}
	if (!s->touched_ns[l]) {
		if (!make)
			return NULL;
		ops->init(server_state(w, u, l), s->first_gno, highest_token(s));
	}
	s->touched_ns[l] = now;
	ops->learn(server_state(w, u, l), highest_token(s));
	return server_state(w, u, l);
}
