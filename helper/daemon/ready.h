/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon's messages to the service manager: when it is ready, and its state. */
#ifndef BFTM_READY_H
#define BFTM_READY_H

/**
 * bftm_ready_begin() - begin to tell the service manager, if there is one, from the loop
 *
 * READY=1 is sent when each cluster has heard from as many servers as a lock needs, or after ten
 * seconds: a host whose servers are silent starts all the same. A line of STATUS= says which
 * clusters can grant, and why the others cannot; WATCHDOG=1 that the loop goes on.
 */
void bftm_ready_begin(void);

#endif /* BFTM_READY_H */
