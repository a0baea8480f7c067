// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of requests, which is cleared when it is allocated. The size of a request, and that of
 * an attempt, is between two sizes of kmalloc(): objects of a cache of their own take less room,
 * and less of it is to be cleared.
 */
#include <linux/slab.h>

#include "client/fast.h"
#include "client/request.h"

static struct kmem_cache *request_cache, *fast_cache;

int __init bftm_requests_init(void)
{
	request_cache = kmem_cache_create("bftm_request", sizeof(struct bftm_request), 0,
					  SLAB_ACCOUNT, NULL);
	if (!request_cache)
		return -ENOMEM;
	fast_cache = kmem_cache_create("bftm_fast", sizeof(struct bftm_fast), 0, SLAB_ACCOUNT,
				       NULL);
	if (fast_cache)
		return 0;
	kmem_cache_destroy(request_cache);
	return -ENOMEM;
}

void bftm_requests_exit(void)
{
	kmem_cache_destroy(fast_cache);
	kmem_cache_destroy(request_cache);
}

struct bftm_request *bftm_request_alloc(void)
{
	return kmem_cache_zalloc(request_cache, GFP_KERNEL);
}

void bftm_request_discard(struct bftm_request *request)
{
	bftm_fast_discard(request->spare);
	kfree(request->value);
	kmem_cache_free(request_cache, request);
}

struct bftm_fast *bftm_fast_alloc(size_t room)
{
	struct bftm_fast *f = kmem_cache_zalloc(fast_cache, GFP_KERNEL);

	if (!f)
		return NULL;
	f->room = room;
	f->host.client = kzalloc(room, GFP_KERNEL_ACCOUNT);
	if (f->host.client)
		return f;
	kmem_cache_free(fast_cache, f);
	return NULL;
}

void bftm_fast_discard(struct bftm_fast *f)
{
	if (!f)
		return;
	kfree(f->host.client);
	kmem_cache_free(fast_cache, f);
}
