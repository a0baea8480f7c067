// SPDX-License-Identifier: GPL-2.0
/*
 * Signatures of ranks that were used, of any client, whatever was asked: of those
 * that are higher the lowest, so that who is behind stays behind.
 */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	const struct order_signature *best = NULL, *s;
	struct order_known *k = order_liar_known(l);
	struct order_reply r;
	u32 i;

	for (i = 0; i < ORDER_KNOWN; i++) {
		s = &k->signature[i];
		if (s->rank.count && bftm_rank_cmp(&s->rank, &req->msg->rank) > 0 &&
		    (!best || bftm_rank_cmp(&s->rank, &best->rank) < 0))
			best = s;
	}
	if (!best || req->msg->type == BFTM_ORDER_SUBMIT || req->msg->type == BFTM_ORDER_FETCH) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	order_except(&r, req->msg, &best->rank, best->bytes);
	/* Now and then under a rank that it was not made for. */
	if (!(liar_random(l) & 3))
		r.msg.max.count++;
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_signed = {
	.name = "signed",
	.what = "except with signed ranks that others used",
	.answer = answer,
};
