// SPDX-License-Identifier: GPL-2.0
// prove: wp answered: whether a server is one of the quorum
// prove: wp choice_committed: a state of which more than b of the quorum say that it is committed, or none
// prove: wp is_before: looks only
// prove: wp proposed: what one of the quorum says is proposed, or none
// prove: wp surely_completed: looks only
// prove: wp choice_settled: looks only
// prove: wp holders_of: looks only
// prove: wp bftm_order_choose: what is known to be completed never falls; operations are applied to none but it, and what is newer is proposed as it is
// prove: wp bftm_order_read_ops: what an answer brings, as far as there is room
// prove: wp tells: looks only
// prove: wp choice_insert: within the room there is
// prove: wp bftm_order_ops: the same of all that the servers tell
// frama-c bftm_order_choose: -wp-model Typed+ref
#include "choose_contracts.h"
#include "core/ordering/choose.c"
