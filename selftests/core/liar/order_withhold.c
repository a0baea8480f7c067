// SPDX-License-Identifier: GPL-2.0
/* It answers some clients, and to those it does not tell everything. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	u32 mood = order_liar_known(l)->mood;

	if (!(liar_random(l) & 63))
		order_liar_known(l)->mood++;
	if ((req->msg->client ^ mood) & 1 && (req->msg->type ^ mood >> 1) & 1)
		liar_lied(l);
	else
		order_liar_say(l, req, req->honest, 0);
}

static void push(struct liar *l, const struct bftm_order_msg *msg, u64 now_ns)
{
	(void)msg;
	(void)now_ns;
	liar_lied(l);
}

const struct order_strategy order_withhold = {
	.name = "withhold",
	.what = "leave some clients without some answers",
	.answer = answer,
	.push = push,
};
