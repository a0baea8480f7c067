// SPDX-License-Identifier: GPL-2.0
/* It says that it has lost its memory, to all or some, and takes what is installed. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;

	if (order_get_rank(req->msg) && liar_random(l) & 3) {
		order_reply_to(&r, req->msg, BFTM_ORDER_RECOVERING);
		/* Now and then to the rank that is committed, and not to the next. */
		if (liar_random(l) & 3)
			r.msg.rank = *order_get_rank(req->msg);
	} else if (req->msg->type == BFTM_ORDER_INSTALL) {
		order_reply_to(&r, req->msg, liar_random(l) & 1 ? BFTM_ORDER_INSTALLED :
			       BFTM_ORDER_NEEDBODY);
	} else {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_recovering = {
	.name = "recovering",
	.what = "pretend to recover",
	.answer = answer,
};
