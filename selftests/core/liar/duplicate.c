// SPDX-License-Identifier: GPL-2.0
/*
 * The truth three times, and around it what is almost a message: cut short or
 * too long with an authentic beginning, and under another server's number.
 */
#include "strategy.h"

#define COPIES 3
#define TOO_LONG (BFTM_WIRE_LEN_MAX + 40)

static void answer(struct liar *l, const struct liar_request *req)
{
	u8 raw[TOO_LONG] = {};
	struct bftm_wire wire;
	struct bftm_msg other;
	u64 draw;
	int i;

	if (req->honest->type == BFTM_MSG_NONE)
		return;
	liar_seal(l, req, req->honest, &wire);
	memcpy(raw, wire.data, wire.len);
	for (i = 0; i < COPIES; i++) {
		draw = liar_random(l);
		liar_send(l, req, raw, wire.len, 0);
		liar_send(l, req, raw, draw % wire.len, 0);
		liar_send(l, req, raw, wire.len + 1 + (draw >> 32) % 40, 0);
	}
	/* The same again, as if it answered something else. */
	other = *req->honest;
	for (i = 0; i < COPIES; i++) {
		other.seq++;
		liar_say(l, req, &other, 0);
	}
	/* Two voices would be more than one liar has. */
	other = *req->honest;
	other.server = other.server > 1 ? other.server - 1 : other.server + 1;
	liar_say(l, req, &other, 0);
	for (i = 0; i < COPIES; i++)
		liar_lied(l);
}

static void push(struct liar *l, const struct bftm_msg *msg, u64 now_ns)
{
	struct bftm_msg other = *msg;
	int i;

	(void)now_ns;
	for (i = 0; i < COPIES; i++)
		liar_push(l, msg, i ? liar_delay(l) : 0);
	/* The same again, as if somebody had asked; and in another's name. */
	other.seq = 1;
	liar_push(l, &other, 0);
	other = *msg;
	other.server = msg->server > 1 ? msg->server - 1 : msg->server + 1;
	liar_push(l, &other, 0);
	liar_lied(l);
}

const struct strategy strategy_duplicate = {
	.name = "duplicate",
	.what = "answer thrice, with mutilated copies and in another's name",
	.answer = answer,
	.push = push,
};
