/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who waits for a lock at a server. Entries stand in no order: there are few,
 * and each is found by its client as often as by its priority. A queue that is
 * NULL is empty.
 */
#ifndef BFTM_CORE_SERVER_QUEUE_H
#define BFTM_CORE_SERVER_QUEUE_H

#include "core/backoff/server.h"

/** bftm_goes_before() - the order of bids; clients break ties. */
static inline bool bftm_goes_before(u64 prio_a, u32 client_a, u64 prio_b,
				    u32 client_b)
{
	return prio_a < prio_b || (prio_a == prio_b && client_a < client_b);
}

/**
 * bftm_waits_before() - does @a have the lock before @b?
 *
 * That somebody holds is a fact, and a priority is a bid: who holds goes before all who do not.
 */
static inline bool bftm_waits_before(const struct bftm_waiter *a, const struct bftm_waiter *b)
{
	if (!a->held != !b->held)	/* BFTM_MODE_NL is 0 */
		return a->held;
	return bftm_goes_before(a->prio, a->client, b->prio, b->client);
}

/** bftm_queue_find() - the entry of a client, or NULL. */
struct bftm_waiter *bftm_queue_find(struct bftm_queue *q, u32 client);

/** bftm_queue_first() - who goes before all others, or NULL. */
struct bftm_waiter *bftm_queue_first(struct bftm_queue *q);

/** bftm_queue_position() - 1 for the first. */
u32 bftm_queue_position(const struct bftm_queue *q, const struct bftm_waiter *w);

/**
 * bftm_queue_add() - the new entry; or NULL without room
 *
 * In a full queue it is the entry of the last waiter, if @me goes before him: or
 * a client that all others wait for could find one queue full for ever.
 */
struct bftm_waiter *bftm_queue_add(struct bftm_queue *q,
				   const struct bftm_waiter *me);

/** bftm_queue_remove() - another entry may take its place in the array. */
void bftm_queue_remove(struct bftm_queue *q, struct bftm_waiter *w);

/** bftm_queue_forget() - those who were not heard for their poll window. */
void bftm_queue_forget(struct bftm_queue *q, u64 now);

/**
 * bftm_queue_move() - the same waiters in another block
 * @block: with room for @room waiters, no fewer than there are; NULL to have no queue
 * Return: the queue in @block.
 */
struct bftm_queue *bftm_queue_move(const struct bftm_queue *q, void *block, u32 room);

#endif /* BFTM_CORE_SERVER_QUEUE_H */
