// SPDX-License-Identifier: GPL-2.0
/*
 * Two correct servers with one key: clients of even number talk to the honest
 * one inside, those of odd number to its twin, which knows nothing of them.
 * Each half is beyond suspicion.
 */
#include "strategy.h"

#define LOCKS 16

/** struct twin - the other server: a lock of a name is in the place of its hash */
struct twin {
	struct bftm_lock lock[LOCKS];
};

static u32 hash_name(const struct bftm_msg *msg)
{
	u32 hash = 0, i;

	for (i = 0; i < msg->name_len; i++)
		hash = hash * 31 + msg->name[i];
	return hash;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_server_cfg cfg = *liar_cfg(l);
	struct twin *twin = liar_state(l);
	struct bftm_msg reply = *req->honest;

	if (req->msg->client & 1 &&
	    (req->msg->type == BFTM_MSG_TRY || req->msg->type == BFTM_MSG_RELEASE) &&
	    req->msg->server_epoch == cfg.epoch) {
		cfg.quarantine_until_ns = 0;
		bftm_server_step(&cfg, &twin->lock[hash_name(req->msg) % LOCKS], req->msg,
				 req->now_ns, &reply);
		if (reply.type != req->honest->type)
			liar_lied(l);
	}
	liar_say(l, req, &reply, 0);
}

const struct strategy strategy_twin = {
	.name = "twin",
	.what = "be two correct servers, one for every other client",
	.state = sizeof(struct twin),
	.answer = answer,
};
