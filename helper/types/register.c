// SPDX-License-Identifier: GPL-2.0
/* A register: any bytes, empty at first. */
#include <errno.h>

#include "types/object.h"

static u32 register_put(struct bftm_object_call *call)
{
	u32 status;
	u8 *place;

	if (!call->rest)
		return bftm_bad_request(call, "write: VALUE is missing");
	status = bftm_replace(call, 0, call->state_len, call->rest_len, &place);
	if (!status && call->rest_len)
		memcpy(place, call->rest, call->rest_len);
	return status;
}

/* The answer has the value when it differs from OLD. */
static u32 compare_and_set(struct bftm_object_call *call)
{
	const u8 *old;
	u32 len;

	if (!bftm_next_word(call, &old, &len) || !call->rest)
		return bftm_bad_request(call, "cas: OLD and NEW are needed, OLD without a space");
	if (len == call->state_len && (!len || !memcmp(old, call->state, len)))
		return register_put(call);
	return bftm_respond(call, call->state, call->state_len) ?: ESTALE;
}

/* The first VALUE is decided, and stays; the answer is what is decided. */
static u32 decide(struct bftm_object_call *call)
{
	if (!call->rest_len)
		return bftm_bad_request(call, "decide: VALUE of 1 byte or more is needed, since an empty register has decided nothing");
	if (call->state_len)
		return bftm_respond(call, call->state, call->state_len);
	return bftm_respond(call, call->rest, call->rest_len) ?: register_put(call);
}

static u32 register_apply(struct bftm_object_call *call)
{
	if (bftm_is(call, "read") && !call->rest)
		return bftm_respond(call, call->state, call->state_len);
	if (bftm_is(call, "write"))
		return register_put(call);
	if (bftm_is(call, "cas"))
		return compare_and_set(call);
	if (bftm_is(call, "decide"))
		return decide(call);
	return bftm_unknown_request(call, &bftm_object_register);
}

const struct bftm_object_type bftm_object_register = {
	.type = BFTM_BUILTIN_REGISTER,
	.requests = "read, write VALUE, cas OLD NEW, decide VALUE",
	.apply = register_apply,
};
