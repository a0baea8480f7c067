// SPDX-License-Identifier: GPL-2.0
/* Its memory ends with the first answers: σc and σpc of long ago, over and over. */
#include "order_known.h"

struct stale {
	struct order_reply got;
	u32 age;
};

static void answer(struct liar *l, const struct order_request *req)
{
	struct stale *s = order_liar_state(l);
	struct bftm_order_msg old;

	if (req->honest->type != BFTM_ORDER_GOT && req->honest->type != BFTM_ORDER_COMMITTED_GOT) {
		order_liar_say(l, req, req->honest, 0);
		return;
	}
	/* COMMITTED_GOT tells of no states, so of none of long ago. */
	if (!s->age || (req->honest->type == BFTM_ORDER_GOT && !(liar_random(l) & 31)))
		order_copy(&s->got, req->honest);
	s->age++;
	old = *req->honest;
	old.id = s->got.msg.id;
	old.sp = s->got.msg.sp;
	old.prop = s->got.msg.prop;
	old.pending = s->got.msg.pending;
	old.data = s->got.data;
	old.data_len = s->got.msg.data_len;
	liar_lied(l);
	order_liar_say(l, req, &old, 0);
}

const struct order_strategy order_stale = {
	.name = "stale",
	.what = "answer GET and COMMIT_GET with what was true long ago",
	.state = sizeof(struct stale),
	.answer = answer,
};
