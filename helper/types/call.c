// SPDX-License-Identifier: GPL-2.0
/* Functions for types of objects: words of a request, answer, state. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "types/object.h"

bool bftm_is(const struct bftm_object_call *call, const char *word)
{
	return call->word_len == strlen(word) && !memcmp(call->word, word, call->word_len);
}

bool bftm_next_word(struct bftm_object_call *call, const u8 **ret, u32 *ret_len)
{
	const u8 *space;

	if (!call->rest)
		return false;
	space = call->rest_len ? memchr(call->rest, ' ', call->rest_len) : NULL;
	*ret = call->rest;
	*ret_len = space ? (u32)(space - call->rest) : call->rest_len;
	call->rest_len -= *ret_len + !!space;
	call->rest = space ? space + 1 : NULL;
	return true;
}

bool bftm_read_number(const u8 *text, u32 len, int64_t *ret)
{
	bool negative = len && text[0] == '-';
	u64 value = 0, max = negative ? 1ull << 63 : INT64_MAX;
	u32 i;

	if (len == (negative ? 1 : 0))
		return false;
	for (i = negative; i < len; i++) {
		u32 digit = text[i] - (u32)'0';

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = negative ? (int64_t)-value : (int64_t)value;
	return true;
}

u32 bftm_respond(struct bftm_object_call *call, const void *data, u32 len)
{
	if (len > call->answer_room - call->response.len)
		return EMSGSIZE;
	return bftm_bytes_add(&call->response, data, len) ? 0 : ENOMEM;
}

u32 bftm_replace(struct bftm_object_call *call, u32 at, u32 remove, u32 add, u8 **ret)
{
	struct bftm_bytes *app = call->app;
	u32 from = call->state_at + at, behind = app->len - from - remove;
	u32 spare = add > remove ? call->spare : 0;
	u8 *place;

	assert(!call->replaced && at <= call->state_len && remove <= call->state_len - at);
	if ((u64)app->len - remove + add + call->response.len + spare > call->room)
		return EMSGSIZE;
	if (add > remove && !bftm_bytes_add(app, NULL, add - remove))
		return ENOMEM;
	if (add < remove)
		app->len -= remove - add;
	place = app->data + from;
	memmove(place + add, place + remove, behind);
	call->replaced = true;
	*ret = place;
	return 0;
}

u32 bftm_bad_request(struct bftm_object_call *call, const char *format, ...)
{
	char words[BFTM_OBJECT_WORDS_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	if (len >= (int)sizeof(words))
		len = sizeof(words) - 1;
	call->response.len = 0;
	/* Words that find no room may be left out: the status says enough. */
	if (len > 0)
		bftm_respond(call, words, len);
	return EINVAL;
}

u32 bftm_unknown_request(struct bftm_object_call *call, const struct bftm_object_type *type)
{
	return bftm_bad_request(call, "'%.*s': a %s knows %s, type",
				(int)(call->word_len < 32 ? call->word_len : 32),
				(const char *)call->word, bftm_builtin_name[type->type], type->requests);
}
