/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Server 0 alone decides; more servers of a cluster are not asked. */
#ifndef REFERENCE_CENTRAL_QUORUM_H
#define REFERENCE_CENTRAL_QUORUM_H

#include "core/limits.h"

/** central_servers_needed() - no number of servers masks a liar that is asked alone. */
static inline u32 central_servers_needed(u32 b)
{
	return b ? BFTM_SERVERS_MAX + 1 : 1;
}

#endif /* REFERENCE_CENTRAL_QUORUM_H */
