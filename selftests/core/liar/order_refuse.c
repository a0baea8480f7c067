// SPDX-License-Identifier: GPL-2.0
/* It refuses, for any reason. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;

	order_reply_to(&r, req->msg, BFTM_MSG_REFUSED);
	r.msg.offset = BFTM_REFUSED_LEASE + liar_random(l) % BFTM_REFUSED_PENDING;
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_refuse = {
	.name = "refuse",
	.what = "refuse everything",
	.answer = answer,
};
