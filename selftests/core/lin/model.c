// SPDX-License-Identifier: GPL-2.0
/* Shared by all objects: creation, states, words. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"

/* Base of the rolling hash of lists, modulo 2^64; odd, so that it has an inverse. */
#define BASE 0x9e3779b97f4a7c15u

static const struct lin_model *const models[] = {
	&lin_register, &lin_counter, &lin_map, &lin_queue, &lin_log,
};

const struct lin_model *lin_model_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strlen(models[i]->name) == len && !memcmp(models[i]->name, name, len))
			return models[i];
	return NULL;
}

bool lin_word(const u8 **rest, u32 *len, const u8 **ret, u32 *ret_len)
{
	const u8 *space;

	if (!*rest)
		return false;
	space = memchr(*rest, ' ', *len);
	*ret = *rest;
	*ret_len = space ? (u32)(space - *rest) : *len;
	*len = space ? *len - *ret_len - 1 : 0;
	*rest = space ? space + 1 : NULL;
	return true;
}

bool lin_number(const u8 *text, u32 len, int64_t *ret)
{
	char copy[24];
	long long value;
	char *end;
	u32 digits = len && text[0] == '-' ? 1 : 0;

	/* Zeroes in front of a long number are more than anybody writes. */
	if (len == digits || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strspn(copy + digits, "0123456789") != len - digits)
		return false;
	errno = 0;
	value = strtoll(copy, &end, 10);
	*ret = value;
	return !errno;
}

void lin_parse(const struct lin_model *model, struct lin_texts *texts, struct lin_call *call)
{
	const u8 *rest = call->op->request, *word = (const u8 *)"";
	u32 len = call->op->request_len, word_len = 0;
	char name[16] = "";

	lin_word(&rest, &len, &word, &word_len);
	if (word_len < sizeof(name))
		memcpy(name, word, word_len);
	call->answer = lin_text(texts, call->op->response ?: (const u8 *)"",
				call->op->response_len);
	call->kind = LIN_BAD_REQUEST;
	if (!strcmp(name, "create")) {
		call->kind = LIN_CREATE;
		call->value = lin_text(texts, rest ?: (const u8 *)"", len);
	} else if (!strcmp(name, "type") && !rest) {
		call->kind = LIN_TYPE;
		call->value = lin_text(texts, model->name, strlen(model->name));
	} else if (!model->parse(texts, name, rest, len, call)) {
		call->kind = LIN_BAD_REQUEST;
	}
}

bool lin_says(const struct lin_call *call, u32 status, int64_t text)
{
	return call->pending || (call->op->status == status &&
				 (text < 0 || call->answer == (u32)text));
}

static bool is_text(const struct lin_state *state, u32 number, const char *words)
{
	const struct lin_text *text = &state->texts->text[number];

	return text->len == strlen(words) && !memcmp(text->data, words, text->len);
}

bool lin_says_number(const struct lin_state *state, const struct lin_call *call, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, n);
	return lin_says(call, 0, -1) && (call->pending || is_text(state, call->answer, text));
}

static bool create(const struct lin_model *model, struct lin_state *state,
		   const struct lin_call *call, struct lin_undo *undo)
{
	if (state->exists)
		return lin_says(call, EEXIST, -1) &&
		       (call->pending || is_text(state, call->answer, model->name));
	/* One of another type has failed, or never happened, or it would be that. */
	if (!is_text(state, call->value, model->name))
		return lin_says(call, EINVAL, -1);
	if (!lin_says(call, 0, 0))
		return false;
	state->exists = true;
	undo->what = LIN_CREATED;
	return true;
}

bool lin_step(const struct lin_model *model, struct lin_state *state,
	      const struct lin_call *call, struct lin_undo *undo)
{
	undo->what = LIN_NOTHING;
	if (call->kind == LIN_CREATE)
		return create(model, state, call, undo);
	if (!state->exists)
		return lin_says(call, ENOENT, -1);
	if (call->kind == LIN_TYPE)
		return lin_says(call, 0, call->value);
	if (call->kind == LIN_BAD_REQUEST)
		return lin_says(call, EINVAL, -1);
	return model->step(state, call, undo);
}

static u64 share(u32 key, int64_t value)
{
	return value < 0 ? 0 : lin_mix(((u64)key << 32 | (u32)value) + 1);
}

void lin_put(struct lin_state *state, u32 key, int64_t value, struct lin_undo *undo)
{
	*undo = (struct lin_undo){ LIN_PUT, key, state->value[key] };
	state->hash ^= share(key, state->value[key]) ^ share(key, value);
	state->value[key] = value;
}

void lin_push(struct lin_state *state, const struct lin_call *call, struct lin_undo *undo)
{
	u32 text = call->value;

	undo->what = LIN_APPENDED;
	state->by[state->tail] = call;
	state->list[state->tail] = text;
	state->prefix[state->tail + 1] = state->prefix[state->tail] * BASE +
					 state->texts->text[text].hash;
	state->tail++;
}

void lin_pop(struct lin_state *state, struct lin_undo *undo)
{
	undo->what = LIN_REMOVED;
	state->head++;
}

void lin_step_back(struct lin_state *state, const struct lin_undo *undo)
{
	struct lin_undo again;

	switch (undo->what) {
	case LIN_NOTHING:
		break;
	case LIN_CREATED:
		state->exists = false;
		break;
	case LIN_COUNTED:
		state->number = undo->old;
		break;
	case LIN_PUT:
		lin_put(state, undo->key, undo->old, &again);
		break;
	case LIN_APPENDED:
		state->tail--;
		break;
	case LIN_REMOVED:
		state->head--;
		break;
	case LIN_CAME:
		state->tail--;
		lin_put(state, undo->key, undo->old, &again);
		break;
	case LIN_WENT:
		state->head--;
		lin_put(state, undo->key, undo->old, &again);
		break;
	}
}

u64 lin_state_hash(const struct lin_state *state)
{
	u32 len = state->tail - state->head;
	u64 list = state->prefix[state->tail] - state->prefix[state->head] * state->power[len];

	return lin_mix(state->hash ^ lin_mix(list + len) ^ lin_mix((u64)state->number + 2) ^
		       state->exists);
}

static const struct lin_texts *sorting;

static int compare(const void *a, const void *b)
{
	const struct lin_text *x = &sorting->text[*(const u32 *)a];
	const struct lin_text *y = &sorting->text[*(const u32 *)b];
	int r = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

	return r ?: (x->len > y->len) - (x->len < y->len);
}

struct lin_state *lin_state_new(const struct lin_texts *texts, const struct lin_call *call,
				u32 calls, bool exists)
{
	struct lin_state *state = calloc(1, sizeof(*state));
	u32 i;

	if (!state)
		abort();
	state->texts = texts;
	state->exists = exists;
	state->value = malloc(texts->count * sizeof(*state->value));
	state->list = calloc(calls + 1, sizeof(*state->list));
	state->by = calloc(calls + 1, sizeof(*state->by));
	state->prefix = calloc(calls + 1, sizeof(*state->prefix));
	state->power = calloc(calls + 1, sizeof(*state->power));
	state->key = calloc(calls + 1, sizeof(*state->key));
	if (!state->value || !state->list || !state->by || !state->prefix || !state->power || !state->key)
		abort();
	for (i = 0; i < texts->count; i++)
		state->value[i] = LIN_ABSENT;
	state->power[0] = 1;
	for (i = 1; i <= calls; i++)
		state->power[i] = state->power[i - 1] * BASE;
	for (i = 0; i < calls; i++) {
		if (!call[i].key || state->value[call[i].key] == 0)
			continue;
		state->value[call[i].key] = 0;
		state->key[state->keys++] = call[i].key;
	}
	for (i = 0; i < state->keys; i++)
		state->value[state->key[i]] = LIN_ABSENT;
	sorting = texts;
	qsort(state->key, state->keys, sizeof(*state->key), compare);
	return state;
}

void lin_state_free(struct lin_state *state)
{
	free(state->value);
	free(state->list);
	free(state->by);
	free(state->prefix);
	free(state->power);
	free(state->key);
	free(state);
}
