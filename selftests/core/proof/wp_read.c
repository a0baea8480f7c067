// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_value_take_told: what came with an earlier grant, or at an earlier send, changes nothing; of what is told is noted whether it is doubted
// prove: wp bftm_value_heard: it is said no more to that server
// prove: wp is_told: by a grant that is still good
// prove: wp agreeing: no more than tell it by good grants, without doubt
// prove: wp agreement_needed: so many that they share b + 1 servers with each set of F
// prove: wp valid_one: a value that so many tell
// frama-c: -wp-model Typed+ref
#include "read_contracts.h"
#include "core/backoff/read.c"
