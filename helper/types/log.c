// SPDX-License-Identifier: GPL-2.0
/* A log: entries are appended, numbered from 0, and never removed. */
#include <errno.h>
#include <inttypes.h>

#include "types/list.h"

static u32 append(struct bftm_object_call *call, u64 count)
{
	if (!call->rest)
		return bftm_bad_request(call, "append: VALUE is missing");
	return bftm_respond_count(call, count) ?: bftm_entry_append(call);
}

/* Parses a number of read; false after an answer with the mistake. */
static bool log_number(struct bftm_object_call *call, const char *what, int64_t *ret)
{
	const u8 *word = NULL;
	u32 len = 0;

	if (bftm_next_word(call, &word, &len) && bftm_read_number(word, len, ret) && *ret >= 0)
		return true;
	bftm_bad_request(call, "read: %s '%.*s': must be 0 to %" PRId64, what,
			 (int)(len < 32 ? len : 32), word ? (const char *)word : "", INT64_MAX);
	return false;
}

/* Answers with a line for each entry; FROM may be an entry that is still to come. */
static u32 log_get(struct bftm_object_call *call)
{
	int64_t from, most = INT64_MAX;
	struct bftm_list_entry entry;
	u32 at = 0, status = 0;

	if (!log_number(call, "FROM", &from) || (call->rest && !log_number(call, "COUNT", &most)))
		return EINVAL;
	if (call->rest)
		return bftm_bad_request(call, "read: FROM and COUNT are all it takes");
	while (!status && most && bftm_entry_get(call->state, call->state_len, at, &entry)) {
		at += entry.size;
		if (from-- > 0)
			continue;
		most--;
		status = bftm_respond(call, entry.data, entry.len) ?: bftm_respond(call, "\n", 1);
	}
	return status;
}

static u32 log_apply(struct bftm_object_call *call)
{
	int64_t count = bftm_entry_count(call->state, call->state_len);

	if (count < 0)
		return EBADMSG;
	if (bftm_is(call, "append"))
		return append(call, count);
	if (bftm_is(call, "read"))
		return log_get(call);
	if (bftm_is(call, "len") && !call->rest)
		return bftm_respond_count(call, count);
	return bftm_unknown_request(call, &bftm_object_log);
}

const struct bftm_object_type bftm_object_log = {
	.type = BFTM_BUILTIN_LOG,
	.requests = "append VALUE, read FROM [COUNT], len",
	.apply = log_apply,
};
