/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parties of a lock at a server: clients that have a grant, and clients that wait. They
 * stand in no order: there are few, and a party is found by its name (client and attempt) as often
 * as by its priority.
 */
#ifndef BFTM_CORE_BACKOFF_PARTIES_H
#define BFTM_CORE_BACKOFF_PARTIES_H

#include "core/backoff/server.h"

/** bftm_parties() - places there are, taken or not: bftm_party() has them by number. */
static inline u32 bftm_parties(const struct bftm_lock *lock)
{
	return 1 + (lock->queue ? lock->queue->count : 0);
}

/** bftm_party() - the one at a place; its attempt is 0 when none is there. */
static inline struct bftm_party *bftm_party(const struct bftm_lock *lock, u32 i)
{
	return i ? &lock->queue->place[i - 1].party : (struct bftm_party *)&lock->first;
}

/** struct bftm_walk - a look at each place in turn, while no party comes or goes */
struct bftm_walk {
	const struct bftm_seat *next;
	const struct bftm_seat *end;
};

/** bftm_walk_begin() - the party at the first place; its attempt is 0 when none is there. */
static inline const struct bftm_party *bftm_walk_begin(struct bftm_walk *w,
						       const struct bftm_lock *lock)
{
	const struct bftm_queue *q = lock->queue;

	w->next = q ? q->place : NULL;
	w->end = q ? q->place + q->count : NULL;
	return &lock->first;
}

/** bftm_walk_on() - the party at the next place, NULL behind the last */
static inline const struct bftm_party *bftm_walk_on(struct bftm_walk *w)
{
	return w->next != w->end ? &(w->next++)->party : NULL;
}

/** bftm_is_free() - nobody has it, or waits for it. */
static inline bool bftm_is_free(const struct bftm_lock *lock)
{
	return !lock->first.attempt && bftm_parties(lock) == 1;
}

/** bftm_party_gno() - the number of its grant. */
static inline u64 bftm_party_gno(const struct bftm_lock *lock, const struct bftm_party *p)
{
	return p == &lock->first ? lock->gno : ((const struct bftm_seat *)p)->gno;
}

/** bftm_party_granted() - has it a grant, be it less than it wants? */
static inline bool bftm_party_granted(const struct bftm_party *p)
{
	return p->mode != BFTM_MODE_NL;
}

/** bftm_party_lacks() - does it hold, by other servers, more than is granted to it here? */
static inline bool bftm_party_lacks(const struct bftm_party *p)
{
	return !bftm_mode_covers(p->mode, p->held);
}

/** bftm_party_content() - has it all that it wants, and is it not to be asked anything? */
static inline bool bftm_party_content(const struct bftm_party *p)
{
	return !p->want && !p->inquire && !p->probe &&
	       (!p->held || p->held == p->mode || !bftm_party_lacks(p));
}

/**
 * bftm_party_converts() - has it a mode, and wants another that this one does not cover?
 * @p: a party
 *
 * A newcomer has no mode, and goes behind all conversions, whatever its priority: a conversion
 * behind a newcomer that the converting holder keeps out would wait for the newcomer, and the
 * newcomer for the holder.
 */
static inline bool bftm_party_converts(const struct bftm_party *p)
{
	return p->want && (p->mode || (p->held && !bftm_mode_covers(p->held, p->want)));
}

/** bftm_goes_before() - the order of bids; clients break ties, and attempts those of one client. */
static inline bool bftm_goes_before(const struct bftm_party *a, const struct bftm_party *b)
{
	if (a->prio != b->prio)
		return a->prio < b->prio;
	return a->client != b->client ? a->client < b->client : a->attempt < b->attempt;
}

/**
 * bftm_waits_before() - does @a stand before @b in the queue?
 * @a: a party
 * @b: another one of the same lock
 *
 * A holder goes before all others: what is held is a fact, and a priority is a bid.
 */
static inline bool bftm_waits_before(const struct bftm_party *a, const struct bftm_party *b)
{
	if (!a->held != !b->held)	/* BFTM_MODE_NL is 0 */
		return a->held;
	return bftm_goes_before(a, b);
}

/**
 * struct bftm_look - what one look at all parties of a lock shows of them
 * @named:   as of bftm_party_find()
 * @plain:   as of bftm_party_plain(), of the same client
 * @grants:  how many have a grant, be it over
 * @granted: how many have this mode granted; that of BFTM_MODE_NL says nothing
 * @over:    is a grant over?
 * @unheard: has one that waits not been heard for its poll window?
 * @content: is each of them bftm_party_content()?
 */
struct bftm_look {
	struct bftm_party *named;
	struct bftm_party *plain;
	u32 grants;
	u32 granted[BFTM_MODES];
	bool over;
	bool unheard;
	bool content;
};

/**
 * bftm_parties_look() - look at all parties once
 * @lock:    at a server
 * @client:  with @attempt, the name of a party
 * @attempt: see @client
 * @now:     the clock of leases, ns
 * @ret:     what this shows; it is true, and parties are where it says, until a party comes, goes,
 *           moves or changes
 *
 * A server looks at all parties for each TRY, so this is most of what a TRY costs where there are
 * many.
 */
void bftm_parties_look(const struct bftm_lock *lock, u32 client, u64 attempt, u64 now,
		       struct bftm_look *ret);

/** bftm_party_find() - by its name, or NULL. */
struct bftm_party *bftm_party_find(const struct bftm_lock *lock, u32 client, u64 attempt);

/** bftm_party_plain() - the attempt by which a client waits that holds nothing, or NULL. */
struct bftm_party *bftm_party_plain(const struct bftm_lock *lock, u32 client);

/** bftm_party_last() - the party that waits behind all others, or NULL. */
struct bftm_party *bftm_party_last(const struct bftm_lock *lock);

/** bftm_party_position() - in the queue, 1 for the first. */
u32 bftm_party_position(const struct bftm_lock *lock, const struct bftm_party *p);

/** bftm_party_add() - one more; or NULL without room. */
struct bftm_party *bftm_party_add(struct bftm_lock *lock, const struct bftm_party *me);

/** bftm_party_remove() - remove a party; another one may be in its place then. */
void bftm_party_remove(struct bftm_lock *lock, struct bftm_party *p);

/**
 * bftm_party_number() - its grant has a new number, the highest of the lock
 * @lock: the lock
 * @p:    a party of it, with a grant
 *
 * The newest grant is inside the lock, and has no number of its own. Return: where the party is
 * now; another may be in its old place.
 */
struct bftm_party *bftm_party_number(struct bftm_lock *lock, struct bftm_party *p);

/** bftm_parties_ended() - a grant has ended, by RELEASE or its time: note when */
void bftm_parties_ended(struct bftm_lock *lock, u64 now);

/**
 * bftm_parties_wait() - T_w, an estimate of how long a party will wait
 * @lock:  the lock
 * @ahead: how many parties wait before it
 * @lease_ns: Δ that it asks for
 *
 * T_CS (ahead + 1/2): T_CS is the mean of the last eight intervals between ends of grants, half of
 * Δ while there is none. At most BFTM_LEASE_MAX_NS, and never 0.
 */
u64 bftm_parties_wait(const struct bftm_lock *lock, u32 ahead, u64 lease_ns);

/** bftm_parties_forget() - those that wait and were not heard for their poll window. */
void bftm_parties_forget(struct bftm_lock *lock, u64 now);

/** bftm_parties_expire() - take grants back that are over. Return: true when there was one. */
bool bftm_parties_expire(struct bftm_lock *lock, u64 now);

/**
 * bftm_queue_move() - the same parties and the same value in another block
 * @q:     the queue, NULL for none
 * @block: with places for @room parties, no fewer than there are; NULL to have no queue, and no
 *         value
 * @room:  places in @block
 * Return: the queue in @block.
 */
struct bftm_queue *bftm_queue_move(const struct bftm_queue *q, void *block, u32 room);

#endif /* BFTM_CORE_BACKOFF_PARTIES_H */
