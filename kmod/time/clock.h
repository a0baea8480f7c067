/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of leases. Exclusion rests on its rate, and what corrects the time of a host
 * may change the rate of CLOCK_BOOTTIME by a tenth (chronyd's maxslewrate is 83,333 ppm).
 * So leases are counted by CLOCK_MONOTONIC_RAW, whose rate nobody changes, and the time
 * that the machine slept. What users see is on CLOCK_BOOTTIME; timers are as well, so
 * that they may fire too early or too late: who is woken looks at the clock.
 */
#ifndef BFTM_CLOCK_H
#define BFTM_CLOCK_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/timekeeping.h>

#include "core/lease.h"

/** bftm_clock_ns() - now, by the clock of leases */
static inline u64 bftm_clock_ns(void)
{
	return ktime_to_ns(ktime_mono_to_any(ktime_get_raw(), TK_OFFS_BOOT));
}

/** bftm_clock_wait() - CLOCK_BOOTTIME at which to look whether it is over, before it is */
static inline u64 bftm_clock_wait(s64 left_ns)
{
	return ktime_get_boottime_ns() + bftm_look_after(max_t(s64, left_ns, 0));
}

/** bftm_clock_timer() - CLOCK_BOOTTIME at which to look whether it is @at_ns */
static inline u64 bftm_clock_timer(u64 at_ns)
{
	return bftm_clock_wait(at_ns - bftm_clock_ns());
}

/**
 * bftm_clock_deadline() - the end of a lease as users see it
 * @end_ns: by the clock of leases
 * Return: CLOCK_BOOTTIME, so much earlier that it comes first if no rate was changed.
 */
static inline u64 bftm_clock_deadline(u64 end_ns)
{
	u64 boot = ktime_get_boottime_ns();

	return boot + end_ns - bftm_clock_ns() - BFTM_TICK_NS;
}

/** bftm_clock_end() - the other way round; not before it, if no rate was changed */
static inline u64 bftm_clock_end(u64 deadline_ns)
{
	u64 boot = ktime_get_boottime_ns();

	return bftm_clock_ns() + deadline_ns - boot;
}

/** bftm_clock_left() - ns until it is past either end; negative when it is. */
static inline s64 bftm_clock_left(u64 deadline_ns, u64 end_ns)
{
	s64 left = deadline_ns - ktime_get_boottime_ns();

	return min_t(s64, left, end_ns - bftm_clock_ns());
}

#endif /* BFTM_CLOCK_H */
