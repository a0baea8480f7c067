/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ranks, states and operations, for both sides of the ordering protocol (Section 6, Figures 2
 * and 3).
 */
#ifndef BFTM_CORE_ORDER_H
#define BFTM_CORE_ORDER_H

#include "core/limits.h"
#include "core/types.h"

#define BFTM_DIGEST_LEN		32	/* BLAKE2s-256, of a whole body */
#define BFTM_SIGNATURE_LEN	64	/* Ed25519, of a rank */

/* Servers take no higher count, so the count after one that a server took never wraps. */
#define BFTM_RANK_COUNT_MAX	((1ull << 63) - 1)

/* In place of the length of a response: it was given, and is no longer kept. */
#define BFTM_RESPONSE_GONE	0xffffffffu

/**
 * struct bftm_rank - rank of an iteration (Section 6.2), never used twice
 * @count:       compared first, 1 to BFTM_RANK_COUNT_MAX
 * @client:      whose it is, breaks ties
 * @incarnation: of that client, grows with each of its starts
 *
 * All zero is below every rank of a client.
 */
struct bftm_rank {
	u64 count;
	u32 client;
	u32 incarnation;
};

/** bftm_rank_cmp() - less, equal or greater than 0, as @a is to @b. */
static inline int bftm_rank_cmp(const struct bftm_rank *a, const struct bftm_rank *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	if (a->client != b->client)
		return a->client < b->client ? -1 : 1;
	if (a->incarnation != b->incarnation)
		return a->incarnation < b->incarnation ? -1 : 1;
	return 0;
}

/**
 * struct bftm_body_id - which state, or which operation's bytes
 * @version: σ.version; 0 for σ0, and for operations
 * @len:     bytes of the body
 * @digest:  of them; all zero for σ0, which has no body
 *
 * Two states are the same when their whole content is: digests decide.
 */
struct bftm_body_id {
	u64 version;
	u32 len;
	u8 digest[BFTM_DIGEST_LEN];
};

static inline bool bftm_body_same(const struct bftm_body_id *a, const struct bftm_body_id *b)
{
	return a->version == b->version && a->len == b->len &&
	       !memcmp(a->digest, b->digest, BFTM_DIGEST_LEN);
}

/**
 * bftm_op_follows() - may operation @op be applied after @last of that client?
 * @last: applied last, 0 for none
 * @op:   the number to be judged, not 0
 *
 * Operations of a client are numbered from 1, with its incarnation in the high
 * half, and one is under way at a time. So after a number comes the next; and a
 * client that was started anew begins again, when what its predecessor left
 * behind can be applied no more.
 */
static inline bool bftm_op_follows(u64 last, u64 op)
{
	if (op >> 32 == last >> 32)
		return op == last + 1;
	return op > last && (u32)op == 1;
}

#endif /* BFTM_CORE_ORDER_H */
