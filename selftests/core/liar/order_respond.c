// SPDX-License-Identifier: GPL-2.0
/* Responses that are none: at once, of another, with a byte changed, too long. */
#include "order_known.h"

static void change(struct liar *l, struct order_reply *r)
{
	u32 mood = order_liar_known(l)->mood;
	u64 draw = liar_random(l);

	if (!r->msg.data_len) {
		/* A body that holds nothing, of version 0 or so. */
		memset(r->data, (int)(mood & 1), 16);
		r->msg.data_len = 16;
		r->msg.id.len = 16;
	} else if (draw & 1) {
		r->data[mood % r->msg.data_len]++;
	} else if (draw & 2) {
		r->msg.id.len = draw & 4 ? r->msg.data_len + 1u : BFTM_OP_MAX;
	} else {
		r->msg.offset++;
	}
	liar_lied(l);
}

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;

	if (req->msg->type != BFTM_ORDER_SUBMIT) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	if (!(liar_random(l) & 15))
		order_liar_known(l)->mood++;
	if (req->honest->type == BFTM_ORDER_RESPONSE)
		order_copy(&r, req->honest);
	else
		order_reply_to(&r, req->msg, BFTM_ORDER_RESPONSE);
	change(l, &r);
	order_liar_say(l, req, &r.msg, 0);
}

static void push(struct liar *l, const struct bftm_order_msg *msg, u64 now_ns)
{
	struct order_reply r;

	(void)now_ns;
	order_copy(&r, msg);
	change(l, &r);
	order_liar_push(l, &r.msg, 0);
}

const struct order_strategy order_respond = {
	.name = "respond",
	.what = "answer SUBMIT with responses that are none",
	.answer = answer,
	.push = push,
};
