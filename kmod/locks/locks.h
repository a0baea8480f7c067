/* SPDX-License-Identifier: GPL-2.0 */
/* The locks of a server: a table in shards, each with its own timer. */
#ifndef BFTM_LOCKS_H
#define BFTM_LOCKS_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

#include "core/protocol.h"

#define BFTM_SHARD_BITS	6
#define BFTM_SHARDS	(1 << BFTM_SHARD_BITS)

/* Waiters that all locks together have room for, for each lock that there may be. */
#define BFTM_WAITERS_EACH	4

struct bftm_client;
struct bftm_server;
struct bftm_service;

/**
 * struct bftm_entry - a lock in the table, reached only under its shard's lock
 * @hash:       in its bucket
 * @due:        in its shard's queue: when to look at it again
 * @touched_ns: last request
 * @state:      the protocol's state of the lock, then a byte with the length of its name, then
 *              the name; see bftm_entry_name()
 */
struct bftm_entry {
	struct hlist_node hash;
	struct timerqueue_node due;
	u64 touched_ns;
	u8 state[] __aligned(8);
};

/**
 * struct bftm_shard - a part of the table
 * @lock:   guards all of it, taken with bottom halves off; nothing is sent
 *          under it. That of the server's tokens nests inside, and a client's.
 * @timer:  fires when the first of @due is, or about then; softirq
 * @due:    entries by time
 * @gno:    highest grant number of the entries that were reclaimed
 * @hi:     highest fencing token of these, of those known
 * @table:  the table
 * @bucket: chains
 */
struct bftm_shard {
	spinlock_t lock;
	struct hrtimer timer;
	struct timerqueue_head due;
	u64 gno;
	u64 hi;
	struct bftm_locks *table;
	struct hlist_head *bucket;
} ____cacheline_aligned_in_smp;

/**
 * struct bftm_locks - all locks of a server that have one protocol
 * @server:  whose they are
 * @ops:     the protocol's
 * @count:   entries
 * @max:     how many there may be
 * @room:    waiters that all queues have room for
 * @room_max: how many that may be: BFTM_WAITERS_EACH for each lock, and one queue
 *           of any length at least
 * @mask:    buckets of a shard, less one
 * @secret:  of the hash, so that names cannot be made to collide
 * @bucket:  chains of all shards, one shard's after the other
 * @shard:   the parts, each with its own lock and timer
 */
struct bftm_locks {
	struct bftm_server *server;
	const struct bftm_server_ops *ops;
	atomic_t count;
	u32 max;
	atomic_t room;
	u32 room_max;
	u32 mask;
	hsiphash_key_t secret;
	struct hlist_head *bucket;
	struct bftm_shard shard[BFTM_SHARDS];
};

/** bftm_entries_init() - before any table. Return: -ENOMEM, or 0. */
int bftm_entries_init(void);

/** bftm_entries_exit() - when no table is left. */
void bftm_entries_exit(void);

/** bftm_entry_size() - bytes of an entry whose name has @name_len of them. */
static inline size_t bftm_entry_size(const struct bftm_locks *t, u8 name_len)
{
	return sizeof(struct bftm_entry) + t->ops->lock_size + 1 + name_len;
}

/** bftm_entry_name() - a byte with the length of the name, and the name. */
static inline u8 *bftm_entry_name(const struct bftm_locks *t, struct bftm_entry *e)
{
	return e->state + t->ops->lock_size;
}

/**
 * bftm_entry_alloc() - room for an entry of @size bytes; nothing in it is set
 * @size: bytes of the entry, with its state and name
 * Context: any. Return: NULL without memory.
 */
struct bftm_entry *bftm_entry_alloc(size_t size);

/** bftm_entry_free() - Context: any. @size is what it was made with. */
void bftm_entry_free(struct bftm_entry *e, size_t size);

/**
 * bftm_locks_new() - an empty table
 * @server: its parameters are there; grants are made by its cfg
 * @ops:    of the protocol of all locks in it
 * @gno:    number before the first grant
 * Return: NULL when memory is short.
 */
struct bftm_locks *bftm_locks_new(struct bftm_server *server,
				  const struct bftm_server_ops *ops, u64 gno);

/**
 * bftm_locks_stop() - end the timers, which send
 * @t: the table
 *
 * Nobody may step any more. Walking and bftm_locks_destroy() are possible.
 */
void bftm_locks_stop(struct bftm_locks *t);

/** bftm_locks_destroy() - after bftm_locks_stop(). */
void bftm_locks_destroy(struct bftm_locks *t);

/**
 * bftm_locks_enter() - find the lock that a request names, and lock its shard
 * @t:    the table
 * @req:  the request, whose name was checked
 * @make: make it if it is not there
 * @c:    whose request it is; its number was taken
 * @now:  out: the time, read when the shard was locked
 * @ret:  the entry, or NULL: there is none, or no room for it
 * Context: softirq. Return: the shard; NULL when so much came of the client since that the
 * request may be older than what its next incarnation was answered. It is locked unless NULL.
 */
struct bftm_shard *bftm_locks_enter(struct bftm_locks *t, const struct bftm_msg *req, bool make,
				    struct bftm_client *c, u64 *now, struct bftm_entry **ret);

/** bftm_shard_requeue() - @e, an entry of this shard, was changed. Context: the shard is locked. */
void bftm_shard_requeue(struct bftm_shard *s, struct bftm_entry *e);

/** bftm_locks_leave() - after bftm_locks_enter(); @e was stepped at @now, or is NULL. */
void bftm_locks_leave(struct bftm_shard *s, struct bftm_entry *e, u64 now);

/**
 * bftm_waiters_enlarge() - room for @room waiters of a lock, which has less
 * @s:    the shard of @e
 * @e:    the lock
 * @room: waiters that the request needs room for
 *
 * Or no more than there is, when memory is short or all queues together have
 * room_max: the core refuses then.
 * Context: the shard is locked.
 */
void bftm_waiters_enlarge(struct bftm_shard *s, struct bftm_entry *e, u32 room);

/** bftm_waiters_free() - Context: the shard is locked; no place is taken, or the lock goes. */
void bftm_waiters_free(struct bftm_shard *s, struct bftm_entry *e);

/**
 * bftm_locks_push() - send what a client did not ask for just now
 * @server: the server
 * @push:   the message, to its @client
 *
 * It goes to where the client was heard last, and may be lost: a waiting client polls.
 * Context: softirq, no lock is held.
 */
void bftm_locks_push(struct bftm_server *server, const struct bftm_msg *push);

/** bftm_locks_count() - how many locks are in all tables of a server. */
u32 bftm_locks_count(const struct bftm_server *server);

/** bftm_lock_service - of bftm_services */
extern const struct bftm_service bftm_lock_service;

/**
 * bftm_locks_walk() - look at every lock
 * @t:    the table
 * @pos:  [0] shard, [1] bucket: where to begin; where it stopped
 * @each: called with the shard locked; non-zero stops before the bucket that
 *        it was called for, so that bucket is seen whole or again
 * @arg:  for @each
 *
 * Context: process. Return: 0 at the end of the table, or what @each returned.
 */
int bftm_locks_walk(struct bftm_locks *t, long pos[2],
		    int (*each)(struct bftm_shard *s, struct bftm_entry *e, void *arg),
		    void *arg);

#endif /* BFTM_LOCKS_H */
