// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a client is added by the receive path and stays until its table
 * goes, which happens after the sockets are released and a grace period is
 * over. So a pointer found under RCU is good until the end of the read side,
 * and nothing counts references.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "debug.h"
#include "server/buckets.h"
#include "server/clients.h"

/* The memory of a client. */
#ifdef BFTM_USUAL_LOCKS
static_assert(sizeof(struct bftm_client) <= 256);
#endif

int bftm_clients_init(struct bftm_clients *t, u32 max)
{
	spin_lock_init(&t->lock);
	t->count = 0;
	t->max = max;
	t->bucket = bftm_buckets_new(max, &t->bits);
	return t->bucket ? 0 : -ENOMEM;
}

void bftm_clients_destroy(struct bftm_clients *t)
{
	struct hlist_node *next;
	struct bftm_client *c;
	u32 i;

	for (i = 0; i < 1u << t->bits; i++) {
		hlist_for_each_entry_safe(c, next, &t->bucket[i], hash) {
			bftm_destroyed("client", c);
			kfree_sensitive(c);
		}
		cond_resched();
	}
	kvfree(t->bucket);
}

static struct hlist_head *bucket_of(struct bftm_clients *t, u32 id)
{
	return &t->bucket[hash_32(id, t->bits)];
}

struct bftm_client *bftm_client_find(struct bftm_clients *t, u32 id)
{
	struct bftm_client *c;

	hlist_for_each_entry_rcu(c, bucket_of(t, id), hash,
				 lockdep_is_held(&t->lock))
		if (c->id == id)
			return c;
	return NULL;
}

struct bftm_client *bftm_client_add(struct bftm_clients *t, u32 id,
				    const struct bftm_client_keys *pair, u32 more)
{
	struct bftm_client *c;

	spin_lock_bh(&t->lock);
	c = bftm_client_find(t, id);
	if (c || t->count >= t->max + more)
		goto out;
	c = kzalloc(sizeof(*c), GFP_NOWAIT | __GFP_NOWARN);
	if (!c)
		goto out;
	c->id = id;
	c->pair = *pair;
	spin_lock_init(&c->lock);
	hlist_add_head_rcu(&c->hash, bucket_of(t, id));
	WRITE_ONCE(t->count, t->count + 1);
	bftm_created("client", c);
out:
	spin_unlock_bh(&t->lock);
	return c;
}

bool bftm_client_take(struct bftm_client *c, u64 seq, u64 now,
		      const struct bftm_address *from)
{
	bool fresh;

	spin_lock(&c->lock);
	fresh = bftm_window_take(&c->window, seq);
	c->received++;
	c->replayed += !fresh && c->replayed != S32_MAX;
	if (fresh)
		c->seen_ns = now;
	/*
	 * A request that a later one has overtaken may come from an address that the client has
	 * left.
	 */
	if (fresh && from && (seq == c->window.top || !c->address.family))
		c->address = *from;
	spin_unlock(&c->lock);
	return fresh;
}

bool bftm_client_behind(struct bftm_client *c, const struct bftm_msg *req,
			struct bftm_msg *reply)
{
	bool behind;

	spin_lock(&c->lock);
	behind = bftm_refuse_behind(&c->window, req, reply);
	spin_unlock(&c->lock);
	return behind;
}

bool bftm_client_holds(struct bftm_client *c, u64 seq)
{
	bool holds;

	spin_lock(&c->lock);
	holds = bftm_window_holds(&c->window, seq);
	spin_unlock(&c->lock);
	return holds;
}

u64 bftm_clients_newest(struct bftm_clients *t, u32 id)
{
	struct bftm_client *c;
	u64 newest = 0;

	rcu_read_lock();
	c = bftm_client_find(t, id);
	if (c) {
		spin_lock_bh(&c->lock);
		newest = c->window.top;
		spin_unlock_bh(&c->lock);
	}
	rcu_read_unlock();
	return newest;
}

struct bftm_address bftm_client_address(struct bftm_client *c)
{
	struct bftm_address address;

	spin_lock(&c->lock);
	address = c->address;
	spin_unlock(&c->lock);
	return address;
}
