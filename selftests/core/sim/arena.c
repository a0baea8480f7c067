// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "arena.h"

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size < ARENA_BLOCK)
		size = ARENA_BLOCK;
	b = malloc(sizeof(*b) + size);
	if (!b) {
		fprintf(stderr, "bftmutex-sim: out of memory\n");
		abort();
	}
	b->next = NULL;
	b->size = size;
	return b;
}

void *arena_take(struct arena *a, size_t size)
{
	void *p;

	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	while (!a->current || a->used + size > a->current->size) {
		struct arena_block **link = a->current ? &a->current->next : &a->first;

		/* A block that is too small for this is left out, once. */
		if (!*link)
			*link = block_new(size);
		a->current = *link;
		a->used = 0;
	}
	p = (char *)a->current->data + a->used;
	a->used += size;
	return memset(p, 0, size);
}

void arena_free(struct arena *a)
{
	struct arena_block *b;

	while ((b = a->first)) {
		a->first = b->next;
		free(b);
	}
	a->current = NULL;
}
