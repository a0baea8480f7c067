// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_party_find: nobody, or that client and attempt
// prove: wp is_waiting: has no grant
// prove: wp bftm_party_plain: nobody, or one of that client that waits and holds nothing
// prove: wp bftm_party_last: nobody, or one that waits
// prove: wp bftm_party_position: looks only
// prove: wp bftm_party_gno: the number of that grant
// prove: wp bftm_party_add: all grants stay, and none is new
// prove: wp bftm_party_remove: it is gone, and all other grants stay
// prove: wp bftm_party_number: the next number; all other grants stay, with theirs
// prove: wp bftm_parties_forget: all grants stay
// prove: wp bftm_parties_expire: grants stay until after their end, strictly
// frama-c: -wp-model Typed+cast+ref
// frama-c bftm_parties_forget: -no-warn-unsigned-overflow
#define PROOF_ANY_GUARD
#include "parties_contracts.h"
#include "core/backoff/parties.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/parties.c"
