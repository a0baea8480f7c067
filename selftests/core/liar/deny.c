// SPDX-License-Identifier: GPL-2.0
/*
 * Lies about tokens alone: refuses each, or accepts each and forgets it, so
 * that two could have the same; and has never heard of any when a server that
 * restarted asks.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u64 draw = liar_random(l);

	if (req->msg->type == BFTM_MSG_STAMP && reply.type != BFTM_MSG_CHALLENGE) {
		reply = *req->msg;
		reply.gno = req->msg->token;
		/* Whole holds of one kind: draws alone would cancel each other. */
		if ((req->msg->attempt ^ req->now_ns / BFTM_NS_PER_SEC) & 1) {
			reply.type = BFTM_MSG_SACK;
		} else {
			reply.type = draw & 1 ? BFTM_MSG_SNACK : BFTM_MSG_REFUSED;
			if (reply.type == BFTM_MSG_REFUSED)
				reply.arg = BFTM_REFUSED_TOKENS;
			reply.token = req->msg->token + (draw >> 8 & 3);
		}
	} else if (reply.type != BFTM_MSG_NONE) {
		reply.token = draw & 1 ? 0 : BFTM_TOKEN_UNKNOWN;
	}
	if (reply.type != req->honest->type || reply.token != req->honest->token)
		liar_lied(l);
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_deny = {
	.name = "deny",
	.what = "refuse each token, or accept each and forget it",
	.answer = answer,
};
