// SPDX-License-Identifier: GPL-2.0
/*
 * Asks everybody to yield whatever they may have, or may have had: this grant,
 * an old one, one that is still to come. Holders, waiters, dead attempts.
 */
#include "known.h"

static u64 draw_grant(struct liar *l, u64 gno)
{
	u64 draw = liar_random(l);

	switch (draw & 7) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return gno - 1;
	case 3:
		return gno + 1;
	case 4:
		return draw >> 8;
	default:
		return gno;
	}
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct known *known = liar_state(l);
	struct bftm_msg reply = *req->honest;
	const struct bftm_msg *who;
	u64 draw = liar_random(l);

	known_note(known, req->msg);
	if (req->msg->type == BFTM_MSG_TRY && !(draw & 3)) {
		/* Instead of an answer. */
		reply = *req->msg;
		reply.type = BFTM_MSG_INQUIRE;
		reply.gno = draw_grant(l, req->honest->gno);
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
	who = known_draw(known, req->msg, liar_random(l));
	if (who && draw & 4)
		known_push(l, who, BFTM_MSG_INQUIRE, draw_grant(l, req->honest->gno));
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct bftm_msg again = *msg;

	(void)now_ns;
	liar_push(l, msg, 0);
	again.type = BFTM_MSG_INQUIRE;
	again.gno = draw_grant(l, msg->gno);
	liar_push(l, &again, 0);
	liar_lied(l);
}

const struct strategy strategy_inquirer = {
	.name = "inquirer",
	.what = "ask everybody to yield right, old and future grants",
	.state = sizeof(struct known),
	.answer = answer,
	.push = push,
};
