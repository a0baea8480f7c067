/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Server side of the backoff protocol: try() of Figure 1, made safe without
 * bounds on message delay, and the paper's delayed reply list (Section 5) as a
 * queue that is polled. One struct bftm_lock per lock name; the caller keeps
 * it, serialises the calls and authenticates what it passes in.
 */
#ifndef BFTM_CORE_BACKOFF_SERVER_H
#define BFTM_CORE_BACKOFF_SERVER_H

#include "core/admit.h"

#define BFTM_TOMBS 2

/**
 * struct bftm_waiter - a client that waits for a lock
 * @attempt:  its newest
 * @prio:     Lamport priority, the least goes first
 * @lease_ns: Δ that it asks for
 * @heard_ns: when it asked last
 * @client:   its number; there is one entry a client
 * @k:        highest send number
 * @held:     enum bftm_mode: what the attempt says that it holds, by other servers; else
 *            BFTM_MODE_NL
 */
struct bftm_waiter {
	u64 attempt;
	u64 prio;
	u64 lease_ns;
	u64 heard_ns;
	u32 client;
	u32 k;
	u8 held;
} __packed __aligned(4);	/* there are four of them for each lock: little padding */

/**
 * struct bftm_queue - who waits, in no order
 * @count:  entries in use, at the front
 * @room:   entries there are; the caller provides them
 */
struct bftm_queue {
	u32 count;
	u32 room;
	struct bftm_waiter waiter[];
};

/**
 * struct bftm_lock - a lock at a server
 * @attempt:    that owns it; 0 for none
 * @until_ns:   the grant ends after this instant
 * @lease_ns:   Δ of the grant
 * @prio:       Lamport priority of the owner
 * @gno:        number of the last grant
 * @lam:        highest priority seen
 * @hi:         highest fencing token stamped, BFTM_TOKEN_UNKNOWN after a restart
 * @hi_attempt: to whom, that he may ask again
 * @queue:      who waits; NULL is nobody
 * @client:     that owns it
 * @k:          highest send number of the owner
 * @hi_client:  see @hi_attempt
 * @tomb:       attempts that are over, so that a late TRY is not granted; a
 *              hint that saves phantom grants, newest first
 * @held:       enum bftm_mode: what the owner says that it holds; BFTM_MODE_NL while it waits for
 *              other servers
 */
struct bftm_lock {
	u64 attempt;
	u64 until_ns;
	u64 lease_ns;
	u64 prio;
	u64 gno;
	u64 lam;
	u64 hi;
	u64 hi_attempt;
	struct bftm_queue *queue;
	u32 client;
	u32 k;
	u32 hi_client;
	struct {
		u32 client;
		u64 attempt;
	} __packed tomb[BFTM_TOMBS];	/* there are a million locks: no padding */
	u8 held;
};

/** bftm_lock_init() - a lock nobody has; its first grant is @gno + 1. */
void bftm_lock_init(struct bftm_lock *lock, u64 gno, u64 hi);

/** bftm_lock_learn() - if its tokens are not known: none above @hi was stamped. */
void bftm_lock_learn(struct bftm_lock *lock, u64 hi);

/**
 * bftm_server_step() - decide a request
 * @cfg:   the server
 * @lock:  the lock it names; NULL for a request that needs none and finds none,
 *         see bftm_server_needs()
 * @req:   TRY, RELEASE, YIELD or STAMP, authentic
 * @now:   the clock of leases in ns, not before any earlier call's
 * @reply: the answer, type BFTM_MSG_NONE for silence; may not be @req
 * @push:  FREE or INQUIRE for @push->client, who did not ask just now; type
 *         BFTM_MSG_NONE for nothing
 */
void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply, struct bftm_msg *push);

/**
 * bftm_server_needs() - must the lock that this request names be made?
 *
 * Not for a TRY or STAMP that is refused whoever has the lock: it says nothing about it.
 */
bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/**
 * bftm_lock_lacks_room() - will this request want to wait and find no room?
 *
 * The caller may then provide a larger queue, of up to cfg->waiters_max entries
 * with the old ones copied; without it the request is refused.
 */
bool bftm_lock_lacks_room(const struct bftm_lock *lock,
			  const struct bftm_msg *req, u64 now);

/** bftm_lock_owned() - is it granted at @now? */
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/** bftm_lock_waited() - does anybody wait for it? */
static inline bool bftm_lock_waited(const struct bftm_lock *lock)
{
	return lock->queue && lock->queue->count;
}

/**
 * bftm_lock_expire() - take back a grant that is over, and grant to the next
 * @push: as of bftm_server_step(); its name is left to the caller
 * Return: true when there was one.
 */
bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      u64 now, struct bftm_msg *push);

#endif /* BFTM_CORE_BACKOFF_SERVER_H */
