// SPDX-License-Identifier: GPL-2.0
/*
 * The truth, too late: after the client has sent again, or has begun another
 * attempt. A client that counts from the wrong send believes too long in it.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	if (req->honest->type != BFTM_MSG_NONE)
		liar_lied(l);
	liar_say(l, req, req->honest, liar_delay(l));
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)now_ns;
	liar_lied(l);
	liar_push(l, msg, liar_delay(l));
}

const struct strategy strategy_late = {
	.name = "late",
	.what = "answer by the protocol after --delay",
	.answer = answer,
	.push = push,
};
