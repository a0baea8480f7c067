/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that a seed repeats: splitmix64 (Steele, Lea, Flood), of which
 * every state is a good one. Each purpose has a stream of its own, so that one
 * more draw of the network leaves the clients' draws alone.
 */
#ifndef BFTM_SIM_RNG_H
#define BFTM_SIM_RNG_H

#include "core/types.h"

#define PPM 1000000u

struct rng {
	u64 state;
};

static inline u64 rng_next(struct rng *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/** rng_below() - 0 … n - 1; 0 when n is. */
static inline u64 rng_below(struct rng *r, u64 n)
{
	return (u64)((__uint128_t)rng_next(r) * n >> 64);
}

/** rng_between() - low … high, both included. */
static inline u64 rng_between(struct rng *r, u64 low, u64 high)
{
	return low + rng_below(r, high - low + 1);
}

static inline bool rng_chance(struct rng *r, u32 ppm)
{
	return ppm && rng_below(r, PPM) < ppm;
}

/** rng_scale() - low … high, small and large orders of magnitude alike. */
static inline u64 rng_scale(struct rng *r, u64 low, u64 high)
{
	u32 first = low > 1 ? 63 - (u32)__builtin_clzll(low) : 0;
	u32 last = high > 1 ? 63 - (u32)__builtin_clzll(high) : 0;
	u64 from = 1ull << rng_between(r, first, last);
	u64 x = rng_between(r, from, 2 * from - 1);

	return x < low ? low : x > high ? high : x;
}

#endif /* BFTM_SIM_RNG_H */
