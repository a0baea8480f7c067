// SPDX-License-Identifier: GPL-2.0
/* Takes everything in, keeps its books, says nothing. */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	if (req->honest->type != BFTM_MSG_NONE)
		liar_lied(l);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)msg;
	(void)now_ns;
	liar_lied(l);
}

const struct strategy strategy_silent = {
	.name = "silent",
	.what = "never answer",
	.answer = answer,
	.push = push,
};
