// SPDX-License-Identifier: GPL-2.0
/*
 * States that nobody made: an honest answer with another version, digest or length;
 * liars that agree forge the same.
 */
#include "order_known.h"

static void forge(struct bftm_body_id *id, u64 draw, u32 mood)
{
	static const u64 version[4] = { 1, 2, 1000, ~0ull };

	switch (draw & 3) {
	case 0:
		id->version += version[draw >> 2 & 3];
		break;
	case 1:
		id->digest[0] ^= (u8)(1 + mood);
		break;
	case 2:
		id->len = draw & 4 ? ~0u : id->len + 1;
		break;
	default:
		id->version = version[draw >> 2 & 3];
		memset(id->digest, (int)mood + 1, sizeof(id->digest));
		id->len = 64;
	}
}

static void answer(struct liar *l, const struct order_request *req)
{
	struct order_known *k = order_liar_known(l);
	u64 draw = liar_random(l);
	struct order_proposal sp = { .rank = k->max };
	struct order_reply r;
	struct bftm_body_id sc;

	if (req->honest->type != BFTM_ORDER_GOT && req->honest->type != BFTM_ORDER_COMMITTED_GOT) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	if (!(draw & 15))
		k->mood++;
	sc = req->honest->id;
	sp.id = req->object->sp ? req->object->sp->id : sc;
	forge(draw >> 4 & 1 ? &sc : &sp.id, draw >> 8, k->mood & 7);
	if (draw >> 5 & 1)
		sp.rank.count++;
	if (draw >> 6 & 1)
		sp.id = sc;
	order_got(&r, req->msg, &sc, &sp);
	/* It may say that this is an operation, which waits, and of the next rank but one. */
	if (req->honest->type == BFTM_ORDER_COMMITTED_GOT) {
		order_got_waits(&r, &(struct bftm_op){ draw | 1, (u32)(draw >> 8) & 3, sp.id });
		r.msg.then.count += draw >> 7 & 1;
	}
	liar_lied(l);
	order_liar_say(l, req, &r.msg, 0);
}

const struct order_strategy order_forge = {
	.name = "forge",
	.what = "answer GET with states, and COMMIT_GET with operations, that nobody has made",
	.answer = answer,
};
