// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/grants.h"
#include "core/backoff/server.h"
#include "core/lease.h"

void bftm_lock_init(struct bftm_lock *lock, u64 gno, u64 hi)
{
	memset(lock, 0, sizeof(*lock));
	lock->gno = gno;
	lock->hi = hi;
	/* Of a token of which no more is known, an exclusive holder may be the one. */
	lock->himask = bftm_mode_mask(BFTM_MODE_EX);
}

void bftm_lock_learn(struct bftm_lock *lock, u64 hi)
{
	if (lock->hi == BFTM_TOKEN_UNKNOWN)
		lock->hi = hi;
}

static bool is_granted(const struct bftm_party *p, u64 now)
{
	/*
	 * Figure 1(b): "if (clock() - lastGranted > Δ + 2δ)". Strictly later:
	 * at the instant of equality the holder may still be inside.
	 */
	return bftm_party_granted(p) && now <= p->time_ns;
}

bool bftm_lock_owned(const struct bftm_lock *lock, u64 now)
{
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++)
		if (is_granted(bftm_party(lock, i), now))
			return true;
	return false;
}

u32 bftm_lock_waiters(const struct bftm_lock *lock)
{
	u32 i, waiters = 0;

	for (i = 0; i < bftm_parties(lock); i++)
		waiters += bftm_party(lock, i)->attempt && !bftm_party_granted(bftm_party(lock, i));
	return waiters;
}

u32 bftm_lock_holders(const struct bftm_lock *lock)
{
	u32 i, holders = 0;

	for (i = 0; i < bftm_parties(lock); i++)
		holders += bftm_party_granted(bftm_party(lock, i));
	return holders;
}

u64 bftm_lock_deadline(const struct bftm_lock *lock)
{
	u64 least = 0;
	u32 i;

	if (lock->unsettled)
		return 1;
	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		if (bftm_party_granted(p) && (!least || p->time_ns + 1 < least))
			least = p->time_ns + 1;
	}
	return least;
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

/* A lease of its own from now on, and the k that it was asked for. */
static void refresh(const struct bftm_server_cfg *cfg, struct bftm_party *p, u32 k, u64 now)
{
	/*
	 * Refresh and echo go together: the client counts from its send of the
	 * k that comes back, so the timer must not be older than that k. Δ is
	 * the grant's own, whatever this request says.
	 */
	u64 until = now + bftm_lease_at_server(p->lease_ns, cfg->rho_ppm);

	if (until > p->time_ns)
		p->time_ns = until;
	if (k > p->k)
		p->k = k;
}

/* Return: where the party is now. */
static struct bftm_party *grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
				struct bftm_party *p, enum bftm_mode mode, u64 now)
{
	/* Figure 1(b): "lastGranted ← clock(); return FREE". */
	if (!bftm_party_granted(p))
		refresh(cfg, p, p->k, now);
	p->mode = mode;
	if (bftm_mode_covers(mode, p->want))
		p->want = BFTM_MODE_NL;
	p->inquire = 0;
	return bftm_party_number(lock, p);
}

/* What a party hears without having asked. */
static void tell(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock,
		 const struct bftm_party *p, u8 type, struct bftm_msg *push)
{
	push->type = type;
	push->proto = BFTM_PROTO_BACKOFF;
	push->cluster = cfg->cluster;
	push->server = cfg->id;
	push->server_epoch = cfg->epoch;
	push->mode = p->mode;
	push->arg = type == BFTM_MSG_FREE ? lock->himask : 0;
	push->client = p->client;
	push->attempt = p->attempt;
	push->k = p->k;
	push->gno = bftm_party_gno(lock, p);
	push->prio = lock->lam;
	push->token = lock->hi;
}

/* Ask one that is marked whether it yields. Return: is there one more? */
static bool ask_marked(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       struct bftm_msg *push)
{
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (!p->inquire)
			continue;
		if (push->type != BFTM_MSG_NONE)
			return true;
		p->inquire = 0;
		tell(cfg, lock, p, BFTM_MSG_INQUIRE, push);
	}
	return false;
}

/* Nobody but the first party is there, and it has all that it wants. */
static bool is_quiet(const struct bftm_lock *lock)
{
	return bftm_parties(lock) == 1 && !lock->first.want && !bftm_party_lacks(&lock->first);
}

/*
 * Grant to the next party that can be granted more; Section 5, "breaking ties". If there is none,
 * ask one whether it yields. A step sends one message unasked: what is left is for
 * bftm_lock_expire().
 */
static void settle_lock(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
			struct bftm_msg *push)
{
	struct bftm_party *p;
	enum bftm_mode mode;

	lock->unsettled = 0;
	if (is_quiet(lock))
		return;
	p = bftm_grants_next(lock, &mode);
	if (p && push->type == BFTM_MSG_NONE) {
		p = grant(cfg, lock, p, mode, now);
		tell(cfg, lock, p, BFTM_MSG_FREE, push);
		p = bftm_grants_next(lock, &mode);
	}
	if (p || ask_marked(cfg, lock, push))
		lock->unsettled = 1;
}

/* Those that wait without being heard do not wait any more. */
static void settle_heard(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
			 struct bftm_msg *push)
{
	bftm_parties_forget(lock, now);
	settle_lock(cfg, lock, now, push);
}

bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      u64 now, struct bftm_msg *push)
{
	bool over = bftm_parties_expire(lock, now);

	memset(push, 0, sizeof(*push));
	if (over || lock->unsettled)
		settle_heard(cfg, lock, now, push);
	return over;
}

/* The party as which this request waits, or has waited so far. */
static struct bftm_party *my_place(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	struct bftm_party *p = bftm_party_find(lock, req->client, req->attempt);

	return p || says_held(req) ? p : bftm_party_plain(lock, req->client);
}

bool bftm_lock_lacks_room(const struct bftm_lock *lock, const struct bftm_msg *req, u64 now)
{
	u32 i;

	if (req->type != BFTM_MSG_TRY || my_place(lock, req))
		return false;
	/* One that does not wait needs none if it is not granted. */
	for (i = 0; req->flags & BFTM_FLAG_NOQUEUE && i < bftm_parties(lock); i++)
		if (is_granted(bftm_party(lock, i), now) &&
		    bftm_modes_conflict(req->mode, bftm_party(lock, i)->mode))
			return false;
	if (!bftm_lock_owned(lock, now) && bftm_parties(lock) == 1)
		return false;
	return !lock->queue || lock->queue->count == lock->queue->room;
}

/* A send that was overtaken by a later one says nothing new. */
static bool is_news(const struct bftm_party *me, const struct bftm_party *place)
{
	return me->attempt > place->attempt ||
	       (me->attempt == place->attempt && me->k > place->k);
}

/* A place among those that wait; the last one's, in a full queue, for one that goes before it. */
static struct bftm_party *queue_up(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
				   const struct bftm_party *me)
{
	struct bftm_party *p;

	if (bftm_party_position(lock, me) > cfg->waiters_max)
		return NULL;
	p = bftm_party_add(lock, me);
	if (p)
		return p;
	/* Else a client that all others wait for could find one queue full for ever. */
	p = bftm_party_last(lock);
	if (!p || !bftm_waits_before(me, p))
		return NULL;
	*p = *me;
	return p;
}

/* How long the grants last that keep it from this mode, or all of them; an estimate. */
static u64 rest_of_grants(const struct bftm_lock *lock, enum bftm_mode mode, u64 now)
{
	u64 excluding = now, all = now;
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		if (!is_granted(p, now))
			continue;
		if (p->time_ns > all)
			all = p->time_ns;
		if (p->time_ns > excluding && bftm_modes_conflict(p->mode, mode))
			excluding = p->time_ns;
	}
	return (excluding > now ? excluding : all) - now + 1;
}

/* The conversion that two wait for, each for the other to give up what it holds. */
static void note_deadlock(const struct bftm_lock *lock, const struct bftm_party *p,
			  struct bftm_msg *reply)
{
	reply->flags = bftm_grants_deadlock(lock, p) ? BFTM_FLAG_DEADLOCK : 0;
}

/* It has a grant; what others can have beside it, they hear unasked. */
static void answer_free(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
			struct bftm_msg *push)
{
	struct bftm_party *p;

	settle_lock(cfg, lock, now, push);
	/* The answer says it. */
	if (push->type == BFTM_MSG_FREE && push->client == req->client &&
	    push->attempt == req->attempt)
		push->type = BFTM_MSG_NONE;
	p = bftm_party_find(lock, req->client, req->attempt);
	reply->type = BFTM_MSG_FREE;
	reply->mode = p->mode;
	reply->arg = lock->himask;
	reply->gno = bftm_party_gno(lock, p);
	if (!p->want)
		return;
	note_deadlock(lock, p, reply);
	if (bftm_grants_inquire(lock, p) && ask_marked(cfg, lock, push))
		lock->unsettled = 1;
}

/* Wait for the lock, or go on waiting. */
static void wait_for_it(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			const struct bftm_party *me, u64 now, struct bftm_msg *reply,
			struct bftm_msg *push)
{
	struct bftm_party *p = queue_up(cfg, lock, me);

	reply->gno = lock->gno;
	if (!p) {
		settle_lock(cfg, lock, now, push);
		reply->type = BFTM_MSG_REFUSED;
		reply->arg = BFTM_REFUSED_WAITERS;
		return;
	}
	note_deadlock(lock, p, reply);
	bftm_grants_inquire(lock, p);
	settle_lock(cfg, lock, now, push);
	reply->type = BFTM_MSG_WAIT;
	reply->gno = lock->gno;
	reply->position = bftm_party_position(lock, me);
	reply->lease_ns = rest_of_grants(lock, me->want, now);
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
	const struct bftm_party *p = bftm_party_find(lock, req->client, req->attempt);
	const struct bftm_party *plain = bftm_party_plain(lock, req->client);

	/* A later attempt of its client, given up while it holds, does not end this one. */
	return !(p && bftm_party_granted(p)) &&
	       (is_over(lock, req) ||
		(plain && req->attempt < plain->attempt && !says_held(req)));
}

/* try() of Figure 1(b) by one that has no grant. */
static void decide_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
		       struct bftm_msg *push)
{
	const bool last = req->flags & BFTM_FLAG_NOQUEUE;
	struct bftm_party me = {
		.attempt = req->attempt,
		.prio = req->prio,
		.lease_ns = req->lease_ns,
		.time_ns = now,
		.client = req->client,
		.k = req->k,
		.want = req->mode,
		.held = req->arg,
	};
	struct bftm_party *p = my_place(lock, req), place = {};

	if (p) {
		place = *p;
		bftm_party_remove(lock, p);
	}
	bftm_parties_forget(lock, now);
	/* One that does not wait goes last, unless it waits already. */
	p = NULL;
	if (bftm_grants_beside(lock, &me, last && !place.attempt))
		p = bftm_party_add(lock, &me);
	if (p) {
		grant(cfg, lock, p, me.held ? me.held : me.want, now);
		answer_free(cfg, lock, req, now, reply, push);
		return;
	}
	/* Its place is the newest that it asked for; one that does not wait leaves it as it was. */
	if (place.attempt && (last || !is_news(&me, &place))) {
		if (!last)
			place.time_ns = now;
		me = place;
	}
	if (!last) {
		wait_for_it(cfg, lock, &me, now, reply, push);
		return;
	}
	if (place.attempt)
		bftm_party_add(lock, &place);
	settle_lock(cfg, lock, now, push);
	reply->type = BFTM_MSG_LOCKED;
	reply->gno = lock->gno;
	reply->lease_ns = rest_of_grants(lock, req->mode, now);
}

/* Again, of what is granted: for a longer time, another mode, or what the client holds by now. */
static void renew_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, const struct bftm_msg *req, u64 now,
			struct bftm_msg *reply, struct bftm_msg *push)
{
	bool news = req->k > p->k;

	refresh(cfg, p, req->k, now);
	if (news) {
		/* Modes change by the newest send alone: a late one would take a later mode. */
		p->held = req->arg;
		if (bftm_mode_covers(p->mode, req->mode)) {
			p->mode = req->mode;
			p->want = BFTM_MODE_NL;
		} else {
			p->want = req->mode;
		}
	}
	answer_free(cfg, lock, req, now, reply, push);
}

static void step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_party *p;

	if (!may_last(cfg, req)) {
		bftm_refuse(req, reply, BFTM_REFUSED_LEASE);
		reply->lease_ns = cfg->lease_max_ns;
		return;
	}
	/* NOLINTNEXTLINE: bftm_server_needs() a lock for a TRY */
	note_prio(lock, req->prio);
	reply->prio = lock->lam;
	reply->flags = 0;
	if (now <= cfg->quarantine_until_ns) {
		reply->type = BFTM_MSG_WAIT;
		reply->position = 0;
		reply->lease_ns = cfg->quarantine_until_ns - now + 1;
		return;
	}
	if (is_late(lock, req)) {
		reply->type = BFTM_MSG_NONE;
		return;
	}
	p = bftm_party_find(lock, req->client, req->attempt);
	if (p && bftm_party_granted(p)) {
		renew_grant(cfg, lock, p, req, now, reply, push);
		return;
	}
	bftm_parties_expire(lock, now);
	decide_try(cfg, lock, req, now, reply, push);
}

static void step_release(const struct bftm_server_cfg *cfg,
			 struct bftm_lock *lock, const struct bftm_msg *req,
			 u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_party *p;

	reply->type = BFTM_MSG_RELEASED;
	if (!lock)
		return;
	bury(lock, req);
	p = bftm_party_find(lock, req->client, req->attempt);
	if (!p)
		return;
	bftm_party_remove(lock, p);
	settle_heard(cfg, lock, now, push);
}

static void step_yield(const struct bftm_server_cfg *cfg,
		       struct bftm_lock *lock, const struct bftm_msg *req,
		       u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_party *p, *plain;

	reply->type = BFTM_MSG_NONE;
	p = lock ? bftm_party_find(lock, req->client, req->attempt) : NULL;
	/* Of this very grant: a late YIELD must not free a later one. */
	if (!p || !bftm_party_granted(p) || req->gno != bftm_party_gno(lock, p))
		return;
	/* The question that it is still marked for has its answer. */
	p->inquire = 0;
	if (req->arg != BFTM_MODE_NL) {
		/* Given back as a grant to wait with, and kept as one to hold with. */
		if (!bftm_mode_covers(p->mode, req->arg))
			return;
		if (p->mode != req->arg)
			p->want = p->mode;
		p->mode = req->arg;
		p->held = req->arg;
		p = bftm_party_number(lock, p);
		tell(cfg, lock, p, BFTM_MSG_FREE, push);
		settle_heard(cfg, lock, now, push);
		return;
	}
	/* Sent before the owner held the lock, and it holds it since. */
	if (p->held != BFTM_MODE_NL)
		return;
	/* Again a waiter, with the lease and the send that the grant was for. */
	plain = bftm_party_plain(lock, req->client);
	if (!p->want)
		p->want = p->mode;
	p->mode = BFTM_MODE_NL;
	p->time_ns = now;
	if (plain && plain->attempt > p->attempt)
		bftm_party_remove(lock, p);		/* a newer one of it waits */
	else if (plain)
		bftm_party_remove(lock, plain);		/* one before it, and dead */
	settle_heard(cfg, lock, now, push);
}

static void step_stamp(struct bftm_lock *lock, const struct bftm_msg *req,
		       struct bftm_msg *reply)
{
	const u8 mask = bftm_mode_mask(req->mode);
	/* NOLINTNEXTLINE: and for a STAMP */
	bool again = req->token == lock->hi && req->attempt == lock->hi_attempt &&
		     req->client == lock->hi_client && lock->himask & mask;
	bool joins = req->token == lock->hi && !(bftm_mode_conflicts(req->mode) & lock->himask);

	if (lock->hi == BFTM_TOKEN_UNKNOWN) {
		bftm_refuse(req, reply, BFTM_REFUSED_TOKENS);
		return;
	}
	reply->type = BFTM_MSG_SNACK;
	reply->gno = req->token;
	/* Only higher ones, or two holders that exclude each other could share a token. */
	if (again || joins || req->token > lock->hi) {
		lock->himask = req->token > lock->hi ? mask : lock->himask | mask;
		lock->hi = req->token;
		if (bftm_modes_conflict(req->mode, req->mode)) {
			lock->hi_attempt = req->attempt;
			lock->hi_client = req->client;
		}
		reply->type = BFTM_MSG_SACK;
	}
	reply->arg = lock->himask;
	reply->token = lock->hi;
}

static bool is_mode(u8 mode)
{
	return mode > BFTM_MODE_NL && mode < BFTM_MODES;
}

/* Attempts and sends are counted from 1; 0 is the word for none. */
static bool is_formed(const struct bftm_msg *req)
{
	if (!req->attempt || req->arg >= BFTM_MODES)
		return false;
	if (req->type == BFTM_MSG_TRY)
		return req->k && is_mode(req->mode);
	return req->type != BFTM_MSG_STAMP ||
	       (req->token != BFTM_TOKEN_UNKNOWN && is_mode(req->mode));
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
