/* SPDX-License-Identifier: GPL-2.0 */
/* Bodies of states and operations, and the memory that they may take. */
#ifndef BFTM_BODIES_H
#define BFTM_BODIES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "core/ordering/server.h"

/**
 * struct bftm_budget - the memory of all objects of a server
 * @used:  bytes
 * @most:  how many that may be
 * @fresh: how many, for what begins something: an object, an operation. States
 *         may take the rest, so that what was begun can come to its end.
 * @each:  how many for bodies of one client that wait or arrive
 */
struct bftm_budget {
	atomic64_t used;
	u64 most;
	u64 fresh;
	u64 each;
};

/**
 * struct bftm_share - what of it one client takes, until it is an object's
 * @hash:    among the others, under RCU; never removed before all of them are
 * @client:  whose
 * @uploads: bodies that arrive in pieces
 * @bytes:   of bodies: operations that wait, and what arrives
 * @looked_ns: when idle uploads of it were looked for last
 * @held:    bytes of answers to it that the journal holds; guarded by its lock
 */
struct bftm_share {
	struct hlist_node hash;
	u32 client;
	atomic_t uploads;
	atomic64_t bytes;
	atomic64_t looked_ns;
	size_t held;
};

/**
 * struct bftm_shares - of all clients that were authenticated
 * @lock:   guards insertion
 * @bits:   log2 of the number of buckets
 * @bucket: chains, read under RCU
 */
struct bftm_shares {
	spinlock_t lock;
	u32 bits;
	struct hlist_head *bucket;
};

/** bftm_shares_init() - for at most @clients. Return: 0 or -ENOMEM. */
int bftm_shares_init(struct bftm_shares *t, u32 clients);

/** bftm_shares_destroy() - no body that counts in one may be left. */
void bftm_shares_destroy(struct bftm_shares *t);

/** bftm_share_get() - Return: NULL when memory is short. Context: any but hard IRQ. */
struct bftm_share *bftm_share_get(struct bftm_shares *t, u32 client);

/** bftm_budget_take() - Return: false when so many bytes are not left. */
bool __must_check bftm_budget_take(struct bftm_budget *b, size_t bytes, bool fresh);

static inline void bftm_budget_give(struct bftm_budget *b, size_t bytes)
{
	atomic64_sub(bytes, &b->used);
}

/**
 * struct bftm_stored - a body in memory
 * @refs:   who holds it: σc, σpc, a pending operation, an upload, who looks
 * @budget: that it counts in
 * @share:  of whom it counts; NULL when it is an object's
 * @next:   in a list of bodies on their way out; an operation stands in one
 * @what:   of an operation that was dropped, with @next
 * @kept:   the journal has it, for as long as it is σc or σpc
 * @body:   what the core sees; constant once its digest was checked
 * @data:   its bytes
 */
struct bftm_stored {
	refcount_t refs;
	struct bftm_budget *budget;
	struct bftm_share *share;
	struct bftm_stored *next;
	struct bftm_pending what;
	bool kept;
	struct bftm_body body;
	u8 data[];
};

/** bftm_stored_of() - of a body that the core was given; NULL for NULL. */
static inline struct bftm_stored *bftm_stored_of(struct bftm_body *body)
{
	return body ? container_of(body, struct bftm_stored, body) : NULL;
}

/** bftm_stored_size() - bytes that a body of @len bytes costs, with what pads it */
static inline size_t bftm_stored_size(u32 len)
{
	return roundup_pow_of_two(sizeof(struct bftm_stored) + len);
}

/**
 * bftm_stored_new() - room for a body, uninitialised
 * @b:     memory of all objects of the server
 * @share: of the client that brings it; NULL for none
 * @id:    of the body, at most BFTM_STATE_MAX bytes
 * @gfp:   how to allocate it
 * Return: with one reference, or an error pointer: -EDQUOT without budget, -ENOBUFS
 * when the client has no more of it, -ENOMEM.
 */
struct bftm_stored *bftm_stored_new(struct bftm_budget *b, struct bftm_share *share,
				    const struct bftm_body_id *id, gfp_t gfp);

/** bftm_stored_settle() - it is a state of its object now. Context: the shard is locked. */
void bftm_stored_settle(struct bftm_stored *s);

static inline struct bftm_stored *bftm_stored_get(struct bftm_stored *s)
{
	if (s)
		refcount_inc(&s->refs);
	return s;
}

/** bftm_stored_put() - NULL is fine. Context: any. */
void bftm_stored_put(struct bftm_stored *s);

/** bftm_digest_ok() - are these the bytes that @id names? */
bool __must_check bftm_digest_ok(const struct bftm_body_id *id, const u8 *data);

#endif /* BFTM_BODIES_H */
