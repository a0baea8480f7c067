// SPDX-License-Identifier: GPL-2.0
/*
 * Answers by the protocol and never speaks unasked; and to who polls for what
 * it has been granted, says WAIT. So a grant goes unnoticed until it is over.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	if (reply.type == BFTM_MSG_FREE && !(req->msg->flags & BFTM_FLAG_NOQUEUE)) {
		reply.type = BFTM_MSG_WAIT;
		reply.position = 1;
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)msg;
	(void)now_ns;
	liar_lied(l);
}

const struct strategy strategy_withhold = {
	.name = "withhold",
	.what = "queue everybody, and keep from them that it is their turn",
	.answer = answer,
	.push = push,
};
