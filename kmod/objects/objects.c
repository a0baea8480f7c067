// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an object is made, used and freed under its shard's lock, and no
 * pointer to it leaves that lock. Its promises must not be forgotten, so it
 * stays until the table goes, unless it never promised or stored anything.
 * Its bodies have references of their own, see bodies.c.
 *
 * The receive path alone steps objects and schedules the work of uploads.c.
 * bftm_objects_stop() is called when that path has ended: work that it cancels is
 * scheduled by nobody any more.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "debug.h"
#include "objects/uploads.h"
#include "server/server.h"

struct bftm_objects *bftm_objects_new(const struct bftm_server *server)
{
	u32 max = server->param.max_objects;
	u32 buckets = roundup_pow_of_two(DIV_ROUND_UP(max, BFTM_OBJECT_SHARDS));
	struct bftm_objects *t;
	int i;

	t = kvzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return NULL;
	t->bucket = kvcalloc(buckets, BFTM_OBJECT_SHARDS * sizeof(*t->bucket), GFP_KERNEL);
	if (!t->bucket || bftm_shares_init(&t->shares, server->param.max_clients)) {
		kvfree(t->bucket);
		kvfree(t);
		return NULL;
	}
	t->max = max;
	t->state_max = server->param.max_state;
	t->recovering = bftm_server_recovering(server);
	t->budget.most = server->param.object_memory;
	t->budget.fresh = server->param.object_memory / 4 * 3;
	t->budget.each = server->param.object_memory / 4;
	t->mask = buckets - 1;
	t->shift = 64 - BFTM_OBJECT_SHARD_BITS - ilog2(buckets);
	get_random_bytes(&t->secret, sizeof(t->secret));
	INIT_WORK(&t->work, bftm_uploads_work);
	for (i = 0; i < BFTM_OBJECT_SHARDS; i++) {
		struct bftm_object_shard *s = &t->shard[i];

		spin_lock_init(&s->lock);
		INIT_LIST_HEAD(&s->uploads);
		s->bucket = t->bucket + (size_t)i * buckets;
	}
	bftm_created("objects", t);
	return t;
}

void bftm_objects_stop(struct bftm_objects *t)
{
	cancel_work_sync(&t->work);
}

static size_t thing_size(u8 name_len)
{
	return sizeof(struct bftm_thing) + name_len;
}

static void free_thing(struct bftm_objects *t, struct bftm_thing *e)
{
	struct bftm_object *o = &e->object;
	u32 i;

	bftm_uploads_free(t, e);
	for (i = 0; o->pend && i < o->pend->count; i++)
		bftm_stored_put(bftm_stored_of(o->pend->entry[i].body));
	bftm_pendings_free(t, o);
	bftm_stored_put(bftm_stored_of(o->sc));
	bftm_stored_put(bftm_stored_of(o->sp));
	hlist_del(&e->hash);
	atomic_dec(&t->count);
	bftm_budget_give(&t->budget, thing_size(e->name_len));
	bftm_destroyed("object", e);
	kfree(e);
}

void bftm_objects_destroy(struct bftm_objects *t)
{
	struct hlist_node *next;
	struct bftm_thing *e;
	u32 i, k;

	for (i = 0; i < BFTM_OBJECT_SHARDS; i++) {
		struct bftm_object_shard *s = &t->shard[i];

		for (k = 0; k <= t->mask; k++) {
			if (hlist_empty(&s->bucket[k]))
				continue;
			spin_lock_bh(&s->lock);
			hlist_for_each_entry_safe(e, next, &s->bucket[k], hash)
				free_thing(t, e);
			spin_unlock_bh(&s->lock);
		}
		cond_resched();
	}
	WARN_ON_ONCE(atomic64_read(&t->budget.used));
	bftm_shares_destroy(&t->shares);
	bftm_destroyed("objects", t);
	kvfree(t->bucket);
	kvfree(t);
}

static struct bftm_thing *object_find(struct hlist_head *bucket, const struct bftm_order_msg *req)
{
	struct bftm_thing *e;

	hlist_for_each_entry(e, bucket, hash)
		if (e->name_len == req->name_len &&
		    !memcmp(e->name, req->name, req->name_len))
			return e;
	return NULL;
}

static struct bftm_thing *object_add(struct bftm_objects *t, const struct bftm_place *at,
				     const struct bftm_order_msg *req)
{
	size_t size = thing_size(req->name_len);
	/* Objects from before the start may need all the room that they had then. */
	bool fresh = !(t->loading || t->recovering);
	struct bftm_thing *e;

	if (atomic_inc_return(&t->count) > t->max)
		goto err_count;
	if (!bftm_budget_take(&t->budget, size, fresh))
		goto err_count;
	e = kmalloc(size, GFP_NOWAIT | __GFP_NOWARN);
	if (!e)
		goto err_budget;
	bftm_object_init(&e->object, t->recovering);
	INIT_LIST_HEAD(&e->uploads);
	e->upload_count = 0;
	bftm_saved_init(&e->saved);
	e->name_len = req->name_len;
	memcpy(e->name, req->name, req->name_len);
	e->key = at->key;
	hlist_add_head(&e->hash, at->bucket);
	bftm_created("object", e);
	return e;

err_budget:
	bftm_budget_give(&t->budget, size);
err_count:
	atomic_dec(&t->count);
	return NULL;
}

struct bftm_place bftm_objects_place(struct bftm_objects *t, const struct bftm_order_msg *req)
{
	u64 key = siphash(req->name, req->name_len, &t->secret);

	return (struct bftm_place) {
		.key = key,
		.shard = &t->shard[key >> (64 - BFTM_OBJECT_SHARD_BITS)],
		.bucket = &t->bucket[key >> t->shift],
	};
}

struct bftm_thing *bftm_objects_find(struct bftm_objects *t, const struct bftm_place *at,
				     const struct bftm_order_msg *req)
{
	struct bftm_thing *e;

	lockdep_assert_held(&at->shard->lock);
	e = object_find(at->bucket, req);
	return e || req->type == BFTM_ORDER_FETCH ? e : object_add(t, at, req);
}

/* Nobody was told anything that would be forgotten with it. */
static bool says_nothing(const struct bftm_thing *e)
{
	const struct bftm_object *o = &e->object;

	return !e->upload_count && !o->max.count && !o->told.count && !o->sc && !o->sp &&
	       !(o->pend && o->pend->count);
}

void bftm_objects_forget(struct bftm_objects *t, struct bftm_thing *e)
{
	if (e && says_nothing(e))
		free_thing(t, e);
}

int bftm_objects_walk(struct bftm_objects *t, long pos[2],
		      int (*each)(const struct bftm_thing *e, void *arg), void *arg)
{
	const struct bftm_thing *e;
	int err = 0;

	for (; pos[0] < BFTM_OBJECT_SHARDS; pos[0]++, pos[1] = 0) {
		struct bftm_object_shard *s = &t->shard[pos[0]];

		for (; pos[1] <= t->mask; pos[1]++) {
			if (hlist_empty(&s->bucket[pos[1]]))
				continue;
			spin_lock_bh(&s->lock);
			hlist_for_each_entry(e, &s->bucket[pos[1]], hash) {
				err = each(e, arg);
				if (err)
					break;
			}
			spin_unlock_bh(&s->lock);
			if (err)
				return err;
		}
		cond_resched();
	}
	return 0;
}

/* The object of the least key from @from on. */
static struct bftm_thing *object_next(const struct hlist_head *bucket, u64 from)
{
	struct bftm_thing *e, *next = NULL;

	hlist_for_each_entry(e, bucket, hash)
		if (e->key >= from && (!next || e->key < next->key))
			next = e;
	return next;
}

/* Return: as bftm_objects_list(), 0 at the end of the bucket. */
static u64 bucket_list(const struct hlist_head *bucket, u64 from, struct bftm_page *page)
{
	const struct bftm_thing *e;

	while ((e = object_next(bucket, from))) {
		if (!bftm_page_add(page, &e->object, e->name, e->name_len))
			return e->key;
		from = e->key + 1;
		if (!from)
			break;		/* that was the last key there is */
	}
	return 0;
}

/* Buckets that are looked into for one page, most of which have one object or none. */
#define PAGE_BUCKETS	4096u

u64 bftm_objects_list(struct bftm_objects *t, u64 from, struct bftm_page *page)
{
	u32 buckets = BFTM_OBJECT_SHARDS * (t->mask + 1), at = (u32)(from >> t->shift);
	u32 end = min(at + PAGE_BUCKETS, buckets);
	u64 next;

	for (; at < end; at++) {
		struct bftm_object_shard *s = &t->shard[at / (t->mask + 1)];

		if (hlist_empty(&t->bucket[at]))
			continue;
		spin_lock(&s->lock);
		next = bucket_list(&t->bucket[at], from, page);
		spin_unlock(&s->lock);
		if (next)
			return next;
	}
	return at < buckets ? (u64)at << t->shift : 0;
}
