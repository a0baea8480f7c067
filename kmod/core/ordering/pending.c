// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Operations that wait at a server; line numbers are those of Figure 3. */
#include "core/ordering/pending.h"

/* The place of a client in the list, or where it would be. */
static u32 place(const struct bftm_pendings *pend, u32 client)
{
	u32 low = 0, high = pend ? pend->count : 0, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (pend->entry[middle].client < client)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct bftm_pending *bftm_pending_of(const struct bftm_object *o, u32 client)
{
	u32 i = place(o->pend, client);

	if (!o->pend || i == o->pend->count || o->pend->entry[i].client != client)
		return NULL;
	return &o->pend->entry[i];
}

bool bftm_object_applied(const struct bftm_object *o, u32 client, struct bftm_applied *ret)
{
	return o->sc && bftm_state_find(o->sc->data, client, ret);
}

bool bftm_pending_news(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	const struct bftm_pending *p = bftm_pending_of(o, req->client);
	struct bftm_applied a;

	return !o->recovering && !(bftm_object_applied(o, req->client, &a) && a.op >= req->op) &&
	       !(p && p->op >= req->op);
}

bool bftm_object_lacks_room(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	return req->type == BFTM_ORDER_SUBMIT && bftm_pending_news(o, req) &&
	       !bftm_pending_of(o, req->client) &&
	       (!o->pend || o->pend->count == o->pend->room);
}

void bftm_pending_add(struct bftm_object *o, const struct bftm_order_msg *req,
		      struct bftm_body *body)
{
	struct bftm_pendings *pend = o->pend;
	struct bftm_pending news = {
		.op = req->op,
		.client = req->client,
		.room = req->room,
		.body = body,
	};
	u32 i = place(pend, req->client);

	if (i < pend->count && pend->entry[i].client == req->client) {
		o->replaced = pend->entry[i].body;
		pend->entry[i] = news;
		return;
	}
	memmove(&pend->entry[i + 1], &pend->entry[i],
		(pend->count - i) * sizeof(pend->entry[0]));
	pend->entry[i] = news;
	pend->count++;
}

void bftm_pending_tell(const struct bftm_object *o, u32 from, u32 room,
		       struct bftm_order_waiting *ret, u32 *told)
{
	u32 i = place(o->pend, from), k;

	for (k = 0; o->pend && k < o->pend->count && k < room; k++) {
		const struct bftm_pending *p = &o->pend->entry[(i + k) % o->pend->count];
		struct bftm_order_waiting w = {
			.client = cpu_to_le32(p->client),
			.len = cpu_to_le32(p->body->id.len),
			.op = cpu_to_le64(p->op),
		};

		memcpy(w.digest, p->body->id.digest, sizeof(w.digest));
		memcpy(&ret[k], &w, sizeof(w));
	}
	*told = k;
}

/* Applied operations go behind the others, for the caller. */
void bftm_pending_drop(struct bftm_object *o)
{
	struct bftm_pendings *pend = o->pend;
	u32 i, kept = 0, dropped = 0;

	for (i = 0; pend && i < pend->count; i++) {
		struct bftm_pending p = pend->entry[i];
		struct bftm_applied a;

		if (bftm_object_applied(o, p.client, &a) && a.op >= p.op) {
			dropped++;
			continue;
		}
		/* Swap, so that none of the dropped is overwritten. */
		pend->entry[i] = pend->entry[kept];
		pend->entry[kept++] = p;
	}
	if (pend)
		pend->count -= dropped;
}
