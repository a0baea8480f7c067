// SPDX-License-Identifier: GPL-2.0
/* By the protocol, but values are those of the past, or drawn; and so are doubts. */
#include "strategy.h"

#define KEPT 4	/* values of some lock, as they were told; the newest takes the oldest's place */

/** struct values - what was told */
struct values {
	struct bftm_msg kept[KEPT];
	u32 next;
};

static void lie(struct liar *l, struct bftm_msg *msg)
{
	struct values *values = liar_state(l);
	const struct bftm_msg *old = &values->kept[liar_random(l) % KEPT];
	u64 draw = liar_random(l);

	if (!(msg->flags & BFTM_FLAG_VALUE))
		return;
	if (!(msg->flags & BFTM_FLAG_DOUBT) && msg->value_room)
		values->kept[values->next++ % KEPT] = *msg;
	if (draw & 1)
		msg->flags ^= BFTM_FLAG_DOUBT;
	if (draw & 2 && old->type) {
		msg->value_len = old->value_len;
		msg->value_room = old->value_room;
		memcpy(msg->value, old->value, sizeof(msg->value));
	} else if (draw & 4 && msg->value_room) {
		msg->value[0] ^= (u8)(draw >> 8 | 1);
	}
	liar_lied(l);
}

static void answer(struct liar *l, const struct liar_request *req)
{
	struct bftm_msg reply = *req->honest;

	if (reply.type == BFTM_MSG_FREE)
		lie(l, &reply);
	liar_say(l, req, &reply, 0);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct bftm_msg again = *msg;

	(void)now_ns;
	if (again.type == BFTM_MSG_FREE)
		lie(l, &again);
	liar_push(l, &again, 0);
}

const struct strategy strategy_false_value = {
	.name = "false-value",
	.what = "say values of the past, or none that was ever left, and doubts that are none",
	.state = sizeof(struct values),
	.answer = answer,
	.push = push,
};
