// SPDX-License-Identifier: GPL-2.0
/*
 * Grants what nobody asked for: attempts to come, whose numbers are easy to
 * guess, sends that were never made, attempts that are over.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->msg;
	u64 draw = liar_random(l);

	liar_say(l, req, req->honest, 0);
	reply.type = BFTM_MSG_FREE;
	reply.seq += 1 + (draw & 7);
	reply.gno = draw;
	reply.prio = 0;
	switch (draw >> 8 & 3) {
	case 0:
		reply.attempt++;
		reply.k = 1;
		break;
	case 1:
		reply.attempt -= 1 + (draw >> 10 & 3);
		reply.k = 1 + (draw >> 12 & 3);
		break;
	default:
		reply.k += 1 + (draw >> 10 & 31);
	}
	if (draw & 1 << 21) {
		/* As if it had been the client's turn. */
		reply.seq = 0;
		liar_push(l, &reply, draw & 1 << 20 ? liar_delay(l) : 0);
	} else {
		liar_say(l, req, &reply, draw & 1 << 20 ? liar_delay(l) : 0);
	}
	liar_lied(l);
}

const struct strategy strategy_unasked = {
	.name = "unasked",
	.what = "say FREE to attempts and sends that were not made",
	.answer = answer,
};
