/* SPDX-License-Identifier: GPL-2.0 */
/* What a service manager is told: sd_notify(3), of which no library is needed. */
#ifndef BFTM_NOTIFY_H
#define BFTM_NOTIFY_H

#include <stdbool.h>

#include "core/types.h"

/**
 * bftm_notify_begin() - read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and drop them
 *
 * What is started from here on does not speak in our name.
 *
 * Return: whether there is a service manager.
 */
bool bftm_notify_begin(void);

/** bftm_notify_watchdog_ns() - it wants to hear WATCHDOG=1 so often at least; 0: never */
u64 bftm_notify_watchdog_ns(void);

/**
 * bftm_notify() - tell it
 * @state:   lines "NAME=VALUE"
 * @fd:      descriptor that goes along, -1 for none
 * @wait_ms: for a manager that does not read, so long; 0: it is not waited for
 *
 * Return: 0, also without a manager; -EAGAIN when it did not read in time, or another -errno.
 */
int bftm_notify(const char *state, int fd, unsigned int wait_ms);

#endif /* BFTM_NOTIFY_H */
