/* SPDX-License-Identifier: GPL-2.0 */
/* The locks of a server: a table in shards, each with its own timer. */
#ifndef BFTM_LOCKS_H
#define BFTM_LOCKS_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

#include "core/backoff_server.h"

#define BFTM_SHARD_BITS	6
#define BFTM_SHARDS	(1 << BFTM_SHARD_BITS)

/**
 * struct bftm_entry - a lock in the table, reached only under its shard's lock
 * @hash:       in its bucket
 * @due:        in its shard's queue: when to look at it again
 * @touched_ns: last request
 * @lock:       the protocol's state
 * @name_len:   bytes of @name
 */
struct bftm_entry {
	struct hlist_node hash;
	struct timerqueue_node due;
	u64 touched_ns;
	struct bftm_lock lock;
	u8 name_len;
	u8 name[];
};

/**
 * struct bftm_shard - a part of the table
 * @lock:   guards all of it, taken with bottom halves off
 * @timer:  fires when the first of @due is; CLOCK_BOOTTIME, softirq
 * @due:    entries by time
 * @gno:    highest grant number of the entries that were reclaimed
 * @table:  the table
 * @bucket: chains
 */
struct bftm_shard {
	spinlock_t lock;
	struct hrtimer timer;
	struct timerqueue_head due;
	u64 gno;
	struct bftm_locks *table;
	struct hlist_head *bucket;
} ____cacheline_aligned_in_smp;

/**
 * struct bftm_locks - all locks of a server
 * @count:   entries
 * @max:     how many there may be
 * @mask:    buckets of a shard, less one
 * @expired: leases that ended without a release
 * @secret:  of the hash, so that names cannot be made to collide
 */
struct bftm_locks {
	atomic_t count;
	u32 max;
	u32 mask;
	atomic64_t expired;
	siphash_key_t secret;
	struct hlist_head *bucket;
	struct bftm_shard shard[BFTM_SHARDS];
};

/** bftm_locks_new() - @gno: number before the first grant. NULL: no memory. */
struct bftm_locks *bftm_locks_new(u32 max, u64 gno);

/** bftm_locks_destroy() - nobody may use it any more; stops the timers. */
void bftm_locks_destroy(struct bftm_locks *t);

/**
 * bftm_locks_step() - decide a request on the lock that it names
 * Context: softirq. REFUSED in @reply when the table is full.
 */
void bftm_locks_step(struct bftm_locks *t, const struct bftm_server_cfg *cfg,
		     const struct bftm_msg *req, struct bftm_msg *reply);

/**
 * bftm_locks_walk() - look at every lock
 * @pos:  [0] shard, [1] bucket: where to begin; where it stopped
 * @each: called with the shard locked; non-zero stops before the bucket that
 *        it was called for, so that bucket is seen whole or again
 *
 * Context: process. Return: 0 at the end of the table, or what @each returned.
 */
int bftm_locks_walk(struct bftm_locks *t, long pos[2],
		    int (*each)(const struct bftm_entry *e, void *arg),
		    void *arg);

#endif /* BFTM_LOCKS_H */
