/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sets of servers, as bit masks. */
#ifndef BFTM_CORE_SERVERS_H
#define BFTM_CORE_SERVERS_H

#include "core/types.h"

/** bftm_all() - servers 0 … n - 1 */
static inline u32 bftm_all(u32 n)
{
	return (u32)((1ull << n) - 1);
}

/** bftm_count() - how many there are in a set */
static inline u32 bftm_count(u32 servers)
{
	u32 sum = 0;

	for (; servers; servers &= servers - 1)
		sum++;
	return sum;
}

/** bftm_lowest() - the lowest of a set that is not empty */
static inline u32 bftm_lowest(u32 servers)
{
	return (u32)__builtin_ctz(servers);
}

#endif /* BFTM_CORE_SERVERS_H */
