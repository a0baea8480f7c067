// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/queue.h"
#include "core/backoff/server.h"
#include "core/lease.h"

/* The modes that share the highest token: it is an exclusive holder's alone. */
#define SHARED_BY	bftm_mode_mask(BFTM_MODE_EX)

void bftm_lock_init(struct bftm_lock *lock, u64 gno, u64 hi)
{
	memset(lock, 0, sizeof(*lock));
	lock->gno = gno;
	lock->hi = hi;
}

void bftm_lock_learn(struct bftm_lock *lock, u64 hi)
{
	if (lock->hi == BFTM_TOKEN_UNKNOWN)
		lock->hi = hi;
}

bool bftm_lock_owned(const struct bftm_lock *lock, u64 now)
{
	/*
	 * Figure 1(b): "if (clock() - lastGranted > Δ + 2δ)". Strictly later:
	 * at the instant of equality the holder may still be inside.
	 */
	return lock->attempt && now <= lock->until_ns;
}

static bool is_owner(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	/* Both must match, or a stale message would act on a later grant. */
	return lock->attempt && lock->attempt == req->attempt &&
	       lock->client == req->client;
}

/* Does the client hold the lock, as it says, by the grants of other servers? */
static bool says_held(const struct bftm_msg *req)
{
	return req->type == BFTM_MSG_TRY && req->arg != BFTM_MODE_NL;
}

/* A waiter has given its earlier attempts up; a holder has given up only what it released. */
static bool is_over(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	int i;

	for (i = 0; i < BFTM_TOMBS; i++)
		if (lock->tomb[i].client == req->client &&
		    (says_held(req) ? req->attempt == lock->tomb[i].attempt :
				      req->attempt <= lock->tomb[i].attempt))
			return true;
	return false;
}

static void bury(struct bftm_lock *lock, const struct bftm_msg *req)
{
	int i;

	if (is_over(lock, req))
		return;
	for (i = 0; i < BFTM_TOMBS - 1; i++)
		if (lock->tomb[i].client == req->client)
			break;
	for (; i > 0; i--)
		lock->tomb[i] = lock->tomb[i - 1];
	lock->tomb[0].client = req->client;
	lock->tomb[0].attempt = req->attempt;
}

static void grant_refresh(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			  u32 k, u64 now)
{
	/*
	 * Refresh and echo go together: the client counts from its send of the
	 * k that comes back, so the timer must not be older than that k. Δ is
	 * the grant's own, whatever this request says.
	 */
	u64 until = now + bftm_lease_at_server(lock->lease_ns, cfg->rho_ppm);

	if (until > lock->until_ns)
		lock->until_ns = until;
	if (k > lock->k)
		lock->k = k;
}

static void grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		  const struct bftm_waiter *w, u64 now)
{
	/* Figure 1(b): "lastGranted ← clock(); return FREE". */
	lock->attempt = w->attempt;
	lock->client = w->client;
	lock->lease_ns = w->lease_ns;
	lock->prio = w->prio;
	lock->held = w->held;
	lock->k = 0;
	lock->until_ns = 0;
	lock->gno++;
	grant_refresh(cfg, lock, w->k, now);
}

/* What the owner hears without having asked. */
static void tell_owner(const struct bftm_server_cfg *cfg,
		       const struct bftm_lock *lock, u8 type,
		       struct bftm_msg *push)
{
	push->type = type;
	push->proto = BFTM_PROTO_BACKOFF;
	push->cluster = cfg->cluster;
	push->server = cfg->id;
	push->server_epoch = cfg->epoch;
	push->mode = BFTM_MODE_EX;
	push->arg = type == BFTM_MSG_FREE ? SHARED_BY : 0;
	push->client = lock->client;
	push->attempt = lock->attempt;
	push->k = lock->k;
	push->gno = lock->gno;
	push->prio = lock->lam;
	push->token = lock->hi;
}

/*
 * The lock goes to the waiter that holds it at other servers; else, Section 5, "breaking ties",
 * to the one with the least (priority, client). next() of the queue in protocol.rst.
 */
static void grant_next(const struct bftm_server_cfg *cfg,
		       struct bftm_lock *lock, u64 now, struct bftm_msg *push)
{
	struct bftm_waiter *w, next;

	if (bftm_lock_owned(lock, now))
		return;
	lock->attempt = 0;
	bftm_queue_forget(lock->queue, now);
	w = bftm_queue_first(lock->queue);
	if (!w)
		return;
	next = *w;
	bftm_queue_remove(lock->queue, w);
	grant(cfg, lock, &next, now);
	tell_owner(cfg, lock, BFTM_MSG_FREE, push);
}

bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      u64 now, struct bftm_msg *push)
{
	memset(push, 0, sizeof(*push));
	if (!lock->attempt || bftm_lock_owned(lock, now))
		return false;
	grant_next(cfg, lock, now, push);
	return true;
}

bool bftm_lock_lacks_room(const struct bftm_lock *lock,
			  const struct bftm_msg *req, u64 now)
{
	if (req->type != BFTM_MSG_TRY || req->flags & BFTM_FLAG_NOQUEUE ||
	    is_owner(lock, req) || bftm_queue_find(lock->queue, req->client))
		return false;
	if (!bftm_lock_owned(lock, now) && !bftm_lock_waited(lock))
		return false;
	return !lock->queue || lock->queue->count == lock->queue->room;
}

/* A send that was overtaken by a later one says nothing new; nor does a bid end what is held. */
static bool is_news(const struct bftm_waiter *me, const struct bftm_waiter *place)
{
	if (me->attempt == place->attempt)
		return me->k > place->k;
	return me->attempt > place->attempt || place->held == BFTM_MODE_NL;
}

/* Wait for the lock, or go on waiting. */
static void wait_for_it(const struct bftm_server_cfg *cfg,
			struct bftm_lock *lock, const struct bftm_waiter *me,
			u64 now, struct bftm_msg *reply)
{
	struct bftm_waiter *w = bftm_queue_find(lock->queue, me->client);

	if (w) {
		if (is_news(me, w))
			*w = *me;
		w->heard_ns = now;
	} else {
		bftm_queue_forget(lock->queue, now);
		/* Who goes first must be heard, or full queues could deadlock. */
		if (bftm_queue_position(lock->queue, me) <= cfg->waiters_max)
			w = bftm_queue_add(lock->queue, me);
		if (!w) {
			reply->type = BFTM_MSG_REFUSED;
			reply->arg = BFTM_REFUSED_WAITERS;
			return;
		}
	}
	reply->type = BFTM_MSG_WAIT;
	reply->position = bftm_queue_position(lock->queue, w);
	reply->lease_ns = lock->until_ns - now + 1;
}

/*
 * Servers may have seen another order. An owner that does not hold the lock yet gives way to a
 * better priority, which all servers agree on, and to whoever holds it, whatever the priorities:
 * that one needs this grant, and the owner cannot win before it is gone. Whoever holds is not
 * asked: it would not yield.
 */
static bool is_to_yield(const struct bftm_lock *lock, const struct bftm_waiter *me)
{
	return lock->held == BFTM_MODE_NL &&
	       (me->held != BFTM_MODE_NL ||
		bftm_goes_before(me->prio, me->client, lock->prio, lock->client));
}

/* Somebody else owns the lock, or is to. */
static void step_contended(const struct bftm_server_cfg *cfg,
			   struct bftm_lock *lock, const struct bftm_msg *req,
			   const struct bftm_waiter *me, u64 now,
			   struct bftm_msg *reply, struct bftm_msg *push)
{
	reply->gno = lock->gno;
	if (req->flags & BFTM_FLAG_NOQUEUE) {
		reply->type = BFTM_MSG_LOCKED;
		reply->lease_ns = lock->until_ns - now + 1;
		return;
	}
	wait_for_it(cfg, lock, me, now, reply);
	if (reply->type == BFTM_MSG_WAIT && is_to_yield(lock, me))
		tell_owner(cfg, lock, BFTM_MSG_INQUIRE, push);
}

static bool may_last(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	return req->lease_ns >= BFTM_LEASE_MIN_NS && req->lease_ns <= cfg->lease_max_ns;
}

/* The highest priority that was heard moves by a bounded step for one TRY: 64 bits have an end. */
static void note_prio(struct bftm_lock *lock, u64 prio)
{
	if (prio > lock->lam)
		lock->lam = prio - lock->lam > BFTM_PRIO_JUMP_MAX ?
			    lock->lam + BFTM_PRIO_JUMP_MAX : prio;
}

/* A TRY of an attempt that is over, or older than the one by which its client waits. */
static bool is_late(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	const struct bftm_waiter *queued = bftm_queue_find(lock->queue, req->client);

	/* A later attempt of its client, given up while it holds, does not end this one. */
	return !is_owner(lock, req) &&
	       (is_over(lock, req) ||
		(queued && req->attempt < queued->attempt && !says_held(req)));
}

/* Does another that waits have the lock before this one? A TRY that does not wait goes last. */
static bool is_preceded(const struct bftm_lock *lock, const struct bftm_msg *req,
			const struct bftm_waiter *me)
{
	const struct bftm_waiter *next = bftm_queue_first(lock->queue);

	return next && next->client != me->client &&
	       (req->flags & BFTM_FLAG_NOQUEUE || bftm_waits_before(next, me));
}

/* try() of Figure 1(b), when all that can be said without looking at the clock was said. */
static void decide_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		       struct bftm_msg *push)
{
	const struct bftm_waiter me = {
		.attempt = req->attempt,
		.prio = req->prio,
		.lease_ns = req->lease_ns,
		.heard_ns = now,
		.client = req->client,
		.k = req->k,
		.held = req->arg,
	};
	struct bftm_waiter *queued;

	if (bftm_lock_owned(lock, now) && !is_owner(lock, req)) {
		step_contended(cfg, lock, req, &me, now, reply, push);
		return;
	}
	if (is_owner(lock, req)) {
		if (req->k > lock->k)
			lock->held = req->arg;
		grant_refresh(cfg, lock, req->k, now);
	} else {
		bftm_queue_forget(lock->queue, now);
		if (is_preceded(lock, req, &me)) {
			grant_next(cfg, lock, now, push);
			step_contended(cfg, lock, req, &me, now, reply, push);
			return;
		}
		queued = bftm_queue_find(lock->queue, me.client);
		if (queued)
			bftm_queue_remove(lock->queue, queued);
		grant(cfg, lock, &me, now);
	}
	reply->type = BFTM_MSG_FREE;
	reply->arg = SHARED_BY;
	reply->gno = lock->gno;
}

static void step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply, struct bftm_msg *push)
{
	if (!may_last(cfg, req)) {
		bftm_refuse(req, reply, BFTM_REFUSED_LEASE);
		reply->lease_ns = cfg->lease_max_ns;
		return;
	}
	/* NOLINTNEXTLINE: bftm_server_needs() a lock for a TRY */
	note_prio(lock, req->prio);
	reply->prio = lock->lam;
	if (now <= cfg->quarantine_until_ns) {
		reply->type = BFTM_MSG_WAIT;
		reply->position = 0;
		reply->lease_ns = cfg->quarantine_until_ns - now + 1;
	} else if (is_late(lock, req)) {
		reply->type = BFTM_MSG_NONE;
	} else {
		decide_try(cfg, lock, req, now, reply, push);
	}
}

static void step_release(const struct bftm_server_cfg *cfg,
			 struct bftm_lock *lock, const struct bftm_msg *req,
			 u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_waiter *w;

	reply->type = BFTM_MSG_RELEASED;
	if (!lock)
		return;
	bury(lock, req);
	w = bftm_queue_find(lock->queue, req->client);
	if (w && w->attempt == req->attempt)
		bftm_queue_remove(lock->queue, w);
	if (is_owner(lock, req)) {
		lock->attempt = 0;
		grant_next(cfg, lock, now, push);
	}
}

/* Given back as a grant to wait with, and kept as one to hold with: so it has another number. */
static void keep_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, struct bftm_msg *push)
{
	lock->held = req->arg;
	lock->gno++;
	tell_owner(cfg, lock, BFTM_MSG_FREE, push);
}

static void step_yield(const struct bftm_server_cfg *cfg,
		       struct bftm_lock *lock, const struct bftm_msg *req,
		       u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_waiter me, *w;

	reply->type = BFTM_MSG_NONE;
	/* Of this very grant: a late YIELD must not free a later one. */
	if (!lock || !is_owner(lock, req) || req->gno != lock->gno)
		return;
	if (req->arg != BFTM_MODE_NL) {
		keep_grant(cfg, lock, req, push);
		return;
	}
	/* Sent before the owner held the lock, and it holds it since. */
	if (lock->held != BFTM_MODE_NL)
		return;
	/* Again a waiter, with the lease and the send that the grant was for. */
	me = (struct bftm_waiter){
		.attempt = lock->attempt,
		.prio = lock->prio,
		.lease_ns = lock->lease_ns,
		.heard_ns = now,
		.client = lock->client,
		.k = lock->k,
	};
	w = bftm_queue_find(lock->queue, me.client);
	if (w && w->attempt > me.attempt) {
		lock->attempt = 0;		/* a newer one of it waits */
		grant_next(cfg, lock, now, push);
		return;
	}
	if (w)
		bftm_queue_remove(lock->queue, w);	/* one before it, and dead */
	bftm_queue_forget(lock->queue, now);
	w = bftm_queue_first(lock->queue);
	if (!w || bftm_waits_before(&me, w)) {
		/* Whom it was for has gone: it is its own successor. */
		grant(cfg, lock, &me, now);
	} else {
		struct bftm_waiter next = *w;

		*w = me;
		grant(cfg, lock, &next, now);
	}
	tell_owner(cfg, lock, BFTM_MSG_FREE, push);
}

static void step_stamp(struct bftm_lock *lock, const struct bftm_msg *req,
		       struct bftm_msg *reply)
{
	/* NOLINTNEXTLINE: and for a STAMP */
	bool again = req->token == lock->hi && req->attempt == lock->hi_attempt &&
		     req->client == lock->hi_client;

	if (lock->hi == BFTM_TOKEN_UNKNOWN) {
		bftm_refuse(req, reply, BFTM_REFUSED_TOKENS);
		return;
	}
	reply->type = BFTM_MSG_SNACK;
	reply->arg = SHARED_BY;
	reply->gno = req->token;
	/* Only higher ones, or two holders could share a token. */
	if (again || req->token > lock->hi) {
		lock->hi = req->token;
		lock->hi_attempt = req->attempt;
		lock->hi_client = req->client;
		reply->type = BFTM_MSG_SACK;
	}
	reply->token = lock->hi;
}

/* Attempts and sends are counted from 1; 0 is the word for none. */
static bool is_formed(const struct bftm_msg *req)
{
	return req->attempt && (req->type != BFTM_MSG_TRY || req->k) &&
	       (req->type != BFTM_MSG_STAMP || req->token != BFTM_TOKEN_UNKNOWN);
}

bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	return is_formed(req) && (req->type == BFTM_MSG_STAMP ||
				  (req->type == BFTM_MSG_TRY && may_last(cfg, req)));
}

void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply, struct bftm_msg *push)
{
	memset(push, 0, sizeof(*push));
	*reply = *req;
	reply->token = lock ? lock->hi : 0;
	if (!is_formed(req)) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return;
	}
	switch (req->type) {
	case BFTM_MSG_TRY:
		step_try(cfg, lock, req, now, reply, push);
		break;
	case BFTM_MSG_RELEASE:
		step_release(cfg, lock, req, now, reply, push);
		break;
	case BFTM_MSG_YIELD:
		step_yield(cfg, lock, req, now, reply, push);
		break;
	case BFTM_MSG_STAMP:
		step_stamp(lock, req, reply);
		break;
	default:
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
	}
	if (push->type != BFTM_MSG_NONE) {
		push->name_len = req->name_len;
		memcpy(push->name, req->name, sizeof(push->name));
	}
}
