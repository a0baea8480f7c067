// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that do not wait: applied long ago, in the name of another, with
 * other bytes, of the future; and none of those that do.
 */
#include "order_known.h"

static struct bftm_op draw_op(struct liar *l)
{
	const struct order_known *k = order_liar_known(l);
	u64 draw = liar_random(l);
	struct bftm_op op = k->op[draw % ORDER_KNOWN];

	switch (draw >> 8 & 7) {
	case 0:
		op.op++;
		break;
	case 1:
		op.client ^= 1;
		break;
	case 2:
		op.id = k->op[(draw >> 16) % ORDER_KNOWN].id;
		break;
	case 3:
		op.op = ~0ull;
		break;
	case 4:
		order_liar_digest((const u8 *)&draw, 4, op.id.digest);
		op.id.len = 4;
		break;
	}
	return op;
}

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_proposal sp;
	struct order_reply r;
	struct bftm_op op;
	u32 i;

	if ((req->honest->type != BFTM_ORDER_GOT && req->honest->type != BFTM_ORDER_COMMITTED_GOT) ||
	    !order_liar_known(l)->ops) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	sp.id = req->object->sp ? req->object->sp->id : (struct bftm_body_id){};
	sp.rank = req->object->prop;
	order_got(&r, req->msg, &req->honest->id, &sp);
	for (i = liar_random(l) % 8; i; i--) {
		op = draw_op(l);
		order_got_waits(&r, &op);
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_waits = {
	.name = "waits",
	.what = "tell of operations that do not wait, and of none that does",
	.answer = answer,
};
