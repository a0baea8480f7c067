// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_value_take: a value is stored, and believed, only by a writer's grant that its request names; another one is doubted
// prove: wp bftm_value_doubt: what is kept is in doubt
// prove: wp bftm_value_certain: while there is no doubt
// frama-c: -wp-model Typed+cast+ref
#define PROOF_ANY_GUARD
#include "value_contracts.h"
#include "core/backoff/parties.h"
#include "core/backoff/value.c"
