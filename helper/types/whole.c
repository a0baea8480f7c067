// SPDX-License-Identifier: GPL-2.0
/* Types by their names, and the requests that are the same for all of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "types/object.h"

static const struct bftm_object_type *const builtin[BFTM_BUILTINS] = {
	[BFTM_BUILTIN_COUNTER] = &bftm_object_counter,
	[BFTM_BUILTIN_LOG] = &bftm_object_log,
	[BFTM_BUILTIN_MAP] = &bftm_object_map,
	[BFTM_BUILTIN_QUEUE] = &bftm_object_queue,
	[BFTM_BUILTIN_REGISTER] = &bftm_object_register,
};

#define BUILTIN "counter, log, map, queue, register"

const struct bftm_object_type *bftm_object_builtin(const char *name)
{
	enum bftm_builtin type = bftm_builtin_find(name);

	return type < BFTM_BUILTINS ? builtin[type] : NULL;
}

const char *bftm_object_type_of(const struct bftm_bytes *app)
{
	const char *name = (const char *)app->data;
	size_t len = app->len <= BFTM_TYPE_NAME_MAX ? app->len : BFTM_TYPE_NAME_MAX + 1;

	len = len ? strnlen(name, len) : 0;
	return len < app->len && bftm_type_name_ok(name, len) ? name : NULL;
}

enum bftm_object_kind bftm_object_kind(const u8 *app, u32 len)
{
	const struct bftm_bytes state = { .data = (u8 *)app, .len = len };
	const char *type = bftm_object_type_of(&state);

	if (!type)
		return BFTM_OBJECT_NONE;
	return bftm_object_builtin(type) ? BFTM_OBJECT_BUILTIN : BFTM_OBJECT_PROGRAM;
}

bool bftm_object_runs(const struct bftm_object_job *job, const char *type)
{
	return !bftm_object_builtin(type) && job->exec && job->exec->knows(job->exec, type);
}

bool bftm_object_knows(const struct bftm_object_job *job, const char *type)
{
	return bftm_object_builtin(type) || bftm_object_runs(job, type);
}

/* Copies the type of a "create", with a zero byte, to @ret; false: a bad name. */
static bool create_type(const struct bftm_object_call *call, char ret[BFTM_TYPE_NAME_MAX + 1])
{
	if (!call->rest || !bftm_type_name_ok((const char *)call->rest, call->rest_len))
		return false;
	memcpy(ret, call->rest, call->rest_len);
	ret[call->rest_len] = '\0';
	return true;
}

static u32 whole_create(struct bftm_object_job *job, struct bftm_object_call *call)
{
	char name[BFTM_TYPE_NAME_MAX + 1];
	const struct bftm_object_type *type;
	u32 init_len;
	const char *old;

	if (job->state.len) {
		old = bftm_object_type_of(&job->state);
		return old ? bftm_respond(call, old, strlen(old)) ?: EEXIST : EEXIST;
	}
	if (!create_type(call, name))
		return bftm_bad_request(call,
					"create: TYPE must be 1 to %u letters, digits and ._-",
					BFTM_TYPE_NAME_MAX);
	if (!bftm_object_knows(job, name))
		return bftm_bad_request(call, "create '%s': no such type; there are " BUILTIN
					" and those of the configuration", name);
	type = bftm_object_builtin(name);
	init_len = type ? type->init_len : 0;
	if (strlen(name) + 1 + (u64)init_len + call->spare > call->room)
		return EMSGSIZE;
	if (!bftm_bytes_add(&job->state, name, strlen(name) + 1) ||
	    (type && !bftm_bytes_add(&job->state, type->init, init_len))) {
		job->state.len = 0;
		return ENOMEM;
	}
	call->replaced = true;
	return 0;
}

/* Parses a number up to a space; the text behind it is left in @call->rest. */
static bool take_offset(struct bftm_object_call *call, u64 *ret)
{
	const u8 *word;
	int64_t value;
	u32 len;

	if (!bftm_next_word(call, &word, &len) || !bftm_read_number(word, len, &value) ||
	    value < 0)
		return false;
	*ret = (u64)value;
	return true;
}

/* A checksum that distinguishes the parts of one state from those of another. */
static u64 sum_of(const struct bftm_bytes *state)
{
	u64 sum = 0xcbf29ce484222325;	/* FNV-1a */
	u32 i;

	for (i = 0; i < state->len; i++)
		sum = (sum ^ state->data[i]) * 0x100000001b3;
	return sum;
}

/* "dump AT": "BYTES SUM\n" of the whole application part, and its bytes from AT on. */
static u32 whole_dump(struct bftm_object_job *job, struct bftm_object_call *call)
{
	u64 at, left = call->room > job->state.len ? call->room - job->state.len : 0;
	char head[48];
	u32 len, most = BFTM_DUMP_MAX;
	int n;

	if (!take_offset(call, &at) || call->rest)
		return bftm_bad_request(call, "dump: AT is missing, where to begin");
	if (at > job->state.len)
		return ERANGE;
	n = snprintf(head, sizeof(head), "%u %016" PRIx64 "\n", job->state.len,
		     sum_of(&job->state));
	if (most > left)
		most = (u32)left;
	if (most > call->answer_room)
		most = call->answer_room;
	len = job->state.len - (u32)at;
	if (most <= (u32)n && len)
		return EMSGSIZE;
	if (len > most - (u32)n)
		len = most - (u32)n;
	return bftm_respond(call, head, (u32)n) ?: bftm_respond(call, job->state.data + at, len);
}

/* "restore AT BYTES": the output of "dump", part after part; the first one makes the object. */
static u32 restore(struct bftm_object_job *job, struct bftm_object_call *call)
{
	struct bftm_bytes first = {};
	const char *type;
	u64 at;

	if (!take_offset(call, &at) || !call->rest_len)
		return bftm_bad_request(call, "restore: AT and BYTES are needed");
	if (!at && job->state.len)
		return EEXIST;
	if (at != job->state.len)
		return ESTALE;
	first.data = (u8 *)call->rest;
	first.len = call->rest_len;
	type = at ? NULL : bftm_object_type_of(&first);
	if (!at && (!type || !bftm_object_knows(job, type)))
		return bftm_bad_request(call, "restore: BYTES do not begin with the name of a type "
					"that is known here");
	if (job->state.len + (u64)call->rest_len + call->spare > call->room)
		return EMSGSIZE;
	if (!bftm_bytes_add(&job->state, call->rest, call->rest_len))
		return ENOMEM;
	call->replaced = true;
	return 0;
}

/* Earlier answers are still known, and the version continues. */
static u32 delete(struct bftm_object_job *job, struct bftm_object_call *call)
{
	job->state.len = 0;
	call->replaced = true;
	return 0;
}

bool bftm_object_makes_unknown(const struct bftm_object_job *job, struct bftm_object_call *call)
{
	char name[BFTM_TYPE_NAME_MAX + 1];
	struct bftm_bytes bytes = {};
	const char *type = NULL;
	u64 at;

	if (bftm_is(call, "create")) {
		type = create_type(call, name) ? name : NULL;
	} else if (bftm_is(call, "restore") && take_offset(call, &at) && call->rest) {
		bytes.data = (u8 *)call->rest;
		bytes.len = call->rest_len;
		type = bftm_object_type_of(&bytes);
	}
	return type && !bftm_object_knows(job, type);
}

bool bftm_object_whole(struct bftm_object_job *job, struct bftm_object_call *call, u32 *ret)
{
	const char *type = bftm_object_type_of(&job->state);

	if (bftm_is(call, "create"))
		*ret = whole_create(job, call);
	else if (bftm_is(call, "restore"))
		*ret = restore(job, call);
	else if (!job->state.len)
		*ret = ENOENT;
	else if (bftm_is(call, "dump"))
		*ret = whole_dump(job, call);
	else if (bftm_is(call, "delete-object") && !call->rest)
		*ret = delete(job, call);
	else if (!type)
		*ret = EBADMSG;
	else if (bftm_is(call, "type") && !call->rest)
		*ret = bftm_respond(call, type, strlen(type));
	else
		return false;
	return true;
}
