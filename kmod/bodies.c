// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a body belongs to who holds a reference to it. Those of an object
 * (σc, σpc, pending operations, uploads) are taken and put under its shard's lock,
 * those of who looks at a body without that lock by himself. What a step drops is
 * put after the lock is.
 */
#include <crypto/blake2s.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "bodies.h"

bool bftm_budget_take(struct bftm_budget *b, size_t bytes, bool fresh)
{
	if (atomic64_add_return(bytes, &b->used) <= (fresh ? b->fresh : b->most))
		return true;
	bftm_budget_give(b, bytes);
	return false;
}

struct bftm_stored *bftm_stored_new(struct bftm_budget *b, const struct bftm_body_id *id,
				    gfp_t gfp)
{
	size_t cost = bftm_stored_size(id->len);
	struct bftm_stored *s;

	/* Operations have no version. */
	if (!bftm_budget_take(b, cost, !id->version))
		return ERR_PTR(-EDQUOT);
	s = kvmalloc(struct_size(s, data, id->len), gfp | __GFP_NOWARN);
	if (!s) {
		bftm_budget_give(b, cost);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&s->refs, 1);
	s->budget = b;
	s->next = NULL;
	s->kept = false;
	s->body.id = *id;
	s->body.data = s->data;
	return s;
}

void bftm_stored_put(struct bftm_stored *s)
{
	if (!s || !refcount_dec_and_test(&s->refs))
		return;
	bftm_budget_give(s->budget, bftm_stored_size(s->body.id.len));
	kvfree(s);
}

bool bftm_digest_ok(const struct bftm_body_id *id, const u8 *data)
{
	struct blake2s_state state;
	u8 digest[BLAKE2S_HASH_SIZE];

	static_assert(sizeof(digest) == sizeof(id->digest));
	blake2s_init(&state, sizeof(digest));
	blake2s_update(&state, data, id->len);
	blake2s_final(&state, digest);
	/* No secret: whoever sends the bytes has told the digest. */
	return !memcmp(digest, id->digest, sizeof(digest));
}
