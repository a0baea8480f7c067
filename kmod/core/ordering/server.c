// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Line numbers are those of Figure 3; "Ordering" in protocol.rst has the rest. */
#include "core/ordering/pending.h"

void bftm_object_init(struct bftm_object *o, bool recovering)
{
	memset(o, 0, sizeof(*o));
	o->recovering = recovering;
}

static const struct bftm_body_id *id_of(const struct bftm_body *body)
{
	static const struct bftm_body_id initial;

	return body ? &body->id : &initial;
}

static bool is_initial(const struct bftm_body_id *id)
{
	return bftm_body_same(id, id_of(NULL));
}

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

bool bftm_object_stored(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	const struct bftm_pending *p = bftm_pending_of(o, req->client);

	if (req->id.version)
		return bftm_object_body(o, &req->id);
	/* The same bytes of another, or for another operation, are no help to a SUBMIT. */
	return p && p->op == req->op && bftm_body_same(&req->id, &p->body->id);
}

/* Operations, which have no version, are none. */
static struct bftm_body *known_state(const struct bftm_object *o,
				     const struct bftm_body_id *id)
{
	return id->version ? bftm_object_body(o, id) : NULL;
}

bool bftm_object_wants(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	switch (req->type) {
	case BFTM_ORDER_SUBMIT:
		return bftm_pending_news(o, req);
	case BFTM_ORDER_PROPOSE:
	case BFTM_ORDER_COMMIT:
		return !o->recovering && bftm_rank_cmp(&req->rank, &o->max) >= 0 &&
		       !is_initial(&req->id) && !known_state(o, &req->id);
	case BFTM_ORDER_INSTALL:
		return o->recovering && !is_initial(&req->id) &&
		       !bftm_rank_cmp(&req->rank, &o->told);
	}
	return false;
}

static void replica_refuse(struct bftm_order_msg *reply, enum bftm_refusal reason)
{
	reply->type = BFTM_MSG_REFUSED;
	reply->offset = reason;
}

static void put_data(struct bftm_order_msg *reply, u8 *out, const void *data, u32 len)
{
	if (len > reply->room)
		len = reply->room;
	if (len)
		memcpy(out, data, len);
	reply->data = out;
	reply->data_len = (u16)len;
}

static void replica_respond(const struct bftm_applied *a, u32 offset, u8 *out,
			    struct bftm_order_msg *reply)
{
	reply->type = BFTM_ORDER_RESPONSE;
	memset(&reply->id, 0, sizeof(reply->id));
	reply->id.len = a->gone ? BFTM_RESPONSE_GONE : a->len;
	reply->offset = offset;
	if (offset < a->len)
		put_data(reply, out, a->response + offset, a->len - offset);
}

void bftm_order_response(const struct bftm_object *o, const struct bftm_pending *p,
			 u8 *out, struct bftm_order_msg *ret)
{
	struct bftm_applied a;

	memset(ret, 0, sizeof(*ret));
	if (!bftm_object_applied(o, p->client, &a) || a.op != p->op)
		return;
	ret->client = p->client;
	ret->op = p->op;
	ret->room = (u16)p->room;
	replica_respond(&a, 0, out, ret);
}

/* Lines 3.1–4. */
static void submit(struct bftm_object *o, const struct bftm_order_msg *req,
		   struct bftm_body *body, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_pending *p;
	struct bftm_applied a;

	if (bftm_object_applied(o, req->client, &a) && a.op >= req->op) {
		if (a.op == req->op)
			replica_respond(&a, req->offset, out, reply);
		return;		/* older ones have no response any more */
	}
	p = bftm_pending_of(o, req->client);
	if (p && p->op > req->op)
		return;
	reply->type = BFTM_ORDER_PENDING;
	if (p && p->op == req->op)
		return;
	if (!body)
		reply->type = BFTM_ORDER_NEEDBODY;
	else if (body->id.version || body->id.len > BFTM_OP_MAX || !(u32)req->op)
		replica_refuse(reply, BFTM_REFUSED_STATE);
	else if (!p && (!o->pend || o->pend->count == o->pend->room))
		replica_refuse(reply, BFTM_REFUSED_PENDING);
	else
		bftm_pending_add(o, req, body);
}

static void replica_except(const struct bftm_object *o, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_order_exception e = {
		.count = cpu_to_le64(o->max.count),
		.client = cpu_to_le32(o->max.client),
		.incarnation = cpu_to_le32(o->max.incarnation),
	};

	memcpy(e.signature, o->signature, sizeof(e.signature));
	reply->type = BFTM_ORDER_EXCEPTION;
	put_data(reply, out, &e, sizeof(e));
}

/* The same rank again is the same iteration: its datagrams are repeated. */
static bool rank_ok(struct bftm_object *o, const struct bftm_order_msg *req)
{
	int cmp = bftm_rank_cmp(&req->rank, &o->max);

	if (cmp > 0) {
		o->max = req->rank;
		memset(o->signature, 0, sizeof(o->signature));
	}
	if (cmp >= 0 && req->type == BFTM_ORDER_GET &&
	    req->data_len == BFTM_SIGNATURE_LEN)
		memcpy(o->signature, req->data, BFTM_SIGNATURE_LEN);
	return cmp >= 0;
}

/* Lines 3.5–10. */
static void replica_get(struct bftm_object *o, const struct bftm_order_msg *req, u8 *out,
			struct bftm_order_msg *reply)
{
	const struct bftm_body_id *sp = id_of(o->sp);
	struct bftm_order_got got = {
		.sp_version = cpu_to_le64(sp->version),
		.sp_len = cpu_to_le32(sp->len),
		.pending = cpu_to_le32(o->pend ? o->pend->count : 0),
		.prop_count = cpu_to_le64(o->prop.count),
		.prop_client = cpu_to_le32(o->prop.client),
		.prop_incarnation = cpu_to_le32(o->prop.incarnation),
	};
	u32 told;

	if (!rank_ok(o, req)) {
		replica_except(o, out, reply);
		return;
	}
	memcpy(got.sp_digest, sp->digest, sizeof(got.sp_digest));
	memcpy(out, &got, sizeof(got));
	bftm_pending_tell(o, req->from,
			  (req->room - sizeof(got)) / sizeof(struct bftm_order_waiting),
			  (struct bftm_order_waiting *)(out + sizeof(got)), &told);
	reply->type = BFTM_ORDER_GOT;
	reply->id = *id_of(o->sc);
	reply->data = out;
	reply->data_len = (u16)(sizeof(got) + told * sizeof(struct bftm_order_waiting));
}

/* Find or take the body of a state. Return: false when it cannot be used. */
static bool take_state(struct bftm_object *o, const struct bftm_order_msg *req,
		       struct bftm_body *body, struct bftm_body **ret,
		       struct bftm_order_msg *reply)
{
	*ret = NULL;
	if (is_initial(&req->id))
		return true;
	*ret = known_state(o, &req->id);
	if (*ret)
		return true;
	if (!body) {
		reply->type = BFTM_ORDER_NEEDBODY;
		return false;
	}
	if (!bftm_body_same(&body->id, &req->id) ||
	    !bftm_state_ok(body->data, body->id.len, body->id.version)) {
		replica_refuse(reply, BFTM_REFUSED_STATE);
		return false;
	}
	*ret = body;
	return true;
}

/* Lines 3.11–18. */
static void replica_propose(struct bftm_object *o, const struct bftm_order_msg *req,
			    struct bftm_body *body, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_body *state;

	if (bftm_rank_cmp(&req->rank, &o->max) < 0) {
		replica_except(o, out, reply);
		return;
	}
	if (!take_state(o, req, body, &state, reply))
		return;
	rank_ok(o, req);
	o->prop = req->rank;
	o->sp = state;
	reply->type = BFTM_ORDER_PROPOSED;
}

static void replica_adopt(struct bftm_object *o, const struct bftm_order_msg *req,
			  struct bftm_body *state)
{
	rank_ok(o, req);
	o->prop = req->rank;
	o->sc = state;
	o->sp = state;	/* also at a server that missed the propose */
	bftm_pending_drop(o);
}

/* Lines 3.19–27. */
static void commit(struct bftm_object *o, const struct bftm_order_msg *req,
		   struct bftm_body *body, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_body *state;

	if (bftm_rank_cmp(&req->rank, &o->max) < 0) {
		replica_except(o, out, reply);
		return;
	}
	if (!take_state(o, req, body, &state, reply))
		return;
	replica_adopt(o, req, state);
	reply->type = BFTM_ORDER_COMMITTED;
}

/* That it is for this start of the server, admission has made sure of. */
static void install(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply)
{
	struct bftm_body *state;

	if (o->recovering && !bftm_rank_cmp(&req->rank, &o->told)) {
		if (!take_state(o, req, body, &state, reply))
			return;
		replica_adopt(o, req, state);
		o->recovering = false;
	} else if (o->recovering || !bftm_body_same(&req->id, id_of(o->sc))) {
		return;
	}
	reply->type = BFTM_ORDER_INSTALLED;
}

static void fetch(const struct bftm_object *o, const struct bftm_order_msg *req,
		  u8 *out, struct bftm_order_msg *reply)
{
	const struct bftm_body *body = bftm_object_body(o, &req->id);
	u32 left;

	reply->type = BFTM_ORDER_NOBODY;
	if (!body || req->offset >= body->id.len)
		return;
	left = body->id.len - req->offset;
	reply->type = BFTM_ORDER_BODY;
	reply->offset = req->offset;
	put_data(reply, out, body->data + req->offset,
		 left < BFTM_PIECE_LEN ? left : BFTM_PIECE_LEN);
}

static void recover(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply)
{
	if (req->type == BFTM_ORDER_INSTALL) {
		install(o, req, body, reply);
	} else if (req->type == BFTM_ORDER_GET) {
		if (bftm_rank_cmp(&req->rank, &o->told) > 0)
			o->told = req->rank;
		if (!bftm_rank_cmp(&req->rank, &o->told))
			reply->type = BFTM_ORDER_RECOVERING;
	}
}

void bftm_order_step(const struct bftm_server_cfg *cfg, struct bftm_object *o,
		     const struct bftm_order_msg *req, struct bftm_body *body,
		     u64 now, u8 *out, struct bftm_order_msg *reply)
{
	*reply = *req;
	reply->type = BFTM_MSG_NONE;
	reply->data = out;
	reply->data_len = 0;
	o->replaced = NULL;
	/* A rank is its client's own. */
	if (req->type != BFTM_ORDER_SUBMIT && req->type != BFTM_ORDER_FETCH &&
	    (req->rank.client != req->client || !req->rank.count ||
	     req->rank.count > BFTM_RANK_COUNT_MAX))
		return;
	if (o->recovering) {
		/* What the memory had promised is over when this silence is. */
		if (now > cfg->quarantine_until_ns)
			recover(o, req, body, reply);
		return;
	}
	switch (req->type) {
	case BFTM_ORDER_SUBMIT:
		submit(o, req, body, out, reply);
		break;
	case BFTM_ORDER_GET:
		replica_get(o, req, out, reply);
		break;
	case BFTM_ORDER_PROPOSE:
		replica_propose(o, req, body, out, reply);
		break;
	case BFTM_ORDER_COMMIT:
		commit(o, req, body, out, reply);
		break;
	case BFTM_ORDER_INSTALL:
		install(o, req, body, reply);
		break;
	case BFTM_ORDER_FETCH:
		fetch(o, req, out, reply);
		break;
	}
}

bool bftm_piece_ok(const struct bftm_order_msg *req)
{
	u32 left;

	if (req->offset % BFTM_PIECE_LEN || req->offset >= req->id.len)
		return false;
	left = req->id.len - req->offset;
	return req->data_len == (left < BFTM_PIECE_LEN ? left : BFTM_PIECE_LEN);
}

bool bftm_upload_take(struct bftm_upload *up, const struct bftm_order_msg *req)
{
	u32 piece = req->offset / BFTM_PIECE_LEN;

	if (!bftm_piece_ok(req))
		return false;
	if (up->have[piece / 64] & 1ull << piece % 64)
		return true;
	memcpy(up->data + req->offset, req->data, req->data_len);
	up->have[piece / 64] |= 1ull << piece % 64;
	up->pieces++;
	return true;
}
