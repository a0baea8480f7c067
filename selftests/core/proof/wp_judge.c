// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_wait_judge: a lock is held only until bftm_contend_end()
// prove: wp bftm_round_judge: the same after a round; unsigned numbers may wrap around
// prove: wp ask_rest: an attempt is sent to more servers, and neither won nor lost by that
// prove: wp bftm_first_rest: likewise, to all others
// prove: wp bftm_first_judge: likewise, where those asked first will not do
// prove: wp mul_sat: no less than either, of two that are not 0
// prove: wp draw_sleep: no less than one lease and two round trips, unless it does not back off
// frama-c bftm_round_judge draw_sleep ask_rest bftm_first_rest bftm_first_judge: -no-warn-unsigned-overflow
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_END
#include "client_contracts.h"

/*@ requires \valid(c) && \valid(out) && \separated(c, out);
  @ assigns c->base.asking, *out;
  @*/
static void ask_rest(struct bftm_contend *c, u32 to, u64 now, struct bftm_out *out);

#include "core/backoff/first.c"
#include "core/backoff/wait.c"
#include "core/backoff/round.c"
