// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a queue and does not keep to it: while one has the lock, others are
 * told out of turn that it is theirs; who is next is told nothing.
 */
#include "known.h"

/** struct jump - who is there, and the number of its last grant */
struct jump {
	struct known known;
	u64 gno;
};

static void let_one_in(struct liar *l, const struct bftm_msg *lock)
{
	struct jump *j = liar_state(l);
	const struct bftm_msg *who = known_draw(&j->known, lock, liar_random(l));

	if (who)
		known_push(l, who, BFTM_MSG_FREE, ++j->gno);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct jump *j = liar_state(l);

	if (j->gno < req->honest->gno && req->honest->type == BFTM_MSG_FREE)
		j->gno = req->honest->gno;
	known_note(&j->known, req->msg);
	liar_say(l, req, req->honest, 0);
	if (req->msg->type == BFTM_MSG_TRY && liar_random(l) & 1)
		let_one_in(l, req->msg);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	(void)now_ns;
	if (msg->type == BFTM_MSG_FREE)
		let_one_in(l, msg);
	else
		liar_push(l, msg, 0);
}

const struct strategy strategy_queue_jumper = {
	.name = "queue-jumper",
	.what = "push FREE to those who wait, out of turn",
	.state = sizeof(struct jump),
	.answer = answer,
	.push = push,
};
