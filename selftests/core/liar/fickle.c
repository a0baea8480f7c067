// SPDX-License-Identifier: GPL-2.0
/*
 * Denies free locks, but seldom: one TRY in so many, another number for each liar. It costs those
 * a step that ask a few servers first, and who suspects it at its first lie never hears a second.
 */
#include "strategy.h"

/** struct fickle - of one liar */
struct fickle {
	u32 every;
	u32 asked;
};

static void answer(struct liar *l, const struct liar_request *req)
{
	struct fickle *f = liar_state(l);
	struct bftm_msg reply = *req->honest;

	if (!f->every)
		f->every = 2u << (liar_random(l) & 3);
	if (reply.type == BFTM_MSG_FREE && req->msg->type == BFTM_MSG_TRY &&
	    !(++f->asked % f->every)) {
		reply.type = req->msg->flags & BFTM_FLAG_NOQUEUE ? BFTM_MSG_LOCKED : BFTM_MSG_WAIT;
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_fickle = {
	.name = "fickle",
	.what = "deny a free lock in one answer of 2, 4, 8 or 16",
	.state = sizeof(struct fickle),
	.answer = answer,
};
