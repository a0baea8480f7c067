// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_refuse: the answer, and nothing else
// prove: wp bftm_lock_owned: until its end, strictly
// prove: wp is_owner: client and attempt both
// prove: wp is_over: looks at tombs only
// prove: wp bury: changes tombs only
// prove: wp refresh: the end never comes nearer, and lasts for the grant's own lease from now on
// prove: wp grant: one more number; the end, the lease and the send are the waiter's
// prove: wp tell_owner: what is told is the grant as it is
// prove: wp grant_next: never from one who owns it; a new number for each grant; FREE to the owner, with a send that was heard
// prove: wp bftm_lock_expire: the same
// prove: wp step_stamp: the highest token never falls; SACK above it or to the same attempt
// prove: wp wait_for_it: who waits changes no grant
#define PROOF_ANY_GUARD
#include "lock_contracts.h"
#include "core/admit.c"
#include "core/backoff/server.c"
