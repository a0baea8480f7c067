/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to a service manager, as by sd_notify(3), without its library. */
#ifndef BFTM_NOTIFY_H
#define BFTM_NOTIFY_H

#include <stdbool.h>

#include "core/types.h"

/**
 * bftm_notify_begin() - read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and drop them
 *
 * Programs that are started from now on cannot send messages in our name.
 *
 * Return: whether there is a service manager.
 */
bool bftm_notify_begin(void);

/** bftm_notify_watchdog_ns() - longest time between two WATCHDOG=1; 0: none is wanted */
u64 bftm_notify_watchdog_ns(void);

/**
 * bftm_notify() - send a message to the service manager
 * @state:   lines "NAME=VALUE"
 * @fd:      descriptor to pass, -1 for none
 * @wait_ms: time to wait for a manager that does not read; 0: do not wait
 *
 * Return: 0, also without a manager; -EAGAIN when it did not read in time, or another -errno.
 */
int bftm_notify(const char *state, int fd, unsigned int wait_ms);

#endif /* BFTM_NOTIFY_H */
