// SPDX-License-Identifier: GPL-2.0
/*
 * Has a favourite for each lock. Takes what it yields, and grants it again to
 * the same, under the number that was given back or a new one; nobody else gets
 * anything until the favourite says that it is over.
 */
#include "known.h"

#define LOCKS 4

/** struct favour - the favourites, and the number of the last grant */
struct favour {
	struct bftm_msg favourite[LOCKS];
	u64 gno;
};

static u32 place(const struct bftm_msg *msg)
{
	u32 hash = 0, i;

	for (i = 0; i < msg->name_len; i++)
		hash = hash * 31 + msg->name[i];
	return hash % LOCKS;
}

static bool is_favourite(const struct bftm_msg *one, const struct bftm_msg *msg)
{
	return one->type != BFTM_MSG_NONE && one->client == msg->client &&
	       one->attempt == msg->attempt && known_same_lock(one, msg);
}

static void grant_again(struct liar *l, const struct bftm_msg *one)
{
	struct favour *f = liar_state(l);
	u64 draw = liar_random(l);

	if (draw & 1)
		f->gno++;
	known_push(l, one, BFTM_MSG_FREE, f->gno);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct favour *f = liar_state(l);
	struct bftm_msg *one = &f->favourite[place(req->msg)], reply = *req->honest;

	if (f->gno < req->honest->gno && req->honest->type == BFTM_MSG_FREE)
		f->gno = req->honest->gno;
	if (req->msg->type == BFTM_MSG_TRY) {
		if (one->type == BFTM_MSG_NONE || is_favourite(one, req->msg))
			*one = *req->msg;
		reply.type = is_favourite(one, req->msg) ? BFTM_MSG_FREE :
			     req->msg->flags & BFTM_FLAG_NOQUEUE ? BFTM_MSG_LOCKED : BFTM_MSG_WAIT;
		reply.position = 1;
		if (reply.type == BFTM_MSG_FREE)
			reply.gno = f->gno;
		if (reply.type != req->honest->type)
			liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
	if (req->msg->type == BFTM_MSG_YIELD && is_favourite(one, req->msg))
		grant_again(l, one);
	if (req->msg->type == BFTM_MSG_RELEASE && is_favourite(one, req->msg))
		one->type = BFTM_MSG_NONE;
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct favour *f = liar_state(l);
	const struct bftm_msg *one = &f->favourite[place(msg)];

	(void)now_ns;
	if (msg->type == BFTM_MSG_FREE && one->type != BFTM_MSG_NONE && !is_favourite(one, msg))
		grant_again(l, one);
	else
		liar_push(l, msg, 0);
}

const struct strategy strategy_hoard = {
	.name = "hoard",
	.what = "accept what is yielded and grant it again to the same",
	.state = sizeof(struct favour),
	.answer = answer,
	.push = push,
};
