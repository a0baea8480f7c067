/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of leases, as kmod/time/clock.h has it, which says why: CLOCK_MONOTONIC_RAW, whose
 * rate nobody changes, and the time that the machine slept.
 */
#ifndef BFTM_HELPER_CLOCK_H
#define BFTM_HELPER_CLOCK_H

#include "core/types.h"

/** bftm_clock_ns() - now; it may be behind the kernel's by less than a tick, never ahead */
u64 bftm_clock_ns(void);

/** bftm_clock_to_boottime() - CLOCK_BOOTTIME when it will be @at_ns, at the rate of now */
u64 bftm_clock_to_boottime(u64 at_ns);

/** bftm_clock_from_boottime() - the other way round */
u64 bftm_clock_from_boottime(u64 at_ns);

#endif /* BFTM_HELPER_CLOCK_H */
