// SPDX-License-Identifier: GPL-2.0
// prove: memory all_owners bftm_who_judge agrees owners_agreeing least_believed waiters_of holders_of rest_of token_believed: every answer of seven servers, of which two lie
// frama-c all_owners: -eva-min-loop-unroll 8
#include "any.h"
#include "core/quorum.c"
#include "core/who.c"

#define SERVERS 7

void all_owners(void)
{
	struct bftm_owner_said said[SERVERS];
	struct bftm_owner owner;
	u32 u, n = (u32)any_from(1, SERVERS), b = (u32)any_from(0, 2);

	any(said);
	for (u = 0; u < SERVERS; u++)
		said[u].told = any_bool();
	if (n >= 3 * b + 1)
		bftm_who_judge(said, n, b, (u32)any_from(b + 1, n), &owner);
}
