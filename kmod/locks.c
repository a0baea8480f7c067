// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an entry is made, used and freed under its shard's lock, and no
 * pointer to it leaves that lock. The timer of a shard runs under the same
 * lock; bftm_locks_destroy() stops it after the sockets, which alone feed the
 * table, are gone.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "debug.h"
#include "locks.h"

/*
 * A lock that nobody has is kept for a while: its tombs keep late messages
 * from being granted.
 */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)

/* Entries looked at in one run of the timer, so that it never takes long. */
#define TIMER_BATCH 64
#define TIMER_PAUSE_NS (100 * BFTM_NS_PER_US)

static struct bftm_entry *first_due(struct bftm_shard *s)
{
	struct timerqueue_node *node = timerqueue_getnext(&s->due);

	return node ? container_of(node, struct bftm_entry, due) : NULL;
}

/* When this entry should be looked at again, if nothing happens to it. */
static u64 due_at(const struct bftm_entry *e)
{
	return e->lock.attempt ? e->lock.until_ns + 1 : e->touched_ns + IDLE_NS;
}

/* An entry that is queued too early is only looked at once for nothing. */
static void requeue(struct bftm_shard *s, struct bftm_entry *e)
{
	bool first;

	lockdep_assert_held(&s->lock);
	if (!RB_EMPTY_NODE(&e->due.node)) {
		if (e->due.expires <= due_at(e))
			return;
		timerqueue_del(&s->due, &e->due);
	}
	e->due.expires = due_at(e);
	first = timerqueue_add(&s->due, &e->due);
	if (first)
		hrtimer_start(&s->timer, e->due.expires, HRTIMER_MODE_ABS_SOFT);
}

static void reclaim(struct bftm_shard *s, struct bftm_entry *e)
{
	lockdep_assert_held(&s->lock);
	if (e->lock.gno > s->gno)
		s->gno = e->lock.gno;	/* grant numbers never come again */
	timerqueue_del(&s->due, &e->due);
	hlist_del(&e->hash);
	atomic_dec(&s->table->count);
	bftm_destroyed("lock", e);
	kfree(e);
}

/* Take back what is over, then forget what has been idle for long. */
static void look_at(struct bftm_shard *s, struct bftm_entry *e, u64 now)
{
	if (bftm_lock_expire(&e->lock, now))
		atomic64_inc(&s->table->expired);
	if (due_at(e) <= now) {
		reclaim(s, e);
		return;
	}
	timerqueue_del(&s->due, &e->due);
	e->due.expires = due_at(e);
	timerqueue_add(&s->due, &e->due);
}

static enum hrtimer_restart shard_timer(struct hrtimer *timer)
{
	struct bftm_shard *s = container_of(timer, struct bftm_shard, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	u64 now = ktime_get_boottime_ns();
	struct bftm_entry *e;
	int i;

	spin_lock(&s->lock);
	for (i = 0; i < TIMER_BATCH; i++) {
		e = first_due(s);
		if (!e || e->due.expires > now)
			break;
		look_at(s, e, now);
	}
	e = first_due(s);
	/* Queued meanwhile by requeue()? Then it is armed already. */
	if (e && !hrtimer_is_queued(timer)) {
		/* Not at once: other softirqs have their turn between batches. */
		hrtimer_set_expires(timer, max_t(u64, e->due.expires,
						 now + TIMER_PAUSE_NS));
		again = HRTIMER_RESTART;
	}
	spin_unlock(&s->lock);
	return again;
}

struct bftm_locks *bftm_locks_new(u32 max, u64 gno)
{
	u32 buckets = roundup_pow_of_two(DIV_ROUND_UP(max, BFTM_SHARDS));
	struct bftm_locks *t;
	int i;

	t = kvzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return NULL;
	t->bucket = kvcalloc(buckets, BFTM_SHARDS * sizeof(*t->bucket),
			     GFP_KERNEL);
	if (!t->bucket) {
		kvfree(t);
		return NULL;
	}
	t->max = max;
	t->mask = buckets - 1;
	get_random_bytes(&t->secret, sizeof(t->secret));
	for (i = 0; i < BFTM_SHARDS; i++) {
		struct bftm_shard *s = &t->shard[i];

		spin_lock_init(&s->lock);
		bftm_hrtimer_setup(&s->timer, shard_timer, CLOCK_BOOTTIME,
				   HRTIMER_MODE_ABS_SOFT);
		timerqueue_init_head(&s->due);
		s->gno = gno;
		s->table = t;
		s->bucket = t->bucket + (size_t)i * buckets;
	}
	bftm_created("locks", t);
	return t;
}

void bftm_locks_destroy(struct bftm_locks *t)
{
	struct bftm_entry *e;
	int i;

	for (i = 0; i < BFTM_SHARDS; i++) {
		struct bftm_shard *s = &t->shard[i];

		hrtimer_cancel(&s->timer);
		spin_lock_bh(&s->lock);
		while ((e = first_due(s)))
			reclaim(s, e);
		spin_unlock_bh(&s->lock);
		cond_resched();
	}
	bftm_destroyed("locks", t);
	kvfree(t->bucket);
	kvfree(t);
}

static struct bftm_entry *find(struct hlist_head *bucket,
			       const struct bftm_msg *req)
{
	struct bftm_entry *e;

	hlist_for_each_entry(e, bucket, hash)
		if (e->name_len == req->name_len &&
		    !memcmp(e->name, req->name, req->name_len))
			return e;
	return NULL;
}

/* Is there room for one more, if need be in place of an idle one here? */
static bool make_room(struct bftm_shard *s, u64 now)
{
	struct bftm_entry *e;

	if (atomic_inc_return(&s->table->count) <= s->table->max)
		return true;
	e = first_due(s);
	if (e && !bftm_lock_owned(&e->lock, now)) {
		reclaim(s, e);
		return true;
	}
	atomic_dec(&s->table->count);
	return false;
}

static struct bftm_entry *add(struct bftm_shard *s, struct hlist_head *bucket,
			      const struct bftm_msg *req, u64 now)
{
	struct bftm_entry *e;

	if (!make_room(s, now))
		return NULL;
	e = kmalloc(struct_size(e, name, req->name_len),
		    GFP_ATOMIC | __GFP_NOWARN);
	if (!e) {
		atomic_dec(&s->table->count);
		return NULL;
	}
	bftm_lock_init(&e->lock, s->gno);
	timerqueue_init(&e->due);
	e->name_len = req->name_len;
	memcpy(e->name, req->name, req->name_len);
	hlist_add_head(&e->hash, bucket);
	bftm_created("lock", e);
	return e;
}

void bftm_locks_step(struct bftm_locks *t, const struct bftm_server_cfg *cfg,
		     const struct bftm_msg *req, struct bftm_msg *reply)
{
	u64 hash = siphash(req->name, req->name_len, &t->secret);
	struct bftm_shard *s = &t->shard[hash >> (64 - BFTM_SHARD_BITS)];
	struct hlist_head *bucket = &s->bucket[hash & t->mask];
	struct bftm_entry *e;
	u64 now;

	spin_lock(&s->lock);
	/* Read under the lock: the core's clock never runs backwards. */
	now = ktime_get_boottime_ns();
	e = find(bucket, req);
	if (!e && req->type == BFTM_MSG_TRY) {
		e = add(s, bucket, req, now);
		if (!e) {
			bftm_refuse(req, reply, BFTM_REFUSED_LOCKS);
			goto out;
		}
	}
	bftm_server_step(cfg, e ? &e->lock : NULL, req, now, reply);
	if (e) {
		e->touched_ns = now;
		requeue(s, e);
	}
out:
	spin_unlock(&s->lock);
}

int bftm_locks_walk(struct bftm_locks *t, long pos[2],
		    int (*each)(const struct bftm_entry *e, void *arg),
		    void *arg)
{
	const struct bftm_entry *e;
	int err = 0;

	for (; pos[0] < BFTM_SHARDS; pos[0]++, pos[1] = 0) {
		struct bftm_shard *s = &t->shard[pos[0]];

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
