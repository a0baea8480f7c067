// SPDX-License-Identifier: GPL-2.0
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "time/sleep.h"

u64 bftm_sleep_until(u64 timeout_ns)
{
	return ktime_get_boottime_ns() + min_t(u64, timeout_ns, KTIME_MAX / 4);
}

int bftm_sleep(struct wait_queue_head *wait, u64 at_ns, int (*outcome)(void *arg), void *arg)
{
	ktime_t at = ns_to_ktime(at_ns);
	struct wait_queue_entry entry;
	bool timed_out = false;
	int err, interrupted;

	init_wait_entry(&entry, 0);
	for (;;) {
		interrupted = prepare_to_wait_event(wait, &entry, TASK_INTERRUPTIBLE);
		err = outcome(arg);
		if (err != -EINPROGRESS)
			break;
		if (interrupted || timed_out) {
			err = interrupted ? -EINTR : -ETIMEDOUT;
			break;
		}
		timed_out = !schedule_hrtimeout_range_clock(at_ns ? &at : NULL, 0,
							    HRTIMER_MODE_ABS, CLOCK_BOOTTIME);
	}
	finish_wait(wait, &entry);
	return err;
}
