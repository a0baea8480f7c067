// SPDX-License-Identifier: GPL-2.0
/* Some bytes of each answer are changed: what no other strategy thought of. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	static const u8 types[] = {
		BFTM_ORDER_RESPONSE, BFTM_ORDER_PENDING, BFTM_ORDER_GOT,
		BFTM_ORDER_RECOVERING, BFTM_ORDER_PROPOSED, BFTM_ORDER_COMMITTED,
		BFTM_ORDER_INSTALLED, BFTM_ORDER_EXCEPTION, BFTM_ORDER_NEEDBODY,
		BFTM_ORDER_BODY, BFTM_ORDER_NOBODY, BFTM_ORDER_STORED,
		BFTM_ORDER_COMMITTED_GOT,
	};
	u64 draw = liar_random(l);
	struct order_reply r;

	order_copy(&r, req->honest);
	if (r.msg.type == BFTM_MSG_NONE || r.msg.type == BFTM_MSG_STALE)
		order_reply_to(&r, req->msg, types[draw >> 8 & 7]);
	switch (draw & 7) {
	case 0:
		r.msg.type = types[(draw >> 8) % sizeof(types)];
		break;
	case 1:
		r.msg.id.version += draw >> 8 & 3;
		break;
	case 2:
		r.msg.rank.count += (draw >> 8 & 3) - 1;
		r.msg.then.count += (draw >> 10 & 3) - 1;
		break;
	case 3:
		r.msg.offset = (u32)(draw >> 8 & 0xffff);
		break;
	case 4:
		r.msg.data_len = (u16)((draw >> 8) % (sizeof(r.data) + 1));
		memset(r.data, (int)(draw >> 24), r.msg.data_len);
		break;
	default:
		if (r.msg.data_len)
			r.data[(draw >> 8) % r.msg.data_len] ^= (u8)(1u << (draw >> 24 & 7));
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_garble = {
	.name = "garble",
	.what = "change anything in an answer",
	.answer = answer,
};
