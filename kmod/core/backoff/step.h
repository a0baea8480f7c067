/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of a server's step share: server.c uses try.c, and both use settle.c. */
#ifndef BFTM_CORE_BACKOFF_STEP_H
#define BFTM_CORE_BACKOFF_STEP_H

#include "core/backoff/parties.h"
#include "core/limits.h"

/** bftm_is_granted() - has it a grant that is not over? */
static inline bool bftm_is_granted(const struct bftm_party *p, u64 now)
{
	/*
	 * Figure 1(b): "if (clock() - lastGranted > Δ + 2δ)". Strictly later:
	 * at the instant of equality the holder may still be inside.
	 */
	return bftm_party_granted(p) && now <= p->time_ns;
}

/** bftm_says_held() - does the client hold the lock, as it says, by the grants of other servers? */
static inline bool bftm_says_held(const struct bftm_msg *req)
{
	return req->type == BFTM_MSG_TRY && req->arg != BFTM_MODE_NL;
}

/** bftm_is_quiet() - nobody but the first party is there, and it has all that it wants. */
static inline bool bftm_is_quiet(const struct bftm_lock *lock)
{
	return bftm_parties(lock) == 1 && !lock->first.want && !bftm_party_lacks(&lock->first);
}

/** bftm_may_last() - is the lease that this TRY asks for granted by this server? */
static inline bool bftm_may_last(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	return req->lease_ns >= BFTM_LEASE_MIN_NS && req->lease_ns <= cfg->lease_max_ns;
}

/* try.c */
/**
 * bftm_is_over() - is the attempt of this request over?
 *
 * A waiter has given its earlier attempts up; a holder has given up only what it released.
 */
bool bftm_is_over(const struct bftm_lock *lock, const struct bftm_msg *req);
void bftm_step_try(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		   const struct bftm_msg *req, u64 now,
		   struct bftm_msg *reply, struct bftm_msg *push);

/* settle.c */
/** bftm_refresh() - a lease of its own from now on, and the k that it was asked for. */
void bftm_refresh(const struct bftm_server_cfg *cfg, struct bftm_party *p, u32 k, u64 now);
/** bftm_grant() - Return: where the party is now. */
struct bftm_party *bftm_grant(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
			      struct bftm_party *p, enum bftm_mode mode, u64 now);
/** bftm_tell() - what a party hears without having asked. */
void bftm_tell(const struct bftm_server_cfg *cfg, const struct bftm_lock *lock,
	       const struct bftm_party *p, u8 type, struct bftm_msg *push);
/** bftm_ask_marked() - ask one that is marked whether it yields. Return: is there one more? */
bool bftm_ask_marked(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		     struct bftm_msg *push);
/**
 * bftm_settle() - grant to the next party that can be granted more; Section 5, "breaking ties"
 *
 * If there is none, ask one whether it yields. A step sends one message unasked: what is left is
 * for bftm_lock_expire().
 */
void bftm_settle(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		 struct bftm_msg *push);
/** bftm_settle_heard() - the same without those that wait and are not heard any more. */
void bftm_settle_heard(const struct bftm_server_cfg *cfg, struct bftm_lock *lock, u64 now,
		       struct bftm_msg *push);

#endif /* BFTM_CORE_BACKOFF_STEP_H */
