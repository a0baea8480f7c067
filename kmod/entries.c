// SPDX-License-Identifier: GPL-2.0
/* The memory of locks. */
#include <linux/slab.h>

#include "locks.h"

/*
 * What a lock costs, held or idle. The name begins in what would else be padding,
 * behind which struct_size() would begin to count.
 */
#define ENTRY_SIZE(name_len) \
	max_t(size_t, sizeof(struct bftm_entry), offsetof(struct bftm_entry, name) + (name_len))

/* Entries with names that short have a cache, of which 22 are in a page. */
#define SHORT_NAME 15
#define SHORT_SIZE ENTRY_SIZE(SHORT_NAME)
static_assert(offsetof(struct bftm_entry, name) + SHORT_NAME <= 184);

static struct kmem_cache *short_cache;

int __init bftm_entries_init(void)
{
	short_cache = kmem_cache_create("bftm_lock", SHORT_SIZE, 0, 0, NULL);
	return short_cache ? 0 : -ENOMEM;
}

void bftm_entries_exit(void)
{
	kmem_cache_destroy(short_cache);
}

struct bftm_entry *bftm_entry_alloc(u8 name_len)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;

	if (name_len <= SHORT_NAME)
		return kmem_cache_alloc(short_cache, gfp);
	return kmalloc(ENTRY_SIZE(name_len), gfp);
}

void bftm_entry_free(struct bftm_entry *e)
{
	if (e->name_len <= SHORT_NAME)
		kmem_cache_free(short_cache, e);
	else
		kfree(e);
}
