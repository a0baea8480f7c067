// SPDX-License-Identifier: GPL-2.0
/* Answers some clients by the protocol and does not know the others; then swaps. */
#include "strategy.h"

#define SWAP 64

static void answer(struct liar *l, const struct liar_request *req)
{
	u32 *asked = liar_state(l);

	if ((req->msg->client + (*asked)++ / SWAP) & 1)
		liar_say(l, req, req->honest, 0);
	else if (req->honest->type != BFTM_MSG_NONE)
		liar_lied(l);
}

const struct strategy strategy_silent_some = {
	.name = "silent-some",
	.what = "answer every other client only, and swap now and then",
	.state = sizeof(u32),
	.answer = answer,
};
