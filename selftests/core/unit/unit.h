/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by all unit tests: cmocka, and random numbers that a seed repeats. */
#ifndef BFTM_UNIT_H
#define BFTM_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/types.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * SEED=number in the environment repeats a run; otherwise the clock decides.
 * Printed as a comment of TAP, so that the log of a failure names it.
 */
static inline u64 unit_seed(const char *test)
{
	const char *text = getenv("SEED");
	struct timespec now;
	char *end = "";
	u64 seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = text ? strtoull(text, &end, 0) : (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
	if (*end || (text && (*text < '0' || *text > '9'))) {
		fprintf(stderr, "SEED='%s': must be a number from 0 to 2^64 - 1\n", text);
		exit(64);
	}
	printf("# %s: SEED=%llu\n", test, (unsigned long long)seed);
	return seed;
}

/* splitmix64 (Steele, Lea, Flood): every state is a good one. */
static inline u64 unit_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* From low to high, both included. */
static inline u64 unit_between(u64 *state, u64 low, u64 high)
{
	return low + unit_random(state) % (high - low + 1);
}

#endif /* BFTM_UNIT_H */
