// SPDX-License-Identifier: GPL-2.0
/*
 * Every other answer with one thing in it that no honest server says, a strategy for each: a
 * client that knows what it asked sees the lie in the answer, however the network behaves.
 */
#include "known.h"

static void change_some(struct liar *l, const struct liar_request *req,
			void (*change)(struct liar *l, const struct liar_request *req,
				       struct bftm_msg *reply))
{
	struct bftm_msg reply = *req->honest;

	if (reply.type != BFTM_MSG_NONE && reply.type != BFTM_MSG_CHALLENGE && liar_random(l) & 1) {
		change(l, req, &reply);
		liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

/* IMPOSSIBLE(ID, NAME, STATE, WHAT): a strategy that changes answers by change_ID() */
#define IMPOSSIBLE(id, called, bytes, does) \
	static void answer_##id(struct liar *l, const struct liar_request *req) \
	{ \
		change_some(l, req, change_##id); \
	} \
	const struct strategy strategy_##id = { \
		.name = (called), .what = (does), .state = (bytes), .answer = answer_##id, \
	}

/* As if it had been started anew, but it still knows what it was asked. */
static void change_new_epochs(struct liar *l, const struct liar_request *req,
			      struct bftm_msg *reply)
{
	(void)req;
	reply->server_epoch = liar_random(l) | 1;
	reply->flags |= LIAR_OTHER_EPOCH;
}
IMPOSSIBLE(new_epochs, "new-epochs", 0, "answer under a new epoch each time");

/* Grants that the client may come to ask for. */
static void change_ahead(struct liar *l, const struct liar_request *req, struct bftm_msg *reply)
{
	u64 draw = liar_random(l);

	if (req->msg->type == BFTM_MSG_TRY)
		reply->type = BFTM_MSG_FREE;
	if (draw & 1)
		reply->attempt += 1 + (draw >> 1 & 3);
	else
		reply->k += 1 + (u32)(draw >> 1 & 7);
}
IMPOSSIBLE(ahead, "ahead", 0, "answer attempts and sends that are still to come");

/* The attempt is another client's, or an earlier one of this client. */
static void change_other_attempt(struct liar *l, const struct liar_request *req,
				 struct bftm_msg *reply)
{
	struct known *known = liar_state(l);
	const struct bftm_msg *who = known_draw(known, req->msg, liar_random(l));

	reply->attempt = who && who->attempt < reply->attempt ? who->attempt : reply->attempt - 1;
	known_note(known, req->msg);
}
IMPOSSIBLE(other_attempt, "other-attempt", sizeof(struct known),
	   "answer under the attempt of somebody else, or an earlier one");

/* None at all, or, for clients that believe it, all that there are. */
static void change_false_priority(struct liar *l, const struct liar_request *req,
				  struct bftm_msg *reply)
{
	(void)req;
	reply->prio = liar_random(l) & 1 ? 0 : ~0ull;
}
IMPOSSIBLE(false_priority, "false-priority", 0, "report priorities that nobody can have");

/* A client that asks again, to renew or since one FREE is lacking, has the grant no more. */
static void change_take_back(struct liar *l, const struct liar_request *req, struct bftm_msg *reply)
{
	(void)l;
	if (reply->type != BFTM_MSG_FREE || req->msg->k == 1)
		return;
	reply->type = req->msg->flags & BFTM_FLAG_NOQUEUE ? BFTM_MSG_LOCKED : BFTM_MSG_WAIT;
	reply->position = reply->type == BFTM_MSG_WAIT;
	reply->gno++;
}
IMPOSSIBLE(take_back, "take-back", 0, "grant to who asks first, and say LOCKED when he asks again");
