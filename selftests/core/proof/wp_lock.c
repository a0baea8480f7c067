// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_lock_init: nobody has it, and nobody waits
// prove: wp bftm_lock_learn: a token that is known stays
// prove: wp bftm_refuse: the answer, and nothing else
// prove: wp bftm_lock_owned: until its end, strictly
// prove: wp is_owner: client and attempt both
// prove: wp says_held: a TRY that names what is held
// prove: wp is_over: whether a tomb has that attempt of that client, or a later one
// prove: wp bury: then one has; nothing but tombs changes
// prove: wp grant_refresh: the end never comes nearer, and lasts for the grant's own lease from now on
// prove: wp grant: one more number; the end, the lease and the send are the waiter's
// prove: wp tell_owner: what is told is the grant as it is
// prove: wp grant_next: nothing is granted while it is owned, or in the quarantine; else to one that waits, with the next number
// prove: wp bftm_lock_expire: a grant that is over, and no other, gives way to the next
// prove: wp bftm_lock_lacks_room: the lock stays as it is
// prove: wp wait_for_it: who waits does so with what it sent; the grant stays as it is
// prove: wp is_news: looks only
// prove: wp is_to_yield: looks only
// prove: wp step_contended: the grant stays as it is, and its owner is asked at most
// prove: wp may_last: the lease is one that the server grants
// prove: wp note_prio: the highest priority does not fall, and moves by a bounded step
// prove: wp is_late: the lock stays as it is
// prove: wp is_preceded: the lock stays as it is
// prove: open decide_try: the contract stands in lock_contracts.h; no run of its 82 goals came to its end yet
// prove: wp step_try: the same, and nothing in the quarantine
// prove: wp step_release: it ends the grant of its own client and attempt, and no other
// prove: wp keep_grant: a grant that is held by has the next number
// prove: wp step_yield: it ends the grant of its own client, attempt and number, and no other
// prove: wp step_stamp: the highest token never falls, and is accepted for one client and attempt
// prove: wp is_formed: attempts and sends are not 0
// prove: wp bftm_server_needs: a lock is made for TRY and STAMP only
// prove: wp bftm_server_step: all of it, for every message, time and state
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_GUARD
#define PROOF_ANY_QUEUE
#include "lock_contracts.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/admit.c"
#include "core/backoff/server.c"
