// SPDX-License-Identifier: GPL-2.0
/*
 * A step of an object, with all that the core leaves to its caller: bodies, their
 * references, the list of what waits.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "objects/uploads.h"
#include "time/clock.h"

/* Room in the first list of pending operations; and what an empty one keeps. */
#define PENDING_ROOM 4

static size_t pendings_size(u32 room)
{
	return sizeof(struct bftm_pendings) + room * sizeof(struct bftm_pending);
}

void bftm_pendings_free(struct bftm_objects *t, struct bftm_object *o)
{
	if (!o->pend)
		return;
	bftm_budget_give(&t->budget, pendings_size(o->pend->room));
	kfree(o->pend);
	o->pend = NULL;
}

/*
 * Twice the room for pending operations, or no more than there is when memory is
 * short: the core refuses then.
 */
static void enlarge(struct bftm_objects *t, struct bftm_object *o)
{
	struct bftm_pendings *old = o->pend, *new;
	u32 room = min(max_t(u32, old ? 2 * old->room : 0, PENDING_ROOM), BFTM_PENDING_MAX);

	if (old && room <= old->room)
		return;
	if (!bftm_budget_take(&t->budget, pendings_size(room), true))
		return;
	new = kmalloc(pendings_size(room), GFP_NOWAIT | __GFP_NOWARN);
	if (!new) {
		bftm_budget_give(&t->budget, pendings_size(room));
		return;
	}
	new->count = old ? old->count : 0;
	new->room = room;
	if (old)
		memcpy(new->entry, old->entry, old->count * sizeof(*old->entry));
	bftm_pendings_free(t, o);
	o->pend = new;
}

/* The bodies of an object before a step: each one that the object loses is put after the step. */
struct before {
	struct bftm_rank max;
	struct bftm_rank prop;
	struct bftm_body *sc;
	struct bftm_body *sp;
	u32 pending;
	u8 signature[BFTM_SIGNATURE_LEN];
};

static u32 pending_of(const struct bftm_object *o)
{
	return o->pend ? o->pend->count : 0;
}

/* Returns what a journal has to keep before the reply may be sent. */
static u32 step_compare(const struct before *b, const struct bftm_object *o)
{
	u32 changed = 0;

	if (bftm_rank_cmp(&b->max, &o->max) ||
	    memcmp(b->signature, o->signature, sizeof(b->signature)))
		changed |= BFTM_CHANGED_RANK;
	if (b->sc != o->sc || b->sp != o->sp || bftm_rank_cmp(&b->prop, &o->prop))
		changed |= BFTM_CHANGED_STATE;
	if (b->pending != pending_of(o) || o->replaced)
		changed |= BFTM_CHANGED_PENDING;
	return changed;
}

/* Operations that the new state reflects: they go to who tells their clients. */
static void step_collect(struct bftm_objects *t, struct bftm_object *o, u32 before,
			 struct bftm_outcome *ret)
{
	u32 i;

	for (i = pending_of(o); i < before; i++) {
		struct bftm_stored *s = bftm_stored_of(o->pend->entry[i].body);

		s->what = o->pend->entry[i];
		s->next = ret->dropped;
		ret->dropped = s;
	}
	if (!ret->dropped)
		return;
	ret->state = bftm_stored_get(bftm_stored_of(o->sc));
	if (!o->pend->count && o->pend->room > PENDING_ROOM)
		bftm_pendings_free(t, o);
}

/*
 * The step itself, and the references: one for each place in which the object
 * knows a body. @lost are those that it knows no more.
 */
static void step_run(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		     struct bftm_object *o, const struct bftm_order_msg *req,
		     struct bftm_stored *body, u8 *out, struct bftm_order_msg *reply,
		     struct bftm_outcome *ret, struct bftm_stored *lost[3])
{
	struct before b = {
		.max = o->max,
		.prop = o->prop,
		.sc = o->sc,
		.sp = o->sp,
		.pending = pending_of(o),
	};

	memcpy(b.signature, o->signature, sizeof(b.signature));
	/* Read under the lock: the core's clock never runs backwards. */
	bftm_order_step(cfg, o, req, body ? &body->body : NULL, bftm_clock_ns(),
			out, reply);
	ret->changed = step_compare(&b, o);
	if (o->sc != b.sc) {
		bftm_stored_settle(bftm_stored_get(bftm_stored_of(o->sc)));
		lost[0] = bftm_stored_of(b.sc);
	}
	if (o->sp != b.sp) {
		bftm_stored_settle(bftm_stored_get(bftm_stored_of(o->sp)));
		lost[1] = bftm_stored_of(b.sp);
	}
	if (o->replaced || pending_of(o) > b.pending)
		bftm_stored_get(body);
	lost[2] = bftm_stored_of(o->replaced);
	o->replaced = NULL;
	step_collect(t, o, b.pending, ret);
}

static void step_refuse(struct bftm_order_msg *reply, enum bftm_refusal reason)
{
	reply->type = BFTM_MSG_REFUSED;
	reply->offset = reason;
}

void bftm_objects_refuse(const struct bftm_order_msg *req, struct bftm_order_msg *reply,
			 long error)
{
	bool full = error == -EDQUOT || error == -ENOBUFS;

	if (error == -ENOMEM)
		return;		/* there may be memory when it asks again */
	/* A state is too long, or not, however much memory is left. */
	if (error == -ENOSPC || (full && req->id.version))
		step_refuse(reply, BFTM_REFUSED_OBJECTS);
	else if (full)
		step_refuse(reply, BFTM_REFUSED_PENDING);
	else
		step_refuse(reply, BFTM_REFUSED_STATE);
}

/* Where there is no object: it may be one that cannot be added. */
static void without(const struct bftm_objects *t, const struct bftm_order_msg *req,
		    struct bftm_order_msg *reply)
{
	if (req->type != BFTM_ORDER_FETCH)
		bftm_objects_refuse(req, reply, -ENOSPC);
	else if (!t->recovering)
		reply->type = BFTM_ORDER_NOBODY;
}

static struct bftm_stored *make_body(struct bftm_objects *t, const struct bftm_order_msg *req)
{
	struct bftm_share *share = bftm_share_get(&t->shares, req->client);
	struct bftm_stored *s;

	if (req->id.version && req->id.len > t->state_max)
		return ERR_PTR(-EMSGSIZE);
	if (!bftm_digest_ok(&req->id, req->data))
		return ERR_PTR(-EBADMSG);
	if (!share)
		return ERR_PTR(-ENOMEM);
	s = bftm_stored_new(&t->budget, share, &req->id, GFP_NOWAIT);
	if (bftm_uploads_reclaim(t, req->client, PTR_ERR_OR_ZERO(s)))
		s = bftm_stored_new(&t->budget, share, &req->id, GFP_NOWAIT);
	if (!IS_ERR(s))
		memcpy(s->data, req->data, req->id.len);
	return s;
}

/* With the shard locked; @body is what there is of the body that @req names. */
static void step_object(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
			struct bftm_thing *e, const struct bftm_order_msg *req,
			struct bftm_stored *body, u8 *out, struct bftm_order_msg *reply,
			struct bftm_outcome *ret, struct bftm_stored *lost[3])
{
	if (!e) {
		without(t, req, reply);
		return;
	}
	if (body && bftm_object_lacks_room(&e->object, req))
		enlarge(t, &e->object);
	step_run(t, cfg, &e->object, req, body, out, reply, ret, lost);
	ret->thing = e;
	ret->unsaved = bftm_journal_note(t->journal, e, ret->changed);
	bftm_objects_forget(t, e);
}

void bftm_objects_step(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		       const struct bftm_order_msg *req, u8 *out,
		       struct bftm_order_msg *reply, struct bftm_outcome *ret)
{
	struct bftm_place at = bftm_objects_place(t, req);
	struct bftm_stored *body = NULL, *lost[3] = {};
	struct bftm_thing *e;
	bool lacks;
	int i;

	memset(ret, 0, sizeof(*ret));
	*reply = *req;
	reply->type = BFTM_MSG_NONE;
	reply->data = NULL;
	reply->data_len = 0;
	reply->signature = NULL;
	if (bftm_objects_loading(t))
		return;
	if (req->type == BFTM_ORDER_PUT) {
		bftm_uploads_put(t, cfg, req, reply);
		return;
	}
	spin_lock(&at.shard->lock);
	e = bftm_objects_find(t, &at, req);
	lacks = e && bftm_object_wants(&e->object, req);
	if (lacks && req->data) {
		/* Not under the lock. The object is found, or made, once more. */
		bftm_objects_forget(t, e);
		spin_unlock(&at.shard->lock);
		body = make_body(t, req);
		if (IS_ERR(body)) {
			bftm_objects_refuse(req, reply, PTR_ERR(body));
			return;
		}
		spin_lock(&at.shard->lock);
		e = bftm_objects_find(t, &at, req);
	} else if (lacks) {
		body = bftm_uploads_take(t, e, req);
	}
	step_object(t, cfg, e, req, body, out, reply, ret, lost);
	spin_unlock(&at.shard->lock);
	for (i = 0; i < ARRAY_SIZE(lost); i++)
		bftm_stored_put(lost[i]);
	bftm_stored_put(body);
	bftm_journal_hint(t->journal);
}

struct bftm_stored *bftm_outcome_next(struct bftm_outcome *outcome)
{
	struct bftm_stored *s = outcome->dropped;

	if (s)
		outcome->dropped = s->next;
	return s;
}

void bftm_outcome_done(struct bftm_outcome *outcome)
{
	struct bftm_stored *s;

	while ((s = bftm_outcome_next(outcome)))
		bftm_stored_put(s);
	bftm_stored_put(outcome->state);
	outcome->state = NULL;
}
