// SPDX-License-Identifier: GPL-2.0
/*
 * A map: keys without space and newline, in ascending order, each with a value.
 * Kept as entries of list.h: key, value, key, value.
 */
#include <errno.h>

#include "types/map.h"

static int map_compare(const struct bftm_list_entry *key, const u8 *other, u32 len)
{
	u32 common = key->len < len ? key->len : len;
	int r = common ? memcmp(key->data, other, common) : 0;

	return r ?: (key->len > len) - (key->len < len);
}

static bool get_pair(const u8 *state, u32 len, u32 at, struct bftm_list_entry *key,
		     struct bftm_list_entry *value)
{
	return bftm_entry_get(state, len, at, key) &&
	       bftm_entry_get(state, len, at + key->size, value);
}

/* Has the state only ascending pairs? */
static bool is_map(const struct bftm_object_call *call)
{
	struct bftm_list_entry key, value, before;
	u32 at = 0;

	while (get_pair(call->state, call->state_len, at, &key, &value)) {
		if (at && map_compare(&before, key.data, key.len) >= 0)
			return false;
		before = key;
		at = value.at + value.size;
	}
	return at == call->state_len;
}

void bftm_map_find(const u8 *state, u32 state_len, const u8 *name, u32 len,
		   struct bftm_map_place *ret)
{
	struct bftm_list_entry key, value;
	int order;

	*ret = (struct bftm_map_place){};
	while (get_pair(state, state_len, ret->at, &key, &value)) {
		order = map_compare(&key, name, len);
		if (order > 0)
			return;
		if (!order) {
			ret->value = value;
			ret->size = key.size + value.size;
			return;
		}
		ret->at = value.at + value.size;
	}
}

bool bftm_map_is_key(const u8 *name, u32 len)
{
	return len && len <= BFTM_MAP_KEY_MAX && !memchr(name, '\n', len);
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

static u8 *write_entry(u8 *to, const u8 *data, u32 len)
{
	__le32 le_len = cpu_to_le32(len);

	memcpy(to, &le_len, sizeof(le_len));
	if (len)
		memcpy(to + sizeof(le_len), data, len);
	return to + sizeof(le_len) + len;
}

u32 bftm_map_write(u8 *to, const u8 *key, u32 key_len, const u8 *value, u32 len)
{
	if (to)
		write_entry(write_entry(to, key, key_len), value, len);
	return 2 * sizeof(__le32) + key_len + len;
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

	for (; !status && get_pair(call->state, call->state_len, at, &key, &value);
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
