// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "store.h"

#define FIRST_SLOTS (1u << 16)

/* Address space now; the kernel gives pages when they are written to. */
static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		err(2, "no address space for %zu bytes", bytes);
	return p;
}

static u32 *new_slots(u64 slots)
{
	u32 *slot = reserve(slots * sizeof(*slot));

	memset(slot, 0xff, slots * sizeof(*slot));
	return slot;
}

void store_init(struct store *s, size_t length, u64 memory)
{
	/*
	 * The table is at most 2/3 full and doubles: up to 12 bytes a world,
	 * and half of that again while it is copied.
	 */
	u64 room = memory / (length + sizeof(*s->parent) + 18);

	memset(s, 0, sizeof(*s));
	s->length = length;
	s->room = room < STORE_NONE ? (u32)room : STORE_NONE - 1;
	s->packed = reserve((size_t)s->room * length);
	s->parent = reserve((size_t)s->room * sizeof(*s->parent));
	s->slots = FIRST_SLOTS;
	s->slot = new_slots(s->slots);
}

void store_exit(struct store *s)
{
	munmap(s->packed, (size_t)s->room * s->length);
	munmap(s->parent, (size_t)s->room * sizeof(*s->parent));
	munmap(s->slot, s->slots * sizeof(*s->slot));
}

/* Eight bytes at a time through the finaliser of splitmix64. */
static u64 hash(const u8 *packed, size_t length)
{
	u64 h = length, word;

	while (length) {
		size_t n = length < sizeof(word) ? length : sizeof(word);

		word = 0;
		memcpy(&word, packed, n);
		h = (h ^ word) + 0x9e3779b97f4a7c15u;
		h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
		h = (h ^ h >> 27) * 0x94d049bb133111ebu;
		h ^= h >> 31;
		packed += n;
		length -= n;
	}
	return h;
}

/* Where it is, or the empty slot where it should be. */
static u64 find(const struct store *s, const u8 *packed)
{
	u64 i = hash(packed, s->length) & (s->slots - 1);

	while (s->slot[i] != STORE_NONE &&
	       memcmp(store_get(s, s->slot[i]), packed, s->length))
		i = (i + 1) & (s->slots - 1);
	return i;
}

static void grow(struct store *s)
{
	u32 *old = s->slot, number;
	u64 slots = s->slots;

	s->slots *= 2;
	s->slot = new_slots(s->slots);
	for (number = 0; number < s->count; number++)
		s->slot[find(s, store_get(s, number))] = number;
	munmap(old, slots * sizeof(*old));
}

bool store_add(struct store *s, const u8 *packed, u32 parent, bool *full)
{
	u64 i = find(s, packed);

	if (s->slot[i] != STORE_NONE)
		return false;
	if (s->count == s->room) {
		*full = true;
		return false;
	}
	memcpy(s->packed + (size_t)s->count * s->length, packed, s->length);
	s->parent[s->count] = parent;
	s->slot[i] = s->count++;
	if (s->count > s->slots / 3 * 2)
		grow(s);
	return true;
}

u32 store_number(struct store *s, const u8 *packed)
{
	u64 i = find(s, packed);
	bool full = false;

	if (s->slot[i] != STORE_NONE)
		return s->slot[i];
	store_add(s, packed, STORE_NONE, &full);
	if (full)
		errx(3, "no room for a part of a world");
	return s->count - 1;
}

u64 store_bytes(const struct store *s)
{
	return s->count * (s->length + sizeof(*s->parent)) +
	       s->slots * sizeof(*s->slot);
}
