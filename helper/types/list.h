/* SPDX-License-Identifier: GPL-2.0 */
/* Entries one behind the other, each le32 len and bytes: what queues and logs keep. */
#ifndef BFTM_OBJECT_LIST_H
#define BFTM_OBJECT_LIST_H

#include "types/object.h"

/**
 * struct bftm_list_entry - one of them
 * @at:   where it begins, of @size bytes with its length
 * @data: @len bytes
 */
struct bftm_list_entry {
	u32 at;
	u32 size;
	const u8 *data;
	u32 len;
};

/** bftm_entry_get() - the one that begins at @at; false when there is none */
bool bftm_entry_get(const u8 *state, u32 state_len, u32 at, struct bftm_list_entry *ret);

/** bftm_entry_count() - how many; -EBADMSG when the bytes are no entries */
int64_t bftm_entry_count(const u8 *state, u32 state_len);

/** bftm_entry_append() - status of putting all of @call->rest at the end */
u32 bftm_entry_append(struct bftm_object_call *call);

/** bftm_respond_count() - a number as the answer */
u32 bftm_respond_count(struct bftm_object_call *call, u64 count);

#endif /* BFTM_OBJECT_LIST_H */
