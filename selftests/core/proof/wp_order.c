// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_rank_cmp: the order of ranks, which is total
// prove: wp bftm_object_init: nothing is promised, proposed or committed
// prove: wp rank_ok: the highest rank never falls, and is that of what was let pass
// prove: wp replica_get: below the highest rank EXCEPTION, and nothing changes
// prove: wp take_state: the object stays as it is
// prove: wp replica_propose: below the highest rank nothing changes; else what is proposed has the highest
// prove: wp replica_adopt: what is committed has the highest rank
// prove: wp commit: below the highest rank nothing changes
// prove: wp is_done_before: only when its next rank is the highest
// prove: wp commit_get: both, and the next rank is promised
// prove: wp recover_get: the rank that is told
// prove: wp rank_is_own: of the client that asks, and the next above it
// prove: wp install: once, with the rank that GET was told
// prove: wp recover: nothing but that
// prove: wp bftm_order_step: all of it, for every request: maxRank never falls, prop is not above it, what is below it changes nothing
// prove: wp bftm_piece_ok: a piece ends where the body does, or before
// prove: wp bftm_upload_take: it is put into the body, and counted once at most
// frama-c: -wp-model Typed+caveat
#include "order_contracts.h"

/* Bytes of answers, digests and signatures: where they go, and not which they are. */
/*@ requires \valid(to + (0 .. size - 1));
  @ assigns to[0 .. size - 1];
  @*/
static void put_bytes(u8 *to, u64 size);

#undef memcpy
#undef memset
#define memcpy(to, from, size) put_bytes((u8 *)(to), size)
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/ordering/server.c"
#include "core/ordering/upload.c"
