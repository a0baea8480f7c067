// SPDX-License-Identifier: GPL-2.0
/*
 * The timer may be armed while its callback waits for the lock, or for an alarm that was cleared
 * since. Then a run finds nothing due, and arms the timer for the next alarm.
 */
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "core/limits.h"
#include "time/alarms.h"

/*
 * Cost of one run, by ring(); then other code has the processor for three times as long as the run
 * took: a quarter of it is all that alarms may have.
 */
#define BATCH		32
#define PAUSE		3
/* A hypervisor may take the processor away in a run: no lease waits for three times that. */
#define PAUSE_MAX_NS	(10 * NSEC_PER_MSEC)

static void alarm_arm(struct bftm_alarms *a, u64 at_ns)
{
	lockdep_assert_held(a->lock);
	at_ns = max(at_ns, a->rest_ns);
	if (a->timer_ns && a->timer_ns <= at_ns)
		return;
	a->timer_ns = at_ns;
	hrtimer_start(&a->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}

static void alarm_run(struct bftm_alarms *a, u64 now)
{
	struct timerqueue_node *node;
	unsigned int done = 0;
	u64 end;

	a->timer_ns = now;	/* bftm_alarm_set() from ring() does not arm it */
	while ((node = timerqueue_getnext(&a->due)) && node->expires <= now && done < BATCH) {
		timerqueue_del(&a->due, node);
		done += a->ring(node, now);
	}
	a->timer_ns = 0;
	if (done >= BATCH) {
		end = ktime_get_boottime_ns();
		a->rest_ns = end + min_t(u64, PAUSE * (end - now), PAUSE_MAX_NS);
	}
	if (node)
		alarm_arm(a, node->expires);
}

static enum hrtimer_restart alarm_fire(struct hrtimer *timer)
{
	struct bftm_alarms *a = container_of(timer, struct bftm_alarms, timer);

	spin_lock_bh(a->lock);
	alarm_run(a, ktime_get_boottime_ns());
	spin_unlock_bh(a->lock);
	return HRTIMER_NORESTART;
}

void bftm_alarms_init(struct bftm_alarms *a, spinlock_t *lock,
		      unsigned int (*ring)(struct timerqueue_node *node, u64 now))
{
	a->lock = lock;
	a->ring = ring;
	a->timer_ns = 0;
	a->rest_ns = 0;
	timerqueue_init_head(&a->due);
	bftm_hrtimer_setup(&a->timer, alarm_fire, CLOCK_BOOTTIME, HRTIMER_MODE_ABS_SOFT);
}

void bftm_alarms_stop(struct bftm_alarms *a)
{
	hrtimer_cancel(&a->timer);
}

void bftm_alarm_clear(struct bftm_alarms *a, struct timerqueue_node *node)
{
	lockdep_assert_held(a->lock);
	if (!RB_EMPTY_NODE(&node->node))
		timerqueue_del(&a->due, node);
}

void bftm_alarm_set(struct bftm_alarms *a, struct timerqueue_node *node, u64 at_ns)
{
	if (!RB_EMPTY_NODE(&node->node) && node->expires == at_ns)
		return;
	bftm_alarm_clear(a, node);
	node->expires = at_ns;
	timerqueue_add(&a->due, node);
	alarm_arm(a, at_ns);
}
