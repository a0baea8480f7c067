// SPDX-License-Identifier: GPL-2.0
// prove: memory all_order_steps bftm_order_begin bftm_order_answer bftm_order_refused bftm_order_made bftm_order_unmade bftm_order_wake bftm_order_message bftm_order_then bftm_order_room bftm_order_silence_ok bftm_vote_refused bftm_rank_highest bftm_rank_spend bftm_rank_timed_out bftm_rank_outranked bftm_rank_forget_raises bftm_rank_note: every state of an iteration, and every answer
// frama-c: -eva-precision 0 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-use-spec bftm_kth_largest,bftm_order_choose,bftm_order_read_ops
#include "any_order.h"
#include "core/ordering/client.h"

/*@ requires n <= 31 && \valid_read(value + (0 .. n - 1));
  @ assigns \result \from value[0 .. n - 1], n, k;
  @*/
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

/*@ assigns \result, o->completed, o->applies, o->base, o->holders \from *o, *cfg;
  @ ensures \result == 0 || \result == 1;
  @*/
bool bftm_order_choose(struct bftm_order *o, const struct bftm_order_cfg *cfg);

/* In wp_choose.c it is proved to keep this. */
/*@ requires \valid_read(msg->data + (0 .. msg->data_len - 1));
  @ assigns *got \from *msg;
  @*/
void bftm_order_read_ops(struct bftm_got *got, const struct bftm_order_msg *msg);

#include "core/quorum.c"
#define committed committed_of
#include "core/ordering/choose.c"
#undef committed
#include "core/ordering/client.c"
#include "core/ordering/rank.c"
#define same same_as
#include "core/ordering/vote.c"
#undef same

static struct bftm_order o;

static struct bftm_order_cfg any_order_cfg(u32 n_max)
{
	u32 n = (u32)any_from(1, n_max);

	return (struct bftm_order_cfg){
		.n = n,
		.b = (u32)any_from(0, (n_max - 1) / 4),
		.signed_ranks = any_bool(),
		.resend_ns = ANY_TIME / 16,
		.limit_ns = ANY_TIME,
	};
}

static void any_iteration(void)
{
	u32 u;

	any(o);
	o.phase = (enum bftm_order_phase)any_from(0, BFTM_ORDER_INSTALLING);
	o.applies = any_bool();
	o.more = any_bool();
	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		o.got[u].count = (u32)any_from(0, BFTM_ORDER_NEXT_WAITING_MAX);
}

void all_order_steps(void)
{
	struct bftm_order_cfg cfg = any_order_cfg(BFTM_SERVERS_MAX);
	struct bftm_order_msg msg = any_order_msg();
	struct bftm_order_out out;
	struct bftm_body_id id;

	any(id);
	any_iteration();
	bftm_order_silence_ok(ANY_TIME, ANY_TIME);
	bftm_order_room(&o, (u8)any_from(0, 255));
	bftm_order_message(&o);
	bftm_order_then(&o);
	switch (any_from(0, 5)) {
	case 0:
		bftm_order_begin(&o, &cfg, any_bool(), ANY_TIME, &out);
		break;
	case 1:
		bftm_order_refused(&o, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1),
				   (u32)any_from(0, ~0u), ANY_TIME, &out);
		break;
	case 2:
		bftm_order_made(&o, &cfg, &id, ANY_TIME, &out);
		break;
	case 3:
		bftm_order_unmade(&o);
		break;
	case 4:
		bftm_order_answer(&o, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1), &msg,
				  any_bool(), ANY_TIME, &out);
		break;
	default:
		bftm_order_wake(&o, &cfg, ANY_TIME, &out);
	}
}
