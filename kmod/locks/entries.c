// SPDX-License-Identifier: GPL-2.0
/* The memory of locks. */
#include <linux/slab.h>

#include "locks/locks.h"

/*
 * The memory of a lock with a short name, held or idle: 22 of them are in a page. In the
 * backoff protocol such a name has up to 15 bytes.
 */
#define SHORT_SIZE 184

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

struct bftm_entry *bftm_entry_alloc(size_t size)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;

	return size <= SHORT_SIZE ? kmem_cache_alloc(short_cache, gfp) : kmalloc(size, gfp);
}

void bftm_entry_free(struct bftm_entry *e, size_t size)
{
	if (size <= SHORT_SIZE)
		kmem_cache_free(short_cache, e);
	else
		kfree(e);
}
