// SPDX-License-Identifier: GPL-2.0
// prove: memory all_begun bftm_contend_start bftm_go_behind bftm_begin_attempt bftm_send_try bftm_repeat_try bftm_everyone bftm_out_add bftm_contend_seen bftm_wait_begun bftm_round_begun bftm_first_begun bftm_first_only bftm_contender_queues bftm_contend_adopt bftm_value_forgotten: every client, any request
// prove: memory all_answers bftm_contend_answer bftm_out_clear bftm_contender_alive bftm_stray bftm_said bftm_answered bftm_end_round bftm_wait_judge bftm_round_judge bftm_first_rest bftm_first_judge bftm_first_heard bftm_first_stale bftm_first_again bftm_wait_granted bftm_lose_round bftm_die bftm_hold_begin bftm_hold_read bftm_hold_told bftm_hold_grew bftm_is_wanted bftm_yield bftm_hold_inquired bftm_hold_unwanted bftm_converts bftm_convert_free bftm_convert_wait bftm_convert_inquire bftm_convert_read bftm_value_take_told bftm_value_heard bftm_value_read bftm_value_await bftm_fences bftm_fence_begin bftm_round_ns bftm_fence_answer: every client, and every answer of a server
// prove: memory all_wakes bftm_contend_wake bftm_hold_uncount bftm_hold_wake bftm_hold_arm bftm_hold_missed bftm_round_wake bftm_wait_wake bftm_first_over bftm_fence_wake bftm_fence_wake_anew bftm_fence_due bftm_convert_unstamped bftm_convert_stamped: every client at every time
// prove: memory all_asked bftm_contend_renew bftm_contend_again bftm_contend_convert bftm_contend_keep bftm_hold_ask bftm_hold_converted bftm_fence_anew bftm_value_forget bftm_value_leave bftm_contend_stop bftm_contend_leave bftm_contend_writes: every client, and whatever its program asks for
// prove: memory all_leaseless bftm_contend_restarted bftm_contend_retold bftm_reassert bftm_reassert_heard bftm_after_end bftm_release_all: every client without a lease, and every answer to it
// prove: memory all_looks bftm_contend_value bftm_contend_reached bftm_contend_end bftm_may_begin bftm_fence_lacks bftm_recovered_token bftm_contender_message bftm_value_put bftm_lowest bftm_out_to: every client
// prove: memory all_quarantines bftm_quarantine_left: every client and every number of servers
// prove: memory all_releases bftm_release_start bftm_release_message bftm_release_answer bftm_release_restarted bftm_release_wake: every attempt that is over
// frama-c all_begun all_answers all_wakes all_asked all_leaseless all_looks: -eva-use-spec bftm_quarantine_left
// frama-c all_quarantines: -eva-min-loop-unroll 31
// frama-c: -eva-precision 0 -eva-plevel 500 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-use-spec bftm_kth_largest,draw_sleep,bftm_lowest
// takes 60: all_answers
#include "any_client.h"
#include "core/release.h"

/* Proved in wp_quorum.c. */
/*@ requires n <= 31 && \valid_read(value + (0 .. n - 1));
  @ assigns \result \from value[0 .. n - 1], n, k;
  @*/
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

/* all_quarantines() shows that it reads nothing else. */
/*@ requires \valid_read(c) && \valid_read(cfg);
  @ assigns \result \from *c, *cfg, most;
  @*/
u64 bftm_quarantine_left(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 most);

/* Proved in wp_judge.c. */
/*@ requires \valid_read(c) && \valid_read(cfg);
  @ assigns \result \from *c, *cfg, rnd;
  @*/
static u64 draw_sleep(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 rnd);

#include "core/quorum.c"
#include "core/ask.c"
#include "core/release.c"
#include "core/backoff/client.c"
#include "core/backoff/first.c"
#include "core/backoff/round.c"
#include "core/backoff/wait.c"
#include "core/backoff/hold.c"
#define begin convert_begin
#include "core/backoff/convert.c"
#include "core/backoff/reassert.c"
#undef begin
#include "core/backoff/read.c"
#include "core/backoff/fence.c"

static struct bftm_contend c;

void all_begun(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_want want = any_want();
	struct bftm_out out;

	any_contend(&c);
	bftm_contend_start(&c, &cfg, &want, any_from(0, ~0ull), ANY_TIME, &out);
	any_contend(&c);
	bftm_contend_adopt(&c, &cfg, &want, any_from(0, ~0ull), ANY_TIME,
			   (u32)any_from(0, ~0u), any_bool());
}

void all_answers(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_msg msg = any_answer();
	struct bftm_out out;
	u32 u;

	/* One server after another: Eva would forget what the others have said. */
	//@ loop unroll 31;
	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		any_contend(&c);
		cfg.n = (u32)any_from(u + 1, BFTM_SERVERS_MAX);
		bftm_contend_answer(&c, &cfg, u, &msg, ANY_TIME, any_from(0, ~0ull), &out);
	}
}

void all_quarantines(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();

	any_contend(&c);
	//@ loop unroll 31;
	for (cfg.n = 1; cfg.n <= BFTM_SERVERS_MAX; cfg.n++)
		bftm_quarantine_left(&c, &cfg, ANY_TIME);
}

void all_wakes(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_out out;

	any_contend(&c);
	bftm_contend_wake(&c, &cfg, ANY_TIME, any_from(0, ~0ull), any_from(0, ~0ull), &out);
}

void all_asked(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_written value = any_written();
	struct bftm_conversion to = {
		.mode = any_wanted_mode(),
		.once = any_bool(),
		.fence = any_bool(),
		.value = any_bool(),
		.leaves = any_bool() ? &value : NULL,
	};
	struct bftm_out out;

	any_contend(&c);
	switch (any_from(0, 5)) {
	case 0:
		bftm_contend_renew(&c, &cfg, ANY_TIME, &out);
		break;
	case 1:
		bftm_contend_again(&c, (u32)any_from(0, cfg.n - 1), &out);
		break;
	case 2:
		bftm_contend_convert(&c, &cfg, &to, ANY_TIME, &out);
		break;
	case 3:
		bftm_contend_keep(&c, &cfg, ANY_TIME, &out);
		break;
	case 4:
		bftm_contend_stop(&c, &cfg, &out);
		break;
	default:
		bftm_contend_leave(&c, &cfg, any_bool() ? &value : NULL, &out);
	}
}

void all_leaseless(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	u32 u = (u32)any_from(0, cfg.n - 1);
	struct bftm_out out;

	any_contend(&c);
	c.base.want.lease_ns = BFTM_LEASE_NONE;
	bftm_contend_retold(&c, u);
	switch (any_from(0, 3)) {
	case 0:
		bftm_contend_restarted(&c, &cfg, u, ANY_TIME, &out);
		break;
	case 1:
		bftm_contend_renew(&c, &cfg, ANY_TIME, &out);
		break;
	case 2:
		bftm_contend_stop(&c, &cfg, &out);
		break;
	default:
		bftm_reassert_heard(&c, &cfg, u);
	}
}

void all_looks(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_out out = any_out();
	struct bftm_value_told told;
	struct bftm_send send;
	struct bftm_msg msg;
	u64 top[BFTM_SERVERS_MAX], token;

	any_contend(&c);
	any(top);
	any(send);
	send.writes = any_bool();
	bftm_contend_reached(&c, &cfg);
	bftm_contend_end(&c, &cfg);
	bftm_may_begin(&c, &cfg, ANY_TIME);
	bftm_fence_lacks(&c, &cfg);
	bftm_recovered_token(&cfg, top, (u32)any_from(0, ~0u), &token);
	bftm_out_to(&out, (u8)any_from(0, 255));
	bftm_contender_message(&c.base, &send, (u32)any_from(1, (1ull << BFTM_SERVERS_MAX) - 1), &msg);
	/* That a number is not that of all servers means something only beside that number. */
	//@ loop unroll 31;
	for (cfg.n = 1; cfg.n <= BFTM_SERVERS_MAX; cfg.n++)
		bftm_contend_value(&c, &cfg, ANY_TIME, &told);
}

void all_releases(void)
{
	struct bftm_client_cfg cfg = any_client_cfg();
	struct bftm_out out = any_out();
	struct bftm_release r;
	struct bftm_msg msg;

	bftm_release_start(&r, &cfg, &out, ANY_TIME);
	bftm_release_message(&r, (u32)any_from(1, (1ull << BFTM_SERVERS_MAX) - 1), &msg);
	any(r.sends);
	bftm_release_wake(&r, &cfg, ANY_TIME);
	bftm_release_answer(&r, &cfg, (u32)any_from(0, BFTM_SERVERS_MAX - 1));
	bftm_release_restarted(&r, (u32)any_from(0, BFTM_SERVERS_MAX - 1));
}
