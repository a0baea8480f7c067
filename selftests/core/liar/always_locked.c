// SPDX-License-Identifier: GPL-2.0
/* Grants nothing: with more than n - F such servers nobody would get in. */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	if (req->msg->type == BFTM_MSG_TRY && reply.type != BFTM_MSG_LOCKED) {
		/* "For as long as you would have had it yourself." */
		reply = *req->msg;
		reply.type = BFTM_MSG_LOCKED;
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)now_ns;
	if (msg->type == BFTM_MSG_FREE)
		liar_lied(l);
	else
		liar_push(l, msg, 0);
}

const struct strategy strategy_always_locked = {
	.name = "always-locked",
	.what = "say LOCKED to everybody",
	.answer = answer,
	.push = push,
};
