// SPDX-License-Identifier: GPL-2.0
/* Hears everything and says nothing. */
#include "order_strategy.h"

static void answer(struct liar *l, const struct order_request *req)
{
	(void)req;
	liar_lied(l);
}

static void push(struct liar *l, const struct bftm_order_msg *msg, u64 now_ns)
{
	(void)msg;
	(void)now_ns;
	liar_lied(l);
}

const struct order_strategy order_silent = {
	.name = "silent",
	.what = "say nothing",
	.answer = answer,
	.push = push,
};
