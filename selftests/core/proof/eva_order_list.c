// SPDX-License-Identifier: GPL-2.0
// prove: memory all_pages bftm_page_begin bftm_page_add bftm_page_end bftm_state_type bftm_listed_len bftm_listed_put: three objects with any state and any name, into every room; no byte behind it is written
// prove: memory all_objects bftm_listed_get: of any data up to two of the longest; no byte behind it is read
// prove: eva all_lists bftm_listing_begin bftm_listing_anew bftm_listing_wake bftm_listing_due bftm_listing_verdict bftm_listing_complete: any cluster, any listing
// prove: open bftm_listing_page bftm_listing_judge: how many objects a page has, and which bytes each type has, is no contract yet
// frama-c: -eva-slevel 200
#include "any_order.h"
#include "core/form.c"
#include "core/access.c"
#include "core/quorum.c"
#include "core/ordering/listing.c"
#include "core/ordering/page.c"
#include "core/ordering/state.c"
#include "core/ordering/wire.c"

static u8 name[BFTM_OBJECT_NAME_MAX], page_bytes[BFTM_ORDER_ROOM_MAX];

void all_pages(void)
{
	struct bftm_order_msg req = any_order_msg(), reply;
	struct bftm_object o = any_object();
	struct bftm_rule rule;
	struct bftm_page page;
	u32 room = (u32)any_from(BFTM_ORDER_LIST_LEN, BFTM_ORDER_ROOM_MAX), i;
	u8 *out = page_bytes + sizeof(page_bytes) - room;

	any(rule);
	any(name);
	rule.prefix_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	req.type = BFTM_ORDER_LIST;
	req.name_len = 0;
	req.room = (u16)room;
	bftm_page_begin(&page, &req, &rule, (u32)any_from(0, 1), out);
	for (i = 0; i < 3; i++)
		bftm_page_add(&page, &o, name, (u8)any_from(1, BFTM_OBJECT_NAME_MAX));
	bftm_page_end(&page, &req, any_from(0, ~0ull), any_bool(), out, &reply);
}

void all_objects(void)
{
	static u8 data[2 * BFTM_LISTED_LEN_MAX];
	struct bftm_listed listed;
	u32 left;

	any(data);
	//@ loop unroll 30;
	for (left = 0; left <= sizeof(data); left += 8)
		bftm_listed_get(data + sizeof(data) - left, left, &listed);
}

void all_lists(void)
{
	struct bftm_order_cfg cfg;
	struct bftm_listing l;
	u64 now = any_from(1, ~0ull >> 2);

	any(cfg);
	any(l);
	cfg.n = (u32)any_from(1, BFTM_SERVERS_MAX);
	cfg.b = (u32)any_from(0, 10);
	cfg.resend_ns = any_from(1, BFTM_NS_PER_SEC);
	bftm_listing_wake(&l, &cfg, now);
	bftm_listing_due(&l, &cfg);
	bftm_listing_verdict(&l, &cfg, now);
	bftm_listing_complete(&l, &cfg);
	bftm_listing_anew(&l, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1), now);
	bftm_listing_begin(&l, &cfg, now);
}
