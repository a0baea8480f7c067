// SPDX-License-Identifier: GPL-2.0
/* The decoder of ordering datagrams: what it takes, it gives back, to its last byte of data. */
#include "core/ordering/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct bftm_order_msg msg;
	u8 again[BFTM_ORDER_LEN_MAX];
	struct bftm_msg head;
	struct bftm_wire wire;

	if (bftm_order_wire_get(data, len, &msg))
		return 0;
	must(len >= BFTM_ORDER_LEN_MIN && len <= BFTM_ORDER_LEN_MAX);
	must(*bftm_order_name(msg.type) != '?');
	must(msg.data >= data && msg.data + msg.data_len + BFTM_TAG_LEN <= data + len);
	must(msg.data_len <= msg.room);
	must(bftm_order_wire_put(&msg, again) == len);
	must(!memcmp(again, data, BFTM_ORDER_HEAD_LEN + msg.data_len));
	bftm_order_head(&msg, &head);
	bftm_wire_put(&head, &wire);
	must(!memcmp(&wire, data, offsetof(struct bftm_wire, attempt)));
	/* Nobody takes it for a message of locks. */
	must(bftm_wire_get(data, len, &head));
	return 0;
}
