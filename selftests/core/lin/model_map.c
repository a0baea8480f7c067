// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "model.h"

#define KEY_MAX 255

static bool parse(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
		  struct lin_call *call)
{
	const u8 *key, *old;
	u32 key_len, old_len;

	if (!strcmp(word, "list")) {
		call->kind = LIN_LIST;
		call->value = lin_text(texts, rest ?: (const u8 *)"", len);
		return true;
	}
	if (!lin_word(&rest, &len, &key, &key_len) || !key_len || key_len > KEY_MAX ||
	    memchr(key, '\n', key_len))
		return false;
	call->key = lin_text(texts, key, key_len);
	if (!strcmp(word, "get") || !strcmp(word, "delete")) {
		call->kind = *word == 'g' ? LIN_READ : LIN_DELETE;
		return !rest;
	}
	if (!strcmp(word, "cas")) {
		call->kind = LIN_CAS;
		if (!lin_word(&rest, &len, &old, &old_len))
			return false;
		call->old = lin_text(texts, old, old_len);
	} else if (!strcmp(word, "set")) {
		call->kind = LIN_WRITE;
	} else {
		return false;
	}
	if (rest)
		call->value = lin_text(texts, rest, len);
	return rest;
}

/* Does the answer go on with these bytes? */
static bool goes_on(const struct lin_text *answer, u32 *at, const void *data, u32 len)
{
	if (answer->len - *at < len || memcmp(answer->data + *at, data, len))
		return false;
	*at += len;
	return true;
}

static bool list(const struct lin_state *state, const struct lin_call *call)
{
	const struct lin_text *text = state->texts->text, *answer = &text[call->answer];
	const struct lin_text *prefix = &text[call->value], *key, *value;
	u32 i, at = 0;

	if (call->pending)
		return true;
	if (!lin_says(call, 0, -1))
		return false;
	for (i = 0; i < state->keys; i++) {
		key = &text[state->key[i]];
		if (state->value[state->key[i]] < 0 || key->len < prefix->len ||
		    memcmp(key->data, prefix->data, prefix->len))
			continue;
		value = &text[state->value[state->key[i]]];
		if (!goes_on(answer, &at, key->data, key->len) || !goes_on(answer, &at, " ", 1) ||
		    !goes_on(answer, &at, value->data, value->len) ||
		    !goes_on(answer, &at, "\n", 1))
			return false;
	}
	return at == answer->len;
}

static bool step(struct lin_state *state, const struct lin_call *call, struct lin_undo *undo)
{
	int64_t value = state->value[call->key];
	u32 bytes = value < 0 ? 0 : (u32)value;

	if (call->kind == LIN_LIST)
		return list(state, call);
	if (call->kind == LIN_CAS && call->old != bytes)
		return lin_says(call, ESTALE, bytes);
	if ((call->kind == LIN_READ || call->kind == LIN_DELETE) && value < 0)
		return lin_says(call, ENODATA, -1);
	if (call->kind == LIN_READ)
		return lin_says(call, 0, value);
	if (!lin_says(call, 0, 0))
		return false;
	lin_put(state, call->key, call->kind == LIN_DELETE ? LIN_ABSENT : call->value, undo);
	return true;
}

const struct lin_model lin_map = { "map", parse, step };
