// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of ordering datagrams: what it takes, it gives back byte for byte, and a request
 * says how much room it has for its answer. A page of a list is one that a listing goes on with.
 */
#include "core/ordering/listing.h"
#include "fuzz.h"

static void check_room(const struct bftm_order_msg *req, size_t len)
{
	struct bftm_wire refused;
	struct bftm_msg head;

	must(bftm_order_size(req) == req->room);
	must(req->type != BFTM_ORDER_GET || req->room >= BFTM_ORDER_GOT_LEN);
	must(req->type != BFTM_ORDER_LIST || req->room >= BFTM_ORDER_LIST_LEN);
	bftm_order_head(req, &head);
	head.type = BFTM_MSG_REFUSED;
	head.arg = BFTM_REFUSED_STATE;
	bftm_wire_put(&head, &refused);
	must(refused.len <= len);
}

static void check_page(const struct bftm_order_msg *msg)
{
	static const struct bftm_order_cfg alone = { .n = 1, .resend_ns = 1 };
	struct bftm_listed listed;
	struct bftm_listing l;
	u32 at, len, count = 0;

	for (at = 0; at < msg->data_len; at += len, count++) {
		len = bftm_listed_get(msg->data + at, msg->data_len - at, &listed);
		must(len && len <= BFTM_LISTED_LEN_MAX && len == bftm_listed_len(&listed));
		must(listed.name_len && listed.name_len <= BFTM_OBJECT_NAME_MAX);
		must(listed.type_len <= BFTM_TYPE_NAME_MAX && listed.version);
	}
	bftm_listing_begin(&l, &alone, 1);
	l.server[0].cursor = msg->cursor;
	l.server[0].epoch = msg->server_epoch;
	must(bftm_listing_page(&l, &alone, 0, msg, 1) == BFTM_PAGE_KEPT);
	must(l.server[0].objects == count && l.told == !msg->next);
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
	if (msg.type == BFTM_ORDER_LISTED)
		check_page(&msg);
	/* Nobody takes it for a message of locks. */
	must(bftm_wire_get(data, len, &head));
	return 0;
}
