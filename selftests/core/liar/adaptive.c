// SPDX-License-Identifier: GPL-2.0
/*
 * Lies only where it hurts: as long as one client contends alone, LOCKED, to
 * spoil its rounds; as soon as two are after the same lock, FREE to both. All
 * liars share what they know of who is after what.
 */
#include "strategy.h"

/* For so long a rival is remembered after it asked. */
#define FRESH_LEASES 2

static u32 hash_name(const struct bftm_msg *msg)
{
	u32 hash = 0, i;

	for (i = 0; i < msg->name_len; i++)
		hash = hash * 31 + msg->name[i];
	return hash;
}

/* Note who asks. Return: how many others asked for this lock lately. */
static u32 note(struct liar_shared *s, const struct liar_request *req)
{
	u32 hash = hash_name(req->msg), i, others = 0;

	if (s->hash != hash) {
		memset(s->rival, 0, sizeof(s->rival));
		s->hash = hash;
	}
	for (i = 0; i < LIAR_RIVALS; i++)
		others += s->rival[i].attempt && s->rival[i].client != req->msg->client &&
			  s->rival[i].seen_ns + FRESH_LEASES * req->msg->lease_ns > req->now_ns;
	for (i = 0; i < LIAR_RIVALS - 1; i++)
		if (s->rival[i].client == req->msg->client)
			break;
	for (; i > 0; i--)
		s->rival[i] = s->rival[i - 1];
	s->rival[0] = (struct liar_rival){
		.attempt = req->msg->attempt, .client = req->msg->client, .seen_ns = req->now_ns,
	};
	return others;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u8 type;

	if (req->msg->type == BFTM_MSG_TRY) {
		type = note(liar_shared(l), req) ? BFTM_MSG_FREE : BFTM_MSG_LOCKED;
		if (reply.type != type) {
			reply = *req->msg;
			reply.type = type;
			reply.server_epoch = req->honest->server_epoch;
			liar_lied(l);
		}
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_adaptive = {
	.name = "adaptive",
	.what = "say LOCKED to one who contends alone, and FREE to rivals",
	.answer = answer,
};
