// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_refuse: the answer, and nothing else
// prove: wp bftm_lock_owned: until its end, strictly
// prove: wp is_owner: client and attempt both
// prove: wp says_held: a TRY that names what is held
// prove: wp is_over: looks at tombs only
// prove: wp bury: changes tombs only
// prove: wp grant_refresh: the end never comes nearer, and lasts for the grant's own lease from now on
// prove: wp grant: one more number; the end, the lease and the send are the waiter's
// prove: wp tell_owner: what is told is the grant as it is
// prove: open grant_next: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open bftm_lock_expire: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open step_stamp: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open wait_for_it: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open step_contended: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open step_try: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open step_release: the contract stands in lock_contracts.h; the provers do not get through it in time
// prove: open step_yield: the contract stands in lock_contracts.h; the provers do not get through it in time
#define PROOF_ANY_GUARD
#include "lock_contracts.h"
#include "core/admit.c"
#include "core/backoff/server.c"
