// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of requests, and of attempts with their clients in the core, which is cleared when it
 * is allocated. Their sizes are between two sizes of kmalloc(): objects of caches of their own take
 * less room, and less of it is to be cleared.
 */
#include <linux/slab.h>

#include "client/fast.h"
#include "client/request.h"
#include "core/protocol.h"

static struct kmem_cache *request_cache;

/** struct attempts - memory of attempts in clusters of up to @n servers */
static struct attempts {
	u32 n;
	size_t room;		/* of an attempt's client */
	struct kmem_cache *cache;
} attempts[] = { { .n = 4 }, { .n = 7 }, { .n = 13 }, { .n = BFTM_SERVERS_MAX } };

static int __init attempts_init(struct attempts *a)
{
	char name[sizeof("bftm_attempt_4294967295")];
	size_t i;

	for (i = 0; bftm_protocols[i]; i++)
		a->room = max(a->room, bftm_protocols[i]->client->size(a->n));
	snprintf(name, sizeof(name), "bftm_attempt_%u", a->n);
	a->cache = kmem_cache_create(name, sizeof(struct bftm_fast) + a->room, 0, SLAB_ACCOUNT,
				     NULL);
	return a->cache ? 0 : -ENOMEM;
}

int __init bftm_requests_init(void)
{
	size_t i;

	request_cache = kmem_cache_create("bftm_request", sizeof(struct bftm_request), 0,
					  SLAB_ACCOUNT, NULL);
	if (!request_cache)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		if (attempts_init(&attempts[i])) {
			bftm_requests_exit();
			return -ENOMEM;
		}
	return 0;
}

void bftm_requests_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		kmem_cache_destroy(attempts[i].cache);
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

/* Those that have room for such a client; the last have room for any. */
static const struct attempts *attempts_of(size_t room)
{
	const struct attempts *a = attempts;

	while (a->room < room)
		a++;
	return a;
}

struct bftm_fast *bftm_fast_alloc(size_t room)
{
	const struct attempts *a = attempts_of(room);
	struct bftm_fast *f = kmem_cache_zalloc(a->cache, GFP_KERNEL);

	if (!f)
		return NULL;
	f->room = a->room;
	f->host.client = (struct bftm_contender *)(f + 1);
	return f;
}

void bftm_fast_discard(struct bftm_fast *f)
{
	if (f)
		kmem_cache_free(attempts_of(f->room)->cache, f);
}
