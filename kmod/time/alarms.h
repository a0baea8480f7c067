/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many things that are due at some time, by one timer. However many are due at once, a
 * run of it is bounded, and others may run between two.
 */
#ifndef BFTM_ALARMS_H
#define BFTM_ALARMS_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

/**
 * struct bftm_alarms - guarded by its owner's lock
 * @timer:    for the earliest
 * @timer_ns: what it is armed for, 0 for nothing
 * @due:      by time
 * @lock:     the owner's; the timer takes it, and softirqs do
 * @ring:     for one that is due, and not set any more, with the lock held; may set and
 *            clear any. Returns what it took, of 64 in one run.
 */
struct bftm_alarms {
	struct hrtimer timer;
	u64 timer_ns;
	struct timerqueue_head due;
	spinlock_t *lock;
	unsigned int (*ring)(struct timerqueue_node *node, u64 now);
};

/** bftm_alarms_init() - nothing is set; see struct bftm_alarms */
void bftm_alarms_init(struct bftm_alarms *a, spinlock_t *lock,
		      unsigned int (*ring)(struct timerqueue_node *node, u64 now));

/** bftm_alarms_stop() - of which all are cleared; waits for the timer. Context: process. */
void bftm_alarms_stop(struct bftm_alarms *a);

/** bftm_alarm_set() - @at_ns: CLOCK_BOOTTIME, in place of what it was set to before */
void bftm_alarm_set(struct bftm_alarms *a, struct timerqueue_node *node, u64 at_ns);

/** bftm_alarm_clear() - not due any more, if it was. */
void bftm_alarm_clear(struct bftm_alarms *a, struct timerqueue_node *node);

#endif /* BFTM_ALARMS_H */
