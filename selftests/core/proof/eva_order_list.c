// SPDX-License-Identifier: GPL-2.0
// prove: memory all_lists bftm_listing_begin bftm_listing_anew bftm_listing_wake bftm_listing_due bftm_listing_verdict bftm_listing_complete: any cluster, any listing
#include "any.h"
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
