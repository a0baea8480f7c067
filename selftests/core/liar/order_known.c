// SPDX-License-Identifier: GPL-2.0
#include "order_known.h"

static void order_known_proposal(struct order_known *k, const struct bftm_order_msg *msg)
{
	u32 i;

	for (i = 0; i < ORDER_KNOWN; i++)
		if (bftm_body_same(&k->proposal[i].id, &msg->id) &&
		    !bftm_rank_cmp(&k->proposal[i].rank, &msg->rank))
			return;
	k->proposal[k->proposals++ % ORDER_KNOWN] = (struct order_proposal){
		.id = msg->id, .rank = msg->rank,
	};
}

static void order_known_op(struct order_known *k, const struct bftm_order_msg *msg)
{
	u32 i;

	for (i = 0; i < ORDER_KNOWN; i++)
		if (k->op[i].client == msg->client && k->op[i].op == msg->op)
			return;
	k->op[k->ops++ % ORDER_KNOWN] = (struct bftm_op){
		.op = msg->op, .client = msg->client, .id = msg->id,
	};
}

void order_known_signature(struct order_known *k, const struct bftm_order_msg *msg)
{
	struct order_signature *s = &k->signature[k->signatures++ % ORDER_KNOWN];

	s->rank = msg->rank;
	memcpy(s->bytes, msg->signature, sizeof(s->bytes));
}

const struct bftm_rank *order_get_rank(const struct bftm_order_msg *req)
{
	if (req->type == BFTM_ORDER_COMMIT_GET)
		return &req->then;
	return req->type == BFTM_ORDER_GET ? &req->rank : NULL;
}

bool order_commits(const struct bftm_order_msg *req)
{
	return req->type == BFTM_ORDER_COMMIT || req->type == BFTM_ORDER_COMMIT_GET;
}

void order_known_note(struct order_known *k, const struct bftm_order_msg *msg)
{
	const struct bftm_rank *rank = order_get_rank(msg);
	struct bftm_order_msg get = *msg;

	if (msg->type == BFTM_ORDER_SUBMIT)
		order_known_op(k, msg);
	if (msg->type == BFTM_ORDER_PROPOSE || order_commits(msg))
		order_known_proposal(k, msg);
	if (!rank)
		return;
	get.rank = *rank;
	if (get.signature)
		order_known_signature(k, &get);
	if (bftm_rank_cmp(rank, &k->max) > 0)
		k->max = *rank;
}

void order_copy(struct order_reply *r, const struct bftm_order_msg *msg)
{
	r->msg = *msg;
	if (r->msg.data_len)
		memcpy(r->data, msg->data, r->msg.data_len);
	r->msg.data = r->data;
	if (r->msg.signature)
		r->msg.signature = memcpy(r->signature, msg->signature, sizeof(r->signature));
}

void order_reply_to(struct order_reply *r, const struct bftm_order_msg *req, u8 type)
{
	r->msg = *req;
	r->msg.type = type;
	r->msg.data = r->data;
	r->msg.data_len = 0;
	r->msg.signature = NULL;
}

void order_accept(struct order_reply *r, const struct bftm_order_msg *req)
{
	order_reply_to(r, req, req->type | BFTM_MSG_REPLY);
	if (req->type == BFTM_ORDER_PROPOSE)
		r->msg.type = BFTM_ORDER_PROPOSED;
	else
		r->msg.type = req->type == BFTM_ORDER_COMMIT ? BFTM_ORDER_COMMITTED :
			      BFTM_ORDER_COMMITTED_GOT;
}

void order_except(struct order_reply *r, const struct bftm_order_msg *req,
		  const struct bftm_rank *max, const u8 *signature)
{
	order_reply_to(r, req, BFTM_ORDER_EXCEPTION);
	r->msg.max = *max;
	if (signature)
		r->msg.signature = memcpy(r->signature, signature, sizeof(r->signature));
}

void order_got(struct order_reply *r, const struct bftm_order_msg *req,
	       const struct bftm_body_id *sc, const struct order_proposal *sp)
{
	order_reply_to(r, req, req->type == BFTM_ORDER_COMMIT_GET ? BFTM_ORDER_COMMITTED_GOT :
		       BFTM_ORDER_GOT);
	r->msg.id = *sc;
	r->msg.sp = sp->id;
	r->msg.prop = sp->rank;
	r->msg.pending = 0;
}

void order_got_waits(struct order_reply *r, const struct bftm_op *op)
{
	struct bftm_order_waiting w = {
		.client = cpu_to_le32(op->client),
		.len = cpu_to_le32(op->id.len),
		.op = cpu_to_le64(op->op),
	};

	if (r->msg.data_len + sizeof(w) > BFTM_ORDER_NEXT_WAITING_MAX * sizeof(w))
		return;
	memcpy(w.digest, op->id.digest, sizeof(w.digest));
	memcpy(r->data + r->msg.data_len, &w, sizeof(w));
	r->msg.data_len = (u16)(r->msg.data_len + sizeof(w));
	r->msg.pending++;
}
