// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The bodies that an object has, and those that a request has to bring. */
#include "core/ordering/pending.h"

struct bftm_body *bftm_object_body(const struct bftm_object *o,
				   const struct bftm_body_id *id)
{
	u32 i;

	if (o->sc && bftm_body_same(id, &o->sc->id))
		return o->sc;
	if (o->sp && bftm_body_same(id, &o->sp->id))
		return o->sp;
	for (i = 0; !id->version && o->pend && i < o->pend->count; i++)
		if (bftm_body_same(id, &o->pend->entry[i].body->id))
			return o->pend->entry[i].body;
	return NULL;
}

/* Operations, which have no version, are none. */
static struct bftm_body *known_state(const struct bftm_object *o,
				     const struct bftm_body_id *id)
{
	return id->version ? bftm_object_body(o, id) : NULL;
}

bool bftm_object_stored(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	/* A waiting operation is no help to the SUBMIT of another one with the same bytes. */
	return known_state(o, &req->id);
}

bool bftm_object_wants(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	switch (req->type) {
	case BFTM_ORDER_SUBMIT:
		return bftm_pending_news(o, req);
	case BFTM_ORDER_PROPOSE:
	case BFTM_ORDER_COMMIT:
	case BFTM_ORDER_COMMIT_GET:
		return !o->recovering && bftm_rank_cmp(&req->rank, &o->max) >= 0 &&
		       !bftm_is_initial(&req->id) && !known_state(o, &req->id);
	case BFTM_ORDER_INSTALL:
		return o->recovering && !bftm_is_initial(&req->id) &&
		       !bftm_rank_cmp(&req->rank, &o->told);
	}
	return false;
}
