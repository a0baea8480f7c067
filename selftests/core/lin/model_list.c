// SPDX-License-Identifier: GPL-2.0
/* Queue and log. */
#include <errno.h>

#include "model.h"

static bool parse_queue(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
			struct lin_call *call)
{
	if (!strcmp(word, "push")) {
		call->kind = LIN_WRITE;
		if (rest)
			call->value = lin_text(texts, rest, len);
		return rest;
	}
	call->kind = !strcmp(word, "pop") ? LIN_DELETE :
		     !strcmp(word, "peek") ? LIN_READ : LIN_LEN;
	return !rest && (call->kind != LIN_LEN || !strcmp(word, "len"));
}

static bool step_queue(struct lin_state *state, const struct lin_call *call,
		       struct lin_undo *undo)
{
	switch (call->kind) {
	case LIN_LEN:
		return lin_says_number(state, call, state->tail - state->head);
	case LIN_WRITE:
		if (!lin_says(call, 0, 0))
			return false;
		lin_push(state, call, undo);
		return true;
	default:
		if (state->head == state->tail)
			return lin_says(call, ENODATA, -1);
		if (!lin_says(call, 0, state->list[state->head]))
			return false;
		if (call->kind == LIN_DELETE)
			lin_pop(state, undo);
		return true;
	}
}

const struct lin_model lin_queue = { "queue", parse_queue, step_queue };

/*
 * Is it there, and was not too much certainly pushed before it? A pop without an answer
 * took an unknown entry: it stays, and so much may have been passed over.
 */
static bool may_be_first(const struct lin_state *state, u32 text)
{
	u32 left = state->tail - state->head, at = state->tail, i;
	const struct lin_op *first = NULL;
	int64_t before = 0;

	if (state->value[text] < 0)
		return false;
	for (i = state->tail; !first; first = state->list[i] == text ? state->by[i]->op : NULL)
		i--;
	for (; left; left -= state->value[state->list[at]] >= 0) {
		at--;
		before += state->value[state->list[at]] >= 0 &&
			  state->by[at]->op->return_ns < first->invoke_ns;
	}
	return before <= state->number;
}

static bool step_loose(struct lin_state *state, const struct lin_call *call,
		       struct lin_undo *undo)
{
	int64_t count = (int64_t)(state->tail - state->head) - state->number;

	if (call->kind == LIN_LEN)
		return lin_says_number(state, call, count);
	if (call->kind == LIN_WRITE) {
		if (!lin_says(call, 0, 0))
			return false;
		lin_put(state, call->value, 1, undo);
		undo->what = LIN_CAME;
		state->by[state->tail] = call;
		state->list[state->tail++] = call->value;
		return true;
	}
	if (count <= 0)
		return lin_says(call, ENODATA, -1);
	if (call->pending && call->kind == LIN_DELETE) {
		*undo = (struct lin_undo){ LIN_COUNTED, 0, state->number };
		state->number++;
		return true;
	}
	if (!lin_says(call, 0, -1) || (!call->pending && !may_be_first(state, call->answer)))
		return false;
	if (call->kind == LIN_DELETE) {
		lin_put(state, call->answer, LIN_ABSENT, undo);
		undo->what = LIN_WENT;
		state->head++;
	}
	return true;
}

const struct lin_model lin_loose = { "queue", parse_queue, step_loose };

static bool parse_log(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
		      struct lin_call *call)
{
	const u8 *from, *count;
	u32 from_len, count_len;

	if (!strcmp(word, "len")) {
		call->kind = LIN_LEN;
		return !rest;
	}
	if (!strcmp(word, "append")) {
		call->kind = LIN_WRITE;
		if (rest)
			call->value = lin_text(texts, rest, len);
		return rest;
	}
	call->kind = LIN_READ;
	call->b = INT64_MAX;
	if (strcmp(word, "read") || !lin_word(&rest, &len, &from, &from_len) ||
	    !lin_number(from, from_len, &call->a) || call->a < 0)
		return false;
	if (lin_word(&rest, &len, &count, &count_len) &&
	    (!lin_number(count, count_len, &call->b) || call->b < 0))
		return false;
	return !rest;
}

static bool read_log(const struct lin_state *state, const struct lin_call *call)
{
	const struct lin_text *answer = &state->texts->text[call->answer], *entry;
	int64_t i, left = call->b;
	u32 at = 0;

	if (call->pending)
		return true;
	if (!lin_says(call, 0, -1))
		return false;
	for (i = call->a; left && i < state->tail; i++, left--) {
		entry = &state->texts->text[state->list[i]];
		if (answer->len - at <= entry->len ||
		    memcmp(answer->data + at, entry->data, entry->len) ||
		    answer->data[at + entry->len] != '\n')
			return false;
		at += entry->len + 1;
	}
	return at == answer->len;
}

static bool step_log(struct lin_state *state, const struct lin_call *call, struct lin_undo *undo)
{
	switch (call->kind) {
	case LIN_LEN:
		return lin_says_number(state, call, state->tail);
	case LIN_WRITE:
		if (!lin_says_number(state, call, state->tail))
			return false;
		lin_push(state, call, undo);
		return true;
	default:
		return read_log(state, call);
	}
}

const struct lin_model lin_log = { "log", parse_log, step_log };
