// SPDX-License-Identifier: GPL-2.0
#include "order_samples.h"

u8 order_bytes[BFTM_DATAGRAM_MAX];

static void fill(void *to, size_t len, u64 *rnd)
{
	u8 *byte = to;

	while (len--)
		*byte++ = (u8)unit_random(rnd);
}

/* A few objects, any bytes in their names and types, where the data of samples is. */
static u16 sample_objects(u64 *rnd)
{
	u8 data[2 * BFTM_LISTED_LEN_MAX] = { 0 };
	u32 left = (u32)unit_between(rnd, 0, 2), at = 0;

	for (; left; left--) {
		struct bftm_listed listed = {
			.version = unit_random(rnd) | 1,
			.name = order_bytes + 300,
			.name_len = (u8)unit_between(rnd, 1, BFTM_OBJECT_NAME_MAX),
			.type = order_bytes + 400,
			.type_len = (u8)unit_between(rnd, 0, BFTM_TYPE_NAME_MAX),
		};

		bftm_listed_put(&listed, data + at);
		at += bftm_listed_len(&listed);
	}
	memcpy(order_bytes, data, at);
	return (u16)at;
}

/* Bytes of data: as many as the form's fields say, of which @msg gets the length. */
static void sample_data(struct bftm_order_msg *msg, u64 *rnd)
{
	u16 few = (u16)unit_between(rnd, 1, 500);

	switch (msg->type) {
	case BFTM_ORDER_SUBMIT:
	case BFTM_ORDER_PROPOSE:
	case BFTM_ORDER_COMMIT:
	case BFTM_ORDER_INSTALL:
	case BFTM_ORDER_COMMIT_GET:
		if (!(few & 1))
			return;
		msg->offset = 0;
		msg->id.len = few;
		msg->data_len = few;
		break;
	case BFTM_ORDER_FETCH:
	case BFTM_ORDER_PUT:
	case BFTM_ORDER_BODY:
		msg->offset %= 16;
		msg->offset *= BFTM_PIECE_LEN;
		msg->id.len = msg->offset + few;
		if (msg->type == BFTM_ORDER_FETCH)
			return;
		msg->data_len = few;
		break;
	case BFTM_ORDER_RESPONSE:
		msg->offset = few & 0xff;
		msg->id.len = msg->offset + few;
		msg->data_len = few;
		break;
	case BFTM_ORDER_GOT:
	case BFTM_ORDER_COMMITTED_GOT:
		msg->data_len = (u16)(unit_between(rnd, 1, 18) * sizeof(struct bftm_order_waiting));
		break;
	case BFTM_ORDER_LISTED:
		msg->data_len = sample_objects(rnd);
		if (!msg->data_len)
			return;
		break;
	default:
		return;
	}
	msg->data = order_bytes;
}

/* The members that the type's form names; the rest is 0, as it is when it was read. */
static void sample_fields(struct bftm_order_msg *msg, u64 *rnd)
{
	const struct bftm_slot *slot = bftm_order_form(msg->type)->slots;

	for (; slot->bytes; slot++)
		if (slot->rule != BFTM_SLOT_ZERO)
			fill((u8 *)msg + slot->at, slot->member, rnd);
	msg->rank.count >>= 2;
	msg->then.count >>= 2;
	msg->recovering &= 1;
	if (msg->next <= msg->cursor)
		msg->next = 0;
	if (msg->then.count)
		msg->then.count += msg->rank.count;
	if (msg->type == BFTM_ORDER_NEEDBODY)
		msg->rank = (struct bftm_rank){ msg->op, 0, msg->id.len };
	if (msg->rank.count)
		msg->rank.client = msg->client;
	if (msg->then.count)
		msg->then.client = msg->client;
}

struct bftm_order_msg order_sample(u8 type, u8 name_len, u64 *rnd)
{
	struct bftm_order_msg msg = { .type = type };

	fill(order_bytes, sizeof(order_bytes), rnd);
	if (bftm_order_form(type)->named)
		msg.name_len = name_len;
	fill(msg.name, msg.name_len, rnd);
	fill(&msg.server, sizeof(msg.server), rnd);
	fill(&msg.cluster, sizeof(msg.cluster), rnd);
	fill(&msg.client, sizeof(msg.client), rnd);
	msg.server_epoch = unit_random(rnd);
	msg.seq = unit_random(rnd) | 1;
	sample_fields(&msg, rnd);
	sample_data(&msg, rnd);
	if (bftm_order_form(type)->flags & BFTM_ORDER_FLAG_SIGNED && unit_random(rnd) & 1)
		msg.signature = order_bytes + 7;
	return msg;
}
