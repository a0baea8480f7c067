// SPDX-License-Identifier: GPL-2.0
// prove: memory all_order_forms bftm_order_form bftm_order_name bftm_order_size bftm_order_len bftm_order_head: every type; no byte behind its body is read or written
// prove: memory all_order_shapes bftm_order_shaped bftm_order_body_at: every header
// prove: open bftm_order_wire_put: Eva does not see that padding fits, and how many bytes a message has is no contract yet
// prove: memory all_listed bftm_listed_len bftm_listed_get bftm_listed_put: every name and type; no byte behind an object is read or written
// frama-c: -eva-precision 1 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-slevel 50
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
