// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_wait_judge: a lock is held only until bftm_contend_end()
// prove: wp bftm_round_judge: the same after a round; unsigned numbers may wrap around
// frama-c bftm_round_judge: -no-warn-unsigned-overflow
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_END
#include "client_contracts.h"
#include "core/backoff/wait.c"
#include "core/backoff/round.c"
