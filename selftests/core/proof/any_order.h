/* SPDX-License-Identifier: GPL-2.0 */
/* Objects, states and requests of the ordering protocol in any form, for Eva. */
#ifndef PROOF_ANY_ORDER_H
#define PROOF_ANY_ORDER_H

#include "any.h"
#include "core/ordering/pending.h"
#include "core/ordering/server.h"

#define DATA	BFTM_ORDER_ROOM_MAX
#define WAITING	3

static u8 any_data[DATA], any_signature[BFTM_SIGNATURE_LEN];

/* Of the form that bftm_order_wire_get() demands. */
static struct bftm_order_msg any_order_msg(void)
{
	struct bftm_order_msg msg;

	any(msg);
	any(any_data);
	any(any_signature);
	msg.name_len = (u8)any_from(1, BFTM_OBJECT_NAME_MAX);
	msg.room = (u16)any_from(BFTM_ORDER_GOT_LEN, DATA);
	msg.data_len = (u16)any_from(0, DATA);
	msg.data = any_data;
	msg.signature = any_bool() ? any_signature : NULL;
	return msg;
}

/* Bodies without clients: what is in a body is for eva_state.c. */
static u8 state_bytes[2][64];
static struct bftm_body states[2], ops[WAITING + 1];

static struct bftm_body *any_state(u32 i)
{
	any(states[i]);
	any(state_bytes[i]);
	((struct bftm_state_head *)state_bytes[i])->clients = 0;
	states[i].id.len = sizeof(state_bytes[i]);
	states[i].data = state_bytes[i];
	return any_bool() ? &states[i] : NULL;
}

static union {
	struct bftm_pendings pend;
	u8 block[sizeof(struct bftm_pendings) + (WAITING + 1) * sizeof(struct bftm_pending)];
} waiting;

static struct bftm_pendings *any_pendings(void)
{
	u32 i;

	if (any_bool())
		return NULL;
	any(waiting);
	any(ops);
	waiting.pend.room = WAITING + 1;
	/* By cases: Eva follows a search in a list whose length it knows. */
	waiting.pend.count = any_bool() ? (any_bool() ? 0 : 1) : (any_bool() ? WAITING : WAITING + 1);
	for (i = 0; i <= WAITING; i++)
		waiting.pend.entry[i].body = &ops[i];
	return &waiting.pend;
}

static struct bftm_object any_object(void)
{
	struct bftm_object o;

	any(o);
	o.sc = any_state(0);
	o.sp = any_state(1);
	o.pend = any_pendings();
	o.replaced = NULL;
	o.recovering = any_bool();
	return o;
}

#endif
