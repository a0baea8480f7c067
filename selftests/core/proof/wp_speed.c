// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_speed_of: what one of the servers takes, or what is said while too few are known
#include "quorum_contracts.h"
#include "core/speed.h"

/*@ requires \valid_read(s) && f <= 31;
  @ assigns \nothing;
  @ ensures one: \result == unknown_ns || \result == 0 ||
  @   \exists integer u; 0 <= u < 31 && \result == s->srtt_ns[u];
  @*/
static inline u64 bftm_speed_of(const struct bftm_speed *s, u32 f, u64 unknown_ns);
