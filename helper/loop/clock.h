/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of leases, the same as in kmod/time/clock.h, which gives the reason:
 * CLOCK_MONOTONIC_RAW, whose rate nobody changes, plus the time that the machine slept.
 */
#ifndef BFTM_HELPER_CLOCK_H
#define BFTM_HELPER_CLOCK_H

#include "core/types.h"

/** bftm_clock_ns() - now; at most a tick behind the kernel's clock, never ahead of it */
u64 bftm_clock_ns(void);

/**
 * bftm_clock_to_boottime() - CLOCK_BOOTTIME at @at_ns of the clock of leases, at the present rate
 * @at_ns: by the clock of leases, ns
 */
u64 bftm_clock_to_boottime(u64 at_ns);

/** bftm_clock_from_boottime() - the clock of leases at @at_ns of CLOCK_BOOTTIME */
u64 bftm_clock_from_boottime(u64 at_ns);

#endif /* BFTM_HELPER_CLOCK_H */
