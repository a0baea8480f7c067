// SPDX-License-Identifier: GPL-2.0
/*
 * Repeats what it said before, to any client: an answer of an earlier phase, iteration or
 * client, once more, under the number of this request.
 */
#include "order_known.h"

#define ECHOES 4

struct echo {
	struct order_reply said[ECHOES];
	u32 count;
};

static void answer(struct liar *l, const struct order_request *req)
{
	struct echo *e = order_liar_state(l);
	struct bftm_order_msg again;

	order_copy(&e->said[e->count++ % ECHOES], req->honest);
	again = e->said[liar_random(l) % (e->count < ECHOES ? e->count : ECHOES)].msg;
	again.client = req->msg->client;
	again.seq = req->msg->seq;
	/* The type of the one for the rank of the other. */
	if (liar_random(l) & 1)
		again.rank = req->msg->rank;
	if (liar_random(l) & 1)
		again.then = req->msg->then;
	if (again.type == BFTM_MSG_STALE)
		again.type = BFTM_MSG_NONE;
	liar_lied(l);
	order_liar_say(l, req, &again, 0);
}

const struct order_strategy order_echo = {
	.name = "echo",
	.what = "give answers of other requests",
	.state = sizeof(struct echo),
	.answer = answer,
};
