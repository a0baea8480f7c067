// SPDX-License-Identifier: GPL-2.0
/* A counter: a signed number of 64 bits, le64. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "types/object.h"

static u32 respond_number(struct bftm_object_call *call, int64_t value)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%" PRId64, value);

	return bftm_respond(call, text, len);
}

static u32 counter_add(struct bftm_object_call *call, int64_t value)
{
	__le64 le_value;
	int64_t more;
	u32 status;
	u8 *place;

	if (!bftm_read_number(call->rest, call->rest_len, &more))
		return bftm_bad_request(call, "add '%.*s': must be %" PRId64 " to %" PRId64,
					(int)(call->rest_len < 32 ? call->rest_len : 32),
					(const char *)call->rest ?: "", INT64_MIN, INT64_MAX);
	if (__builtin_add_overflow(value, more, &value))
		return ERANGE;
	status = respond_number(call, value);
	if (!status)
		status = bftm_replace(call, 0, sizeof(le_value), sizeof(le_value), &place);
	if (status)
		return status;
	le_value = cpu_to_le64((u64)value);
	memcpy(place, &le_value, sizeof(le_value));
	return 0;
}

static u32 counter_apply(struct bftm_object_call *call)
{
	__le64 le_value;
	int64_t value;

	if (call->state_len != sizeof(le_value))
		return EBADMSG;
	memcpy(&le_value, call->state, sizeof(le_value));
	value = (int64_t)le64_to_cpu(le_value);

	if (bftm_is(call, "get") && !call->rest)
		return respond_number(call, value);
	if (bftm_is(call, "add"))
		return counter_add(call, value);
	return bftm_unknown_request(call, &bftm_object_counter);
}

static const u8 zero[sizeof(__le64)];

const struct bftm_object_type bftm_object_counter = {
	.type = BFTM_BUILTIN_COUNTER,
	.requests = "add N, get",
	.init = zero,
	.init_len = sizeof(zero),
	.apply = counter_apply,
};
