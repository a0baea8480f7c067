// SPDX-License-Identifier: GPL-2.0
/* Is always busy with something else: WAIT, or REFUSED for any reason. */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u64 draw = liar_random(l);

	if (req->msg->type == BFTM_MSG_TRY) {
		reply = *req->msg;
		reply.type = draw & 1 ? BFTM_MSG_WAIT : BFTM_MSG_REFUSED;
		reply.position = (u32)(draw >> 8) % 8;
		reply.arg = (u8)(1 + (draw >> 8) % 8);
		reply.lease_ns = draw >> 16;
		reply.prio = ~0ull;
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_refuse = {
	.name = "refuse",
	.what = "say WAIT, or REFUSED for some reason",
	.answer = answer,
};
