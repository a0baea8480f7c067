// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The step of a server for a lock. TRY is in try.c; settle.c makes grants, and ends them. */
#include "core/backoff/grants.h"
#include "core/backoff/server.h"
#include "core/backoff/step.h"
#include "core/backoff/value.h"

void bftm_lock_init(struct bftm_lock *lock, u64 gno, u64 hi)
{
	memset(lock, 0, sizeof(*lock));
	lock->gno = gno;
	lock->hi = hi;
	/* The holder of a token of which no more is known may have been exclusive. */
	lock->himask = bftm_mode_mask(BFTM_MODE_EX);
}

void bftm_lock_learn(struct bftm_lock *lock, u64 hi)
{
	if (lock->hi == BFTM_TOKEN_UNKNOWN)
		lock->hi = hi;
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
	const struct bftm_party *p;
	u64 least = BFTM_LEASE_NONE;
	struct bftm_walk w;

	if (lock->unsettled)
		return 1;
	for (p = bftm_walk_begin(&w, lock); p; p = bftm_walk_on(&w))
		if (bftm_party_granted(p) && p->time_ns < least)
			least = p->time_ns;
	return least == BFTM_LEASE_NONE ? 0 : least + 1;
}

bool bftm_lock_drop(struct bftm_lock *lock, u32 client, u32 incarnation, bool leased)
{
	bool any = false;
	u32 i = 0;

	while (i < bftm_parties(lock)) {
		struct bftm_party *p = bftm_party(lock, i);

		if (!p->attempt || p->client != client || p->attempt >> 32 > incarnation ||
		    (bftm_party_granted(p) && p->lease_ns != BFTM_LEASE_NONE && !leased)) {
			i++;
			continue;
		}
		if (bftm_mode_writes(p->mode))
			bftm_value_doubt(lock);
		bftm_party_remove(lock, p);
		any = true;
	}
	if (any)
		lock->unsettled = !bftm_is_free(lock);
	return any;
}

bool bftm_lock_lasting(const struct bftm_lock *lock, u32 index, u32 *ret_client)
{
	const struct bftm_party *p;

	if (index >= bftm_parties(lock))
		return false;
	p = bftm_party(lock, index);
	*ret_client = p->attempt && p->lease_ns == BFTM_LEASE_NONE ? p->client : 0;
	return true;
}

static void bury(struct bftm_lock *lock, const struct bftm_msg *req)
{
	int i;

	if (bftm_is_over(lock, req))
		return;
	for (i = 0; i < BFTM_TOMBS - 1; i++)
		if (lock->tomb[i].client == req->client)
			break;
	for (; i > 0; i--)
		lock->tomb[i] = lock->tomb[i - 1];
	lock->tomb[0].client = req->client;
	lock->tomb[0].attempt = req->attempt;
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
	bftm_value_take(lock, p, req);
	if (bftm_party_granted(p))
		bftm_parties_ended(lock, now);
	bftm_party_remove(lock, p);
	if (bftm_is_free(lock))
		lock->unsettled = 0;
	else
		bftm_settle_heard(cfg, lock, now, push);
}

static void step_yield(const struct bftm_server_cfg *cfg,
		       struct bftm_lock *lock, const struct bftm_msg *req,
		       u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	struct bftm_party *p, *plain;

	reply->type = BFTM_MSG_NONE;
	p = lock ? bftm_party_find(lock, req->client, req->attempt) : NULL;
	/* The YIELD must name this very grant: a late one must not free a later grant. */
	if (!p || !bftm_party_granted(p) || req->gno != bftm_party_gno(lock, p))
		return;
	/* The YIELD answers the question that the party is still marked for. */
	p->inquire = 0;
	p->probe = 0;
	if (req->arg != BFTM_MODE_NL) {
		/* The client keeps the mode that it holds, and gives back the rest of its grant. */
		if (!bftm_mode_covers(p->mode, req->arg))
			return;
		/* A mode that it waits for was asked for later than the one it gives back. */
		if (p->mode != req->arg && !p->want)
			p->want = p->mode;
		p->mode = req->arg;
		p->held = req->arg;
		p = bftm_party_number(lock, p);
		bftm_tell(cfg, lock, p, BFTM_MSG_FREE, push);
		bftm_settle_heard(cfg, lock, now, push);
		return;
	}
	/* The client sent this before it held the lock, and holds it now. */
	if (p->held != BFTM_MODE_NL)
		return;
	/* The party waits again, with the lease and the send of its grant. */
	plain = bftm_party_plain(lock, req->client);
	if (!p->want)
		p->want = p->mode;
	p->mode = BFTM_MODE_NL;
	p->time_ns = now;
	if (plain && plain->attempt > p->attempt)
		bftm_party_remove(lock, p);		/* a newer attempt of its client waits */
	else if (plain)
		bftm_party_remove(lock, plain);		/* an earlier attempt, which is dead */
	bftm_settle_heard(cfg, lock, now, push);
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
	/* Only a higher token: else two holders that exclude each other could share one. */
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
	/* REASSERT names the mode that is held, and comes without a lease. */
	if (req->flags & BFTM_FLAG_REASSERT &&
	    (req->arg != req->mode || req->lease_ns != BFTM_LEASE_NONE))
		return false;
	if (req->type == BFTM_MSG_TRY)
		return req->k && is_mode(req->mode);
	return req->type != BFTM_MSG_STAMP ||
	       (req->token != BFTM_TOKEN_UNKNOWN && is_mode(req->mode));
}

bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	return is_formed(req) && (req->type == BFTM_MSG_STAMP ||
				  (req->type == BFTM_MSG_TRY && bftm_may_last(cfg, req)));
}

void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply, struct bftm_msg *push)
{
	push->type = BFTM_MSG_NONE;
	*reply = *req;
	reply->flags = 0;
	reply->token = lock ? lock->hi : 0;
	if (!is_formed(req)) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return;
	}
	switch (req->type) {
	case BFTM_MSG_TRY:
		bftm_step_try(cfg, lock, req, now, reply, push);
		/* After the party has its place, which matters more. */
		if (reply->type == BFTM_MSG_FREE || reply->type == BFTM_MSG_WAIT)
			bftm_value_make(lock, req);
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
