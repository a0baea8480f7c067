// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_parties: x
// prove: wp bftm_party: x
// prove: wp is_excluded: x
// prove: wp look_at_all: x
// frama-c: -wp-model Typed+cast
#include "lock_contracts.h"
#include "core/backoff/parties.h"

#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

/*@ requires \valid_read(count + (0 .. 5)) && mode_ok(mode) && mode_ok(own);
  @ assigns \nothing;
  @ ensures none: !\result ==> \forall integer m; 1 <= m <= 5 && conflict(mode, m) ==>
  @    count[m] <= (m == own ? 1 : 0);
  @ ensures one: \result ==> \exists integer m; 1 <= m <= 5 && conflict(mode, m) &&
  @    count[m] > (m == own ? 1 : 0);
  @*/
static bool is_excluded(const u32 count[BFTM_MODES], enum bftm_mode mode, enum bftm_mode own);

#include "core/backoff/grants.c"
