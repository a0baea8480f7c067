// SPDX-License-Identifier: GPL-2.0
/*
 * The lock table of a server, as kmod/locks.c has it: made when asked for,
 * reclaimed when idle, with a timer for whoever waits.
 */
#include "story.h"

/* As in kmod/locks.c: how long the tombs of an idle lock are kept. */
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
	u32 u;

	for (u = w->plan->liars; u < w->plan->n; u++) {
		const struct server *s = &w->server[u];

		hi = highest_token(s);
		if (hi == BFTM_TOKEN_UNKNOWN && may_learn(w))
			return NEVER;
		if (hi == BFTM_TOKEN_UNKNOWN)
			continue;	/* it is so for ever, and others may be too few */
		if (s->touched_ns[l] && s->lock[l].hi != BFTM_TOKEN_UNKNOWN)
			hi = s->lock[l].hi;
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
		memset(&s->lock[l], 0, sizeof(s->lock[l]));
	}
}

static void reclaim(struct server *s, u32 l)
{
	if (s->lock[l].gno > s->first_gno)
		s->first_gno = s->lock[l].gno;
	if (s->lock[l].hi != BFTM_TOKEN_UNKNOWN && s->lock[l].hi > s->hi)
		s->hi = s->lock[l].hi;
	s->touched_ns[l] = 0;
}

static bool may_be_reclaimed(struct world *w, const struct server *s, u32 l, u64 now)
{
	if (s->lock[l].attempt || bftm_lock_waited(&s->lock[l]))
		return false;
	if (s->touched_ns[l] + IDLE_NS <= now)
		return true;
	if (!world_fault(w, FAULT_RECLAIM) || !rng_chance(&w->rng[RNG_SERVER], PPM / 8))
		return false;
	w->stats.fault[FAULT_RECLAIM]++;
	return true;
}

void server_arm(struct world *w, u32 u, u32 l)
{
	struct server *s = &w->server[u];
	const struct bftm_lock *lock = &s->lock[l];
	struct event *e;
	u64 at;

	if (!lock->attempt || !bftm_lock_waited(lock))
		return;
	at = clock_when(&s->clock, lock->until_ns + 1, w->now);
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

static void expire(struct world *w, u32 u, u32 l, u64 now)
{
	struct bftm_msg push;

	if (!bftm_lock_expire(&w->server[u].cfg, &w->server[u].lock[l], now, &push))
		return;
	tell_more(w, l, "s%u: a grant of %s is over", u + 1, story_lock(l));
	server_push(w, u, l, &push);
}

void server_expire(struct world *w, u32 u, u32 l)
{
	struct server *s = &w->server[u];

	s->expire_at[l] = NEVER;
	if (!s->up || !s->touched_ns[l])
		return;
	expire(w, u, l, clock_at(&s->clock, w->now));
	server_arm(w, u, l);
}

/* As the kernel: twice as long, and never shrunk while somebody waits. */
static void make_room(struct world *w, struct server *s, u32 l)
{
	struct bftm_lock *lock = &s->lock[l];
	u32 room = lock->queue ? 2 * lock->queue->room : 4;
	struct bftm_queue *q = s->queue[l];

	if (!lock->queue && q) {
		q->count = 0;
		lock->queue = q;
		return;
	}
	if (room > s->cfg.waiters_max)
		room = s->cfg.waiters_max;
	if (lock->queue && room <= lock->queue->room)
		return;
	q = arena_take(&w->arena, sizeof(*q) + room * sizeof(q->waiter[0]));
	if (lock->queue) {
		q->count = lock->queue->count;
		memcpy(q->waiter, lock->queue->waiter, q->count * sizeof(q->waiter[0]));
	}
	q->room = room;
	lock->queue = q;
	s->queue[l] = q;
}

struct bftm_lock *server_lock(struct world *w, u32 u, const struct bftm_msg *req, u64 now)
{
	struct server *s = &w->server[u];
	u32 l = lock_number(req);
	struct bftm_lock *lock = &s->lock[l];

	if (s->touched_ns[l]) {
		if (rng_next(&w->rng[RNG_SERVER]) & 1)
			expire(w, u, l, now);
		if (may_be_reclaimed(w, s, l, now))
			reclaim(s, l);
	}
	if (!s->touched_ns[l]) {
		if (!bftm_server_needs(&s->cfg, req))
			return NULL;
		bftm_lock_init(lock, s->first_gno, highest_token(s));
	}
	s->touched_ns[l] = now;
	bftm_lock_learn(lock, highest_token(s));
	if (bftm_lock_lacks_room(lock, req, now))
		make_room(w, s, l);
	return lock;
}
