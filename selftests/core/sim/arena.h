/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of one scenario: taken piece by piece, given back all at once. A
 * scenario is over within a third of a millisecond, malloc() would be felt.
 */
#ifndef BFTM_SIM_ARENA_H
#define BFTM_SIM_ARENA_H

#include <stdlib.h>
#include <string.h>

#include "core/types.h"

#define ARENA_BLOCK	(1u << 20)

/** struct arena_block - a piece of the arena, at least ARENA_BLOCK bytes */
struct arena_block {
	struct arena_block *next;
	size_t size;
	max_align_t data[];
};

/** struct arena - zeroed before first use */
struct arena {
	struct arena_block *first;
	struct arena_block *current;
	size_t used;
};

/** arena_take() - zeroed memory, until arena_reset(). Aborts when there is none. */
void *arena_take(struct arena *a, size_t size);

static inline void arena_reset(struct arena *a)
{
	a->current = a->first;
	a->used = 0;
}

void arena_free(struct arena *a);

#define arena_array(a, type, count) ((type *)arena_take((a), sizeof(type) * (size_t)(count)))

#endif /* BFTM_SIM_ARENA_H */
