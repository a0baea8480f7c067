// SPDX-License-Identifier: GPL-2.0
/* The highest rank there is, in answer to every rank. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct bftm_rank max = {
		.count = ~0ull >> (liar_random(l) & 31), .client = ~0u, .incarnation = ~0u,
	};
	struct order_reply r;

	if (req->msg->type != BFTM_ORDER_GET && req->msg->type != BFTM_ORDER_PROPOSE &&
	    !order_commits(req->msg)) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	order_except(&r, req->msg, &max, order_liar_known(l)->signature[0].bytes);
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_inflate = {
	.name = "inflate",
	.what = "except every rank with one near the end of all ranks",
	.answer = answer,
};
