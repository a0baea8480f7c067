// SPDX-License-Identifier: GPL-2.0
#include "order_list.h"

bool order_list_honest(struct liar *l, const struct order_request *req)
{
	if (req->honest->type == BFTM_ORDER_LISTED)
		return false;
	order_liar_say(l, req, req->honest, 0);
	return true;
}

bool order_list_add(struct order_reply *r, const char *name, const char *type, u64 version)
{
	const struct bftm_listed listed = {
		.version = version,
		.name = (const u8 *)name, .name_len = (u8)strlen(name),
		.type = (const u8 *)type, .type_len = (u8)strlen(type),
	};

	if (BFTM_ORDER_LISTED_LEN + r->msg.data_len + bftm_listed_len(&listed) > r->msg.room)
		return false;
	bftm_listed_put(&listed, r->data + r->msg.data_len);
	r->msg.data_len = (u16)(r->msg.data_len + bftm_listed_len(&listed));
	return true;
}
