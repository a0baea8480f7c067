/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon's word to the service manager: when it can be asked for locks, and how it is. */
#ifndef BFTM_READY_H
#define BFTM_READY_H

/**
 * bftm_ready_begin() - tell the service manager from now on, from the loop; nothing without one
 *
 * READY=1 is told when each cluster has heard as many servers as a lock needs, or after ten
 * seconds: a host whose servers are silent starts all the same. A line of STATUS= says which
 * clusters can grant, and why the others cannot; WATCHDOG=1 that the loop goes on.
 */
void bftm_ready_begin(void);

#endif /* BFTM_READY_H */
