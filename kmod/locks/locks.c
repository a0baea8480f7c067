// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an entry is made, used and freed under its shard's lock, and no
 * pointer to it, or to its queue, leaves that lock. The timer of a shard runs
 * under the same lock, but for the moment of a send: it holds no pointer then,
 * and begins with the first entry afterwards.
 *
 * The receive path alone steps locks and makes entries. It arms timers, as the walks of members.c
 * do, which drop grants. bftm_locks_stop() is called when both have ended: a timer that it
 * cancels is armed by nobody any more.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "compat.h"
#include "debug.h"
#include "locks/locks.h"
#include "server/server.h"
#include "time/clock.h"

/*
 * A lock that nobody has is kept for a while: its tombs keep late messages
 * from being granted.
 */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)
/* When one that keeps a value is looked at again, after that. */
#define KEPT_NS (50 * BFTM_NS_PER_SEC)

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
static u64 due_at(const struct bftm_shard *s, const struct bftm_entry *e)
{
	return s->table->ops->deadline(e->state) ?: e->touched_ns + IDLE_NS;
}

/* An entry that is queued too early is only looked at once for nothing. */
void bftm_shard_requeue(struct bftm_shard *s, struct bftm_entry *e)
{
	bool first;

	lockdep_assert_held(&s->lock);
	if (!RB_EMPTY_NODE(&e->due.node)) {
		if (e->due.expires <= due_at(s, e))
			return;
		timerqueue_del(&s->due, &e->due);
	}
	e->due.expires = due_at(s, e);
	first = timerqueue_add(&s->due, &e->due);
	if (first)
		hrtimer_start(&s->timer, bftm_clock_timer(e->due.expires),
			      HRTIMER_MODE_ABS_SOFT);
}

static void reclaim(struct bftm_shard *s, struct bftm_entry *e)
{
	struct bftm_lock_view view;

	lockdep_assert_held(&s->lock);
	s->table->ops->describe(e->state, &view);
	/* Neither grant numbers nor tokens come again. */
	if (view.grant > s->gno)
		s->gno = view.grant;
	if (view.token_max != BFTM_TOKEN_UNKNOWN && view.token_max > s->hi)
		s->hi = view.token_max;
	bftm_waiters_free(s, e);
	timerqueue_del(&s->due, &e->due);
	hlist_del(&e->hash);
	atomic_dec(&s->table->count);
	bftm_destroyed("lock", e);
	bftm_entry_free(e, bftm_entry_size(s->table, *bftm_entry_name(s->table, e)));
}

/*
 * Does the entry keep a value that clients would miss? Such an entry stays while half of the room
 * is free: locks in use need the room more.
 */
static bool keeps(const struct bftm_shard *s, const struct bftm_entry *e)
{
	const struct bftm_locks *t = s->table;

	return t->ops->keeps && t->ops->keeps(e->state) &&
	       atomic_read(&t->count) <= t->max / 2 && atomic_read(&t->room) <= t->room_max / 2;
}

static void put_name(struct bftm_msg *msg, const u8 *name)
{
	msg->name_len = *name;
	memcpy(msg->name, name + 1, *name);
}

/*
 * Take back what is over and grant it to the next, then forget what has been idle for long. Nobody
 * waits for a lock that has no owner: the core grants it to a waiter as soon as it takes it from
 * its owner. Where it can do more than one thing it does one at a time, and is due again at once.
 */
static void look_at(struct bftm_shard *s, struct bftm_entry *e, u64 now,
		    struct bftm_msg *push)
{
	const u8 *name = bftm_entry_name(s->table, e);
	struct bftm_server_cfg cfg = s->table->server->cfg;
	struct bftm_lock_view view;

	put_name(push, name);
	cfg.recovering = bftm_server_recovers(s->table->server, push);
	if (s->table->ops->expire(&cfg, e->state, now, push))
		bftm_count(s->table->server, EXPIRED);
	if (push->type != BFTM_MSG_NONE)
		put_name(push, name);
	s->table->ops->describe(e->state, &view);
	if (!view.places)
		bftm_waiters_free(s, e);
	if (due_at(s, e) <= now && s->table->ops->idle(e->state, now) && !keeps(s, e)) {
		reclaim(s, e);
		return;
	}
	/* It keeps a value; or its protocol has no leases, so no deadlines for what is held. */
	if (due_at(s, e) <= now)
		e->touched_ns = now + (keeps(s, e) ? KEPT_NS : 0);
	timerqueue_del(&s->due, &e->due);
	e->due.expires = due_at(s, e);
	timerqueue_add(&s->due, &e->due);
}

static enum hrtimer_restart shard_timer(struct hrtimer *timer)
{
	struct bftm_shard *s = container_of(timer, struct bftm_shard, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	struct bftm_entry *e;
	struct bftm_msg push __uninitialized;
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
		bftm_locks_push(s->table->server, &push);
		spin_lock(&s->lock);
		now = bftm_clock_ns();	/* the core's runs forwards */
	}
	e = first_due(s);
	/* Queued meanwhile by bftm_shard_requeue()? Then it is armed already. */
	if (e && !hrtimer_is_queued(timer)) {
		/* Not at once: other softirqs have their turn between batches. */
		now = max_t(u64, e->due.expires, now + TIMER_PAUSE_NS);
		hrtimer_set_expires(timer, bftm_clock_timer(now));
		again = HRTIMER_RESTART;
	}
	spin_unlock(&s->lock);
	return again;
}

struct bftm_locks *bftm_locks_new(struct bftm_server *server,
				  const struct bftm_server_ops *ops, u64 gno)
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
	t->ops = ops;
	t->max = max;
	t->room_max = max(BFTM_WAITERS_EACH * max,
			  server->param.max_waiters + server->param.max_holders);
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

static struct bftm_entry *entry_find(struct bftm_locks *t, struct hlist_head *bucket,
				     const struct bftm_msg *req)
{
	struct bftm_entry *e;
	const u8 *name;

	hlist_for_each_entry(e, bucket, hash) {
		name = bftm_entry_name(t, e);
		if (*name == req->name_len && !memcmp(name + 1, req->name, req->name_len))
			return e;
	}
	return NULL;
}

/* Is there room for one more, if need be in place of an idle one here? */
static bool make_room(struct bftm_shard *s, u64 now)
{
	struct bftm_entry *e;

	if (atomic_inc_return(&s->table->count) <= s->table->max)
		return true;
	e = first_due(s);
	if (e && s->table->ops->idle(e->state, now)) {
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

static struct bftm_entry *entry_add(struct bftm_shard *s, struct hlist_head *bucket,
				    const struct bftm_msg *req, u64 now)
{
	struct bftm_entry *e;
	u8 *name;

	if (!make_room(s, now))
		return NULL;
	e = bftm_entry_alloc(bftm_entry_size(s->table, req->name_len));
	if (!e) {
		atomic_dec(&s->table->count);
		return NULL;
	}
	s->table->ops->init(e->state, s->gno, known_hi(s));
	timerqueue_init(&e->due);
	name = bftm_entry_name(s->table, e);
	*name = req->name_len;
	memcpy(name + 1, req->name, req->name_len);
	hlist_add_head(&e->hash, bucket);
	bftm_created("lock", e);
	return e;
}

struct bftm_shard *bftm_locks_enter(struct bftm_locks *t, const struct bftm_msg *req, bool make,
				    struct bftm_client *c, u64 *now, struct bftm_entry **ret)
{
	u32 hash = hsiphash(req->name, req->name_len, &t->secret);
	struct bftm_shard *s = &t->shard[hash >> (32 - BFTM_SHARD_BITS)];
	struct hlist_head *bucket = &s->bucket[hash & t->mask];

	spin_lock(&s->lock);
	/* Read under the lock: the core's clock never runs backwards. */
	*now = bftm_clock_ns();
	/*
	 * The request was new, but this processor may have stood still on the way here. Meanwhile
	 * others may have obeyed the client's next incarnation, whose numbers begin above the
	 * window and which relies on its answers: a YIELD of the last incarnation would free a
	 * grant of the next.
	 */
	if (!bftm_client_holds(c, req->seq)) {
		spin_unlock(&s->lock);
		return NULL;
	}
	*ret = entry_find(t, bucket, req);
	if (*ret) {
		if (!t->ops->knows((*ret)->state))
			t->ops->learn((*ret)->state, known_hi(s));
	} else if (make) {
		*ret = entry_add(s, bucket, req, *now);
	}
	__release(&s->lock);	/* for sparse: bftm_locks_leave() unlocks it */
	return s;
}

void bftm_locks_leave(struct bftm_shard *s, struct bftm_entry *e, u64 now)
{
	__acquire(&s->lock);	/* likewise: it is locked */
	if (e) {
		e->touched_ns = now;
		bftm_shard_requeue(s, e);
	}
	spin_unlock(&s->lock);
}

int bftm_locks_walk(struct bftm_locks *t, long pos[2],
		    int (*each)(struct bftm_shard *s, struct bftm_entry *e, void *arg),
		    void *arg)
{
	struct bftm_entry *e;
	int err = 0;

	for (; pos[0] < BFTM_SHARDS; pos[0]++, pos[1] = 0) {
		struct bftm_shard *s = &t->shard[pos[0]];

		/* A bucket that is seen empty below is so for all that were stepped before this. */
		if (!pos[1]) {
			spin_lock_bh(&s->lock);
			spin_unlock_bh(&s->lock);
		}
		for (; pos[1] <= t->mask; pos[1]++) {
			if (!(pos[1] & 1023))
				cond_resched();
			if (hlist_empty(&s->bucket[pos[1]]))
				continue;
			spin_lock_bh(&s->lock);
			hlist_for_each_entry(e, &s->bucket[pos[1]], hash) {
				err = each(s, e, arg);
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

u32 bftm_locks_count(const struct bftm_server *server)
{
	u32 sum = 0;
	int i;

	for (i = 0; bftm_protocols[i]; i++)
		sum += atomic_read(&server->locks[i]->count);
	return sum;
}
