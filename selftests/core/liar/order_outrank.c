// SPDX-License-Identifier: GPL-2.0
/* Just a bit more than was asked with: iterations end, and nothing seems wrong. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct bftm_rank max = req->msg->rank;
	struct order_reply r;

	if (req->msg->type != BFTM_ORDER_GET && req->msg->type != BFTM_ORDER_PROPOSE &&
	    !order_commits(req->msg)) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	max.count += 1 + liar_random(l) % 3;
	max.client ^= 1;
	order_except(&r, req->msg, &max, NULL);
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_outrank = {
	.name = "outrank",
	.what = "except every rank with one a bit higher",
	.answer = answer,
};
