// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A lock without a request: grant to the next party, or ask a party whether it yields. */
#include "core/backoff/grants.h"
#include "core/backoff/step.h"
#include "core/backoff/value.h"
#include "core/lease.h"

bool bftm_lock_owned(const struct bftm_lock *lock, u64 now)
{
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++)
		if (bftm_is_granted(bftm_party(lock, i), now))
			return true;
	return false;
}

void bftm_refresh(const struct bftm_server_cfg *cfg, struct bftm_party *p, u32 k, u64 now)
{
	/*
	 * Refresh and echo go together: the client counts its lease from the send
	 * whose k comes back, so the timer must not be older than that k. Δ is the
	 * lease of the grant, whatever this request says.
	 */
	u64 until = bftm_grant_until(now, p->lease_ns, cfg->rho_ppm);

	if (until > p->time_ns)
		p->time_ns = until;
	if (k > p->k)
		p->k = k;
}

struct bftm_party *bftm_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			      struct bftm_party *p, enum bftm_mode mode, u64 now)
{
	/* Figure 1(b): "lastGranted ← clock(); return FREE". */
	if (!bftm_party_granted(p))
		bftm_refresh(cfg, p, p->k, now);
	p->mode = mode;
	if (bftm_mode_covers(mode, p->want))
		p->want = BFTM_MODE_NL;
	p->inquire = 0;
	p->probe = 0;
	return bftm_party_number(lock, p);
}

void bftm_tell(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock,
	       const struct bftm_party *p, u8 type, struct bftm_msg *push)
{
	memset(push, 0, sizeof(*push));
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
	if (type == BFTM_MSG_FREE)
		bftm_value_tell(lock, p->value_room, push);
}

bool bftm_ask_marked(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     struct bftm_msg *push)
{
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (!p->inquire && !p->probe)
			continue;
		if (push->type != BFTM_MSG_NONE)
			return true;
		bftm_tell(cfg, lock, p, p->inquire ? BFTM_MSG_INQUIRE : BFTM_MSG_PROBE, push);
		p->inquire = 0;
		p->probe = 0;
	}
	return false;
}

void bftm_settle(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		 struct bftm_msg *push)
{
	struct bftm_party *p;
	enum bftm_mode mode;

	lock->unsettled = 0;
	if (bftm_is_quiet(lock) || bftm_is_closed(cfg, now))
		return;
	p = bftm_grants_next(lock, bftm_holders_max(cfg), &mode);
	if (p && push->type == BFTM_MSG_NONE) {
		p = bftm_grant(cfg, lock, p, mode, now);
		bftm_tell(cfg, lock, p, BFTM_MSG_FREE, push);
		p = bftm_grants_next(lock, bftm_holders_max(cfg), &mode);
	}
	if (p || bftm_ask_marked(cfg, lock, push))
		lock->unsettled = 1;
}

void bftm_settle_heard(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		       struct bftm_msg *push)
{
	bftm_parties_forget(lock, now);
	bftm_settle(cfg, lock, now, push);
}

bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      u64 now, struct bftm_msg *push)
{
	bool over = bftm_parties_expire(lock, now);

	push->type = BFTM_MSG_NONE;
	if (over || lock->unsettled)
		bftm_settle_heard(cfg, lock, now, push);
	return over;
}
