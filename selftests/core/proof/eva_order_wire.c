// SPDX-License-Identifier: GPL-2.0
// prove: eva all_order_datagrams bftm_order_wire_get: every payload of 0 to 1240 bytes
// prove: eva all_order_messages bftm_order_len bftm_order_head: every message
// prove: open bftm_order_wire_put: Eva does not see that the padding fits
// prove: eva all_order_shapes bftm_order_shaped bftm_order_name: every header and type
#include "any_order.h"
#include "core/ordering/wire.c"

void all_order_datagrams(void)
{
	u8 payload[BFTM_DATAGRAM_MAX + 8];
	struct bftm_order_msg msg;

	any(payload);
	bftm_order_wire_get(payload, any_from(0, sizeof(payload)), &msg);
}

void all_order_messages(void)
{
	struct bftm_order_msg msg = any_order_msg();
	struct bftm_msg head;

	bftm_order_head(&msg, &head);
	bftm_order_len(&msg);
}

void all_order_shapes(void)
{
	u8 head[BFTM_ORDER_SHAPE_LEN];

	any(head);
	bftm_order_shaped(head);
	bftm_order_name((u8)any_from(0, 255));
}
