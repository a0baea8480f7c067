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

void order_known_note(struct order_known *k, const struct bftm_order_msg *msg)
{
	if (msg->type == BFTM_ORDER_SUBMIT)
		order_known_op(k, msg);
	if (msg->type == BFTM_ORDER_PROPOSE || msg->type == BFTM_ORDER_COMMIT)
		order_known_proposal(k, msg);
	if (msg->type == BFTM_ORDER_GET && msg->signature)
		order_known_signature(k, msg);
	if (msg->type == BFTM_ORDER_GET && bftm_rank_cmp(&msg->rank, &k->max) > 0)
		k->max = msg->rank;
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
	order_reply_to(r, req, BFTM_ORDER_GOT);
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

	if (r->msg.data_len + sizeof(w) > BFTM_ORDER_WAITING_MAX * sizeof(w))
		return;
	memcpy(w.digest, op->id.digest, sizeof(w.digest));
	memcpy(r->data + r->msg.data_len, &w, sizeof(w));
	r->msg.data_len = (u16)(r->msg.data_len + sizeof(w));
	r->msg.pending++;
}
