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
 * struct bftm_party - a client that has a grant of a lock, or waits for one
 * @attempt:  its name, with @client; 0 for none
 * @prio:     Lamport priority, the least goes first
 * @lease_ns: Δ that it asks for
 * @time_ns:  the grant ends after this instant; of one that has none, when it asked last
 * @client:   its number
 * @k:        highest send number
 * @mode:     enum bftm_mode: what is granted, BFTM_MODE_NL while it waits
 * @want:     what it asks for beyond that, else BFTM_MODE_NL
 * @held:     what it says that it holds by the grants of F servers; else BFTM_MODE_NL
 * @inquire:  it is to be asked whether it yields
 * @value_room: of the value that its FREE is to have, in words and 1; 0: none
 * @probe:    it is to be asked whether it still holds the lock, which has no lease
 */
struct bftm_party {
	u64 attempt;
	u64 prio;
	u64 lease_ns;
	u64 time_ns;
	u32 client;
	u32 k;
	/* bftm_party_content() looks at the first three together. */
	u16 want : 3;
	u16 inquire : 1;
	u16 probe : 1;
	u16 mode : 3;
	u16 held : 3;
	u16 value_room : 4;
} __packed __aligned(2);	/* one is in each lock, and there are a million */

/** struct bftm_seat - a party, and the number of its grant */
struct bftm_seat {
	struct bftm_party party;
	u64 gno;
} __packed __aligned(2);

#define BFTM_ENDS 9	/* ends of grants that are remembered: eight intervals */

/**
 * struct bftm_queue - the parties but the one inside the lock, in no order
 * @count:  places in use, at the front
 * @room:   places there are for them; the caller provides them
 * @valued: behind those is a value: core/backoff/value.h
 * @ends:   grants of the lock that have ended since there is a queue
 * @end_ns: when the last of them did, by their number modulo BFTM_ENDS
 * @place:  the parties, @count of @room
 */
struct bftm_queue {
	u32 count;
	u32 room;
	u32 valued;
	u32 ends;
	u64 end_ns[BFTM_ENDS];
	struct bftm_seat place[];
};

/**
 * struct bftm_lock - a lock at a server
 * @first:      a party; if it has a grant, that is the newest
 * @himask:     modes that may share token @hi, see bftm_mode_mask()
 * @unsettled:  it can do more at once: bftm_lock_expire()
 * @hi_client:  see @hi_attempt
 * @gno:        number of the newest grant
 * @lam:        highest priority seen
 * @hi:         highest fencing token stamped, BFTM_TOKEN_UNKNOWN after a restart
 * @hi_attempt: the last attempt for which @hi was stamped in a mode that excludes itself; the same
 *              attempt may ask again
 * @queue:      the other parties, and the value; NULL is none
 * @tomb:       attempts that are over, so that a late TRY is not granted; a
 *              hint that saves phantom grants, newest first
 */
struct bftm_lock {
	struct bftm_party first;
	u8 himask : 6;
	u8 unsettled : 1;
	u32 hi_client;
	u64 gno;
	u64 lam;
	u64 hi;
	u64 hi_attempt;
	struct bftm_queue *queue;
	struct {
		u32 client;
		u64 attempt;
	} __packed tomb[BFTM_TOMBS];	/* there are a million locks: no padding */
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
 * @push:  FREE, INQUIRE or PROBE for @push->client, which did not ask just now; type
 *         BFTM_MSG_NONE for nothing
 */
void bftm_server_step(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply, struct bftm_msg *push);

/**
 * bftm_server_needs() - must the lock that this request names be made?
 * @cfg: the server
 * @req: the request, authentic
 *
 * Not for a TRY or STAMP that is refused whoever has the lock: it says nothing about it.
 */
bool bftm_server_needs(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/**
 * bftm_lock_lacks_room() - how many places does this request need beyond those of the lock?
 * @lock: the lock, as the caller keeps it
 * @req:  the request, authentic
 * @now:  the clock of leases, ns
 *
 * The caller may then provide a larger queue, of up to cfg->waiters_max + bftm_holders_max()
 * places and those of a value, with the old ones copied. Without a place for its client the
 * request is refused; without places for a value the lock has no value.
 */
u32 bftm_lock_lacks_room(const struct bftm_lock *lock,
			 const struct bftm_msg *req, u64 now);

/**
 * bftm_lock_drop() - attempts of a client are over, and it will not say so
 * @lock:        at this server
 * @client:      whose attempts they are
 * @incarnation: they are of this incarnation of it, or of an earlier one
 * @leased:      grants with a lease, too; they end by themselves
 *
 * The caller has bftm_lock_expire() called afterwards, by bftm_lock_deadline().
 * Return: true when there was one.
 */
bool bftm_lock_drop(struct bftm_lock *lock, u32 client, u32 incarnation, bool leased);

/**
 * bftm_lock_lasting() - does a party have the lock without a lease, or wait for it so?
 * @lock:       at this server
 * @index:      of the party, from 0 on
 * @ret_client: its client; 0 for a party that does not
 * Return: false when the lock has no party with this index.
 */
bool bftm_lock_lasting(const struct bftm_lock *lock, u32 index, u32 *ret_client);

/** bftm_lock_owned() - is it granted at @now? */
bool bftm_lock_owned(const struct bftm_lock *lock, u64 now);

/** bftm_lock_waiters() - how many wait for it? Those that hold it and want more do not count. */
u32 bftm_lock_waiters(const struct bftm_lock *lock);

/** bftm_lock_holders() - how many grants are there, those that are over included? */
u32 bftm_lock_holders(const struct bftm_lock *lock);

/** bftm_lock_deadline() - when to call bftm_lock_expire(); 0: not before the next request. */
u64 bftm_lock_deadline(const struct bftm_lock *lock);

/**
 * bftm_lock_expire() - take back the grants that are over, and do one thing that can be done
 * @cfg:  the server
 * @lock: the lock, as the caller keeps it
 * @now:  the clock of leases, ns
 * @push: as of bftm_server_step(); its name is left to the caller
 *
 * That one thing is a grant to a party that waits, or a question to one: INQUIRE or PROBE. More may
 * be left to do: see bftm_lock_deadline().
 *
 * Return: true when a grant was over.
 */
bool bftm_lock_expire(const struct bftm_server_cfg *cfg, struct bftm_lock *lock,
		      u64 now, struct bftm_msg *push);

#endif /* BFTM_CORE_BACKOFF_SERVER_H */
