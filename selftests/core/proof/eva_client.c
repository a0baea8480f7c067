// SPDX-License-Identifier: GPL-2.0
// prove: memory all_answers bftm_contend_answer bftm_contend_alive bftm_contend_queues: every answer of every server, in every state of a client
// prove: memory all_wakes bftm_contend_again bftm_contend_renew: every time, in every state
// prove: open bftm_contend_wake: each step that it calls has its row in all_steps
// prove: memory all_starts bftm_contend_start bftm_contend_adopt bftm_contend_stop bftm_begin_attempt bftm_die bftm_send_try: every request
// prove: memory all_looks bftm_contend_end bftm_contend_reached bftm_fence_lacks bftm_round_ns bftm_said bftm_everyone bftm_answered bftm_end_round bftm_recovered_token: every state
// prove: memory all_steps bftm_wait_begun bftm_wait_judge bftm_wait_wake bftm_wait_granted bftm_round_begun bftm_round_judge bftm_round_wake bftm_lose_round bftm_hold_begin bftm_hold_told bftm_hold_grew bftm_hold_wake bftm_fence_begin bftm_fence_answer bftm_fence_wake: each step alone, in every state
// prove: memory all_ends bftm_stray bftm_release_start bftm_release_answer bftm_release_wake: every answer, every state of a release
// prove: open bftm_quarantine_left: Eva does not see that wait[u] was set in the line before
// prove: open draw_sleep: that it does not divide by 0 is not proved
// prove: open arrays_of_values: that the n values which bftm_kth_largest() is given were all set is not seen by Eva
// frama-c all_answers all_wakes all_starts all_looks all_steps: -eva-precision 0 -eva-domains symbolic-locations,equality -eva-use-spec bftm_kth_largest,draw_sleep,bftm_quarantine_left
#include "any_client.h"
#include "client_contracts.h"
#include "core/quorum.c"
#include "core/backoff/client.c"
#define arm arm_fence
#include "core/backoff/fence.c"
#undef arm
#define arm arm_hold
#include "core/backoff/hold.c"
#undef arm
#include "core/backoff/release.c"
#include "core/backoff/round.c"
#include "core/backoff/wait.c"

#define ANY_SERVER(cfg) ((u32)any_from(0, BFTM_SERVERS_MAX - 1))

void all_answers(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_contend c = any_contend();
	struct bftm_msg msg = any_answer();
	struct bftm_out out;

	bftm_contend_answer(&c, &cfg, ANY_SERVER(cfg), &msg, ANY_TIME, any_from(0, ~0ull), &out);
	bftm_contend_alive(&c);
	bftm_contend_queues(&c);
}

void all_wakes(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_contend c = any_contend();
	struct bftm_out out;

	switch (any_from(1, 2)) {
	case 1:
		bftm_contend_again(&c, ANY_SERVER(cfg), &out);
		break;
	default:
		bftm_contend_renew(&c, &cfg, ANY_TIME, &out);
	}
}

void all_starts(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_contend c = any_contend();
	struct bftm_want want = any_want();
	struct bftm_out out;

	any(out);
	out.round_over = any_bool();
	out.extended = any_bool();
	switch (any_from(0, 5)) {
	case 0:
		bftm_contend_start(&c, &cfg, &want, any_from(1, ~0ull), ANY_TIME, &out);
		break;
	case 1:
		bftm_contend_adopt(&c, &cfg, &want, any_from(1, ~0ull), ANY_TIME,
				   (u32)any_from(0, ~0u));
		break;
	case 2:
		bftm_contend_stop(&c, &cfg, &out);
		break;
	case 3:
		bftm_begin_attempt(&c, &cfg, any_from(1, ~0ull), ANY_TIME, &out);
		break;
	case 4:
		bftm_die(&c, &cfg, BFTM_LAPSED, &out);
		break;
	default:
		bftm_send_try(&c, (u32)any_from(0, ~0u), ANY_TIME, &out);
	}
}

void all_looks(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_contend c = any_contend();
	u64 top[BFTM_SERVERS_MAX], token;
	struct bftm_out out;

	any(top);
	bftm_contend_end(&c, &cfg);
	bftm_contend_reached(&c, &cfg);
	bftm_fence_lacks(&c, &cfg);
	bftm_round_ns(&cfg);
	bftm_said(&c, &cfg, (u8)any_from(0, 255));
	bftm_everyone(&cfg);
	bftm_answered(&c, &cfg);
	bftm_end_round(&c, &cfg, &out);
	bftm_quarantine_left(&c, &cfg, ANY_TIME);
	bftm_recovered_token(&cfg, top, (u32)any_from(0, BFTM_SERVERS_MAX), &token);
}

void all_steps(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_contend c = any_contend();
	struct bftm_msg msg = any_answer();
	u64 now = ANY_TIME, rnd = any_from(0, ~0ull);
	struct bftm_out out = {};

	switch (any_from(0, 14)) {
	case 0:
		bftm_wait_begun(&c, &cfg, now);
		break;
	case 1:
		bftm_wait_judge(&c, &cfg, now, &out);
		break;
	case 2:
		bftm_wait_wake(&c, &cfg, now, rnd, &out);
		break;
	case 3:
		bftm_wait_granted(&c, &cfg, now);
		break;
	case 4:
		bftm_round_begun(&c, &cfg, now);
		break;
	case 5:
		bftm_round_judge(&c, &cfg, now, rnd, &out);
		break;
	case 6:
		bftm_round_wake(&c, &cfg, now, rnd, &out);
		break;
	case 7:
		bftm_lose_round(&c, &cfg, now, rnd, &out);
		break;
	case 8:
		bftm_hold_begin(&c, &cfg, now, &out);
		break;
	case 9:
		bftm_hold_told(&c, &cfg, now, &out);
		break;
	case 10:
		bftm_hold_grew(&c, &cfg, ANY_TIME, now, &out);
		break;
	case 11:
		bftm_hold_wake(&c, &cfg, now, &out);
		break;
	case 12:
		bftm_fence_begin(&c, &cfg, now, &out);
		break;
	case 13:
		bftm_fence_answer(&c, &cfg, ANY_SERVER(cfg), &msg, now, &out);
		break;
	default:
		bftm_fence_wake(&c, &cfg, now, &out);
	}
}

void all_ends(void)
{
	struct bftm_client_cfg cfg = any_cluster();
	struct bftm_msg msg = any_answer();
	struct bftm_release release;
	struct bftm_out out;

	any(release);
	bftm_stray(&msg, ANY_SERVER(cfg), &out);
	bftm_release_answer(&release, ANY_SERVER(cfg));
	bftm_release_wake(&release, &cfg, ANY_TIME);
	bftm_release_start(&release, &cfg, any_from(1, ~0ull), (u32)any_from(0, ~0u), ANY_TIME);
}
