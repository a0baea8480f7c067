/* SPDX-License-Identifier: GPL-2.0 */
/* To wait for a decision by CLOCK_BOOTTIME, which wait_event_*() cannot. */
#ifndef BFTM_SLEEP_H
#define BFTM_SLEEP_H

#include <linux/ktime.h>
#include <linux/wait.h>

/**
 * bftm_sleep_until() - when a wait that begins now is over
 * @timeout_ns: any value; a too long one is cut to decades
 * Return: CLOCK_BOOTTIME, ns
 */
u64 bftm_sleep_until(u64 timeout_ns);

/**
 * bftm_sleep() - sleep until something is decided, interruptibly
 * @wait:    woken when the decision may have been made
 * @at_ns:   CLOCK_BOOTTIME at which to give up, 0 for never
 * @outcome: returns the decision, -EINPROGRESS for none yet
 * @arg:     for @outcome
 * Return: what @outcome returned, or -EINTR or -ETIMEDOUT while it said
 * -EINPROGRESS.
 */
int bftm_sleep(struct wait_queue_head *wait, u64 at_ns, int (*outcome)(void *arg), void *arg);

#endif /* BFTM_SLEEP_H */
