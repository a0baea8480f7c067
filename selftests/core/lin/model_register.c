// SPDX-License-Identifier: GPL-2.0
/* Register and counter. */
#include <errno.h>

#include "model.h"

static bool parse_register(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
			   struct lin_call *call)
{
	const u8 *old;
	u32 old_len;

	if (!strcmp(word, "read")) {
		call->kind = LIN_READ;
		return !rest;
	}
	if (!strcmp(word, "cas")) {
		call->kind = LIN_CAS;
		if (!lin_word(&rest, &len, &old, &old_len))
			return false;
		call->old = lin_text(texts, old, old_len);
	} else if (!strcmp(word, "decide")) {
		/* From the empty text, which is text 0, to VALUE. */
		call->kind = LIN_CAS;
		call->decides = true;
		if (!len)
			return false;
	} else if (!strcmp(word, "write")) {
		call->kind = LIN_WRITE;
	} else {
		return false;
	}
	if (rest)
		call->value = lin_text(texts, rest, len);
	return rest;
}

static bool step_register(struct lin_state *state, const struct lin_call *call,
			  struct lin_undo *undo)
{
	/* Nothing was written: text 0, which is empty. */
	u32 value = state->value[0] < 0 ? 0 : (u32)state->value[0];

	if (call->kind == LIN_READ)
		return lin_says(call, 0, value);
	if (call->kind == LIN_CAS && call->old != value)
		return lin_says(call, call->decides ? 0 : ESTALE, value);
	if (!lin_says(call, 0, call->decides ? call->value : 0))
		return false;
	lin_put(state, 0, call->value, undo);
	return true;
}

const struct lin_model lin_register = { "register", parse_register, step_register };

static bool parse_counter(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
			  struct lin_call *call)
{
	(void)texts;
	call->kind = strcmp(word, "get") ? LIN_ADD : LIN_READ;
	if (call->kind == LIN_READ)
		return !rest;
	return !strcmp(word, "add") && rest && lin_number(rest, len, &call->a);
}

static bool step_counter(struct lin_state *state, const struct lin_call *call,
			 struct lin_undo *undo)
{
	int64_t sum;

	if (call->kind == LIN_READ)
		return lin_says_number(state, call, state->number);
	if (__builtin_add_overflow(state->number, call->a, &sum))
		return lin_says(call, ERANGE, -1);
	if (!lin_says_number(state, call, sum))
		return false;
	*undo = (struct lin_undo){ LIN_COUNTED, 0, state->number };
	state->number = sum;
	return true;
}

const struct lin_model lin_counter = { "counter", parse_counter, step_counter };
