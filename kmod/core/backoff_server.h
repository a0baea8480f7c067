/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Server side of the backoff protocol: try() of Figure 1, made safe without
 * bounds on message delay. One struct bftm_lock per lock name; the caller
 * keeps it, serialises the calls and authenticates what it passes in.
 */
#ifndef BFTM_CORE_BACKOFF_SERVER_H
#define BFTM_CORE_BACKOFF_SERVER_H

#include "admit.h"

#define BFTM_TOMBS 2

/**
 * struct bftm_lock - a lock at a server
 * @attempt:  that owns it; 0 for none
 * @until_ns: the grant ends after this instant
 * @lease_ns: Δ of the grant
 * @prio:     Lamport priority of the owner
 * @gno:      number of the last grant
 * @lam:      highest priority seen
 * @client:   that owns it
 * @k:        highest send number of the owner
 * @tomb:     attempts that are over, so that a late TRY is not granted; a
 *            hint that saves phantom grants, newest first
 */
struct bftm_lock {
	u64 attempt;
	u64 until_ns;
	u64 lease_ns;
	u64 prio;
	u64 gno;
	u64 lam;
	u32 client;
	u32 k;
	struct {
		u64 attempt;
		u32 client;
	} tomb[BFTM_TOMBS];
};

/** bftm_lock_init() - a lock nobody has; its first grant is @gno + 1. */
void bftm_lock_init(struct bftm_lock *lock, u64 gno);

/**
 * bftm_server_step() - decide a request
 * @cfg:   the server
 * @lock:  the lock it names; NULL for RELEASE of a lock that is not known
 * @req:   TRY or RELEASE, authentic
 * @now:   CLOCK_BOOTTIME in ns, not before any earlier call's
 * @reply: the answer, type BFTM_MSG_NONE for silence; may not be @req
 */
void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply);

/** bftm_lock_owned() - is it granted at @now? */
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/**
 * bftm_lock_expire() - take back a grant that is over
 * Return: true when there was one.
 */
bool bftm_lock_expire(struct bftm_lock *lock, u64 now);

#endif /* BFTM_CORE_BACKOFF_SERVER_H */
