/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of leases. Exclusion rests on its rate, and a time service may change the rate of
 * CLOCK_BOOTTIME by a tenth (chronyd's maxslewrate is 83,333 ppm). So leases are counted by
 * CLOCK_MONOTONIC_RAW, whose rate nobody changes, plus the time that the machine slept. Users see
 * times of CLOCK_BOOTTIME. A lock without a lease has BFTM_LEASE_NONE as its end, by both clocks.
 * Timers use CLOCK_BOOTTIME as well, so they may fire too early or too
 * late: their callbacks compare with the clock of leases.
 */
#ifndef BFTM_CLOCK_H
#define BFTM_CLOCK_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>

#include "core/lease.h"

/** bftm_clock_ns() - now, by the clock of leases */
static inline u64 bftm_clock_ns(void)
{
	return ktime_to_ns(ktime_mono_to_any(ktime_get_raw(), TK_OFFS_BOOT));
}

/** bftm_clock_wait() - CLOCK_BOOTTIME at which to check the clock again when @left_ns are left */
static inline u64 bftm_clock_wait(s64 left_ns)
{
	return ktime_get_boottime_ns() + bftm_look_after(max_t(s64, left_ns, 0));
}

/**
 * bftm_clock_timer() - CLOCK_BOOTTIME at which to check whether the clock of leases shows @at_ns
 * @at_ns: by the clock of leases, ns
 */
static inline u64 bftm_clock_timer(u64 at_ns)
{
	return bftm_clock_wait(at_ns - bftm_clock_ns());
}

/**
 * bftm_clock_deadline() - the end of a lease as users see it
 * @end_ns: by the clock of leases
 * Return: CLOCK_BOOTTIME, slightly earlier, so that it comes before @end_ns if no rate changes.
 */
static inline u64 bftm_clock_deadline(u64 end_ns)
{
	u64 boot = ktime_get_boottime_ns();

	if (end_ns == BFTM_LEASE_NONE)
		return end_ns;
	return boot + end_ns - bftm_clock_ns() - BFTM_TICK_NS;
}

/**
 * bftm_clock_end() - the end, by the clock of leases, of a deadline; not before it, if no rate
 * changes
 * @deadline_ns: by CLOCK_BOOTTIME, ns
 */
static inline u64 bftm_clock_end(u64 deadline_ns)
{
	u64 boot = ktime_get_boottime_ns();

	if (deadline_ns == BFTM_LEASE_NONE)
		return deadline_ns;
	return bftm_clock_ns() + deadline_ns - boot;
}

/**
 * bftm_clock_left() - ns until the first of deadline and end; negative when one has passed
 * @deadline_ns: by CLOCK_BOOTTIME, ns
 * @end_ns:      by the clock of leases, ns
 * Return: S64_MAX without a lease.
 */
static inline s64 bftm_clock_left(u64 deadline_ns, u64 end_ns)
{
	s64 left = deadline_ns - ktime_get_boottime_ns();

	if (end_ns == BFTM_LEASE_NONE)
		return S64_MAX;
	return min_t(s64, left, end_ns - bftm_clock_ns());
}

/**
 * bftm_clock_of_user() - a time as the time namespace of the calling process shows it
 * @ns: CLOCK_BOOTTIME, or by the clock of leases: a time namespace moves both alike
 * Return: 0 for none and BFTM_LEASE_NONE for no end stay what they are.
 */
static inline u64 bftm_clock_of_user(u64 ns)
{
	return ns && ns != BFTM_LEASE_NONE ? timens_add_boottime_ns(ns) : ns;
}

#endif /* BFTM_CLOCK_H */
