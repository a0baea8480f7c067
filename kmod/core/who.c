// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/who.h"

#include "core/limits.h"
#include "core/quorum.h"
#include "core/wire.h"

static bool agrees(const struct bftm_owner_said *a, const struct bftm_owner_said *b)
{
	return a->told && b->told && a->attempt == b->attempt && a->client == b->client &&
	       a->mode == b->mode;
}

static u32 owners_agreeing(const struct bftm_owner_said *said, u32 n, u32 with)
{
	u32 u, sum = 0;

	for (u = 0; u < n; u++)
		sum += agrees(&said[u], &said[with]);
	return sum;
}

/*
 * The (b + 1)-th least value of one field, of servers that agree with @with: no lie makes it lower.
 */
static u64 least_believed(const struct bftm_owner_said *said, u32 n, u32 b, u32 with,
			  u64 (*field)(const struct bftm_owner_said *s))
{
	u64 value[BFTM_SERVERS_MAX] = {};
	u32 u, count = 0;

	for (u = 0; u < n; u++)
		if (agrees(&said[u], &said[with]))
			value[count++] = field(&said[u]);
	return bftm_kth_largest(value, count, count - b);
}

static u64 waiters_of(const struct bftm_owner_said *s)
{
	return s->waiters;
}

static u64 holders_of(const struct bftm_owner_said *s)
{
	return s->holders;
}

static u64 rest_of(const struct bftm_owner_said *s)
{
	return s->rest_ns;
}

static u64 token_believed(const struct bftm_owner_said *said, u32 n, u32 b, u32 with)
{
	u32 u, v, same;

	for (u = 0; u < n; u++) {
		for (same = 0, v = 0; v < n; v++)
			same += agrees(&said[u], &said[with]) && agrees(&said[v], &said[with]) &&
				said[u].token == said[v].token;
		if (same > b)
			return said[u].token;
	}
	return BFTM_TOKEN_UNKNOWN;
}

void bftm_who_judge(const struct bftm_owner_said *said, u32 n, u32 b, u32 needed,
		    struct bftm_owner *ret)
{
	u32 u, agree = 0, best = 0, count;

	*ret = (struct bftm_owner){};
	for (u = 0; u < n; u++) {
		ret->told += said[u].told;
		count = said[u].told ? owners_agreeing(said, n, u) : 0;
		/*
		 * b + 1 servers are believed that somebody has the lock, and only F that nobody has
		 * it.
		 */
		if (count > agree && (said[u].attempt || count >= needed)) {
			agree = count;
			best = u;
		}
	}
	if (agree <= b)
		return;
	ret->who = !said[best].attempt ? BFTM_WHO_NOBODY :
		   agree >= needed ? BFTM_WHO_HELD : BFTM_WHO_GRANTED;
	ret->said = said[best];
	ret->said.token = token_believed(said, n, b, best);
	ret->counted = agree > 2 * b;
	if (!ret->counted)
		return;
	ret->said.waiters = (u32)least_believed(said, n, b, best, waiters_of);
	ret->said.holders = (u32)least_believed(said, n, b, best, holders_of);
	ret->said.rest_ns = least_believed(said, n, b, best, rest_of);
}
