// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "node_order.h"

static int compare_objects(const struct liar_object *a, const struct liar_object *b)
{
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return memcmp(a->name, b->name, a->name_len);
}

BFTM_TREE(liar_objects, liar_object, node, compare_objects)

/* The object of a request, made if need be; NULL when there are too many. */
static struct liar_object *object_of(struct node *node, const struct bftm_order_msg *req)
{
	struct liar_object key = { .name_len = req->name_len }, *o;

	memcpy(key.name, req->name, req->name_len);
	o = RB_FIND(liar_objects, &node->objects, &key);
	if (o || req->type == BFTM_ORDER_FETCH || node->object_count >= BFTM_OBJECTS_DEFAULT)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	bftm_object_init(&o->object, node->recovering);
	o->name_len = req->name_len;
	memcpy(o->name, req->name, req->name_len);
	RB_INSERT(liar_objects, &node->objects, o);
	o->key = ++node->object_count;
	TAILQ_INSERT_TAIL(&node->by_key, o, later);
	return o;
}

static u32 pending_of(const struct bftm_object *o)
{
	return o->pend ? o->pend->count : 0;
}

static bool knows(const struct bftm_object *o, const struct bftm_body *body)
{
	u32 i;

	for (i = 0; i < pending_of(o); i++)
		if (o->pend->entry[i].body == body)
			return true;
	return o->sc == body || o->sp == body;
}

/* As the kernel: twice as long; without memory the core refuses. */
static void make_room(struct bftm_object *o)
{
	u32 room = o->pend ? 2 * o->pend->room : 4;
	struct bftm_pendings *pend;

	if (room > BFTM_PENDING_MAX)
		room = BFTM_PENDING_MAX;
	if (o->pend && room <= o->pend->room)
		return;
	pend = realloc(o->pend, sizeof(*pend) + room * sizeof(pend->entry[0]));
	if (!pend)
		return;
	if (!o->pend)
		pend->count = 0;
	pend->room = room;
	o->pend = pend;
}

/* The response for its client, now that the operation is applied. */
static void push(const struct bftm_object *o, const struct bftm_pending *p,
		 struct order_decision *d)
{
	struct liar_push *push = malloc(sizeof(*push));

	if (!push)
		return;
	bftm_order_response(o, p, push->data, &push->msg);
	if (push->msg.type == BFTM_MSG_NONE) {
		free(push);
		return;
	}
	push->msg.cluster = d->req.cluster;
	push->msg.server = d->req.server;
	push->msg.name_len = d->req.name_len;
	memcpy(push->msg.name, d->req.name, sizeof(push->msg.name));
	TAILQ_INSERT_TAIL(&d->pushes, push, list);
}

static void run(const struct node *node, struct bftm_object *o, struct bftm_body *body, u64 now,
		struct order_decision *d)
{
	struct bftm_body *sc = o->sc, *sp = o->sp;
	u32 i, before;

	if (bftm_object_lacks_room(o, &d->req))
		make_room(o);
	before = pending_of(o);
	bftm_order_step(&node->cfg, o, &d->req, body, now, d->data, &d->reply);
	for (i = pending_of(o); i < before; i++) {
		push(o, &o->pend->entry[i], d);
		free(o->pend->entry[i].body);
	}
	free(o->replaced);
	o->replaced = NULL;
	if (!knows(o, body))
		free(body);
	if (!knows(o, sc))
		free(sc);
	if (sp != sc && !knows(o, sp))
		free(sp);
}

static void refuse(struct order_decision *d, enum bftm_refusal reason)
{
	d->reply.type = BFTM_MSG_REFUSED;
	d->reply.offset = reason;
}

static void list(struct node *node, struct order_decision *d)
{
	struct liar_object *o;
	struct bftm_page page;

	bftm_page_begin(&page, &d->req, NULL, 0, d->data);
	TAILQ_FOREACH(o, &node->by_key, later)
		if (o->key >= d->req.cursor &&
		    !bftm_page_add(&page, &o->object, o->name, o->name_len))
			break;
	bftm_page_end(&page, &d->req, o ? o->key : 0, node->recovering, d->data, &d->reply);
}

static void step(struct node *node, u64 now, struct order_decision *d)
{
	static const struct bftm_object none;
	struct liar_object *o = object_of(node, &d->req);
	struct bftm_body *body;
	bool bad;

	d->object = o ? &o->object : &none;
	if (!o && d->req.type != BFTM_ORDER_FETCH) {
		refuse(d, BFTM_REFUSED_OBJECTS);
	} else if (!o) {
		d->reply.type = node->recovering ? BFTM_MSG_NONE : BFTM_ORDER_NOBODY;
	} else if (d->req.type == BFTM_ORDER_PUT) {
		node_upload(node, o, &d->req, &d->reply);
	} else {
		body = node_body_for(node, o, &d->req, &bad);
		if (bad)
			refuse(d, BFTM_REFUSED_STATE);
		else
			run(node, &o->object, body, now, d);
	}
}

bool node_decide_order(struct node *node, const struct liar_from *from, const void *data,
		       size_t len, u64 now, struct order_decision *ret)
{
	static const struct bftm_object none;
	struct bftm_msg head, reply;
	bool admit;

	if (bftm_order_wire_get(data, len, &ret->req))
		return false;
	bftm_order_head(&ret->req, &head);
	ret->client = node_admit(node, from, data, len, &head, now, &admit, &reply);
	if (!ret->client)
		return false;
	TAILQ_INIT(&ret->pushes);
	ret->object = &none;
	ret->reply = ret->req;
	ret->reply.type = BFTM_MSG_NONE;
	ret->reply.data = NULL;
	ret->reply.data_len = 0;
	ret->reply.signature = NULL;
	if (admit && ret->req.type == BFTM_ORDER_LIST)
		list(node, ret);
	else if (admit)
		step(node, now, ret);
	else
		ret->reply.type = BFTM_MSG_STALE;
	return true;
}

/* STALE and REFUSED have the form of the locks' messages. */
static size_t write_wire(const struct node *node, const struct liar_client *client,
			 const struct bftm_order_msg *msg, void *buf)
{
	struct bftm_msg reply;
	size_t len;

	bftm_order_head(msg, &reply);
	reply.arg = msg->type == BFTM_MSG_REFUSED ? (u8)msg->offset : 0;
	reply.server_epoch = node->cfg.epoch;
	len = bftm_wire_write(&reply, buf);
	return bftm_mac_sign_bytes(client->reply, buf, len) < 0 ? 0 : len;
}

size_t node_write_order(const struct node *node, const struct liar_client *client,
			const struct bftm_order_msg *msg, void *buf)
{
	struct bftm_order_msg reply = *msg;
	size_t len;

	if (msg->type == BFTM_MSG_REFUSED || msg->type == BFTM_MSG_STALE)
		return write_wire(node, client, msg, buf);
	if (!bftm_order_form(msg->type) || bftm_order_len(msg) > BFTM_DATAGRAM_MAX)
		return 0;
	reply.server_epoch = node->cfg.epoch;
	len = bftm_order_wire_put(&reply, buf);
	/* A message that every client drops is no lie. */
	if (bftm_order_wire_get(buf, len, &reply))
		return 0;
	return bftm_mac_sign_bytes(client->reply, buf, len) < 0 ? 0 : len;
}

static void object_free(struct node *node, struct liar_object *o)
{
	u32 i;

	RB_REMOVE(liar_objects, &node->objects, o);
	TAILQ_REMOVE(&node->by_key, o, later);
	node->object_count--;
	for (i = 0; i < pending_of(&o->object); i++)
		free(o->object.pend->entry[i].body);
	free(o->object.pend);
	if (o->object.sp != o->object.sc)
		free(o->object.sp);
	free(o->object.sc);
	free(o);
}

void node_objects_destroy(struct node *node)
{
	struct liar_object *o;

	node_uploads_destroy(node);
	while ((o = RB_ROOT(&node->objects)))
		object_free(node, o);
}
