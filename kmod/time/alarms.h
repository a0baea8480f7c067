/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many alarms by one timer. However many are due at once, a run of the timer is bounded, and other
 * code may run between two runs.
 */
#ifndef BFTM_ALARMS_H
#define BFTM_ALARMS_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

/**
 * struct bftm_alarms - guarded by its owner's lock
 * @timer:    for the earliest alarm
 * @timer_ns: time for which it is armed, 0 for none
 * @rest_ns:  other code has the processor until then
 * @due:      alarms, by time
 * @lock:     the owner's; the timer takes it, and softirqs do
 * @ring:     called with the lock held for an alarm that is due and was cleared; may set and
 *            clear any alarm, and release the lock, which spin_lock_bh() took, and take it again.
 *            Returns its cost, of 32 in one run: datagrams where it sends any.
 */
struct bftm_alarms {
	struct hrtimer timer;
	u64 timer_ns;
	u64 rest_ns;
	struct timerqueue_head due;
	spinlock_t *lock;
	unsigned int (*ring)(struct timerqueue_node *node, u64 now);
};

/** bftm_alarms_init() - nothing is set; see struct bftm_alarms */
void bftm_alarms_init(struct bftm_alarms *a, spinlock_t *lock,
		      unsigned int (*ring)(struct timerqueue_node *node, u64 now));

/** bftm_alarms_stop() - all alarms are cleared; waits for the timer. Context: process. */
void bftm_alarms_stop(struct bftm_alarms *a);

/** bftm_alarm_set() - @at_ns: CLOCK_BOOTTIME, replaces an earlier time */
void bftm_alarm_set(struct bftm_alarms *a, struct timerqueue_node *node, u64 at_ns);

/** bftm_alarm_clear() - clear an alarm, if it is set. */
void bftm_alarm_clear(struct bftm_alarms *a, struct timerqueue_node *node);

#endif /* BFTM_ALARMS_H */
