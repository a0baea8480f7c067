// SPDX-License-Identifier: GPL-2.0
// prove: wp is_for: its clients
// prove: wp needs_right: all but what gives back, HELLO, SYNC and LIST
// prove: wp rule_fits: client, and the name's beginning; of RECOVER any rule that denies, or one for all names
// prove: wp is_about: the beginning of the name
// prove: wp bftm_access_leaseless: whether there is a rule for locks of that name which allows that
// prove: wp bftm_access_find: the first rule that fits, or none
// prove: wp bftm_access_admit: only what that rule lets pass does, and limits become no larger
// frama-c: -wp-no-pruning
// takes 20: bftm_access_admit
#define PROOF_ANY_GUARD
#include "access_contracts.h"
#include "core/access.c"
