// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_parties: how many places there are
// prove: wp bftm_party: that at a place
// prove: wp bftm_party_granted: has a mode
// prove: wp bftm_party_lacks: holds what its mode does not cover
// prove: wp bftm_party_content: wants no more than it has, and is not marked
// prove: wp bftm_grants_share: yes only for a mode that none of those counted excludes
// prove: wp bftm_party_converts: has or holds a mode, and wants one that this one does not cover
// prove: wp bftm_goes_before: the lower priority goes first, then the lower client
// prove: wp bftm_waits_before: who holds goes first, else the same of two who wait
// prove: wp firm: a mode
// prove: wp moving: a mode
// prove: wp is_excluded: whether one of those counted, but itself, excludes the mode
// prove: wp is_hard: looks only
// prove: wp count_grants: no more than parties
// prove: wp take_better: one of the two
// prove: wp look_at_all: each grant is counted, and two of one mode as two; the best bids are parties
// prove: wp look_at_grants: no bid, no conversion
// prove: wp is_preceded: looks only
// prove: wp may_have_held: only what no other grant excludes
// prove: wp may_convert: only to what no other grant excludes
// prove: wp may_begin: only with what no grant excludes
// prove: wp bftm_grants_next: a party, and a mode that no other grant excludes, with any number of parties
// prove: wp bftm_grants_beside: yes only for a mode that no grant excludes
// prove: wp is_to_yield: looks only
// prove: wp bftm_grants_inquire: nothing changes but who is to be asked
// prove: wp bftm_grants_defer: nothing changes but whether the party is to be asked
// prove: wp bftm_grants_deadlock: looks only
// frama-c: -wp-model Typed+cast+ref
// frama-c: -wp-no-pruning
// frama-c bftm_grants_inquire: -wp-steps 1000000
// takes 40: look_at_all
#define PROOF_ANY_GUARD
#include "lock_contracts.h"
#include "core/backoff/parties.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/grants.c"
