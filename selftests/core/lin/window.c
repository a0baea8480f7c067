// SPDX-License-Identifier: GPL-2.0
/*
 * Answers say something about other operations. A reader of a value that only one
 * operation has written knows that it was applied, and before the answer came. And what left a
 * queue first came into it first.
 */
#include <errno.h>
#include <stdlib.h>

#include "model.h"

#define NOBODY	LIN_NOBODY
#define MANY	(UINT32_MAX - 1)

/**
 * struct written - a text, to a key
 * @by:   the only operation that writes it, NOBODY or MANY
 * @seen: the first answer with it came then
 * @pop:  the only one that took it from a queue, NOBODY or MANY
 */
struct written {
	u32 by;
	u64 seen_ns;
	u32 pop;
};

/* Texts to keys: a table of pairs. */
struct table {
	u32 size;
	u64 *pair;
	struct written *of;
};

static struct written *find(struct table *t, u32 key, u32 text)
{
	u64 pair = ((u64)key << 32 | text) + 1;
	u32 at = lin_mix(pair) & (t->size - 1);

	while (t->pair[at] && t->pair[at] != pair)
		at = (at + 1) & (t->size - 1);
	if (!t->pair[at]) {
		t->pair[at] = pair;
		t->of[at] = (struct written){ NOBODY, LIN_NEVER, NOBODY };
	}
	return &t->of[at];
}

static void see(struct table *t, u32 key, u32 text, const struct lin_call *by)
{
	struct written *w = find(t, key, text);

	if (by->op->return_ns < w->seen_ns)
		w->seen_ns = by->op->return_ns;
}

static void note(struct table *t, const struct lin_model *model, const struct lin_call *call,
		 u32 i)
{
	bool good = !call->op->status, is_queue = model == &lin_queue || model == &lin_loose;
	struct written *w;

	if (call->kind == LIN_WRITE || call->kind == LIN_CAS) {
		w = find(t, call->key, call->value);
		w->by = w->by == NOBODY ? i : MANY;
	}
	if (call->pending || model == &lin_log || model == &lin_counter)
		return;
	if (call->kind == LIN_CAS && !(call->decides && call->answer == call->value))
		see(t, call->key, good && !call->decides ? call->old : call->answer, call);
	if (good && (call->kind == LIN_READ || (call->kind == LIN_DELETE && is_queue)))
		see(t, call->key, call->answer, call);
	if (good && call->kind == LIN_DELETE && is_queue) {
		w = find(t, 0, call->answer);
		w->pop = w->pop == NOBODY ? i : MANY;
	}
}

/* When what was pushed left the queue. */
static void leave(struct lin_window *window, const struct written *w,
		  const struct lin_call *call, bool open_pops)
{
	if (w->by == MANY || w->pop == MANY)
		return;
	window->pop = w->pop;
	window->unseen = w->pop == NOBODY && w->seen_ns == LIN_NEVER;
	if (w->pop != NOBODY) {
		window->seen_from_ns = call[w->pop].op->invoke_ns;
		window->seen_until_ns = call[w->pop].op->return_ns;
	} else if (!open_pops) {
		window->seen_from_ns = LIN_NEVER;
	}
}

static u32 writer(const struct lin_texts *texts, const struct lin_call *call, u32 calls,
		  const u8 *data, size_t len)
{
	const struct lin_text *text;
	u32 i, by = NOBODY;

	for (i = 0; i < calls; i++) {
		text = &texts->text[call[i].value];
		if (call[i].kind != LIN_WRITE || text->len != len ||
		    memcmp(text->data, data, len))
			continue;
		if (by != NOBODY)
			return NOBODY;
		by = i;
	}
	return by;
}

/* Lines are matched with entries, where no entry has several lines. */
static void show(struct lin_window *window, const struct lin_texts *texts,
		 const struct lin_call *call, u32 calls)
{
	const u8 *line, *end, *stop;
	int64_t at;
	u32 i, by;

	for (i = 0; i < calls; i++)
		if (call[i].kind == LIN_WRITE &&
		    memchr(texts->text[call[i].value].data, '\n', texts->text[call[i].value].len))
			return;
	for (i = 0; i < calls; i++) {
		if (call[i].kind != LIN_READ || call[i].pending || call[i].op->status)
			continue;
		line = texts->text[call[i].answer].data;
		stop = line + texts->text[call[i].answer].len;
		for (at = call[i].a; at < calls && line < stop; at++, line = end + 1) {
			end = memchr(line, '\n', (size_t)(stop - line));
			if (!end)
				break;
			if (window[at].shown)
				continue;
			by = writer(texts, call, calls, line, (size_t)(end - line));
			if (by == NOBODY)
				continue;
			window[at].shown = true;
			window[by].at = at;
		}
	}
}

/* A value that nobody saw might have been any other one that nobody saw. */
static bool alike(const struct lin_window *window, const struct lin_call *call, u32 i, u32 j)
{
	const struct lin_call *a = &call[i], *b = &call[j];

	return a->kind == b->kind && a->key == b->key && a->old == b->old && a->a == b->a &&
	       (a->value == b->value || (window[i].unseen && window[j].unseen));
}

/* An operation that may come at any time, and never, is the same as any older one like it. */
static void pair(struct lin_window *window, const struct lin_call *call, u32 calls)
{
	u32 i, j;

	for (i = 0; i < calls; i++) {
		if (window[i].end_ns != LIN_NEVER || call[i].op->return_ns != LIN_NEVER)
			continue;
		for (j = i; j-- > 0;) {
			if (window[j].end_ns != LIN_NEVER || !alike(window, call, i, j) ||
			    call[j].op->return_ns != LIN_NEVER)
				continue;
			window[i].twin = j;
			break;
		}
	}
}

struct lin_window *lin_windows(const struct lin_model *model, const struct lin_texts *texts,
			       const struct lin_call *call, u32 calls)
{
	struct lin_window *window = calloc(calls + 1, sizeof(*window));
	bool is_queue = model == &lin_queue || model == &lin_loose, open_pops = false;
	struct table t = { .size = 64 };
	struct written *w;
	u32 i;

	while (t.size < 6 * calls)
		t.size *= 2;
	t.pair = calloc(t.size, sizeof(*t.pair));
	t.of = calloc(t.size, sizeof(*t.of));
	if (!window || !t.pair || !t.of)
		abort();
	for (i = 0; i < calls; i++) {
		note(&t, model, &call[i], i);
		open_pops |= call[i].pending && call[i].kind == LIN_DELETE;
	}
	for (i = 0; i < calls; i++) {
		window[i] = (struct lin_window){
			.end_ns = call[i].pending ? LIN_NEVER : call[i].op->return_ns,
			.seen_until_ns = LIN_NEVER,
			.pop = LIN_NOBODY,
			.at = -1,
			.twin = LIN_NO_TWIN,
		};
		if (call[i].kind != LIN_WRITE && call[i].kind != LIN_CAS)
			continue;
		w = find(&t, call[i].key, call[i].value);
		/* The empty text is there without anybody. */
		if (call[i].pending && w->by == i && call[i].value)
			window[i].end_ns = w->seen_ns;
		/* A refused entry never came in. */
		if (is_queue && (call[i].pending || !call[i].op->status))
			leave(&window[i], w, call, open_pops);
	}
	if (model == &lin_log)
		show(window, texts, call, calls);
	pair(window, call, calls);
	free(t.pair);
	free(t.of);
	return window;
}
