// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Line numbers are those of Figure 3; "Ordering" in protocol.rst has the rest. */
#include "core/ordering/pending.h"

void bftm_object_init(struct bftm_object *o, bool recovering)
{
	memset(o, 0, sizeof(*o));
	o->recovering = recovering;
}

static void replica_refuse(struct bftm_order_msg *reply, enum bftm_refusal reason)
{
	reply->type = BFTM_MSG_REFUSED;
	reply->offset = reason;
}

/* Data stand behind the body of their answer, as far as there is room. */
static void put_data(struct bftm_order_msg *reply, u8 type, u8 *out, const void *data, u32 len)
{
	u32 body = bftm_order_form(type)->bytes;

	if (len > reply->room - body)
		len = reply->room - body;
	if (len)
		memcpy(out + body, data, len);
	reply->type = type;
	reply->data = out + body;
	reply->data_len = (u16)len;
}

static void replica_respond(const struct bftm_applied *a, u32 offset, u8 *out,
			    struct bftm_order_msg *reply)
{
	bool told = offset < a->len;

	memset(&reply->id, 0, sizeof(reply->id));
	reply->id.len = a->gone ? BFTM_RESPONSE_GONE : a->len;
	reply->offset = offset;
	put_data(reply, BFTM_ORDER_RESPONSE, out, told ? a->response + offset : NULL,
		 told ? a->len - offset : 0);
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

/* @max came with GET, or with something that is not signed. */
static bool is_signed(const struct bftm_object *o)
{
	static const u8 none[BFTM_SIGNATURE_LEN];

	return memcmp(o->signature, none, sizeof(none));
}

static void replica_except(const struct bftm_object *o, u8 *out, struct bftm_order_msg *reply)
{
	u8 *signature = out + BFTM_ORDER_EXCEPTION_LEN;

	reply->type = BFTM_ORDER_EXCEPTION;
	reply->max = o->max;
	if (!is_signed(o) || reply->room < BFTM_ORDER_PROOF_LEN)
		return;
	memcpy(signature, o->signature, BFTM_SIGNATURE_LEN);
	reply->signature = signature;
}

/* The same rank again is the same iteration: its datagrams are repeated. */
static bool rank_ok(struct bftm_object *o, const struct bftm_rank *rank, const u8 *signature)
{
	int cmp = bftm_rank_cmp(rank, &o->max);

	if (cmp > 0) {
		o->max = *rank;
		memset(o->signature, 0, sizeof(o->signature));
	}
	if (cmp >= 0 && signature)
		memcpy(o->signature, signature, BFTM_SIGNATURE_LEN);
	return cmp >= 0;
}

static void tell_waiting(const struct bftm_object *o, const struct bftm_order_msg *req, u8 type,
			 u8 *out, struct bftm_order_msg *reply)
{
	u32 body = bftm_order_form(type)->bytes, told;

	bftm_pending_tell(o, req->from,
			  (req->room - body) / sizeof(struct bftm_order_waiting),
			  (struct bftm_order_waiting *)(out + body), &told);
	reply->type = type;
	reply->pending = o->pend ? o->pend->count : 0;
	reply->data = out + body;
	reply->data_len = (u16)(told * sizeof(struct bftm_order_waiting));
}

/* Lines 3.5–10. */
static void replica_get(struct bftm_object *o, const struct bftm_order_msg *req, u8 *out,
			struct bftm_order_msg *reply)
{
	if (!rank_ok(o, &req->rank, req->signature)) {
		replica_except(o, out, reply);
		return;
	}
	reply->id = *bftm_state_id(o->sc);
	reply->sp = *bftm_state_id(o->sp);
	reply->prop = o->prop;
	tell_waiting(o, req, BFTM_ORDER_GOT, out, reply);
}

/* Find or take the body of a state. Return: false when it cannot be used. */
static bool take_state(struct bftm_object *o, const struct bftm_order_msg *req,
		       struct bftm_body *body, struct bftm_body **ret,
		       struct bftm_order_msg *reply)
{
	*ret = NULL;
	if (bftm_is_initial(&req->id))
		return true;
	if (bftm_object_stored(o, req)) {
		*ret = bftm_object_body(o, &req->id);
		return true;
	}
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
	rank_ok(o, &req->rank, NULL);
	o->prop = req->rank;
	o->sp = state;
	reply->type = BFTM_ORDER_PROPOSED;
}

static void replica_adopt(struct bftm_object *o, const struct bftm_order_msg *req,
			  struct bftm_body *state)
{
	rank_ok(o, &req->rank, NULL);
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

/* The answer to this very request may have been lost; its own next rank does not forbid it. */
static bool is_done_before(const struct bftm_object *o, const struct bftm_order_msg *req)
{
	return !bftm_rank_cmp(&o->max, &req->then) && !bftm_rank_cmp(&o->prop, &req->rank) &&
	       bftm_body_same(bftm_state_id(o->sc), &req->id) &&
	       bftm_body_same(bftm_state_id(o->sp), &req->id);
}

/* Lines 3.19–27, and then 3.5–10 for the next rank, in which that state is both. */
static void commit_get(struct bftm_object *o, const struct bftm_order_msg *req,
		       struct bftm_body *body, u8 *out, struct bftm_order_msg *reply)
{
	if (!is_done_before(o, req)) {
		commit(o, req, body, out, reply);
		if (reply->type != BFTM_ORDER_COMMITTED)
			return;
	}
	rank_ok(o, &req->then, req->signature);
	tell_waiting(o, req, BFTM_ORDER_COMMITTED_GOT, out, reply);
}

/* Admission has checked that the request is for this start of the server. */
static void install(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply)
{
	struct bftm_body *state;

	if (o->recovering && !bftm_rank_cmp(&req->rank, &o->told)) {
		if (!take_state(o, req, body, &state, reply))
			return;
		replica_adopt(o, req, state);
		o->recovering = false;
	} else if (o->recovering || !bftm_body_same(&req->id, bftm_state_id(o->sc))) {
		return;
	}
	reply->type = BFTM_ORDER_INSTALLED;
}

static void fetch(const struct bftm_object *o, const struct bftm_order_msg *req,
		  u8 *out, struct bftm_order_msg *reply)
{
	const struct bftm_body *body = bftm_object_body(o, &req->id);

	reply->type = BFTM_ORDER_NOBODY;
	if (body && req->offset < body->id.len)
		put_data(reply, BFTM_ORDER_BODY, out, body->data + req->offset,
			 bftm_piece_len(body->id.len, req->offset));
}

/* Return: RECOVERING to what begins an iteration of this rank, if it is the last one. */
static void recover_get(struct bftm_object *o, const struct bftm_rank *rank,
			struct bftm_order_msg *reply)
{
	if (bftm_rank_cmp(rank, &o->told) > 0)
		o->told = *rank;
	if (bftm_rank_cmp(rank, &o->told))
		return;
	reply->type = BFTM_ORDER_RECOVERING;
	reply->rank = *rank;
}

static void recover(struct bftm_object *o, const struct bftm_order_msg *req,
		    struct bftm_body *body, struct bftm_order_msg *reply)
{
	if (req->type == BFTM_ORDER_INSTALL)
		install(o, req, body, reply);
	else if (req->type == BFTM_ORDER_GET)
		recover_get(o, &req->rank, reply);
	else if (req->type == BFTM_ORDER_COMMIT_GET)
		recover_get(o, &req->then, reply);
}

/* A rank must be its client's own, and leave room for higher ones. */
static bool rank_is_own(const struct bftm_order_msg *req)
{
	if (req->type == BFTM_ORDER_SUBMIT || req->type == BFTM_ORDER_FETCH)
		return true;
	if (req->type == BFTM_ORDER_COMMIT_GET &&
	    (req->then.client != req->client || req->then.count <= req->rank.count ||
	     req->then.count > BFTM_RANK_COUNT_MAX))
		return false;
	return req->rank.client == req->client && req->rank.count &&
	       req->rank.count <= BFTM_RANK_COUNT_MAX;
}

void bftm_order_step(const struct bftm_server_cfg *cfg, struct bftm_object *o,
		     const struct bftm_order_msg *req, struct bftm_body *body,
		     u64 now, u8 *out, struct bftm_order_msg *reply)
{
	*reply = *req;
	reply->type = BFTM_MSG_NONE;
	reply->data = NULL;
	reply->data_len = 0;
	reply->signature = NULL;
	o->replaced = NULL;
	if (!rank_is_own(req))
		return;
	if (o->recovering) {
		/* Promises of the lost memory are over when this silence is. */
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
	case BFTM_ORDER_COMMIT_GET:
		commit_get(o, req, body, out, reply);
		break;
	case BFTM_ORDER_INSTALL:
		install(o, req, body, reply);
		break;
	case BFTM_ORDER_FETCH:
		fetch(o, req, out, reply);
		break;
	}
}
