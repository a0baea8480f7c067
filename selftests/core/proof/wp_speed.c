// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_speed_of: looks only, at no server but those that there are
#include "quorum_contracts.h"
#include "core/speed.h"

/*@ requires \valid_read(s) && f <= 31;
  @ assigns \nothing;
  @*/
static inline u64 bftm_speed_of(const struct bftm_speed *s, u32 f, u64 unknown_ns);
