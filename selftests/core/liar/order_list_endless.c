// SPDX-License-Identifier: GPL-2.0
/* A list that goes on for ever: each page is full of other names. */
#include <stdio.h>

#include "order_list.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;
	char name[24];
	u32 i = 0;

	if (order_list_honest(l, req))
		return;
	order_reply_to(&r, req->msg, BFTM_ORDER_LISTED);
	r.msg.next = req->msg->cursor + 1;
	r.msg.recovering = 0;
	do {
		snprintf(name, sizeof(name), "%llu.%u", (unsigned long long)req->msg->cursor, i++);
	} while (order_list_add(&r, name, "map", 1));
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_list_endless = {
	.name = "list-endless",
	.what = "list objects without an end",
	.answer = answer,
};
