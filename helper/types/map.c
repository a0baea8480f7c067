// SPDX-License-Identifier: GPL-2.0
/*
 * A map: keys without space and newline, in ascending order, each with a value.
 * Kept as entries of list.h: key, value, key, value. pairs.c finds and writes them.
 */
#include <errno.h>

#include "types/map_txn.h"
#include "types/pairs.h"

/* Has the state only ascending pairs? */
static bool is_map(const struct bftm_object_call *call)
{
	struct bftm_list_entry key, value, before;
	u32 at = 0;

	while (bftm_map_pair(call->state, call->state_len, at, &key, &value)) {
		if (at && bftm_map_compare(&before, key.data, key.len) >= 0)
			return false;
		before = key;
		at = value.at + value.size;
	}
	return at == call->state_len;
}

/* Takes K from the request, and finds it. False after an answer about a bad one. */
static bool take_key(struct bftm_object_call *call, const u8 **ret, u32 *ret_len,
		     struct bftm_map_place *place)
{
	*ret_len = 0;
	if (!bftm_next_word(call, ret, ret_len) || !bftm_map_is_key(*ret, *ret_len)) {
		bftm_bad_request(call, "%.*s: a key is 1 to %u bytes without space and newline",
				 (int)call->word_len, (const char *)call->word,
				 BFTM_MAP_KEY_MAX);
		return false;
	}
	bftm_map_find(call->state, call->state_len, *ret, *ret_len, place);
	return true;
}

/* The rest of the request becomes the key's value. */
static u32 map_put(struct bftm_object_call *call, const u8 *key, u32 len,
		   const struct bftm_map_place *place)
{
	u32 status;
	u8 *to;

	if (!call->rest)
		return bftm_bad_request(call, "%.*s: the value is missing",
					(int)call->word_len, (const char *)call->word);
	status = bftm_replace(call, place->at, place->size,
			      bftm_map_write(NULL, key, len, call->rest, call->rest_len), &to);
	if (!status)
		bftm_map_write(to, key, len, call->rest, call->rest_len);
	return status;
}

/* A missing key counts as one with an empty value. */
static u32 compare_and_set(struct bftm_object_call *call, const u8 *key, u32 len,
			   const struct bftm_map_place *place)
{
	const u8 *old;
	u32 old_len;

	if (!bftm_next_word(call, &old, &old_len) || !call->rest)
		return bftm_bad_request(call,
					"cas: K, OLD and NEW are needed, OLD without a space");
	if (old_len == place->value.len &&
	    (!old_len || !memcmp(old, place->value.data, old_len)))
		return map_put(call, key, len, place);
	return bftm_respond(call, place->value.data, place->value.len) ?: ESTALE;
}

/* Answers with a line for each key with the prefix: key, space, value. */
static u32 map_list(struct bftm_object_call *call)
{
	struct bftm_list_entry key, value;
	u32 at = 0, status = 0;

	for (; !status && bftm_map_pair(call->state, call->state_len, at, &key, &value);
	     at = value.at + value.size) {
		if (key.len < call->rest_len ||
		    (call->rest_len && memcmp(key.data, call->rest, call->rest_len)))
			continue;
		status = bftm_respond(call, key.data, key.len) ?: bftm_respond(call, " ", 1) ?:
			 bftm_respond(call, value.data, value.len) ?: bftm_respond(call, "\n", 1);
	}
	return status;
}

static u32 map_apply(struct bftm_object_call *call)
{
	bool get = bftm_is(call, "get"), delete = bftm_is(call, "delete");
	bool set = bftm_is(call, "set"), cas = bftm_is(call, "cas");
	struct bftm_map_place place;
	const u8 *key;
	u32 len;
	u8 *to;

	if (!is_map(call))
		return EBADMSG;
	if (bftm_is(call, "list"))
		return map_list(call);
	if (bftm_is(call, "txn"))
		return bftm_map_txn(call);
	if (!get && !delete && !set && !cas)
		return bftm_unknown_request(call, &bftm_object_map);
	if (!take_key(call, &key, &len, &place))
		return EINVAL;
	if (set)
		return map_put(call, key, len, &place);
	if (cas)
		return compare_and_set(call, key, len, &place);
	if (call->rest)
		return bftm_bad_request(call, "%s: a key is all it takes", get ? "get" : "delete");
	if (!place.size)
		return ENODATA;
	return get ? bftm_respond(call, place.value.data, place.value.len) :
		     bftm_replace(call, place.at, place.size, 0, &to);
}

const struct bftm_object_type bftm_object_map = {
	.type = BFTM_BUILTIN_MAP,
	.requests = "set K V, get K, delete K, cas K OLD NEW, list [PREFIX], txn LINES",
	.apply = map_apply,
};
