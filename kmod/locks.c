// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an entry is made, used and freed under its shard's lock, and no
 * pointer to it, or to its queue, leaves that lock. The timer of a shard runs
 * under the same lock, but for the moment of a send: it holds no pointer then,
 * and begins with the first entry afterwards.
 *
 * Who steps, and so arms timers and makes entries, is the receive path alone.
 * bftm_locks_stop() comes when that has left: a timer that was cancelled is
 * armed by nobody any more.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "clock.h"
#include "compat.h"
#include "debug.h"
#include "server.h"

/*
 * A lock that nobody has is kept for a while: its tombs keep late messages
 * from being granted.
 */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)

/*
 * Entries looked at in one run of a shard's timer, or freed in one go. All shards may be
 * due at once: with 64, who asked meanwhile waited for up to 40 ms, with 8 for 3 ms.
 */
#define TIMER_BATCH 8
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
		hrtimer_start(&s->timer, bftm_clock_timer(e->due.expires),
			      HRTIMER_MODE_ABS_SOFT);
}

static void reclaim(struct bftm_shard *s, struct bftm_entry *e)
{
	lockdep_assert_held(&s->lock);
	/* Neither grant numbers nor tokens come again. */
	if (e->lock.gno > s->gno)
		s->gno = e->lock.gno;
	if (e->lock.hi != BFTM_TOKEN_UNKNOWN && e->lock.hi > s->hi)
		s->hi = e->lock.hi;
	bftm_waiters_free(s, e);
	timerqueue_del(&s->due, &e->due);
	hlist_del(&e->hash);
	atomic_dec(&s->table->count);
	bftm_destroyed("lock", e);
	bftm_entry_free(e);
}

/*
 * Take back what is over and grant it to the next, then forget what has been
 * idle for long. Nobody waits for a lock that has no owner: the core grants it
 * to a waiter as soon as it takes it from its owner.
 */
static void look_at(struct bftm_shard *s, struct bftm_entry *e, u64 now,
		    struct bftm_msg *push)
{
	if (bftm_lock_expire(&s->table->server->cfg, &e->lock, now, push))
		atomic64_inc(&s->table->expired);
	if (push->type != BFTM_MSG_NONE) {
		push->name_len = e->name_len;
		memcpy(push->name, e->name, e->name_len);
	}
	if (!bftm_lock_waited(&e->lock))
		bftm_waiters_free(s, e);
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
	struct bftm_entry *e;
	struct bftm_msg push;
	u64 now;
	int i;

	spin_lock(&s->lock);
	now = bftm_clock_ns();
	for (i = 0; i < TIMER_BATCH; i++) {
		e = first_due(s);
		if (!e || e->due.expires > now)
			break;
		look_at(s, e, now, &push);
		if (push.type == BFTM_MSG_NONE)
			continue;
		/*
		 * The entry is back in the queue, and @e is not used again. The
		 * shard and the server live until this callback was waited for.
		 * Others may step meanwhile: what they queue first arms the
		 * timer for that time, and all that is due later stays so.
		 */
		spin_unlock(&s->lock);
		bftm_server_push(s->table->server, &push);
		spin_lock(&s->lock);
		now = bftm_clock_ns();	/* the core's runs forwards */
	}
	e = first_due(s);
	/* Queued meanwhile by requeue()? Then it is armed already. */
	if (e && !hrtimer_is_queued(timer)) {
		/* Not at once: other softirqs have their turn between batches. */
		now = max_t(u64, e->due.expires, now + TIMER_PAUSE_NS);
		hrtimer_set_expires(timer, bftm_clock_timer(now));
		again = HRTIMER_RESTART;
	}
	spin_unlock(&s->lock);
	return again;
}

struct bftm_locks *bftm_locks_new(struct bftm_server *server, u64 gno)
{
	u32 max = server->param.max_locks;
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
	t->server = server;
	t->max = max;
	t->room_max = max(BFTM_QUEUE_ROOM * max, server->param.max_waiters);
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

void bftm_locks_stop(struct bftm_locks *t)
{
	int i;

	for (i = 0; i < BFTM_SHARDS; i++)
		hrtimer_cancel(&t->shard[i].timer);
}

void bftm_locks_destroy(struct bftm_locks *t)
{
	struct bftm_entry *e;
	int i, n;

	for (i = 0; i < BFTM_SHARDS; i++) {
		struct bftm_shard *s = &t->shard[i];

		/* There may be 2^18 of them: packets want this CPU meanwhile. */
		do {
			spin_lock_bh(&s->lock);
			for (n = 0; n < TIMER_BATCH && (e = first_due(s)); n++)
				reclaim(s, e);
			spin_unlock_bh(&s->lock);
			cond_resched();
		} while (n == TIMER_BATCH);
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
	if (e && !bftm_lock_owned(&e->lock, now) &&
	    !bftm_lock_waited(&e->lock)) {
		reclaim(s, e);
		return true;
	}
	atomic_dec(&s->table->count);
	return false;
}

/* No token above it was stamped for any lock that is not in this shard. */
static u64 known_hi(struct bftm_shard *s)
{
	u64 floor = bftm_server_floor(s->table->server);

	lockdep_assert_held(&s->lock);
	return floor == BFTM_TOKEN_UNKNOWN ? floor : max(floor, s->hi);
}

static struct bftm_entry *add(struct bftm_shard *s, struct hlist_head *bucket,
			      const struct bftm_msg *req, u64 now)
{
	struct bftm_entry *e;

	if (!make_room(s, now))
		return NULL;
	e = bftm_entry_alloc(req->name_len);
	if (!e) {
		atomic_dec(&s->table->count);
		return NULL;
	}
	bftm_lock_init(&e->lock, s->gno, known_hi(s));
	timerqueue_init(&e->due);
	e->name_len = req->name_len;
	memcpy(e->name, req->name, req->name_len);
	hlist_add_head(&e->hash, bucket);
	bftm_created("lock", e);
	return e;
}

static bool step(struct bftm_shard *s, struct bftm_entry *e,
		 const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
		 u64 now, struct bftm_msg *reply, struct bftm_msg *push)
{
	u64 gno = e->lock.gno;

	if (e->lock.hi == BFTM_TOKEN_UNKNOWN)
		bftm_lock_learn(&e->lock, known_hi(s));
	if (bftm_lock_lacks_room(&e->lock, req, now))
		bftm_waiters_enlarge(s, e, cfg->waiters_max);
	bftm_server_step(cfg, &e->lock, req, now, reply, push);
	/* Known to the server before anybody can hear of it. */
	if (reply->type == BFTM_MSG_SACK)
		bftm_server_stamped(s->table->server, reply->gno);
	e->touched_ns = now;
	requeue(s, e);
	return e->lock.gno != gno;
}

bool bftm_locks_step(struct bftm_locks *t, const struct bftm_server_cfg *cfg,
		     struct bftm_client *c, const struct bftm_msg *req,
		     struct bftm_msg *reply, struct bftm_msg *push)
{
	u64 hash = siphash(req->name, req->name_len, &t->secret);
	struct bftm_shard *s = &t->shard[hash >> (64 - BFTM_SHARD_BITS)];
	struct hlist_head *bucket = &s->bucket[hash & t->mask];
	struct bftm_entry *e;
	bool granted = false;
	u64 now;

	spin_lock(&s->lock);
	/* Read under the lock: the core's clock never runs backwards. */
	now = bftm_clock_ns();
	/*
	 * It was new, but this processor may have stood still on the way here. Others have
	 * then obeyed the client's next incarnation, which begins above the window and counts
	 * on what it was answered: a YIELD of the last one would free a grant of this one.
	 */
	if (!bftm_client_holds(c, req->seq)) {
		reply->type = BFTM_MSG_NONE;
		push->type = BFTM_MSG_NONE;
		goto out;
	}
	e = find(bucket, req);
	if (!e && bftm_server_needs(cfg, req))
		e = add(s, bucket, req, now);
	if (e) {
		granted = step(s, e, cfg, req, now, reply, push);
	} else if (bftm_server_needs(cfg, req)) {
		bftm_refuse(req, reply, BFTM_REFUSED_LOCKS);
		push->type = BFTM_MSG_NONE;
	} else {
		bftm_server_step(cfg, NULL, req, now, reply, push);
	}
out:
	spin_unlock(&s->lock);
	return granted;
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
