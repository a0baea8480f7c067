// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_quarantine: from now on the guard of the longest lease
// prove: wp bftm_admit_address: a request, and for this server of this cluster
// prove: wp repeat_word: an answer of that type
// prove: wp bftm_refuse: an answer REFUSED, for that reason
// prove: wp bftm_refuse_behind: HELLO without an epoch, whose number the window has left behind
// prove: wp challenge: what is left of the quarantine
// prove: wp bftm_admit: what was made for this start, and asks for something; else CHALLENGE or STALE
// prove: wp bftm_tokens_top: the higher of the two
// prove: wp bftm_tokens_may_be: up to the clock, or as far above the floor as time has passed
// prove: wp bftm_tokens_stamped: the highest never falls
// prove: wp may_learn: RECOVER of this start, after the quarantine, once
// prove: wp bftm_tokens_answer: a floor is taken once, after the quarantine, from RECOVER of this start, and not above the clock
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_GUARD
#include "admit_contracts.h"

#include "core/admit.c"
