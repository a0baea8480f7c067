// SPDX-License-Identifier: GPL-2.0
/* Says that there are no objects, and that it remembers all that there ever were. */
#include "order_list.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;

	if (order_list_honest(l, req))
		return;
	order_reply_to(&r, req->msg, BFTM_ORDER_LISTED);
	r.msg.next = 0;
	r.msg.recovering = 0;
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_list_hide = {
	.name = "list-hide",
	.what = "list no objects",
	.answer = answer,
};
