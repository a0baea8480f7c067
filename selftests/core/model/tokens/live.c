// SPDX-License-Identifier: GPL-2.0
/*
 * Can a holder be fenced from here? The rules promise it where each server that does not lie
 * knows of tokens, and with n >= 5b + 1 where one does not. Then, whatever has happened, once
 * nobody restarts any more and messages between those that do not lie arrive: the one that does
 * not know is told by the others, whatever liars say and if they say nothing; and a holder gets
 * a token although they stamp nothing.
 *
 * The knowledge of the servers decides, and nothing else of the world, so each is looked at once.
 */
#include <stdlib.h>

#include "world.h"

#define LOOKED	(1u << 3 * SERVERS_MAX)	/* three bits for the token of each server */

static u8 looked[LOOKED];	/* 0: not yet; 1: all is well; 2: it is not */

static bool lives(const struct world *w, u32 ignorant)
{
	struct world now = *w;
	const u8 words[] = { NOTHING, 0, MUCH };
	u32 i;

	if (ignorant == SERVERS_MAX)
		return holder_live(&now);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		now = *w;
		if (!teller_recovers(&now, ignorant, words[i]) || !holder_live(&now))
			return false;
	}
	return true;
}

static int by_code(const void *a, const void *b)
{
	return *(const u8 *)a - *(const u8 *)b;
}

const char *live_wrong(const struct world *w)
{
	u32 u, key = 0, lack = 0, ignorant = SERVERS_MAX;
	u8 codes[SERVERS_MAX] = { 0 };

	for (u = 0; u < correct_servers(); u++) {
		codes[u] = known(&w->server[u]);
		if (codes[u] != NOTHING)
			continue;
		ignorant = u;
		lack++;
	}
	if (lack > 1 || (lack && (plan.n < 5 * plan.b + 1 || plan.n < 2)))
		return NULL;
	qsort(codes, correct_servers(), 1, by_code);
	for (u = 0; u < correct_servers(); u++)
		key = key << 3 | codes[u];
	if (!looked[key])
		looked[key] = lives(w, ignorant) ? 1 : 2;
	return looked[key] == 1 ? NULL : "nobody can be fenced any more, and the rules promise it";
}
