// SPDX-License-Identifier: GPL-2.0
/* The last requests of this host for an object, for whoever checks what happened. */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "text/json.h"
#include "order/ordering.h"

static u64 total;

void bftm_history_init(struct bftm_history *h)
{
	TAILQ_INIT(&h->list);
}

/* A short one is mostly what holds it together. */
static u32 size(const struct bftm_past *p)
{
	return (u32)sizeof(*p) + p->len + p->response_len;
}

static void history_forget(struct bftm_history *h)
{
	struct bftm_past *p = TAILQ_FIRST(&h->list);

	TAILQ_REMOVE(&h->list, p, list);
	h->count--;
	h->bytes -= size(p);
	total -= size(p);
	free(p);
}

void bftm_history_free(struct bftm_history *h)
{
	while (h->count)
		history_forget(h);
}

void bftm_history_add(struct bftm_history *h, const struct bftm_order_request *r, u64 now,
		      u64 number, const struct bftm_object_answer *a)
{
	u32 response_len = a ? a->len : 0;
	struct bftm_past *p = malloc(sizeof(*p) + r->len + response_len);

	if (!p)
		return;
	*p = (struct bftm_past){
		.process = r->process,
		.invoke_ns = r->invoke_ns,
		.return_ns = now,
		.number = number,
		.status = a ? a->status : 0,
		.len = r->len,
		.response_len = response_len,
	};
	memcpy(p->text, r->text, r->len);
	if (response_len)
		memcpy(p->text + r->len, a->data, response_len);
	TAILQ_INSERT_TAIL(&h->list, p, list);
	h->count++;
	h->bytes += size(p);
	total += size(p);
	while (h->count > BFTM_HISTORY_MAX || h->bytes > BFTM_HISTORY_BYTES ||
	       (h->count && total > BFTM_HISTORY_TOTAL))
		history_forget(h);
}

static void add_known(struct json_object *o, const char *key, u64 value, bool known)
{
	json_object_object_add(o, key, known ? bftm_json_number(key, value) : NULL);
}

static struct json_object *history_describe(const struct bftm_cluster *cl,
					    const struct bftm_ordering *o,
					    const struct bftm_past *p)
{
	struct json_object *line = json_object_new_object();
	bool known = p->return_ns;

	bftm_json_add_number(line, "client", cl->cred.client);
	bftm_json_add_number(line, "process", p->process);
	bftm_json_add_bytes(line, "object", o->name, o->len);
	bftm_json_add_bytes(line, "request", p->text, p->len);
	bftm_json_add_number(line, "invoke_ns", p->invoke_ns);
	add_known(line, "return_ns", p->return_ns, known);
	add_known(line, "status", p->status, known);
	json_object_object_add(line, "response",
			       known ? bftm_json_bytes(p->text + p->len, p->response_len) : NULL);
	add_known(line, "version", p->number / BFTM_NUMBERS, known);
	add_known(line, "number", p->number, known);
	return line;
}

/* A request that is under way may be applied. */
static void add_pending(struct json_object *list, const struct bftm_cluster *cl,
			const struct bftm_ordering *o, const struct bftm_requests *requests)
{
	const struct bftm_order_request *r;

	TAILQ_FOREACH(r, requests, beside) {
		struct bftm_history one;

		if (!r->id)
			continue;	/* is there already */
		one = (struct bftm_history){};
		bftm_history_init(&one);
		bftm_history_add(&one, r, 0, 0, NULL);
		if (!one.count)
			continue;
		/* NOLINTNEXTLINE: freed by bftm_history_free(); lists of queue.h are not understood */
		json_object_array_add(list, history_describe(cl, o, TAILQ_FIRST(&one.list)));
		bftm_history_free(&one);
	}
}

struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name,
				       size_t len)
{
	const struct bftm_ordering *o = bftm_ordering_find(cl, name, len);
	struct json_object *list = json_object_new_array();
	const struct bftm_past *p;

	if (!o)
		return list;
	TAILQ_FOREACH(p, &o->history.list, list)
		json_object_array_add(list, history_describe(cl, o, p));
	if (o->work)
		add_pending(list, cl, o, &o->work->submit.batch);
	return list;
}
