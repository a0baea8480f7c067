/* SPDX-License-Identifier: GPL-2.0 */
/* The content of queues and logs: entries one behind the other, each le32 len and bytes. */
#ifndef BFTM_OBJECT_LIST_H
#define BFTM_OBJECT_LIST_H

#include "types/object.h"

/**
 * struct bftm_list_entry - an entry
 * @at:   its offset
 * @size: its bytes with the length before them
 * @data: its bytes
 * @len:  bytes of @data
 */
struct bftm_list_entry {
	u32 at;
	u32 size;
	const u8 *data;
	u32 len;
};

/** bftm_entry_get() - the entry at @at; false when there is none */
bool bftm_entry_get(const u8 *state, u32 state_len, u32 at, struct bftm_list_entry *ret);

/** bftm_entry_count() - number of entries; -EBADMSG when the bytes are no entries */
int64_t bftm_entry_count(const u8 *state, u32 state_len);

/** bftm_entry_append() - append @call->rest as an entry; status */
u32 bftm_entry_append(struct bftm_object_call *call);

/** bftm_respond_count() - a number as the answer */
u32 bftm_respond_count(struct bftm_object_call *call, u64 count);

#endif /* BFTM_OBJECT_LIST_H */
