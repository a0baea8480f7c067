// SPDX-License-Identifier: GPL-2.0
/* Bytes that become numbers, so that models compare numbers. */
#include <stdlib.h>

#include "model.h"

u64 lin_mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static u64 hash_of(const u8 *data, u32 len)
{
	u64 hash = lin_mix(len + 1);
	u32 i;

	for (i = 0; i < len; i++)
		hash = lin_mix(hash + data[i] + 1);
	return hash;
}

static void grow(struct lin_texts *texts)
{
	u32 i, at, size = texts->size ? 2 * texts->size : 1024;

	texts->size = size;
	texts->table = realloc(texts->table, size * sizeof(*texts->table));
	texts->text = realloc(texts->text, size / 2 * sizeof(*texts->text));
	if (!texts->table || !texts->text)
		abort();
	memset(texts->table, 0, size * sizeof(*texts->table));
	for (i = 0; i < texts->count; i++) {
		for (at = texts->text[i].hash & (size - 1); texts->table[at];)
			at = (at + 1) & (size - 1);
		texts->table[at] = i + 1;
	}
}

u32 lin_text(struct lin_texts *texts, const void *data, u32 len)
{
	u64 hash = hash_of(data, len);
	struct lin_text *text;
	u32 at;

	if (2 * (texts->count + 1) > texts->size)
		grow(texts);
	if (!texts->count && len)
		lin_text(texts, "", 0);
	for (at = hash & (texts->size - 1); texts->table[at]; at = (at + 1) & (texts->size - 1)) {
		text = &texts->text[texts->table[at] - 1];
		if (text->hash == hash && text->len == len && !memcmp(text->data, data, len))
			return texts->table[at] - 1;
	}
	text = &texts->text[texts->count];
	*text = (struct lin_text){ .data = malloc(len + 1), .len = len, .hash = hash };
	if (!text->data)
		abort();
	memcpy(text->data, data, len);
	text->data[len] = '\0';
	texts->table[at] = ++texts->count;
	return texts->count - 1;
}
