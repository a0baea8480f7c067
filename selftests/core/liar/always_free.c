// SPDX-License-Identifier: GPL-2.0
/*
 * Grants the lock to everybody, each time under a new number. With b + 1 such
 * servers two clients would be inside; with b of them none.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u64 *gno = liar_state(l);

	if (req->msg->type == BFTM_MSG_TRY && reply.type != BFTM_MSG_FREE) {
		/* This looks like a grant, whatever the honest answer was. */
		reply = *req->msg;
		reply.type = BFTM_MSG_FREE;
		liar_lied(l);
	}
	if (reply.type == BFTM_MSG_FREE) {
		if (*gno < req->honest->gno)
			*gno = req->honest->gno;
		reply.gno = ++*gno;
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_always_free = {
	.name = "always-free",
	.what = "say FREE to everybody",
	.state = sizeof(u64),
	.answer = answer,
};
