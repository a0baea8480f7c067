// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a body belongs to who holds a reference to it. Those of an object
 * (σc, σpc, pending operations, uploads) are taken and put under its shard's lock,
 * and code that looks at a body without that lock has a reference of its own. A body that
 * a step drops is put after the lock is.
 */
#include <crypto/blake2s.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/overflow.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "objects/bodies.h"
#include "server/buckets.h"

bool bftm_budget_take(struct bftm_budget *b, size_t bytes, bool fresh)
{
	if (atomic64_add_return(bytes, &b->used) <= (fresh ? b->fresh : b->most))
		return true;
	bftm_budget_give(b, bytes);
	return false;
}

int bftm_shares_init(struct bftm_shares *t, u32 clients)
{
	spin_lock_init(&t->lock);
	t->bucket = bftm_buckets_new(clients, &t->bits);
	return t->bucket ? 0 : -ENOMEM;
}

void bftm_shares_destroy(struct bftm_shares *t)
{
	struct hlist_node *next;
	struct bftm_share *share;
	u32 i;

	for (i = 0; i < 1u << t->bits; i++) {
		hlist_for_each_entry_safe(share, next, &t->bucket[i], hash) {
			WARN_ON_ONCE(atomic64_read(&share->bytes) ||
				     atomic_read(&share->uploads) || share->held);
			kfree(share);
		}
		cond_resched();
	}
	kvfree(t->bucket);
}

static struct bftm_share *find_share(struct hlist_head *bucket, u32 client)
{
	struct bftm_share *share;

	hlist_for_each_entry_rcu(share, bucket, hash)
		if (share->client == client)
			return share;
	return NULL;
}

struct bftm_share *bftm_share_get(struct bftm_shares *t, u32 client)
{
	struct hlist_head *bucket = &t->bucket[hash_32(client, t->bits)];
	struct bftm_share *share;

	rcu_read_lock();
	share = find_share(bucket, client);
	if (share)
		goto out;
	spin_lock_bh(&t->lock);
	share = find_share(bucket, client);
	if (!share) {
		share = kzalloc(sizeof(*share), GFP_NOWAIT | __GFP_NOWARN);
		if (share) {
			share->client = client;
			hlist_add_head_rcu(&share->hash, bucket);
		}
	}
	spin_unlock_bh(&t->lock);
out:
	rcu_read_unlock();
	return share;
}

static bool share_take(struct bftm_share *share, size_t bytes, u64 most)
{
	if (!share || atomic64_add_return(bytes, &share->bytes) <= most)
		return true;
	atomic64_sub(bytes, &share->bytes);
	return false;
}

static void share_give(struct bftm_share *share, size_t bytes)
{
	if (share)
		atomic64_sub(bytes, &share->bytes);
}

struct bftm_stored *bftm_stored_new(struct bftm_budget *b, struct bftm_share *share,
				    const struct bftm_body_id *id, gfp_t gfp)
{
	size_t cost = bftm_stored_size(id->len);
	struct bftm_stored *s;

	if (!share_take(share, cost, b->each))
		return ERR_PTR(-ENOBUFS);
	/* Operations have no version. */
	if (!bftm_budget_take(b, cost, !id->version)) {
		share_give(share, cost);
		return ERR_PTR(-EDQUOT);
	}
	s = kvmalloc(struct_size(s, data, id->len), gfp | __GFP_NOWARN);
	if (!s) {
		bftm_budget_give(b, cost);
		share_give(share, cost);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&s->refs, 1);
	s->budget = b;
	s->share = share;
	s->next = NULL;
	s->kept = false;
	s->body.id = *id;
	s->body.data = s->data;
	return s;
}

void bftm_stored_settle(struct bftm_stored *s)
{
	if (!s)
		return;
	share_give(s->share, bftm_stored_size(s->body.id.len));
	s->share = NULL;
}

void bftm_stored_put(struct bftm_stored *s)
{
	if (!s || !refcount_dec_and_test(&s->refs))
		return;
	bftm_stored_settle(s);
	bftm_budget_give(s->budget, bftm_stored_size(s->body.id.len));
	kvfree(s);
}

bool bftm_digest_ok(const struct bftm_body_id *id, const u8 *data)
{
	struct bftm_blake2s state;
	u8 digest[BLAKE2S_HASH_SIZE];

	static_assert(sizeof(digest) == sizeof(id->digest));
	blake2s_init(&state, sizeof(digest));
	blake2s_update(&state, data, id->len);
	blake2s_final(&state, digest);
	/* No secret: whoever sends the bytes has told the digest. */
	return !memcmp(digest, id->digest, sizeof(digest));
}
