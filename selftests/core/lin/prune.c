// SPDX-License-Identifier: GPL-2.0
/* Orders that a search need not try. */
#include <stdlib.h>

#include "model.h"

struct turn {
	int64_t when;
	u32 call;
};

/**
 * struct lin_turns - @of: calls in the order of their turns, @count of them
 * @at:  place of each call in @of
 * @low: all below have a place in the order
 */
struct lin_turns {
	struct turn *of;
	u32 *at;
	u32 count;
	u32 low;
};

static struct lin_turns *turns_new(u32 calls)
{
	struct lin_turns *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->of = calloc(calls + 1, sizeof(*t->of));
	t->at = malloc((calls + 1) * sizeof(*t->at));
	if (!t->of || !t->at)
		abort();
	memset(t->at, 0xff, (calls + 1) * sizeof(*t->at));
	return t;
}

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return (x->when > y->when) - (x->when < y->when);
}

static struct lin_turns *sorted(struct lin_turns *t)
{
	u32 i;

	qsort(t->of, t->count, sizeof(*t->of), by_turn);
	for (i = 0; i < t->count; i++)
		t->at[t->of[i].call] = i;
	return t;
}

/* A sum that no counter had is left to the search to find. */
static bool sum_before(const struct lin_texts *texts, const struct lin_call *call, int64_t *ret)
{
	const struct lin_text *text = &texts->text[call->answer];

	return !call->pending && !call->op->status &&
	       (call->kind == LIN_ADD || call->kind == LIN_READ) &&
	       lin_number(text->data, text->len, ret) &&
	       !__builtin_sub_overflow(*ret, call->a, ret) && *ret >= 0;
}

/* A log tells its length, and where it appended. */
static bool length_before(const struct lin_texts *texts, const struct lin_call *call,
			  int64_t *ret)
{
	const struct lin_text *text = &texts->text[call->answer];

	return !call->pending && !call->op->status &&
	       (call->kind == LIN_WRITE || call->kind == LIN_LEN) &&
	       lin_number(text->data, text->len, ret) && *ret >= 0;
}

struct lin_turns *lin_turns_of_sums(const struct lin_model *model,
				    const struct lin_texts *texts,
				    const struct lin_call *call, u32 calls)
{
	struct lin_turns *t;
	int64_t sum;
	u32 i;

	if (model != &lin_counter && model != &lin_log)
		return NULL;
	for (i = 0; i < calls; i++)
		if (call[i].kind == LIN_ADD && call[i].a < 0)
			return NULL;
	t = turns_new(calls);
	for (i = 0; i < calls; i++)
		if (model == &lin_log ? length_before(texts, &call[i], &sum) :
					sum_before(texts, &call[i], &sum))
			t->of[t->count++] = (struct turn){ sum, i };
	return sorted(t);
}

struct lin_turns *lin_turns_of_pops(const struct lin_model *model,
				    const struct lin_window *window,
				    const struct lin_call *call, u32 calls)
{
	const struct lin_op *pop;
	struct lin_turns *t;
	u32 i;

	if (model != &lin_queue)
		return NULL;
	t = turns_new(calls);
	for (i = 0; i < calls; i++) {
		if (window[i].pop == LIN_NOBODY)
			continue;
		pop = call[window[i].pop].op;
		/* A version applies operations by client. */
		if (pop->version && pop->version < 1ull << 31)
			t->of[t->count++] = (struct turn){
				(int64_t)(pop->version << 32 | pop->client), i };
	}
	return sorted(t);
}

void lin_turns_free(struct lin_turns *t)
{
	if (!t)
		return;
	free(t->of);
	free(t->at);
	free(t);
}

int64_t lin_turn(struct lin_turns *t, const bool *placed)
{
	while (t->low < t->count && placed[t->of[t->low].call])
		t->low++;
	return t->low < t->count ? t->of[t->low].when : INT64_MAX;
}

int64_t lin_turn_of(const struct lin_turns *t, u32 i)
{
	return t->at[i] < t->count ? t->of[t->at[i]].when : INT64_MIN;
}

void lin_turns_back(struct lin_turns *t, u32 i)
{
	if (t->at[i] < t->low)
		t->low = t->at[i];
}

/* Does what it says, or does, depend on the key? */
static bool looks_at(const struct lin_call *call, u32 key)
{
	return call->kind == LIN_LIST ||
	       (call->key == key && (call->kind == LIN_READ || call->kind == LIN_CAS ||
				     call->kind == LIN_DELETE));
}

static bool changes(const struct lin_call *call)
{
	return call->kind == LIN_WRITE || call->kind == LIN_CAS || call->kind == LIN_DELETE;
}

bool lin_run_on(struct lin_run *run, const struct lin_model *model,
		const struct lin_call *call, bool open)
{
	u32 last = run->key;

	if (model != &lin_register && model != &lin_map)
		return true;
	if (!open) {
		if (last && (run->many ? call->kind != LIN_LIST : !looks_at(call, last - 1)))
			return false;
		*run = (struct lin_run){};
		return true;
	}
	if (!changes(call))
		return !last;
	/* Keys in their order, which is as good as any. */
	if (last && (call->key + 1 < last || (call->key + 1 == last && call->kind != LIN_CAS)))
		return false;
	run->many |= last && call->key + 1 != last;
	run->key = call->key + 1;
	return true;
}

/* Is it in the list? That it is not there is believed of any. */
static bool lists(const struct lin_texts *texts, const struct lin_call *call,
		  const struct lin_call *by)
{
	const struct lin_text *list = &texts->text[call->answer], *key = &texts->text[by->key];
	const struct lin_text *value = &texts->text[by->value];
	const u8 *at = list->data, *end = list->data + list->len;
	size_t len = (size_t)key->len + value->len + 2;

	if (by->kind == LIN_DELETE)
		return true;
	for (; (size_t)(end - at) >= len; at++)
		if (!memcmp(at, key->data, key->len) && at[key->len] == ' ' &&
		    !memcmp(at + key->len + 1, value->data, value->len) && at[len - 1] == '\n')
			return true;
	return false;
}

bool lin_wants(const struct lin_texts *texts, const struct lin_call *call,
	       const struct lin_call *by)
{
	bool gone = by->kind == LIN_DELETE;
	u32 value = gone ? 0 : by->value;	/* to cas, nothing is the empty text */

	if (call->kind == LIN_LIST)
		return !call->pending && lists(texts, call, by);
	if (call->key != by->key)
		return false;
	switch (call->kind) {
	case LIN_CAS:
		if (call->pending || (call->decides && call->answer == call->value && !value))
			return call->old == value;
		return value == (call->op->status || call->decides ? call->answer : call->old);
	case LIN_READ:
		return !call->pending &&
		       (call->op->status ? gone : !gone && call->answer == value);
	case LIN_DELETE:
		return !call->pending && gone == (call->op->status != 0);
	default:
		return false;
	}
}

u64 lin_run_hash(const struct lin_run *run)
{
	return run->key ? lin_mix((u64)run->key << 1 | run->many) : 0;
}
