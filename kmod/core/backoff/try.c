// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * try(): a client asks for a grant, or for more than it has. The answer is FREE, or the request
 * waits. A step that changes nothing costs little, since most locks are free.
 */
#include "core/backoff/grants.h"
#include "core/backoff/step.h"
#include "core/backoff/value.h"
#include "core/lease.h"

bool bftm_is_over(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	int i;

	for (i = 0; i < BFTM_TOMBS; i++)
		if (lock->tomb[i].client == req->client &&
		    (bftm_says_held(req) ? req->attempt == lock->tomb[i].attempt :
				      req->attempt <= lock->tomb[i].attempt))
			return true;
	return false;
}

/* The party as which this request waits, or has waited so far. */
static struct bftm_party *my_place(const struct bftm_look *look, const struct bftm_msg *req)
{
	return look->named || bftm_says_held(req) ? look->named : look->plain;
}

/* Will this TRY take a place in the queue? */
static bool queues_up(const struct bftm_lock *lock, const struct bftm_msg *req, u64 now)
{
	struct bftm_look look;
	u32 i;

	if (req->type != BFTM_MSG_TRY || bftm_is_free(lock))
		return false;
	bftm_parties_look(lock, req->client, req->attempt, now, &look);
	if (my_place(&look, req))
		return false;
	/* A request that does not wait needs no room if it gets no grant. */
	for (i = 0; req->flags & BFTM_FLAG_NOQUEUE && i < bftm_parties(lock); i++)
		if (bftm_is_granted(bftm_party(lock, i), now) &&
		    bftm_modes_conflict(req->mode, bftm_party(lock, i)->mode))
			return false;
	return bftm_lock_owned(lock, now) || bftm_parties(lock) > 1;
}

u32 bftm_lock_lacks_room(const struct bftm_lock *lock, const struct bftm_msg *req, u64 now)
{
	u32 room = lock->queue ? lock->queue->room - lock->queue->count : 0, wanted = 0;

	if (bftm_value_wanted(lock, req))
		wanted += BFTM_VALUE_PLACES;
	if (wanted < room)
		return 0;
	if (queues_up(lock, req, now))
		wanted++;
	return wanted > room ? wanted - room : 0;
}

/* A send that a later one has overtaken says nothing new. */
static bool is_news(const struct bftm_party *me, const struct bftm_party *place)
{
	return me->attempt > place->attempt ||
	       (me->attempt == place->attempt && me->k > place->k);
}

/* A place among the waiters. In a full queue, a party that goes before the last takes its place. */
static struct bftm_party *queue_up(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
				   const struct bftm_party *me, u32 position)
{
	struct bftm_party *p;

	if (position > cfg->waiters_max)
		return NULL;
	p = bftm_party_add(lock, me);
	if (p)
		return p;
	/* Else a client that all others wait for could find one server's queue full for ever. */
	p = bftm_party_last(lock);
	if (!p || !bftm_waits_before(me, p))
		return NULL;
	*p = *me;
	return p;
}

/* How long the grants last that exclude this mode, or else all grants; an estimate. */
static u64 rest_of_grants(const struct bftm_lock *lock, enum bftm_mode mode, u64 now)
{
	u64 excluding = now, all = now;
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		u64 end = p->time_ns;

		if (!bftm_is_granted(p, now))
			continue;
		if (end == BFTM_LEASE_NONE)
			end = now + BFTM_PACE_NS;
		if (end > all)
			all = end;
		if (end > excluding && bftm_modes_conflict(p->mode, mode))
			excluding = end;
	}
	return (excluding > now ? excluding : all) - now + 1;
}

/* Say in the answer whether this conversion and another one wait for each other. */
static void note_deadlock(const struct bftm_lock *lock, const struct bftm_party *p,
			  struct bftm_msg *reply)
{
	if (bftm_grants_deadlock(lock, p))
		reply->flags |= BFTM_FLAG_DEADLOCK;
}

/* The client has a grant. */
static void say_free(const struct bftm_lock *lock, const struct bftm_party *p,
		     const struct bftm_msg *req, struct bftm_msg *reply)
{
	reply->type = BFTM_MSG_FREE;
	reply->mode = p->mode;
	reply->arg = lock->himask;
	reply->gno = bftm_party_gno(lock, p);
	/* The answer has the room of its own request, which may be an earlier send. */
	bftm_value_tell(lock, bftm_value_room(req), reply);
}

/*
 * Others hear unasked what the server grants beside this grant.
 * @content: all parties were bftm_party_content() before; false: that is not known
 */
static void answer_free(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	const u32 most = bftm_holders_max(cfg);

	/* All others have what they want, and so has this one: nothing is left to settle. */
	if (content && bftm_party_content(p)) {
		lock->unsettled = 0;
	} else if (!bftm_is_quiet(lock)) {
		bftm_settle(cfg, lock, now, push);
		/* The answer already says what this push would say. */
		if (push->type == BFTM_MSG_FREE && push->client == req->client &&
		    push->attempt == req->attempt)
			push->type = BFTM_MSG_NONE;
		p = bftm_party_find(lock, req->client, req->attempt);
	}
	say_free(lock, p, req, reply);
	if (!p->want)
		return;
	note_deadlock(lock, p, reply);
	if ((bftm_grants_inquire(lock, most, p) | bftm_grants_probe(lock, most, p, true)) &&
	    bftm_ask_marked(cfg, lock, push))
		lock->unsettled = 1;
}

/* The client waits for the lock, or goes on waiting. */
static void wait_for_it(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			const struct bftm_party *me, u64 now, struct bftm_msg *reply,
			struct bftm_msg *push)
{
	const u32 position = bftm_party_position(lock, me);
	struct bftm_party *p = queue_up(cfg, lock, me, position);
	const u32 most = bftm_holders_max(cfg);
	const u64 gno = lock->gno;

	reply->gno = gno;
	if (!p) {
		bftm_settle(cfg, lock, now, push);
		reply->type = BFTM_MSG_REFUSED;
		reply->arg = BFTM_REFUSED_WAITERS;
		return;
	}
	note_deadlock(lock, p, reply);
	bftm_grants_inquire(lock, most, p);
	/* The first of many that wait is heard as often as each of them. */
	if (position == 1)
		bftm_grants_probe(lock, most, p, true);
	bftm_settle(cfg, lock, now, push);
	reply->type = BFTM_MSG_WAIT;
	reply->gno = lock->gno;
	/* bftm_settle() takes a party out of the queue by a grant alone. */
	reply->position = lock->gno == gno ? position : bftm_party_position(lock, me);
	reply->lease_ns = bftm_parties_wait(lock, reply->position - 1, me->lease_ns);
}

/* One TRY raises the highest known priority by a bounded step only, since 64 bits have an end. */
static void note_prio(struct bftm_lock *lock, u64 prio)
{
	if (prio > lock->lam)
		lock->lam = prio - lock->lam > BFTM_PRIO_JUMP_MAX ?
			    lock->lam + BFTM_PRIO_JUMP_MAX : prio;
}

/* A TRY of an attempt that is over, or older than the one by which its client waits. */
static bool is_late(const struct bftm_lock *lock, const struct bftm_look *look,
		    const struct bftm_msg *req)
{
	if (bftm_is_over(lock, req))
		return true;
	return !bftm_says_held(req) && look->plain && req->attempt < look->plain->attempt;
}

/* Grant what the client holds by other servers or, if it holds nothing, what it wants. */
static void begin_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	p = bftm_grant(cfg, lock, p, p->held ? p->held : p->want, now);
	answer_free(cfg, lock, p, content, req, now, reply, push);
}

/* try() where parties have the lock or wait for it, perhaps also this client. */
static void decide_among(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			 const struct bftm_look *look, struct bftm_party *me,
			 const struct bftm_msg *req, u64 now,
			 struct bftm_msg *reply, struct bftm_msg *push)
{
	const bool last = req->flags & BFTM_FLAG_NOQUEUE;
	struct bftm_party *p = my_place(look, req), place = {};
	const u32 most = bftm_holders_max(cfg);

	if (p) {
		place = *p;
		bftm_party_remove(lock, p);
	}
	if (look->unheard)
		bftm_parties_forget(lock, now);
	/* A request that does not wait goes last, unless its client waits already. */
	p = NULL;
	if (bftm_grants_beside(lock, most, me, last && !place.attempt))
		p = bftm_party_add(lock, me);
	if (p) {
		begin_grant(cfg, lock, p, false, req, now, reply, push);
		return;
	}
	/* The newest request has the place; a request that does not wait leaves the place alone. */
	if (place.attempt && (last || !is_news(me, &place))) {
		if (!last)
			place.time_ns = now;
		*me = place;
	}
	if (!last) {
		wait_for_it(cfg, lock, me, now, reply, push);
		return;
	}
	if (place.attempt)
		bftm_party_add(lock, &place);
	bftm_settle(cfg, lock, now, push);
	if (bftm_grants_probe(lock, most, me, false) && bftm_ask_marked(cfg, lock, push))
		lock->unsettled = 1;
	reply->type = BFTM_MSG_LOCKED;
	reply->gno = lock->gno;
	reply->lease_ns = rest_of_grants(lock, req->mode, now);
}

/* The client as this request shows it, without a grant. */
static struct bftm_party asking(const struct bftm_msg *req, u64 now)
{
	return (struct bftm_party){
		.attempt = req->attempt,
		.prio = req->prio,
		.lease_ns = req->lease_ns,
		.time_ns = now,
		.client = req->client,
		.k = req->k,
		.want = req->mode,
		.held = req->arg,
		.value_room = bftm_value_room(req),
	};
}

/* try() of Figure 1(b) by a client that has no grant. */
static void decide_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		       const struct bftm_look *look, const struct bftm_msg *req, u64 now,
		       struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_party me = asking(req, now);
	struct bftm_party *p = NULL;

	if (bftm_is_free(lock) ||
	    (look->content && bftm_grants_share(look, bftm_holders_max(cfg), &me)))
		p = bftm_party_add(lock, &me);
	if (p)
		begin_grant(cfg, lock, p, look->content, req, now, reply, push);
	else
		decide_among(cfg, lock, look, &me, req, now, reply, push);
}

/* A grant again: for a longer time, for another mode, or since the client holds the lock by now. */
static void renew_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			struct bftm_party *p, bool content, const struct bftm_msg *req,
			u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	bool news = req->k > p->k;

	/* Without it this server would order those that want the lock otherwise than others do. */
	if (news && req->prio > p->prio) {
		p->prio = req->prio;
		bftm_grants_defer(lock, bftm_holders_max(cfg), p);
	}
	bftm_refresh(cfg, p, req->k, now);
	if (news) {
		/* By the mode that is granted as yet: the request may give it up. */
		bftm_value_take(lock, p, req);
		p->value_room = bftm_value_room(req);
		/* Only the newest send changes modes: a late send would take a later mode away. */
		p->held = req->arg;
		if (bftm_mode_covers(p->mode, req->mode)) {
			p->mode = req->mode;
			p->want = BFTM_MODE_NL;
		} else {
			p->want = req->mode;
		}
	}
	answer_free(cfg, lock, p, content, req, now, reply, push);
}

/*
 * A member tells what it holds without a lease, to a server that has forgotten that: no question
 * is asked, since what members hold is a fact, and two facts do not conflict.
 */
static void step_reassert(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			  const struct bftm_msg *req, u64 now, struct bftm_msg *reply,
			  struct bftm_msg *push)
{
	struct bftm_party me = asking(req, now);
	struct bftm_party *p = bftm_party_add(lock, &me);

	if (!p) {
		bftm_refuse(req, reply, BFTM_REFUSED_WAITERS);
		return;
	}
	begin_grant(cfg, lock, p, false, req, now, reply, push);
}

void bftm_step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		   const struct bftm_msg *req, u64 now,
		   struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_look look;

	if (!bftm_may_last(cfg, req)) {
		bftm_refuse(req, reply, req->lease_ns == BFTM_LEASE_NONE ? BFTM_REFUSED_ACCESS :
									   BFTM_REFUSED_LEASE);
		reply->lease_ns = cfg->lease_max_ns;
		return;
	}
	/* NOLINTNEXTLINE: bftm_server_needs() a lock for a TRY */
	note_prio(lock, req->prio);
	reply->prio = lock->lam;
	bftm_parties_look(lock, req->client, req->attempt, now, &look);
	/* A later attempt that the client has given up does not end the granted one. */
	if (look.named && bftm_party_granted(look.named)) {
		renew_grant(cfg, lock, look.named, look.content, req, now, reply, push);
		return;
	}
	if (is_late(lock, &look, req)) {
		reply->type = BFTM_MSG_NONE;
		return;
	}
	/* If this attempt waits, the member has given its grant back since it asserted it. */
	if (req->flags & BFTM_FLAG_REASSERT && cfg->awaited && !look.named) {
		step_reassert(cfg, lock, req, now, reply, push);
		return;
	}
	if (bftm_is_closed(cfg, now)) {
		reply->type = BFTM_MSG_WAIT;
		reply->position = 0;
		reply->lease_ns = cfg->recovering ? BFTM_LEASE_NONE :
						    cfg->quarantine_until_ns - now + 1;
		return;
	}
	if (look.over) {
		bftm_parties_expire(lock, now);
		bftm_parties_look(lock, req->client, req->attempt, now, &look);
	}
	decide_try(cfg, lock, &look, req, now, reply, push);
}
