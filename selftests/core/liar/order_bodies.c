// SPDX-License-Identifier: GPL-2.0
/* It has every state, says so, and gives other bytes, too few, or those of another. */
#include "order_known.h"

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_reply r;
	u64 draw = liar_random(l);

	if (req->msg->type != BFTM_ORDER_FETCH) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	if (req->honest->type == BFTM_ORDER_BODY) {
		order_copy(&r, req->honest);
	} else {
		order_reply_to(&r, req->msg, BFTM_ORDER_BODY);
		r.msg.data_len = (u16)(req->msg->id.len < BFTM_PIECE_LEN ? req->msg->id.len :
				       BFTM_PIECE_LEN);
		memset(r.data, (int)draw, r.msg.data_len);
	}
	if (draw >> 8 & 1 && r.msg.data_len)
		r.data[draw % r.msg.data_len] ^= (u8)(1 + (draw >> 16 & 127));
	else if (draw >> 9 & 1)
		r.msg.data_len /= 2;
	else if (draw >> 10 & 1)
		r.msg.offset += BFTM_PIECE_LEN;
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_bodies = {
	.name = "bodies",
	.what = "answer FETCH with other bytes",
	.answer = answer,
};
