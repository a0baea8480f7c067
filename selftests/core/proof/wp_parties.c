// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_party_find: nobody, or that client and attempt
// prove: wp is_waiting: has no grant
// prove: wp bftm_party_plain: nobody, or one of that client that waits and holds nothing
// prove: wp bftm_party_last: nobody, or one that waits
// prove: wp bftm_party_position: looks only
// prove: wp bftm_party_gno: the number of that grant
// prove: wp bftm_party_add: one more that waits, if there is room; all grants stay as they are, and there is no new one
// prove: wp bftm_parties_ended: all parties stay as they are
// prove: wp bftm_party_remove: that party goes; all other grants stay as they are, and there is no new one
// prove: wp bftm_parties_forget: those that hold nothing go; all grants stay as they are, and there is no new one; unsigned numbers may wrap around
// prove: wp bftm_parties_expire: each grant stays until its end, strictly, and there is no new one
// prove: open bftm_party_number: its contract, which the steps of wp_lock.c take for true, is stated in parties_contracts.h; provers end at 400000 steps
// frama-c: -wp-model Typed+cast+ref
// frama-c bftm_party_add bftm_party_remove bftm_parties_expire: -wp-steps 400000
// frama-c bftm_parties_forget: -no-warn-unsigned-overflow
#define PROOF_ANY_GUARD
#define PROOF_ENDED_KEEPS
#include "value_contracts.h"
#include "core/backoff/parties.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/parties.c"
