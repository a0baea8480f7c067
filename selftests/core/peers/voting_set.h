/* SPDX-License-Identifier: GPL-2.0 */
/* The voting sets of Maekawa's algorithm, Section 15.2.1. */
#ifndef BFTM_PEER_VOTING_SET_H
#define BFTM_PEER_VOTING_SET_H

#include "peer.h"

/*
 * The row and the column of a process in a square matrix; of three processes the sets of the text,
 * {1, 2}, {2, 3}, {3, 1}. Of a number that is no square each set has all processes.
 */
static inline u64 voting_set(const struct peer *p)
{
	u64 set = 0;
	u32 side = 1, i;

	if (p->n == 3)
		return 1ull << p->id | 1ull << (p->id + 1) % 3;
	while (side * side < p->n)
		side++;
	if (side * side != p->n)
		return peer_all(p);
	for (i = 0; i < p->n; i++)
		if (i / side == p->id / side || i % side == p->id % side)
			set |= 1ull << i;
	return set;
}

static inline void voting_send(struct peer *p, const struct peer_note *note)
{
	u64 set = voting_set(p);
	u32 to;

	for (to = 0; to < p->n; to++)
		if (set >> to & 1)
			peer_tell(p, to, note);
}

#endif /* BFTM_PEER_VOTING_SET_H */
