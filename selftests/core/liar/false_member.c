// SPDX-License-Identifier: GPL-2.0
/*
 * Pretends to have forgotten what is held without a lease, does not take it when it is told, says
 * that the client was evicted, and asks time and again whether the lock is held.
 */
#include "strategy.h"

static void ask(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg probe = *req->msg;

	probe.type = BFTM_MSG_PROBE;
	probe.flags = 0;
	probe.arg = 0;
	probe.server_epoch = liar_cfg(l)->epoch;
	probe.gno = liar_random(l) & 7;
	liar_push(l, &probe, 0);
	liar_lied(l);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;
	u64 draw = liar_random(l);

	if (reply.type == BFTM_MSG_CHALLENGE) {
		reply.recovering = 1;
		if (!(draw & 3))
			reply.server_epoch = draw | 1;
	} else if (req->msg->flags & BFTM_FLAG_REASSERT && draw & 1) {
		reply.type = draw & 2 ? BFTM_MSG_LOCKED : BFTM_MSG_WAIT;
		reply.lease_ns = BFTM_LEASE_NONE;
	} else if (reply.type != BFTM_MSG_NONE && !(draw & 15)) {
		bftm_refuse(req->msg, &reply, BFTM_REFUSED_EVICTED);
	} else {
		liar_say(l, req, &reply, 0);
		if (req->msg->type == BFTM_MSG_TRY && draw & 16)
			ask(l, req);
		return;
	}
	liar_say(l, req, &reply, 0);
	liar_lied(l);
}

const struct strategy strategy_false_member = {
	.name = "false-member",
	.what = "forget what is held without a lease, and say that its holder was evicted",
	.answer = answer,
};
