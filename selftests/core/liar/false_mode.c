// SPDX-License-Identifier: GPL-2.0
/* By the protocol, but modes, the set that shares a token, and deadlocks are drawn. */
#include "strategy.h"

/* The mode that was asked for, so that the answer counts; or any mode. */
static void lie(struct liar *l, const struct bftm_msg *req, struct bftm_msg *msg)
{
	u64 draw = liar_random(l);

	if (draw & 1)
		msg->mode = req && draw & 2 ? req->mode :
				      (u8)(BFTM_MODE_CR + (draw >> 8) % BFTM_MODE_EX);
	if (draw & 4)
		msg->arg = (u8)((draw >> 16 & 62) ?: 2);
	if (draw & 8 && req)
		msg->flags ^= BFTM_FLAG_DEADLOCK;
	liar_lied(l);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	switch (reply.type) {
	case BFTM_MSG_FREE:
		lie(l, req->msg, &reply);
		break;
	case BFTM_MSG_SACK:
	case BFTM_MSG_SNACK:
		reply.arg = (u8)((liar_random(l) & 62) ?: 2);
		liar_lied(l);
		break;
	case BFTM_MSG_WAIT:
		/* It has it, in a mode that others have too. */
		if (liar_random(l) & 1) {
			reply.type = BFTM_MSG_FREE;
			reply.flags = 0;
			lie(l, req->msg, &reply);
		} else {
			reply.flags = BFTM_FLAG_DEADLOCK;
			liar_lied(l);
		}
		break;
	}
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct bftm_msg again = *msg;

	(void)now_ns;
	lie(l, NULL, &again);
	if (again.type == BFTM_MSG_INQUIRE)
		again.arg = 0;
	liar_push(l, &again, 0);
}

const struct strategy strategy_false_mode = {
	.name = "false-mode",
	.what = "say other modes than were granted, of tokens too, and deadlocks that are none",
	.answer = answer,
	.push = push,
};
