// SPDX-License-Identifier: GPL-2.0
/* The truth, late: when the client has given up, or begun anew. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	liar_lied(l);
	order_liar_say(l, req, req->honest, liar_delay(l));
}

static void push(struct liar *l, const struct bftm_order_msg *msg, u64 now_ns)
{
	(void)now_ns;
	liar_lied(l);
	order_liar_push(l, msg, liar_delay(l));
}

const struct order_strategy order_late = {
	.name = "late",
	.what = "answer late",
	.answer = answer,
	.push = push,
};
