// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "loop/clock.h"

static u64 read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/*
 * The time that the machine slept. Two clocks are read one after the other, in the order that never
 * makes the result too large; the largest result so far is kept.
 */
static u64 slept(void)
{
	static int64_t known = INT64_MIN;
	u64 boottime = read_clock(CLOCK_BOOTTIME);
	int64_t least = (int64_t)(boottime - read_clock(CLOCK_MONOTONIC));

	if (known < least)
		known = least;
	return (u64)known;
}

u64 bftm_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC_RAW) + slept();
}

u64 bftm_clock_to_boottime(u64 at_ns)
{
	u64 boottime = read_clock(CLOCK_BOOTTIME);

	return boottime + at_ns - bftm_clock_ns();
}

u64 bftm_clock_from_boottime(u64 at_ns)
{
	u64 now = bftm_clock_ns();

	return now + at_ns - read_clock(CLOCK_BOOTTIME);
}
