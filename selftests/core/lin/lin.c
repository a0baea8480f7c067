// SPDX-License-Identifier: GPL-2.0
/* Histories: kept for each object, cut at keys where that is the same question. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"

#define STEPS_DEFAULT 5000000u

/** struct object - @op: its operations; texts of requests and answers are owned */
struct object {
	u8 *name;
	u32 len;
	struct lin_op *op;
	u32 ops;
	u32 size;
};

struct lin_history {
	struct object *object;
	u32 objects;
	u32 ops;
	const struct lin_model *model;
};

/** struct question - calls of which an order is sought */
struct question {
	const char *name;
	const struct lin_model *model;
	struct lin_texts texts;
	struct lin_call *call;
	u32 calls;
	bool exists;
	u64 steps;
};

static void *grow(void *array, u32 count, size_t size)
{
	void *ret = realloc(array, (count ?: 1) * size);

	if (!ret)
		abort();
	return ret;
}

static u8 *copy_of(const void *data, u32 len)
{
	u8 *ret = grow(NULL, len + 1, 1);

	if (len)
		memcpy(ret, data, len);
	ret[len] = '\0';
	return ret;
}

struct lin_history *lin_new(void)
{
	return memset(grow(NULL, 1, sizeof(struct lin_history)), 0, sizeof(struct lin_history));
}

void lin_free(struct lin_history *history)
{
	u32 i, j;

	for (i = 0; i < history->objects; i++) {
		for (j = 0; j < history->object[i].ops; j++) {
			free((void *)history->object[i].op[j].request);
			free((void *)history->object[i].op[j].response);
		}
		free(history->object[i].op);
		free(history->object[i].name);
	}
	free(history->object);
	free(history);
}

static struct object *find(struct lin_history *history, const u8 *name, u32 len)
{
	struct object *object;
	u32 i;

	/* The last ones first: histories tell of one object at a time. */
	for (i = history->objects; i-- > 0;) {
		object = &history->object[i];
		if (object->len == len && !memcmp(object->name, name, len))
			return object;
	}
	history->object = grow(history->object, history->objects + 1, sizeof(*object));
	object = &history->object[history->objects++];
	*object = (struct object){ .name = copy_of(name, len), .len = len };
	return object;
}

void lin_add(struct lin_history *history, const u8 *name, u32 len, const struct lin_op *op)
{
	struct object *object = find(history, name, len);
	struct lin_op *copy;

	if (object->ops == object->size) {
		object->size = object->size ? 2 * object->size : 64;
		object->op = grow(object->op, object->size, sizeof(*object->op));
	}
	copy = &object->op[object->ops++];
	*copy = *op;
	copy->request = copy_of(op->request, op->request_len);
	copy->response = copy_of(op->response, op->response_len);
	history->ops++;
}

bool lin_model(struct lin_history *history, const char *type)
{
	history->model = lin_model_find(type, strlen(type));
	return history->model;
}

u32 lin_count(const struct lin_history *history, u32 *objects)
{
	*objects = history->objects;
	return history->ops;
}

/* What was refused whatever the state was, or was it? */
static bool says_nothing(const struct lin_op *op)
{
	return op->return_ns != LIN_NEVER &&
	       (op->status == EIO || op->status == EMSGSIZE || op->status == EAGAIN ||
		op->status == ENOPKG || op->status == ENOMEM);
}

static int by_invocation(const void *a, const void *b)
{
	const struct lin_op *x = ((const struct lin_call *)a)->op;
	const struct lin_op *y = ((const struct lin_call *)b)->op;

	if (x->invoke_ns != y->invoke_ns)
		return x->invoke_ns < y->invoke_ns ? -1 : 1;
	if (x->return_ns != y->return_ns)
		return x->return_ns < y->return_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

static int by_time(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Is each text pushed once only? */
static bool is_loose(const struct question *q)
{
	bool *seen = calloc(q->texts.count + 1, sizeof(*seen)), ret = q->model == &lin_queue;
	u32 i;

	if (!seen)
		abort();
	for (i = 0; i < q->calls; i++) {
		if (q->call[i].kind != LIN_WRITE)
			continue;
		ret &= !seen[q->call[i].value];
		seen[q->call[i].value] = true;
	}
	free(seen);
	return ret;
}

static enum lin_verdict decide(struct question *q, u64 until)
{
	u64 steps = q->steps;
	enum lin_verdict verdict;

	verdict = lin_search(q->model, &q->texts, q->call, q->calls, q->exists, until, &steps,
			     NULL, NULL);
	steps = q->steps;
	if (verdict == LIN_UNDECIDED && is_loose(q) &&
	    lin_search(&lin_loose, &q->texts, q->call, q->calls, q->exists, until, &steps,
		       NULL, NULL) == LIN_VIOLATED)
		verdict = LIN_VIOLATED;
	return verdict;
}

/* A violation: the shortest beginning that nothing explains. */
static void explain(struct question *q, FILE *to)
{
	u64 *at = grow(NULL, q->calls, sizeof(*at));
	u32 count = 0, low = 0, high, i;

	for (i = 0; i < q->calls; i++)
		if (q->call[i].op->return_ns != LIN_NEVER)
			at[count++] = q->call[i].op->return_ns;
	qsort(at, count, sizeof(*at), by_time);
	high = count - 1;
	while (low < high) {
		i = low + (high - low) / 2;
		if (decide(q, at[i]) == LIN_VIOLATED)
			high = i;
		else
			low = i + 1;
	}
	lin_print(to, q->name, q->model, &q->texts, q->call, q->calls, q->exists, at[low]);
	free(at);
}

static enum lin_verdict ask(struct question *q, FILE *to)
{
	enum lin_verdict verdict = decide(q, LIN_NEVER - 1);

	if (verdict == LIN_VIOLATED && to)
		explain(q, to);
	else if (verdict == LIN_UNDECIDED && to)
		fprintf(to, "object %s: undecided after %llu steps\n", q->name,
			(unsigned long long)q->steps);
	return verdict;
}

/*
 * Is each key of this map a question of its own? When nothing looks at several, and
 * the object was created before all else, and once.
 */
static bool falls_apart(const struct question *q)
{
	u32 i, from = q->exists ? 0 : 1;

	if (q->model != &lin_map || !q->calls)
		return false;
	if (from && (q->call[0].kind != LIN_CREATE || q->call[0].op->status ||
		     q->call[0].op->response_len))
		return false;
	for (i = from; i < q->calls; i++)
		if (q->call[i].kind == LIN_LIST || q->call[i].kind == LIN_CREATE ||
		    (from && q->call[i].op->invoke_ns <= q->call[0].op->return_ns))
			return false;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct lin_call *x = a, *y = b;

	return x->key != y->key ? (x->key < y->key ? -1 : 1) : by_invocation(a, b);
}

static enum lin_verdict ask_each_key(struct question *q, FILE *to)
{
	enum lin_verdict worst = LIN_GOOD, verdict;
	struct question part = *q;
	u32 from = q->exists ? 0 : 1, end;

	part.exists = true;
	qsort(q->call + from, q->calls - from, sizeof(*q->call), by_key);
	for (; from < q->calls; from = end) {
		for (end = from; end < q->calls && q->call[end].key == q->call[from].key; end++)
			;
		part.call = q->call + from;
		part.calls = end - from;
		verdict = ask(&part, worst == LIN_GOOD ? to : NULL);
		if (verdict > worst)
			worst = verdict;
	}
	return worst;
}

static enum lin_verdict check_as(const struct object *object, const struct lin_model *model,
				 bool exists, u64 steps, FILE *to)
{
	struct question q = { .name = (char *)object->name, .model = model, .exists = exists,
			      .steps = steps };
	enum lin_verdict verdict;
	u32 i;

	q.call = grow(NULL, object->ops, sizeof(*q.call));
	lin_text(&q.texts, "", 0);
	for (i = 0; i < object->ops; i++) {
		if (says_nothing(&object->op[i]))
			continue;
		q.call[q.calls] = (struct lin_call){ .op = &object->op[i] };
		lin_parse(model, &q.texts, &q.call[q.calls++]);
	}
	qsort(q.call, q.calls, sizeof(*q.call), by_invocation);
	verdict = falls_apart(&q) ? ask_each_key(&q, to) : ask(&q, to);
	for (i = 0; i < q.texts.count; i++)
		free(q.texts.text[i].data);
	free(q.texts.text);
	free(q.texts.table);
	free(q.call);
	return verdict;
}

/* The type that "create TYPE" names, NULL when it is no such request. */
static const struct lin_model *created(const struct lin_op *op)
{
	if (op->request_len < 7 || memcmp(op->request, "create ", 7) ||
	    (op->return_ns != LIN_NEVER && op->status))
		return NULL;
	return lin_model_find((const char *)op->request + 7, op->request_len - 7);
}

/* Of the requests that are about an object as a whole, or about several keys of a map. */
static bool is_unknown(const struct lin_op *op)
{
	static const char *const word[] = { "dump ", "restore ", "delete-object", "txn " };
	size_t i, len;

	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		len = strlen(word[i]);
		if (op->request_len >= len && !memcmp(op->request, word[i], len))
			return true;
	}
	return false;
}

/*
 * The type may depend on which of several "create" was first: then any will do.
 * One that was answered is the one, whatever others may have happened.
 */
static enum lin_verdict check_object(const struct lin_history *history,
				     const struct object *object, u64 steps, FILE *to)
{
	const struct lin_model *model = NULL, *other;
	enum lin_verdict verdict = LIN_NO_MODEL;
	bool answered = false;
	u32 i;

	for (i = 0; i < object->ops; i++) {
		if (!is_unknown(&object->op[i]))
			continue;
		if (to)
			fprintf(to, "object %s: dumped, restored, deleted or changed by a txn, which no model knows\n",
				object->name);
		return LIN_NO_MODEL;
	}
	for (i = 0; i < object->ops; i++)
		answered |= created(&object->op[i]) && object->op[i].return_ns != LIN_NEVER;
	for (i = 0; i < object->ops && verdict != LIN_GOOD; i++) {
		other = created(&object->op[i]);
		if (!other || other == model ||
		    (answered && object->op[i].return_ns == LIN_NEVER))
			continue;
		model = other;
		verdict = check_as(object, model, false, steps, to);
	}
	if (model)
		return verdict;
	if (history->model)
		return check_as(object, history->model, true, steps, to);
	for (i = 0; i < object->ops; i++) {
		if (object->op[i].return_ns == LIN_NEVER || object->op[i].status == ENOENT)
			continue;
		if (to)
			fprintf(to, "object %s: no 'create TYPE' tells what it is\n",
				object->name);
		return LIN_NO_MODEL;
	}
	return LIN_GOOD;
}

enum lin_verdict lin_check(struct lin_history *history, u64 steps, FILE *to)
{
	enum lin_verdict worst = LIN_GOOD, verdict;
	u32 i;

	for (i = 0; i < history->objects; i++) {
		verdict = check_object(history, &history->object[i], steps ?: STEPS_DEFAULT, to);
		if (verdict > worst)
			worst = verdict;
	}
	return worst;
}
