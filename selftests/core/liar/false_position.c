// SPDX-License-Identifier: GPL-2.0
/*
 * Says WAIT when others do, but where in the queue and for how long is drawn
 * at random: the first is told that it is the last, and that a quarantine will
 * take years, or is over at once.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u64 draw = liar_random(l);

	if (reply.type == BFTM_MSG_WAIT || reply.type == BFTM_MSG_LOCKED) {
		reply.position = draw & 1 ? 0 : (u32)(draw >> 32) >> (draw >> 8 & 31);
		reply.lease_ns = draw & 2 ? liar_random(l) >> (draw >> 16 & 63) : draw >> 24 & 1;
		if (draw & 4)
			reply.gno = liar_random(l);
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_false_position = {
	.name = "false-position",
	.what = "say WAIT with a wrong place in the queue and a wrong time",
	.answer = answer,
};
