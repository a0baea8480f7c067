// SPDX-License-Identifier: GPL-2.0
// prove: memory all_lists bftm_listing_begin bftm_listing_anew bftm_listing_wake bftm_listing_due bftm_listing_verdict bftm_listing_complete: any cluster, any listing
// prove: memory all_pages_heard bftm_listing_page: every page of any server; wp_order_list.c has that of its objects
// prove: memory all_judged bftm_listing_judge: what up to 31 servers say
// frama-c all_pages_heard: -eva-use-spec objects_on
// frama-c all_judged: -eva-precision 1 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality
#include "any.h"
#include "listing_contracts.h"
#include "core/form.c"
#include "core/quorum.c"
#include "core/ordering/listing.c"
#include "core/ordering/wire.c"

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

static u8 any_page[1184];

void all_pages_heard(void)
{
	struct bftm_order_cfg cfg;
	struct bftm_listing l;
	struct bftm_order_msg msg;

	any(cfg);
	any(l);
	any(msg);
	any(any_page);
	cfg.n = (u32)any_from(1, BFTM_SERVERS_MAX);
	cfg.b = (u32)any_from(0, 10);
	cfg.resend_ns = any_from(1, BFTM_NS_PER_SEC);
	msg.data = any_page;
	msg.data_len = (u16)any_from(0, sizeof(any_page));
	bftm_listing_page(&l, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1), &msg,
			  any_from(1, ~0ull >> 2));
}

void all_judged(void)
{
	static u8 type[BFTM_SERVERS_MAX][BFTM_TYPE_NAME_MAX];
	struct bftm_listed said[BFTM_SERVERS_MAX];
	u64 version;
	u32 i, which;

	any(said);
	any(type);
	//@ loop unroll 31;
	for (i = 0; i < BFTM_SERVERS_MAX; i++) {
		said[i].type = type[i];
		said[i].type_len = (u8)any_from(0, BFTM_TYPE_NAME_MAX);
	}
	bftm_listing_judge(said, (u32)any_from(0, BFTM_SERVERS_MAX), (u32)any_from(0, 10),
			   &version, &which);
}
