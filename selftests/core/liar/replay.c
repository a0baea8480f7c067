// SPDX-License-Identifier: GPL-2.0
/*
 * Answers with what was true once: of older attempts, of other locks, bit by
 * bit or sealed again as if it answered the new request.
 */
#include "strategy.h"

#define KEPT 64
#define PUSHED 8

/** struct old - an honest answer of the past */
struct old {
	struct bftm_msg msg;
	struct bftm_wire wire;
};

/** struct past - all that are kept, @next is where the next goes */
struct past {
	struct old kept[KEPT];
	struct bftm_msg pushed[PUSHED];
	u32 next;
};

static void keep(struct liar *l, const struct liar_request *req)
{
	struct past *past = liar_state(l);
	struct old *o = &past->kept[past->next++ % KEPT];

	o->msg = *req->honest;
	liar_seal(l, req, &o->msg, &o->wire);
}

/* Some old answer to this client, NULL when there is none. */
static const struct old *find(struct liar *l, const struct liar_request *req)
{
	const struct past *past = liar_state(l);
	u32 first = (u32)(liar_random(l) % KEPT), i;

	for (i = 0; i < KEPT; i++) {
		const struct old *o = &past->kept[(first + i) % KEPT];

		if (o->msg.type != BFTM_MSG_NONE && o->msg.client == req->msg->client)
			return o;
	}
	return NULL;
}

static void answer(struct liar *l, const struct liar_request *req)
{
	const struct old *o = find(l, req);
	struct bftm_msg again;
	u64 draw = liar_random(l);

	if (o && draw & 1) {
		liar_send(l, req, o->wire.data, o->wire.len, 0);
		liar_lied(l);
	}
	if (o && draw & 2) {
		again = o->msg;
		again.seq = req->msg->seq;
		liar_say(l, req, &again, 0);
		liar_lied(l);
	}
	if (o && draw & 4) {
		/* Another attempt's grant, under the name of this one. */
		again = o->msg;
		again.seq = req->msg->seq;
		again.attempt = req->msg->attempt;
		again.name_len = req->msg->name_len;
		memcpy(again.name, req->msg->name, sizeof(again.name));
		liar_say(l, req, &again, 0);
		liar_lied(l);
	}
	if (!o || draw & 8)
		liar_say(l, req, req->honest, 0);
	if (req->honest->type != BFTM_MSG_NONE)
		keep(l, req);
}

/* Pushes come true again, to whoever is there by now. */
static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct past *past = liar_state(l);
	struct bftm_msg *old = &past->pushed[liar_random(l) % PUSHED];

	(void)now_ns;
	liar_push(l, msg, 0);
	if (old->type != BFTM_MSG_NONE) {
		liar_push(l, old, 0);
		liar_lied(l);
	}
	*old = *msg;
}

const struct strategy strategy_replay = {
	.name = "replay",
	.what = "send old answers, also as answers to new requests",
	.state = sizeof(struct past),
	.answer = answer,
	.push = push,
};
