/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many things that are due at some time, by one timer. However many are due at once, a
 * run of it is bounded, and others may run between two.
 */
#ifndef BFTM_ALARMS_H
#define BFTM_ALARMS_H

#include <linux/hrtimer.h>
#include <linux/timerqueue.h>

/**
 * struct bftm_alarms - guarded by a lock of the owner's, which the timer takes too
 * @timer:    for the earliest; its callback locks and calls bftm_alarms_run()
 * @timer_ns: what it is armed for, 0 for nothing
 * @due:      by time
 */
struct bftm_alarms {
	struct hrtimer timer;
	u64 timer_ns;
	struct timerqueue_head due;
};

/** bftm_alarms_init() - @fire: callback of the timer, which does not restart it itself */
void bftm_alarms_init(struct bftm_alarms *a, enum hrtimer_restart (*fire)(struct hrtimer *));

/* With the owner's lock held. */

/** bftm_alarm_set() - @at_ns: CLOCK_BOOTTIME, in place of what it was set to before */
void bftm_alarm_set(struct bftm_alarms *a, struct timerqueue_node *node, u64 at_ns);

/** bftm_alarm_clear() - not due any more, if it was. */
void bftm_alarm_clear(struct bftm_alarms *a, struct timerqueue_node *node);

/**
 * bftm_alarms_run() - all that is due, or as much as is done in one go
 * @ring: for one, which is not set any more; may set and clear any. Returns what it
 *        took, of 64 for all
 */
void bftm_alarms_run(struct bftm_alarms *a, u64 now,
		     unsigned int (*ring)(struct timerqueue_node *node, u64 now));

#endif /* BFTM_ALARMS_H */
