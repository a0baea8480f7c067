// SPDX-License-Identifier: GPL-2.0
/* By the protocol, but whoever says that it holds the lock waits behind somebody. */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	if (req->msg->type == BFTM_MSG_TRY && req->msg->arg != BFTM_MODE_NL &&
	    (reply.type == BFTM_MSG_FREE || reply.type == BFTM_MSG_WAIT)) {
		reply.type = BFTM_MSG_WAIT;
		reply.position = 2;
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_deaf = {
	.name = "deaf",
	.what = "queue whoever says that it holds the lock behind another",
	.answer = answer,
};
