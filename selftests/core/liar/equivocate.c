// SPDX-License-Identifier: GPL-2.0
/*
 * Two faces: FREE to clients of odd number and LOCKED to the others, and each
 * second the other way round. The way of liars who want two winners.
 */
#include "strategy.h"

static bool is_friend(u32 client, u64 now_ns)
{
	return (client ^ now_ns / BFTM_NS_PER_SEC) & 1;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u8 type;

	if (req->msg->type == BFTM_MSG_TRY) {
		type = is_friend(req->msg->client, req->now_ns) ? BFTM_MSG_FREE : BFTM_MSG_LOCKED;
		if (reply.type != type) {
			reply = *req->msg;
			reply.type = type;
			reply.gno = liar_random(l);
			liar_lied(l);
		}
	}
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	if (is_friend(msg->client, now_ns))
		liar_push(l, msg, 0);
	else
		liar_lied(l);
}

const struct strategy strategy_equivocate = {
	.name = "equivocate",
	.what = "say FREE to odd, LOCKED to even clients, swap each second",
	.answer = answer,
	.push = push,
};
