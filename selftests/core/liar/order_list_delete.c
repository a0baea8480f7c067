// SPDX-License-Identifier: GPL-2.0
/* Lists each object as one that was deleted, by versions that nobody has made. */
#include "order_list.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct bftm_listed listed;
	struct order_reply r;
	u32 at, len;

	if (order_list_honest(l, req))
		return;
	order_copy(&r, req->honest);
	r.msg.data_len = 0;
	for (at = 0; at < req->honest->data_len; at += len) {
		len = bftm_listed_get(req->honest->data + at, req->honest->data_len - at, &listed);
		listed.version += 1ull << 40;
		listed.type_len = 0;
		bftm_listed_put(&listed, r.data + r.msg.data_len);
		r.msg.data_len = (u16)(r.msg.data_len + bftm_listed_len(&listed));
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_list_delete = {
	.name = "list-delete",
	.what = "list objects as deleted",
	.answer = answer,
};
