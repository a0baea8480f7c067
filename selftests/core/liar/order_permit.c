// SPDX-License-Identifier: GPL-2.0
/*
 * No rank is too low: GET is answered, PROPOSE and COMMIT are done, whatever was
 * promised to others. It claims to have any state that it heard of.
 */
#include "order_known.h"

static const struct order_proposal *draw(struct liar *l)
{
	return &order_liar_known(l)->proposal[liar_random(l) % ORDER_KNOWN];
}

static void answer(struct liar *l, const struct order_request *req)
{
	const struct bftm_order_msg *honest = req->honest;
	struct order_reply r;

	if (honest->type != BFTM_ORDER_EXCEPTION && honest->type != BFTM_ORDER_NEEDBODY &&
	    (honest->type != BFTM_ORDER_GOT || liar_random(l) & 3)) {
		order_liar_say(l, req, honest, 0);
		return;
	}
	if (req->msg->type == BFTM_ORDER_GET) {
		order_got(&r, req->msg, &draw(l)->id, draw(l));
	} else {
		order_accept(&r, req->msg);
		if (req->msg->type == BFTM_ORDER_SUBMIT)
			r.msg.type = BFTM_ORDER_PENDING;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_permit = {
	.name = "permit",
	.what = "find no rank too low, and have any state that was ever proposed",
	.answer = answer,
};
