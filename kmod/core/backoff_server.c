// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "backoff_server.h"
#include "lease.h"

void bftm_lock_init(struct bftm_lock *lock, u64 gno)
{
	memset(lock, 0, sizeof(*lock));
	lock->gno = gno;
}

bool bftm_lock_owned(const struct bftm_lock *lock, u64 now)
{
	/*
	 * Figure 1(b): "if (clock() - lastGranted > Δ + 2δ)". Strictly later:
	 * at the instant of equality the holder may still be inside.
	 */
	return lock->attempt && now <= lock->until_ns;
}

bool bftm_lock_expire(struct bftm_lock *lock, u64 now)
{
	if (!lock->attempt || bftm_lock_owned(lock, now))
		return false;
	lock->attempt = 0;
	return true;
}

static bool is_owner(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	/* Both must match, or a stale message would act on a later grant. */
	return lock->attempt && lock->attempt == req->attempt &&
	       lock->client == req->client;
}

static bool is_over(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	int i;

	for (i = 0; i < BFTM_TOMBS; i++)
		if (lock->tomb[i].client == req->client &&
		    req->attempt <= lock->tomb[i].attempt)
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

static void refresh(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		    const struct bftm_msg *req, u64 now)
{
	/*
	 * Refresh and echo go together: the client counts from its send of the
	 * k that comes back, so the timer must not be older than that k. Δ is
	 * the grant's own, whatever this request says.
	 */
	u64 until = now + bftm_lease_at_server(lock->lease_ns, cfg->rho_ppm);

	if (until > lock->until_ns)
		lock->until_ns = until;
	if (req->k > lock->k)
		lock->k = req->k;
}

static void grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		  const struct bftm_msg *req, u64 now)
{
	/* Figure 1(b): "lastGranted ← clock(); return FREE". */
	lock->attempt = req->attempt;
	lock->client = req->client;
	lock->lease_ns = req->lease_ns;
	lock->prio = req->prio;
	lock->k = 0;
	lock->until_ns = 0;
	lock->gno++;
	refresh(cfg, lock, req, now);
}

static void step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     const struct bftm_msg *req, u64 now,
		     struct bftm_msg *reply)
{
	if (!(req->flags & BFTM_FLAG_NOQUEUE)) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return;
	}
	if (req->lease_ns < BFTM_LEASE_MIN_NS ||
	    req->lease_ns > cfg->lease_max_ns) {
		bftm_refuse(req, reply, BFTM_REFUSED_LEASE);
		reply->lease_ns = cfg->lease_max_ns;
		return;
	}
	if (req->prio > lock->lam)
		lock->lam = req->prio;
	reply->prio = lock->lam;

	if (now <= cfg->quarantine_until_ns) {
		reply->type = BFTM_MSG_WAIT;
		reply->lease_ns = cfg->quarantine_until_ns - now + 1;
		return;
	}
	if (is_over(lock, req)) {
		reply->type = BFTM_MSG_NONE;
		return;
	}
	if (is_owner(lock, req)) {
		refresh(cfg, lock, req, now);
	} else if (!bftm_lock_owned(lock, now)) {
		grant(cfg, lock, req, now);
	} else {
		reply->type = BFTM_MSG_LOCKED;
		reply->lease_ns = lock->until_ns - now + 1;
		reply->gno = lock->gno;
		return;
	}
	reply->type = BFTM_MSG_FREE;
	reply->gno = lock->gno;
}

static void step_release(struct bftm_lock *lock, const struct bftm_msg *req,
			 struct bftm_msg *reply)
{
	reply->type = BFTM_MSG_RELEASED;
	if (!lock)
		return;
	bury(lock, req);
	if (is_owner(lock, req))
		lock->attempt = 0;
}

void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply)
{
	*reply = *req;
	reply->token = 0;
	/* Attempts and sends are counted from 1; 0 is the word for none. */
	if (!req->attempt || (req->type == BFTM_MSG_TRY && !req->k)) {
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
		return;
	}
	switch (req->type) {
	case BFTM_MSG_TRY:
		step_try(cfg, lock, req, now, reply);
		break;
	case BFTM_MSG_RELEASE:
		step_release(lock, req, reply);
		break;
	default:
		/* YIELD belongs to the queue, STAMP to fencing tokens. */
		bftm_refuse(req, reply, BFTM_REFUSED_PROTO);
	}
}
