// SPDX-License-Identifier: GPL-2.0
/* It never has the body, nor does it store one. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;

	if (req->msg->type == BFTM_ORDER_GET || req->msg->type == BFTM_ORDER_FETCH) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	order_reply_to(&r, req->msg, BFTM_ORDER_NEEDBODY);
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_need = {
	.name = "need",
	.what = "ask for the body again and again",
	.answer = answer,
};
