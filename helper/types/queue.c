// SPDX-License-Identifier: GPL-2.0
/* A queue: first in, first out. ENODATA when it is empty. */
#include <errno.h>

#include "types/list.h"

static u32 first(struct bftm_object_call *call, bool remove)
{
	struct bftm_list_entry entry;
	u32 status;
	u8 *place;

	if (!bftm_entry_get(call->state, call->state_len, 0, &entry))
		return ENODATA;
	status = bftm_respond(call, entry.data, entry.len);
	if (!status && remove)
		status = bftm_replace(call, 0, entry.size, 0, &place);
	return status;
}

static u32 queue_apply(struct bftm_object_call *call)
{
	int64_t count = bftm_entry_count(call->state, call->state_len);

	if (count < 0)
		return EBADMSG;
	if (bftm_is(call, "push"))
		return call->rest ? bftm_entry_append(call) :
				    bftm_bad_request(call, "push: VALUE is missing");
	if (bftm_is(call, "pop") && !call->rest)
		return first(call, true);
	if (bftm_is(call, "peek") && !call->rest)
		return first(call, false);
	if (bftm_is(call, "len") && !call->rest)
		return bftm_respond_count(call, count);
	return bftm_unknown_request(call, &bftm_object_queue);
}

const struct bftm_object_type bftm_object_queue = {
	.type = BFTM_BUILTIN_QUEUE,
	.requests = "push VALUE, pop, peek, len",
	.apply = queue_apply,
};
