// SPDX-License-Identifier: GPL-2.0
/*
 * Two faces: each half of the clients hears that its own proposals stand, and
 * nothing of the others'. Liars that agree swap the halves at the same time.
 */
#include "order_known.h"

static const struct order_proposal *newest(const struct order_known *k, u32 half)
{
	const struct order_proposal *best = NULL, *p;
	u32 i;

	for (i = 0; i < ORDER_KNOWN; i++) {
		p = &k->proposal[i];
		if (!p->rank.count || (p->rank.client & 1) != half)
			continue;
		if (!best || bftm_rank_cmp(&p->rank, &best->rank) > 0)
			best = p;
	}
	return best;
}

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_known *k = order_liar_known(l);
	const struct bftm_order_msg *msg = req->msg;
	const struct order_proposal *own;
	struct order_reply r;

	if (!(liar_random(l) & 31))
		k->mood++;
	own = newest(k, (msg->client ^ k->mood) & 1);
	if (msg->type == BFTM_ORDER_GET && own) {
		order_got(&r, msg, &own->id, own);
	} else if (msg->type == BFTM_ORDER_PROPOSE || order_commits(msg)) {
		order_accept(&r, msg);
	} else {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_twin = {
	.name = "twin",
	.what = "tell each half of the clients of its own states only",
	.answer = answer,
};
