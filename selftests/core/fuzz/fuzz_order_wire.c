// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of ordering datagrams: what it takes, it gives back byte for byte, and a request
 * says how much room it has for its answer.
 */
#include "core/ordering/wire.h"
#include "fuzz.h"

static void check_room(const struct bftm_order_msg *req, size_t len)
{
	struct bftm_wire refused;
	struct bftm_msg head;

	must(bftm_order_size(req) == req->room);
	must(req->type != BFTM_ORDER_GET || req->room >= BFTM_ORDER_GOT_LEN);
	bftm_order_head(req, &head);
	head.type = BFTM_MSG_REFUSED;
	head.arg = BFTM_REFUSED_STATE;
	bftm_wire_put(&head, &refused);
	must(refused.len <= len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct bftm_order_msg msg;
	u8 again[BFTM_DATAGRAM_MAX];
	struct bftm_msg head;

	if (bftm_order_wire_get(data, len, &msg))
		return 0;
	must(len >= BFTM_DATAGRAM_MIN && len <= BFTM_DATAGRAM_MAX);
	must(*bftm_order_name(msg.type) != '?');
	must(!msg.data_len || (msg.data >= data &&
			       msg.data + msg.data_len + BFTM_TAG_LEN <= data + len));
	memset(again, 0xa5, sizeof(again));
	must(bftm_order_wire_put(&msg, again) == len);
	must(!memcmp(again, data, len - BFTM_TAG_LEN));
	must(bftm_order_shaped(data));
	if (!(msg.type & BFTM_MSG_REPLY))
		check_room(&msg, len);
	/* Nobody takes it for a message of locks. */
	must(bftm_wire_get(data, len, &head));
	return 0;
}
