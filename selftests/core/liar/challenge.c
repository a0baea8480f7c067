// SPDX-License-Identifier: GPL-2.0
/*
 * Has a new epoch whenever it is asked, or an old one again, so that clients
 * repeat what they asked; now and then it answers. It says that any number of servers restart
 * without a quarantine.
 */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->msg;
	u64 draw = liar_random(l);

	if (!(draw & 3)) {
		liar_say(l, req, req->honest, 0);
		return;
	}
	reply.type = reply.type == BFTM_MSG_HELLO || draw & 256 ? BFTM_MSG_CHALLENGE :
								  BFTM_MSG_STALE;
	reply.server_epoch = draw & 4 ? liar_random(l) : draw >> 3 & 3;
	reply.gno = draw & 32 ? ~0ull : 0;
	reply.spared = draw & 512 ? (u8)(draw >> 24) : 0;
	/* A number of the future makes it the newest for a while. */
	if (draw & 64)
		reply.seq += draw >> 8 & 1023;
	liar_say(l, req, &reply, draw & 128 ? liar_delay(l) : 0);
	liar_lied(l);
}

const struct strategy strategy_challenge = {
	.name = "challenge",
	.what = "have a new epoch all the time",
	.answer = answer,
};
