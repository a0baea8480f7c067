// SPDX-License-Identifier: GPL-2.0
// prove: memory all_order_forms bftm_order_form bftm_order_name bftm_order_size bftm_order_len bftm_order_head: every type; no byte behind its body is read or written
// prove: memory all_order_shapes bftm_order_shaped bftm_order_body_at: every header
// prove: memory all_order_written bftm_order_wire_put: every type, with every name; its data of 0 to 9 bytes and of the most
// prove: memory all_lengths bftm_order_wire_put: RESPONSE, with data of every length
// prove: memory all_listed bftm_listed_len bftm_listed_get bftm_listed_put: every name and type; no byte behind an object is read or written
// frama-c: -eva-precision 1 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-slevel 50
// takes 25: all_order_written all_lengths all_listed
#include "any_order.h"
#include "core/form.c"
#include "core/ordering/wire.c"

/* The datagram that is read ends where its memory does, so that no byte behind it is. */
static u8 memory[BFTM_DATAGRAM_MAX];
#define BEHIND	(memory + sizeof(memory))

static void one_form(u8 type)
{
	const struct bftm_form *form = bftm_order_form(type);
	struct bftm_order_msg msg;
	struct bftm_msg head;

	bftm_order_name(type);
	if (!form)
		return;
	any(msg);
	any(memory);
	bftm_form_get(form, BEHIND - form->bytes, &msg);
	msg = any_order_msg();
	msg.type = type;
	bftm_form_put(form, &msg, BEHIND - form->bytes);
	bftm_order_size(&msg);
	bftm_order_len(&msg);
	bftm_order_head(&msg, &head);
}

void all_order_forms(void)
{
	u32 type;

	//@ loop unroll 256;
	for (type = 0; type < 256; type++)
		one_form((u8)type);
}

void all_order_shapes(void)
{
	u8 head[BFTM_ORDER_SHAPE_LEN];

	any(head);
	any(memory);
	bftm_order_shaped(head);
	bftm_order_body_at(memory, (u8)any_from(0, BFTM_OBJECT_NAME_MAX));
}

/* Written, and read; one that is cut off is not read beyond its end. */
static void one_listed(u8 name_len, u8 type_len)
{
	struct bftm_listed listed = {
		.version = any_from(1, ~0ull), .name_len = name_len, .type_len = type_len,
		.name = any_data, .type = any_data,
	}, again;
	u32 len = bftm_listed_len(&listed);
	u8 *last = BEHIND - 1;

	any(memory);
	any(any_data);
	/* To write no byte takes a place all the same. */
	*last = 1;
	bftm_listed_put(&listed, last - len);
	//@ assert whole: *last == 1;
	any(memory);
	(BEHIND - len)[8] = name_len;
	(BEHIND - len)[9] = type_len;
	bftm_listed_get(BEHIND - len, len, &again);
	any(memory);
	(BEHIND - len + 1)[8] = name_len;
	(BEHIND - len + 1)[9] = type_len;
	bftm_listed_get(BEHIND - len + 1, len - 1, &again);
}

void all_listed(void)
{
	struct bftm_listed ret;
	u32 name, type, left;

	//@ loop unroll 70;
	for (name = 1; name <= BFTM_OBJECT_NAME_MAX; name++)
		//@ loop unroll 40;
		for (type = 0; type <= BFTM_TYPE_NAME_MAX; type++)
			one_listed((u8)name, (u8)type);
	any(memory);
	//@ loop unroll 20;
	for (left = 0; left < BFTM_LISTED_HEAD_LEN; left++)
		bftm_listed_get(BEHIND - left, left, &ret);
	/* Of no object that there is. */
	memory[8] = (u8)any_from(BFTM_OBJECT_NAME_MAX + 1, 255);
	bftm_listed_get(memory, (u32)any_from(0, DATA), &ret);
	memory[8] = 0;
	bftm_listed_get(memory, (u32)any_from(0, DATA), &ret);
	memory[8] = (u8)any_from(0, 255);
	memory[9] = (u8)any_from(BFTM_TYPE_NAME_MAX + 1, 255);
	bftm_listed_get(memory, (u32)any_from(0, DATA), &ret);
}

/* To write no byte takes a place all the same. */
static u8 datagram[BFTM_DATAGRAM_MAX + 1];
#define LAST	(datagram + sizeof(datagram) - 1)

static struct bftm_order_msg msg;

/* It ends where its memory does. */
static void one_written(void)
{
	size_t len = bftm_order_len(&msg);

	*LAST = 1;
	if (bftm_order_wire_put(&msg, LAST - len) == len) {
		//@ assert last: datagram[sizeof(datagram) - 1] == 1;
	} else {
		//@ assert as_long_as_told: 0 > 1;
	}
}

/* @room: bytes of a request from its name to its tag, which it may be padded to. */
static void one_of_names(u8 type, u32 name_least, u32 name_most, u32 data_len, u32 room, bool is_long)
{
	msg.type = type;
	msg.name_len = (u8)any_from(name_least, name_most);
	msg.room = (u16)room;
	msg.data = any_data + sizeof(any_data) - data_len;
	msg.data_len = (u16)data_len;
	/* Of a body, FETCH makes room for a piece: its last one, or another. */
	msg.id.len = is_long ? 2 * BFTM_PIECE_LEN : 5;
	msg.offset = 0;
	msg.signature = NULL;
	one_written();
	msg.signature = any_signature;
	if (bftm_order_form(type)->flags & BFTM_ORDER_FLAG_SIGNED)
		one_written();
}

static void one_message(u8 type, u32 name_len, u32 data_len, u32 room, bool is_long)
{
	one_of_names(type, name_len, name_len, data_len, room, is_long);
}

/* Bytes that there are for data of such a message, beside the longest name. */
static u32 most_of(u8 type)
{
	const struct bftm_form *form = bftm_order_form(type);
	u32 taken = form->bytes;

	if (form->flags & BFTM_ORDER_FLAG_SIGNED)
		taken += BFTM_SIGNATURE_LEN;
	return BFTM_ORDER_ROOM_SURE - taken;
}

static void one_type(u8 type)
{
	u32 name, data;

	if (!bftm_order_form(type))
		return;
	one_message(type, 0, 0, 0, false);
	/* Names of up to 8 bytes take as many, and so on: Eva knows where each of these ends. */
	//@ loop unroll 10;
	for (name = 1; name <= BFTM_OBJECT_NAME_MAX; name += 8)
		one_of_names(type, name, name + 7 < BFTM_OBJECT_NAME_MAX ? name + 7 : BFTM_OBJECT_NAME_MAX,
			     0, 0, false);
	//@ loop unroll 10;
	for (data = 0; data < 10; data++)
		one_message(type, BFTM_OBJECT_NAME_MAX, data, 0, false);
	one_message(type, BFTM_OBJECT_NAME_MAX, 0, BFTM_ORDER_ROOM_SURE, true);
	one_message(type, BFTM_OBJECT_NAME_MAX, most_of(type), 0, true);
	one_message(type, BFTM_OBJECT_NAME_MAX, most_of(type), BFTM_ORDER_ROOM_SURE, true);
}

void all_order_written(void)
{
	u32 type;

	msg = any_order_msg();
	//@ loop unroll 256;
	for (type = 0; type < 256; type++)
		one_type((u8)type);
}

void all_lengths(void)
{
	u32 data;

	msg = any_order_msg();
	//@ loop unroll 1200;
	for (data = 0; data <= most_of(BFTM_ORDER_RESPONSE); data++)
		one_message(BFTM_ORDER_RESPONSE, 1, data, 0, true);
}
