// SPDX-License-Identifier: GPL-2.0
// Leases are measured by bftm_clock_ns(), which kmod/time/clock.h and helper/loop/clock.c have; what
// users see is CLOCK_BOOTTIME. Both run through suspend, and are read exactly.
// ktime_get_real_seconds(), ktime_get_real_ts64() and time() are for numbers that grow over restarts.
// Files: kmod helper :!helper/ctl :!helper/bftmutexctl.c :!kmod/time/clock.h :!helper/loop/clock.c
@clock_call@
position p;
identifier clock =~ "^(ktime_get|ktime_get_ns|ktime_get_raw|ktime_get_raw_ns|ktime_get_real|ktime_get_real_ns|ktime_get_coarse.*|ktime_get_seconds|ktime_get_boottime_seconds|local_clock|sched_clock|get_jiffies_64|gettimeofday)$";
@@
clock@p(...)

@clock_j@
position p;
identifier clock =~ "^(jiffies|jiffies_64|CLOCK_MONOTONIC|CLOCK_MONOTONIC_RAW|CLOCK_MONOTONIC_COARSE|CLOCK_REALTIME|CLOCK_REALTIME_COARSE)$";
@@
clock@p

@script:python@
p << clock_call.p;
@@
print("%s:%s: another clock than bftm_clock_ns() and CLOCK_BOOTTIME" % (p[0].file, p[0].line))

@script:python@
p << clock_j.p;
@@
print("%s:%s: another clock than bftm_clock_ns() and CLOCK_BOOTTIME" % (p[0].file, p[0].line))
