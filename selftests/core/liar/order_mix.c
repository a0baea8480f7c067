// SPDX-License-Identifier: GPL-2.0
/* Any state that liars ever heard of, as committed and as proposed, by anybody. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_known *k = order_liar_known(l);
	struct order_proposal sp;
	struct order_reply r;
	u64 draw = liar_random(l);

	if (!order_get_rank(req->msg)) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	sp = k->proposal[draw % ORDER_KNOWN];
	/* The rank of one with the state of another, or one that nobody had. */
	if (draw >> 8 & 1)
		sp.rank = k->proposal[(draw >> 16) % ORDER_KNOWN].rank;
	if (!(draw >> 9 & 7))
		sp.rank.count = ~0ull;
	order_got(&r, req->msg, &k->proposal[(draw >> 24) % ORDER_KNOWN].id, &sp);
	if (draw >> 10 & 1)
		r.msg.id = sp.id;
	if (k->ops)
		order_got_waits(&r, &k->op[(draw >> 32) % ORDER_KNOWN]);
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_mix = {
	.name = "mix",
	.what = "answer GET and COMMIT_GET with states of all times and ranks of others",
	.answer = answer,
};
