// SPDX-License-Identifier: GPL-2.0
// prove: memory all_order_forms bftm_order_form bftm_order_name bftm_order_size bftm_order_len bftm_order_head: every type; no byte behind its body is read or written
// prove: memory all_order_shapes bftm_order_shaped bftm_order_body_at: every header
// prove: open bftm_order_wire_put bftm_listed_len bftm_listed_get bftm_listed_put bftm_state_type bftm_page_begin bftm_page_add bftm_page_end bftm_listing_page bftm_listing_judge: Eva does not see that padding, names and types fit, and how many bytes they have is no contract yet
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
