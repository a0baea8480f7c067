// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "types/list.h"

bool bftm_entry_get(const u8 *state, u32 state_len, u32 at, struct bftm_list_entry *ret)
{
	__le32 len;

	if (at > state_len || state_len - at < sizeof(len))
		return false;
	memcpy(&len, state + at, sizeof(len));
	if (le32_to_cpu(len) > state_len - at - sizeof(len))
		return false;
	ret->at = at;
	ret->len = le32_to_cpu(len);
	ret->size = sizeof(len) + ret->len;
	ret->data = state + at + sizeof(len);
	return true;
}

int64_t bftm_entry_count(const u8 *state, u32 state_len)
{
	struct bftm_list_entry entry;
	int64_t count = 0;
	u32 at = 0;

	while (bftm_entry_get(state, state_len, at, &entry)) {
		at += entry.size;
		count++;
	}
	return at == state_len ? count : -EBADMSG;
}

u32 bftm_entry_append(struct bftm_object_call *call)
{
	__le32 len = cpu_to_le32(call->rest_len);
	u32 status;
	u8 *place;

	status = bftm_replace(call, call->state_len, 0, sizeof(len) + call->rest_len, &place);
	if (status)
		return status;
	memcpy(place, &len, sizeof(len));
	if (call->rest_len)
		memcpy(place + sizeof(len), call->rest, call->rest_len);
	return 0;
}

u32 bftm_respond_count(struct bftm_object_call *call, u64 count)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%" PRIu64, count);

	return bftm_respond(call, text, len);
}
