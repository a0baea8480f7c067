// SPDX-License-Identifier: GPL-2.0
/* Adds objects that nobody has made, the same in each list, and one of them twice. */
#include "order_list.h"

static void answer(struct liar *l, const struct order_request *req)
{
	static const char *const names[] = { "invented", "invented", "bogus", "phantom" };
	struct order_reply r;
	u32 i;

	if (order_list_honest(l, req))
		return;
	order_copy(&r, req->honest);
	r.msg.room = req->msg->room;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (order_list_add(&r, names[i], "counter", 1ull << 40 | i))
			liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_list_invent = {
	.name = "list-invent",
	.what = "list objects that do not exist",
	.answer = answer,
};
