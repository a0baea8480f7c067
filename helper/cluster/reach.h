/* SPDX-License-Identifier: GPL-2.0 */
/* When too few servers answer: are they slow, or out of reach? One rule for locks and objects. */
#ifndef BFTM_REACH_H
#define BFTM_REACH_H

#include <errno.h>
#include <stdbool.h>

#include "core/limits.h"

/* How long a request without a time limit goes on while too few servers answer. */
#define BFTM_UNREACHABLE_NS (30 * BFTM_NS_PER_SEC)

/**
 * bftm_unreachable() - is it time to give up a request without a time limit?
 * @since_ns: since when too few servers answer, 0: they do
 * @now:      of bftm_now(), ns
 */
static inline bool bftm_unreachable(u64 since_ns, u64 now)
{
	return since_ns && now - since_ns >= BFTM_UNREACHABLE_NS;
}

/**
 * bftm_limit_errno() - why a request fails whose time limit is over
 * @in_vain: servers were asked as often as they are, and too few answered since
 *
 * A shorter limit says nothing of the servers: those that are farther away than the limit is
 * long are well.
 */
static inline int bftm_limit_errno(bool in_vain)
{
	return in_vain ? ENETUNREACH : ETIMEDOUT;
}

#endif /* BFTM_REACH_H */
