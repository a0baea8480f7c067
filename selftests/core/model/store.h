/* SPDX-License-Identifier: GPL-2.0 */
/* The set of worlds that were reached, in the order in which they were. */
#ifndef BFTM_MODEL_STORE_H
#define BFTM_MODEL_STORE_H

#include "core/types.h"

#define STORE_NONE 0xffffffffu

/**
 * struct store - packed worlds of one length, each kept once and whole
 * @length:  bytes of each
 * @count:   how many there are
 * @room:    how many the memory allowed is enough for
 * @packed:  all of them, in the order of their numbers
 * @parent:  number of the one from which each was reached first
 * @slot:    hash table of numbers, open addressing; STORE_NONE is empty
 * @slots:   its size, a power of two
 *
 * Nothing is left to the luck of a fingerprint: worlds are compared in full.
 */
struct store {
	size_t length;
	u32 count;
	u32 room;
	u8 *packed;
	u32 *parent;
	u32 *slot;
	u64 slots;
};

/** store_init() - for worlds of @length bytes, with at most @memory bytes. */
void store_init(struct store *s, size_t length, u64 memory);

void store_exit(struct store *s);

/**
 * store_add() - is it new?
 * @full: set when it is and there is no room for it
 *
 * Return: true when it was new; its number is then s->count - 1.
 */
bool store_add(struct store *s, const u8 *packed, u32 parent, bool *full);

/** store_number() - of a packed world, which is added when it is new; exits without room for it. */
u32 store_number(struct store *s, const u8 *packed);

/** store_get() - the packed world of this number. */
static inline const u8 *store_get(const struct store *s, u32 number)
{
	return s->packed + (size_t)number * s->length;
}

/** store_bytes() - memory in use. */
u64 store_bytes(const struct store *s);

#endif /* BFTM_MODEL_STORE_H */
