// SPDX-License-Identifier: GPL-2.0
/*
 * The content of a map or a log, entry by entry. Responses have a line for each entry, but an entry
 * may contain newlines; so each line that may begin an entry is checked by a request of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/object.h"
#include "text/json.h"

/* Number of times that an object which changes meanwhile is read again. */
#define TRIES 8

static int read_refused(const struct object *o, u32 status)
{
	return ctl_fail(1, "object '%s': %s", o->name, object_refusal(status));
}

static void add_pair(struct json_object *pairs, const char *key, size_t key_len,
		     const struct bftmutex_response *value)
{
	struct json_object *pair = json_object_new_object();

	bftm_json_add_bytes(pair, "key", key, key_len);
	bftm_json_add_bytes(pair, "value", value->data, value->len);
	json_object_array_add(pairs, pair);
}

/* Adds the pair, if the line begins with a key. */
static int read_pair(struct object *o, const char *key, size_t len, struct json_object *pairs)
{
	struct bftmutex_response r = {};
	char request[4 + 256];
	int code;

	if (len > sizeof(request) - 4)
		return 0;
	memcpy(request, "get ", 4);
	memcpy(request + 4, key, len);
	code = object_ask(o, request, len + 4, &r);
	if (!code && !r.status)
		add_pair(pairs, key, len, &r);
	else if (!code && r.status != ENODATA && r.status != EINVAL)
		code = read_refused(o, r.status);
	free(r.data);
	return code;
}

static bool is_above(const char *key, size_t len, const char *before, size_t before_len)
{
	int r = memcmp(key, before, len < before_len ? len : before_len);

	return r > 0 || (!r && len > before_len);
}

/*
 * Each key begins a line, and keys ascend; other lines begin with no key, or with an earlier one.
 */
static int read_pairs(struct object *o, const struct bftmutex_response *list,
		      struct json_object *pairs)
{
	const char *at = list->data, *end = at + list->len, *space, *before = NULL;
	size_t before_len = 0, count;
	int code = 0;

	while (!code && at < end) {
		space = memchr(at, ' ', (size_t)(end - at));
		if (!space)
			break;
		count = json_object_array_length(pairs);
		if (!before || is_above(at, (size_t)(space - at), before, before_len))
			code = read_pair(o, at, (size_t)(space - at), pairs);
		if (json_object_array_length(pairs) > count) {
			before = at;
			before_len = (size_t)(space - at);
		}
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	return code;
}

static bool read_same(const struct bftmutex_response *a, const struct bftmutex_response *b)
{
	return a->status == b->status && a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static int read_list(struct object *o, struct bftmutex_response *ret)
{
	*ret = (struct bftmutex_response){};
	return object_ask(o, "list", 4, ret);
}

static int read_map(struct object *o, struct json_object **ret, u64 *ret_number)
{
	struct bftmutex_response before, after;
	struct json_object *pairs = NULL;
	int code = read_list(o, &before), try;

	/* If the list is the same before and after, it did not change meanwhile. */
	for (try = 0; !code && !before.status && try < TRIES; try++) {
		pairs = json_object_new_array();
		code = read_pairs(o, &before, pairs) ?: read_list(o, &after);
		if (code)
			break;
		if (read_same(&before, &after)) {
			free(before.data);
			before = after;
			break;
		}
		free(before.data);
		before = after;
		json_object_put(pairs);
		pairs = NULL;
	}
	if (!code && before.status && before.status != EMSGSIZE)
		code = read_refused(o, before.status);
	else if (!code && !before.status && !pairs)
		code = ctl_fail(EX_TEMPFAIL, "object '%s': it changes faster than it can be read",
				o->name);
	if (!code) {
		*ret = pairs;
		*ret_number = before.number;
	} else {
		json_object_put(pairs);
	}
	free(before.data);
	return code;
}

int object_read_entry(struct object *o, u64 number, struct bftmutex_response *ret)
{
	char request[64];
	int code;

	*ret = (struct bftmutex_response){};
	snprintf(request, sizeof(request), "read %" PRIu64 " 1", number);
	code = object_ask(o, request, strlen(request), ret);
	if (!code && ret->status)
		code = read_refused(o, ret->status);
	/* The newline at its end does not belong to the entry. */
	if (!code && ret->len)
		ret->len--;
	else if (!code)
		code = OBJECT_NO_ENTRY;
	if (code) {
		free(ret->data);
		ret->data = NULL;
	}
	return code;
}

/* Without newlines in entries, there are as many lines as entries. */
static bool read_split(const struct bftmutex_response *r, u64 count, struct json_object *entries)
{
	const char *at, *end = (const char *)r->data + r->len, *next;
	u64 lines = 0;

	for (at = r->data; at < end; at++)
		lines += *at == '\n';
	if (lines != count)
		return false;
	for (at = r->data; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		json_object_array_add(entries, bftm_json_bytes(at, (size_t)(next - at)));
	}
	return true;
}

static int read_log(struct object *o, u64 count, struct json_object **ret, u64 *ret_number)
{
	struct json_object *entries = json_object_new_array();
	struct bftmutex_response r = {};
	char request[64];
	bool whole;
	int code;
	u64 i;

	snprintf(request, sizeof(request), "read 0 %" PRIu64, count);
	code = object_ask(o, request, strlen(request), &r);
	if (!code && r.status && r.status != EMSGSIZE)
		code = read_refused(o, r.status);
	*ret_number = r.number;
	whole = !code && (r.status || read_split(&r, count, entries));
	if (!code && r.status) {
		json_object_put(entries);
		entries = NULL;
	}
	free(r.data);
	for (i = 0; !code && !whole && i < count; i++) {
		code = object_read_entry(o, i, &r);
		if (!code)
			json_object_array_add(entries, bftm_json_bytes(r.data, r.len));
		if (!code)
			free(r.data);
	}
	if (code == OBJECT_NO_ENTRY)
		code = ctl_fail(EX_TEMPFAIL, "object '%s': it was deleted and made again meanwhile", o->name);
	if (code)
		json_object_put(entries);
	else
		*ret = entries;
	return code;
}

int object_read_entries(struct object *o, const char *type, u64 count, struct json_object **ret,
			u64 *ret_number)
{
	*ret = NULL;
	if (!strcmp(type, "map"))
		return read_map(o, ret, ret_number);
	if (!strcmp(type, "log"))
		return read_log(o, count, ret, ret_number);
	return 0;
}
