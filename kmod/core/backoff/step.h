/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The files of a server's step share this: server.c uses try.c, and both use settle.c. */
#ifndef BFTM_CORE_BACKOFF_STEP_H
#define BFTM_CORE_BACKOFF_STEP_H

#include "core/backoff/parties.h"
#include "core/limits.h"

/** bftm_holders_max() - clients that may hold one lock of this server at once */
static inline u32 bftm_holders_max(const struct bftm_server_cfg *cfg)
{
	return cfg->holders_max ?: BFTM_HOLDERS_DEFAULT;
}

/** bftm_is_granted() - does the party have a grant that is not over? */
static inline bool bftm_is_granted(const struct bftm_party *p, u64 now)
{
	/*
	 * Figure 1(b): "if (clock() - lastGranted > Δ + 2δ)". Strictly later:
	 * at the instant of equality the holder may still be inside.
	 */
	return bftm_party_granted(p) && now <= p->time_ns;
}

/** bftm_says_held() - does the client say that it holds the lock, by grants of other servers? */
static inline bool bftm_says_held(const struct bftm_msg *req)
{
	return req->type == BFTM_MSG_TRY && req->arg != BFTM_MODE_NL;
}

/** bftm_is_quiet() - is there only the first party, which has all that it wants? */
static inline bool bftm_is_quiet(const struct bftm_lock *lock)
{
	return bftm_parties(lock) == 1 && !lock->first.want && !bftm_party_lacks(&lock->first);
}

/**
 * bftm_is_closed() - does this server grant nothing, since it has forgotten its grants?
 * @cfg: the server
 * @now: the clock of leases, ns
 *
 * A server that restarts without a quarantine grants at once what others may hold, and its clients
 * count more grants for that, see bftm_spared(). More grants do not help with locks without a
 * lease, which may be held for years: the server waits until its members have told of those.
 */
static inline bool bftm_is_closed(const struct bftm_server_cfg *cfg, u64 now)
{
	return (now <= cfg->quarantine_until_ns && !cfg->spared) || cfg->recovering;
}

/** bftm_may_last() - does this server grant leases as long as this TRY asks for? */
static inline bool bftm_may_last(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	if (req->lease_ns == BFTM_LEASE_NONE)
		return cfg->leaseless;
	return req->lease_ns >= BFTM_LEASE_MIN_NS && req->lease_ns <= cfg->lease_max_ns;
}

/* try.c */
/**
 * bftm_is_over() - is the attempt of this request over?
 * @lock: the lock
 * @req:  the request
 *
 * A RELEASE ends the earlier attempts of a waiter, too; of a holder it ends only the one it names.
 */
bool bftm_is_over(const struct bftm_lock *lock, const struct bftm_msg *req);
void bftm_step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		   const struct bftm_msg *req, u64 now,
		   struct bftm_msg *reply, struct bftm_msg *push);

/* settle.c */
/** bftm_refresh() - count the party's lease from now on, and note the k of the request. */
void bftm_refresh(const struct bftm_server_cfg *cfg, struct bftm_party *p, u32 k, u64 now);
/** bftm_grant() - grant @mode to a party. Return: where the party is now. */
struct bftm_party *bftm_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			      struct bftm_party *p, enum bftm_mode mode, u64 now);
/** bftm_tell() - make the message that a party gets without having asked. */
void bftm_tell(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock,
	       const struct bftm_party *p, u8 type, struct bftm_msg *push);
/** bftm_ask_marked() - send a marked party INQUIRE or PROBE. Return: is another one marked? */
bool bftm_ask_marked(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     struct bftm_msg *push);
/**
 * bftm_settle() - grant to the next party that can be granted more; Section 5, "breaking ties"
 * @cfg:  the server
 * @lock: the lock
 * @now:  the clock of leases, ns
 * @push: FREE, INQUIRE or PROBE to another client; type BFTM_MSG_NONE for nothing
 *
 * If no party can be granted more, bftm_ask_marked() follows. A step sends one message unasked:
 * bftm_lock_expire() does the rest.
 */
void bftm_settle(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		 struct bftm_msg *push);
/** bftm_settle_heard() - bftm_settle() after forgetting waiters that are not heard any more. */
void bftm_settle_heard(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		       struct bftm_msg *push);

#endif /* BFTM_CORE_BACKOFF_STEP_H */
