// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_lock_learn: a token that is known stays
// prove: wp bftm_is_granted: until its end, strictly
// prove: wp bftm_lock_owned: while there is such a grant
// prove: wp bftm_says_held: a TRY that names what is held
// prove: wp bftm_is_over: whether a tomb has that attempt of that client, or a later one
// prove: wp bftm_refresh: the end never comes nearer, and lasts for the grant's own lease from now on
// prove: wp bftm_is_closed: in the quarantine, strictly, if the server keeps one, or while members are awaited
// prove: wp bftm_holders_max: looks only
// prove: wp bftm_grant: a mode that fits beside all other grants, until its lease is over at least, with the next number; the end does not come nearer
// prove: wp bftm_settle: one grant at most, of a mode that fits beside all others; none in the quarantine, nor while members are awaited
// prove: wp renew_grant: the end does not come nearer, the mode becomes no more, and is as it was unless the send is later than all before
// prove: wp asking: without a grant
// prove: wp begin_grant: what bftm_grant demands
// prove: wp step_reassert: a member that is awaited has its grant beside all others
// prove: wp bftm_step_try: nothing is granted in the quarantine, nor while members are awaited; but a member that is awaited gets what it tells that it holds
// prove: wp step_release: what is taken back has the client and attempt of the request
// prove: wp bftm_may_last: the lease is one that the server grants
// prove: wp note_prio: the highest priority does not fall, and moves by a bounded step
// prove: wp is_news: a later send
// prove: wp step_stamp: the highest token never falls; it is stamped again for its client, attempt and mode, or for a mode that excludes none of those that share it
// prove: wp is_mode: all but none
// prove: wp is_formed: attempts and sends are not 0, modes are modes
// prove: wp bftm_server_needs: a lock is made for TRY and STAMP only
// frama-c: -wp-model Typed+cast+ref
// frama-c bftm_grant bftm_step_try step_reassert step_release: -wp-steps 400000
// frama-c bftm_grant bftm_step_try: -wp-no-pruning
// takes 20: bftm_grant bftm_step_try step_reassert step_release
// takes 30: renew_grant
#define PROOF_ANY_GUARD
#include "server_contracts.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/settle.c"
#include "core/backoff/try.c"
#include "core/backoff/server.c"
