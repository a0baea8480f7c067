/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of a server: a table in shards, as that of its locks. */
#ifndef BFTM_OBJECTS_H
#define BFTM_OBJECTS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/ordering/page.h"
#include "objects/bodies.h"
#include "objects/journal.h"

#define BFTM_OBJECT_SHARD_BITS	6
#define BFTM_OBJECT_SHARDS	(1 << BFTM_OBJECT_SHARD_BITS)

struct bftm_server;
struct bftm_service;

/** bftm_object_service - of bftm_services */
extern const struct bftm_service bftm_object_service;

/**
 * struct bftm_thing - an object in the table, reached only under its shard's lock
 * @hash:        in its bucket
 * @key:         hash of its name, which says where it is in the table; see struct bftm_place
 * @object:      the protocol's state; holds a reference to each of its bodies
 * @uploads:     bodies that arrive for it, in pieces; the one used last first
 * @upload_count: how many
 * @saved:       what of it the journal has
 * @name_len:    bytes of @name
 * @name:        bytes of the name, without a zero at its end
 */
struct bftm_thing {
	struct hlist_node hash;
	u64 key;
	struct bftm_object object;
	struct list_head uploads;
	u32 upload_count;
	struct bftm_saved saved;
	u8 name_len;
	u8 name[];
};

/**
 * struct bftm_object_shard - a part of the table
 * @lock:    guards all of it, taken with bottom halves off; nothing is sent and
 *           no body digested under it
 * @uploads: those of all its objects, the one used last first
 * @bucket:  chains
 */
struct bftm_object_shard {
	spinlock_t lock;
	struct list_head uploads;
	struct hlist_head *bucket;
} ____cacheline_aligned_in_smp;

/**
 * struct bftm_objects - all objects of a server
 * @count:      of them
 * @max:        how many there may be
 * @state_max:  bytes that a state may have
 * @recovering: what this server promised before its start is not known, so each
 *              object begins without a memory
 * @loading:    the journal has not said yet what there was; nothing is answered
 * @journal:    what is told of every durable change, NULL for none
 * @uploads:    bodies that arrive
 * @budget:     memory of all of it
 * @shares:     who takes how much
 * @asked:      bit 0: @work is to make room for what @wanted brings
 * @wanted:     a PUT for which there was no memory at once, without its data
 * @work:       may wait for memory
 * @mask:       buckets of a shard, less one
 * @shift:      a key without so many of its lowest bits is the number of its bucket among all
 * @secret:     of the hash, so that names cannot be made to collide
 * @bucket:     chains of all shards, one shard's after the other
 * @shard:      the parts, each with its own lock
 */
struct bftm_objects {
	atomic_t count;
	u32 max;
	u32 state_max;
	bool recovering;
	bool loading;
	struct bftm_journal *journal;
	atomic_t uploads;
	struct bftm_budget budget;
	struct bftm_shares shares;
	unsigned long asked;
	struct bftm_order_msg wanted;
	struct work_struct work;
	u32 mask;
	u32 shift;
	siphash_key_t secret;
	struct hlist_head *bucket;
	struct bftm_object_shard shard[BFTM_OBJECT_SHARDS];
};

/** enum bftm_changed - what a step changed, and so what a journal would keep */
enum bftm_changed {
	BFTM_CHANGED_RANK = 1 << 0,	/* maxRank and its signature: a promise */
	BFTM_CHANGED_STATE = 1 << 1,	/* σc, σpc or its proposer */
	BFTM_CHANGED_PENDING = 1 << 2,	/* what waits; clients submit it again */
};

/**
 * struct bftm_outcome - of a step, besides its reply
 * @changed: enum bftm_changed
 * @thing:   the object, for as long as @unsaved
 * @unsaved: number of its change that the journal must have before anything of
 *           this is told; 0 for none
 * @dropped: operations that the new state reflects, each with a reference
 * @state:   that state, likewise; NULL when there are none
 */
struct bftm_outcome {
	u32 changed;
	struct bftm_thing *thing;
	u64 unsaved;
	struct bftm_stored *dropped;
	struct bftm_stored *state;
};

/**
 * bftm_objects_new() - an empty table
 * @server: its parameters are there
 * Return: NULL when memory is short.
 */
struct bftm_objects *bftm_objects_new(const struct bftm_server *server);

/** bftm_objects_loading() - has the journal still to say what there was? */
static inline bool bftm_objects_loading(const struct bftm_objects *t)
{
	/* After it, all that bftm_journal_loaded() has seen loaded is there. */
	return smp_load_acquire(&t->loading);
}

/** bftm_objects_stop() - end what works for it. Nobody may step any more. */
void bftm_objects_stop(struct bftm_objects *t);

/** bftm_objects_destroy() - after bftm_objects_stop(). */
void bftm_objects_destroy(struct bftm_objects *t);

/**
 * bftm_objects_step() - decide a request on the object that it names
 * @t:     the table
 * @cfg:   the server
 * @req:   as of bftm_order_step(), and PUT
 * @out:   as of bftm_order_step()
 * @reply: as of bftm_order_step(); may be REFUSED for want of room
 * @ret:   what else came of it, for bftm_outcome_next() and _done()
 * Context: softirq.
 */
void bftm_objects_step(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		       const struct bftm_order_msg *req, u8 *out,
		       struct bftm_order_msg *reply, struct bftm_outcome *ret);

/** bftm_outcome_next() - take a dropped operation; its reference is the caller's. */
struct bftm_stored *bftm_outcome_next(struct bftm_outcome *outcome);

/** bftm_outcome_done() - drop what is left of it. */
void bftm_outcome_done(struct bftm_outcome *outcome);

/**
 * bftm_objects_walk() - look at every object
 * @t:    the table
 * @pos:  as of bftm_locks_walk()
 * @each: likewise
 * @arg:  for @each
 * Context: process. Return: 0 at the end of the table, or what @each returned.
 */
int bftm_objects_walk(struct bftm_objects *t, long pos[2],
		      int (*each)(const struct bftm_thing *e, void *arg), void *arg);

/**
 * bftm_objects_list() - the objects from a key on, as far as a page takes them
 * @t:    the table
 * @from: the least key
 * @page: begun
 *
 * Keys ascend. Only the objects of one bucket are looked at under a lock. Two names of one key,
 * which is a matter of 2^-64 for two, may come as one.
 *
 * Context: softirq. Return: the key with which the next page begins, 0 at the end of the table.
 */
u64 bftm_objects_list(struct bftm_objects *t, u64 from, struct bftm_page *page);

/* Between objects.c, step.c and uploads.c. */

/**
 * bftm_objects_refuse() - say why a request cannot be served
 * @req:   the request
 * @reply: becomes REFUSED; stays as it is for -ENOMEM
 * @error: -ENOSPC: no more objects; -EDQUOT, -ENOBUFS: no room for the body; -EMSGSIZE: it
 *         is too long; -EBADMSG: it has another digest; silence for -ENOMEM
 */
void bftm_objects_refuse(const struct bftm_order_msg *req, struct bftm_order_msg *reply,
			 long error);

/**
 * struct bftm_place - where an object is, or would be
 * @key:    the hash of its name: keys of one bucket are below those of the next, and the first
 *          bucket of a shard comes after the last one of the shard before
 * @shard:  whose lock is to be taken
 * @bucket: of it
 */
struct bftm_place {
	u64 key;
	struct bftm_object_shard *shard;
	struct hlist_head *bucket;
};

struct bftm_place bftm_objects_place(struct bftm_objects *t, const struct bftm_order_msg *req);

/**
 * bftm_objects_find() - the object of a request; made if need be, but for a FETCH
 * @t:   the table
 * @at:  by bftm_objects_place()
 * @req: the request
 * Context: the shard of @at is locked. Return: NULL when there is none.
 */
struct bftm_thing *bftm_objects_find(struct bftm_objects *t, const struct bftm_place *at,
				     const struct bftm_order_msg *req);

/** bftm_objects_forget() - if it says nothing. NULL is fine. Context: likewise. */
void bftm_objects_forget(struct bftm_objects *t, struct bftm_thing *e);

/** bftm_pendings_free() - the list, not what is in it. Context: likewise. */
void bftm_pendings_free(struct bftm_objects *t, struct bftm_object *o);

#endif /* BFTM_OBJECTS_H */
