// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_contend_held: what is held, while something is
// prove: wp mode_needed: that, or else what is wanted
// prove: wp bftm_grants: FREE to a send that there was, and whose time is known, in a mode that covers what is needed
// prove: wp take_free: FREE counts by a send of this attempt whose time is known and which came after the last shrink, for a mode that covers what is needed, by a server that does not forget too much, and not for a grant that was given back
// prove: wp bftm_client_challenge: changes nothing but which servers do not count, and which are older
// prove: wp bftm_reassert_heard: changes nothing but whom the client tells what it holds, and when it wakes
// prove: wp note_token: the highest token that a server told never falls
// prove: wp bftm_contend_answer: what is said to another attempt is looked at by nobody who counts
// frama-c take_free: -wp-steps 400000
// frama-c take_free: -wp-no-pruning
// takes 60: take_free
#include "client_contracts.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/client.c"
#include "core/backoff/reassert.c"
