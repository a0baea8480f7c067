// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_members_find: the member of that number, or nobody
// prove: wp bftm_members_start: all are awaited
// prove: wp start_member: with a roll, it is awaited if the roll has what is not evicted
// prove: wp bftm_members_note: what was noted stays so, and others stay as they are
// prove: wp bftm_members_unnoted: all of an incarnation that the roll does not name, without a lease
// prove: wp bftm_members_heard: that one is awaited no more, and counted once
// prove: wp bftm_members_evict: who was evicted stays so, and is not awaited; others stay as they are
// prove: wp incarnation_of: of an attempt its own, else that of the number
// prove: wp bftm_members_refuse: all of an evicted incarnation but what gives back
#include "members_contracts.h"
#include "core/members.c"
