// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_wait_judge: a lock is held only until bftm_contend_end()
// prove: wp bftm_round_judge: the same after a round; unsigned numbers may wrap around
// prove: wp mul_sat: no less than either, of two that are not 0
// prove: wp draw_sleep: no less than one lease and two round trips, unless it does not back off
// frama-c bftm_round_judge draw_sleep: -no-warn-unsigned-overflow
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_END
#include "client_contracts.h"
#include "core/backoff/wait.c"
#include "core/backoff/round.c"
