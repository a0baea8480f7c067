// SPDX-License-Identifier: GPL-2.0
/*
 * Reports numbers as large as they get: priorities, tokens, grants. If one
 * server were believed, all counters of the cluster would be used up.
 */
#include "strategy.h"

static u64 large(struct liar *l)
{
	u64 draw = liar_random(l);

	/* The largest that is no special word, or any that is far off. */
	return draw & 1 ? ~0ull - 1 : draw >> 1 | 1ull << 62;
}

static void blow_up(struct liar *l, struct bftm_msg *msg)
{
	msg->prio = large(l);
	msg->token = large(l);
	/* In SACK and SNACK @gno says which offer is answered. */
	if (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE)
		msg->gno = large(l);
	liar_lied(l);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	if (reply.type != BFTM_MSG_NONE)
		blow_up(l, &reply);
	if (reply.type == BFTM_MSG_SACK && liar_random(l) & 1)
		reply.type = BFTM_MSG_SNACK;
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct bftm_msg larger = *msg;

	(void)now_ns;
	blow_up(l, &larger);
	liar_push(l, &larger, 0);
}

const struct strategy strategy_inflate = {
	.name = "inflate",
	.what = "report huge priorities, tokens and grants",
	.answer = answer,
	.push = push,
};
