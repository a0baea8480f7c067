/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Quorum arithmetic: how many servers of n must say what, when b of them lie.
 *
 * The paper's contend (Section 4, Figure 1) needs quorums that intersect in
 * 3b + 1 servers and judges the first quorum of answers. We wait for F FREE
 * answers instead; two sets of F servers share 2F - n >= b + 1 servers, so at
 * least one correct server would have said FREE to both winners.
 */
#ifndef BFTM_CORE_QUORUM_H
#define BFTM_CORE_QUORUM_H

#include "core/types.h"

/** bftm_free_needed() - F, the FREE answers that win a lock. */
static inline u32 bftm_free_needed(u32 n, u32 b)
{
	return (n + b + 2) / 2;		/* ⌈(n + b + 1) / 2⌉ */
}

/**
 * bftm_grants_needed() - the FREE answers that win a lock, in a cluster of any kind
 * @n: servers
 * @b: liars among them, at most
 * @m: of Sigma, from F to n - b; 0: F, the least that is safe
 */
static inline u32 bftm_grants_needed(u32 n, u32 b, u32 m)
{
	return m ? m : bftm_free_needed(n, b);
}

/**
 * bftm_spared() - r, the servers that may forget what they have granted
 * @n: servers
 * @b: liars among them, at most
 * @m: as of bftm_grants_needed()
 *
 * Two winners share 2m - n servers. b of these may lie and r have forgotten a grant; one is left
 * that would have said FREE to both (Lin and others 2004, Section 3: m out of n votes).
 */
static inline u32 bftm_spared(u32 n, u32 b, u32 m)
{
	return 2 * bftm_grants_needed(n, b, m) - n - b - 1;
}

/** bftm_sigma_default() - m where none is given: three quarters of n, or n - b if that is less */
static inline u32 bftm_sigma_default(u32 n, u32 b)
{
	u32 m = (3 * n + 3) / 4;

	return m < n - b ? m : n - b;
}

/** bftm_literal_quorum() - q of the paper's literal contend. */
static inline u32 bftm_literal_quorum(u32 n, u32 b)
{
	return (n + 3 * b + 2) / 2;	/* ⌈(n + 3b + 1) / 2⌉ */
}

/**
 * bftm_fence_quorum() - the servers that must accept one fencing token
 * @n: servers
 * @b: liars among them, at most
 *
 * With n >= 5b + 1 two such sets share 2b + 1 correct servers, so up to 2b of
 * those may have lost their memory. With fewer servers the result is n - b, as
 * many as can be waited for.
 */
static inline u32 bftm_fence_quorum(u32 n, u32 b)
{
	u32 q = bftm_literal_quorum(n, b);

	return q < n - b ? q : n - b;
}

/**
 * bftm_order_quorum() - q of the ordering protocol
 * @n: servers
 * @b: liars among them, at most
 *
 * Two such sets share 2b + 1 servers, so b + 1 correct ones: what was proposed
 * to one set is seen by the next (Section 7, Lemma 4).
 */
static inline u32 bftm_order_quorum(u32 n, u32 b)
{
	return (n + 2 * b + 2) / 2;	/* ⌈(n + 2b + 1) / 2⌉ */
}

/**
 * bftm_servers_needed_order() - the fewest servers for ordering
 * @b:            liars among them, at most
 * @signed_ranks: clients sign their ranks
 *
 * Section 6.2: b liars may be silent while b correct servers have seen a higher
 * rank. Where one signed rank is proof enough, those need not be waited for.
 */
static inline u32 bftm_servers_needed_order(u32 b, bool signed_ranks)
{
	return (signed_ranks ? 4 : 6) * b + 1;
}

/** bftm_servers_needed() - the fewest servers for locks that mask b liars. */
static inline u32 bftm_servers_needed(u32 b)
{
	return 3 * b + 1;
}

/** bftm_servers_needed_literal() - the same for the paper's literal contend. */
static inline u32 bftm_servers_needed_literal(u32 b)
{
	return 5 * b + 1;
}

/**
 * bftm_kth_largest() - the k-th largest of n values
 * @value: the values, not changed
 * @n:     how many, at most BFTM_SERVERS_MAX
 * @k:     1 for the largest
 *
 * With k = b + 1 the result is at most what some correct server reported.
 *
 * Return: the value, 0 when k is 0 or larger than n.
 */
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

#endif /* BFTM_CORE_QUORUM_H */
