// SPDX-License-Identifier: GPL-2.0
/*
 * Half commits: it says that it did as it was told, and at the next GET it never
 * heard of it. To some it admits the proposal, or that it is committed.
 */
#include "order_known.h"

struct deny {
	struct bftm_body_id sc;
	struct order_proposal sp;
};

static void answer(struct liar *l, const struct order_request *req)
{
	const struct bftm_order_msg *msg = req->msg;
	struct deny *d = order_liar_state(l);
	struct order_reply r;
	u64 draw = liar_random(l);

	if (msg->type == BFTM_ORDER_PROPOSE || order_commits(msg)) {
		order_accept(&r, msg);
		if (!(draw & 3))
			d->sp = (struct order_proposal){ .id = msg->id, .rank = msg->rank };
		if (!(draw & 31) && order_commits(msg))
			d->sc = msg->id;
	} else if (msg->type == BFTM_ORDER_GET) {
		order_got(&r, msg, &d->sc, &d->sp);
	} else {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_deny = {
	.name = "deny",
	.what = "accept what is proposed and committed, and deny it at the next GET",
	.state = sizeof(struct deny),
	.answer = answer,
};
