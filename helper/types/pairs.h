/* SPDX-License-Identifier: GPL-2.0 */
/* The pairs of a map, for map.c and map_txn.c. */
#ifndef BFTM_OBJECT_PAIRS_H
#define BFTM_OBJECT_PAIRS_H

#include "types/list.h"

/**
 * struct bftm_map_place - the place where a key is, or belongs
 * @at:    offset of its entries
 * @size:  bytes of both entries, 0 when the key is missing
 * @value: empty when the key is missing
 */
struct bftm_map_place {
	u32 at;
	u32 size;
	struct bftm_list_entry value;
};

/** bftm_map_compare() - the order of keys: less than, equal to or greater than 0 */
int bftm_map_compare(const struct bftm_list_entry *key, const u8 *other, u32 len);

/** bftm_map_pair() - the pair at @at; false when there is none */
bool bftm_map_pair(const u8 *state, u32 len, u32 at, struct bftm_list_entry *key,
		   struct bftm_list_entry *value);

/** bftm_map_find() - the place of the key @name in a map */
void bftm_map_find(const u8 *state, u32 state_len, const u8 *name, u32 len,
		   struct bftm_map_place *ret);

/** bftm_map_is_key() - may these bytes be a key? */
bool bftm_map_is_key(const u8 *name, u32 len);

/** bftm_map_write() - write a pair; returns the bytes that it takes. @to: NULL only counts */
u32 bftm_map_write(u8 *to, const u8 *key, u32 key_len, const u8 *value, u32 len);

#endif /* BFTM_OBJECT_PAIRS_H */
