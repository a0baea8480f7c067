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
	u32 u, n, b;

	any(said);
	for (u = 0; u < SERVERS; u++)
		said[u].told = any_bool();
	//@ loop unroll 3;
	for (b = 0; b <= 2; b++)
		//@ loop unroll 7;
		for (n = 3 * b + 1; n <= SERVERS; n++)
			bftm_who_judge(said, n, b, (u32)any_from(b + 1, n), &owner);
}
