// SPDX-License-Identifier: GPL-2.0
/* Answers some clients by the protocol and does not know the others; then swaps. */
#include "strategy.h"

#define SWAP 64

static bool knows(struct liar *l, u32 client)
{
	const u32 *asked = liar_state(l);

	return (client + *asked / SWAP) & 1;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	u32 *asked = liar_state(l);

	if (knows(l, req->msg->client))
		liar_say(l, req, req->honest, 0);
	else if (req->honest->type != BFTM_MSG_NONE)
		liar_lied(l);
	++*asked;
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)now_ns;
	if (knows(l, msg->client))
		liar_push(l, msg, 0);
	else
		liar_lied(l);
}

const struct strategy strategy_silent_some = {
	.name = "silent-some",
	.what = "answer every other client only, and swap now and then",
	.state = sizeof(u32),
	.answer = answer,
	.push = push,
};
