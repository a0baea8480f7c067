// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions on a map: lines that are done in a copy, which becomes the map when all lines hold.
 * No other request sees the copy, so what a transaction read was committed, and what it wrote is
 * seen as a whole.
 */
#include <errno.h>

#include "types/map_txn.h"
#include "types/pairs.h"

/**
 * struct txn_line - a line of a transaction
 * @text:  its bytes, without the line feed
 * @len:   bytes of @text
 * @does:  its word
 * @key:   the key, @key_len bytes
 * @key_len: of @key
 * @value: of "if" and "set", @value_len bytes
 * @value_len: of @value
 */
struct txn_line {
	const u8 *text;
	u32 len;
	enum { IF, UNLESS, SET, DELETE } does;
	const u8 *key;
	u32 key_len;
	const u8 *value;
	u32 value_len;
};

/* Takes the next line off. The last line may end with a line feed. */
static bool line_next(const u8 **rest, u32 *len, struct txn_line *ret)
{
	const u8 *end;

	if (!*len)
		return false;
	end = memchr(*rest, '\n', *len);
	*ret = (struct txn_line){ .text = *rest, .len = end ? (u32)(end - *rest) : *len };
	*len -= ret->len + (end ? 1 : 0);
	*rest += ret->len + (end ? 1 : 0);
	return true;
}

static bool begins(const struct txn_line *line, const char *word)
{
	u32 len = (u32)strlen(word);

	return line->len > len && !memcmp(line->text, word, len) && line->text[len] == ' ';
}

/* Understands @text. */
static bool line_parse(struct txn_line *line)
{
	static const char *const words[] = {
		[IF] = "if", [UNLESS] = "unless", [SET] = "set", [DELETE] = "delete",
	};
	const u8 *space;
	u32 i, rest;

	for (i = 0; i < sizeof(words) / sizeof(words[0]) && !begins(line, words[i]); i++)
		;
	if (i == sizeof(words) / sizeof(words[0]))
		return false;
	line->does = i;
	line->key = line->text + strlen(words[i]) + 1;
	rest = line->len - (u32)strlen(words[i]) - 1;
	space = memchr(line->key, ' ', rest);
	line->key_len = space ? (u32)(space - line->key) : rest;
	if (space) {
		line->value = space + 1;
		line->value_len = rest - line->key_len - 1;
	}
	return bftm_map_is_key(line->key, line->key_len) &&
	       (line->does == IF || line->does == SET) == (space != NULL);
}

/* Does one line in the map @state, which has room for it. False: the line does not hold. */
static bool line_do(const struct txn_line *line, u8 *state, u32 *state_len)
{
	struct bftm_map_place place;
	u32 add = 0;

	bftm_map_find(state, *state_len, line->key, line->key_len, &place);
	if (line->does == UNLESS)
		return !place.size;
	if (line->does == IF)
		return place.size && place.value.len == line->value_len &&
		       (!line->value_len ||
			!memcmp(place.value.data, line->value, line->value_len));
	if (line->does == DELETE && !place.size)
		return false;
	if (line->does == SET)
		add = bftm_map_write(NULL, line->key, line->key_len, line->value, line->value_len);
	memmove(state + place.at + add, state + place.at + place.size,
		*state_len - place.at - place.size);
	*state_len += add - place.size;
	if (add)
		bftm_map_write(state + place.at, line->key, line->key_len, line->value,
			       line->value_len);
	return true;
}

/* A malformed line is found before any line is done. Adds up what may be added to the map. */
static u32 check_lines(struct bftm_object_call *call, u64 *ret_room)
{
	const u8 *rest = call->rest;
	u32 len = call->rest_len, number = 0;
	struct txn_line line;

	while (line_next(&rest, &len, &line)) {
		number++;
		if (!line_parse(&line))
			return bftm_bad_request(call, "txn, line %u: must be if K V, unless K, set K V or delete K, where K is 1 to %u bytes without space and newline",
						number, BFTM_MAP_KEY_MAX);
		if (line.does == SET)
			*ret_room += bftm_map_write(NULL, line.key, line.key_len, line.value,
						    line.value_len);
	}
	if (!number)
		return bftm_bad_request(call, "txn: a line or more is needed: if K V, unless K, set K V, delete K");
	return 0;
}

/* A line may find no room in the answer: then the status says enough. */
static u32 refuse(struct bftm_object_call *call, const struct txn_line *line)
{
	return bftm_respond(call, line->text, line->len) == ENOMEM ? ENOMEM : ESTALE;
}

static u32 do_lines(struct bftm_object_call *call, struct bftm_bytes *copy)
{
	const u8 *rest = call->rest;
	u32 len = call->rest_len, status;
	bool writes = false;
	struct txn_line line;
	u8 *place;

	while (line_next(&rest, &len, &line)) {
		if (!line_parse(&line) || !line_do(&line, copy->data, &copy->len))
			return refuse(call, &line);
		writes |= line.does == SET || line.does == DELETE;
	}
	if (!writes)
		return 0;
	status = bftm_replace(call, 0, call->state_len, copy->len, &place);
	if (!status && copy->len)
		memcpy(place, copy->data, copy->len);
	return status;
}

u32 bftm_map_txn(struct bftm_object_call *call)
{
	u64 room = (u64)call->state_len + 1;
	struct bftm_bytes copy = {};
	u32 status = check_lines(call, &room);

	if (status)
		return status;
	if (room > UINT32_MAX / 4 || !bftm_bytes_add(&copy, NULL, (u32)room))
		return ENOMEM;
	copy.len = call->state_len;
	if (copy.len)
		memcpy(copy.data, call->state, copy.len);
	status = do_lines(call, &copy);
	bftm_bytes_free(&copy);
	return status;
}
