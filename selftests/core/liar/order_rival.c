// SPDX-License-Identifier: GPL-2.0
/*
 * Always for another state of the version that is being decided: what somebody
 * else proposed has, it says, the rank just below the one that asks. It takes
 * everything from everybody.
 */
#include "order_known.h"

/* A state of the newest version, or of the one before, that others had proposed. */
static const struct order_proposal *rival_of(const struct order_known *k,
					     const struct bftm_body *sp, bool before)
{
	const struct order_proposal *best = NULL, *p;
	u32 i;

	for (i = 0; i < ORDER_KNOWN; i++) {
		p = &k->proposal[i];
		if (!p->id.version || (sp && bftm_body_same(&p->id, &sp->id)) ||
		    (before && sp && p->id.version >= sp->id.version))
			continue;
		if (!best || p->id.version > best->id.version)
			best = p;
	}
	return best;
}

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_known *k = order_liar_known(l);
	const struct bftm_order_msg *msg = req->msg;
	const struct order_proposal *rival = rival_of(k, req->object->sp,
						       liar_random(l) & 1);
	struct order_proposal sp;
	struct order_reply r;

	if (msg->type == BFTM_ORDER_GET && rival) {
		sp = *rival;
		sp.rank = msg->rank;
		sp.rank.count--;
		order_got(&r, msg, liar_random(l) & 1 ? &sp.id : &(struct bftm_body_id){}, &sp);
	} else if (msg->type == BFTM_ORDER_PROPOSE || order_commits(msg)) {
		order_accept(&r, msg);
	} else {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_rival = {
	.name = "rival",
	.what = "tell of another state of the newest version, with the highest rank",
	.answer = answer,
};
