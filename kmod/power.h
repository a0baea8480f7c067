/* SPDX-License-Identifier: GPL-2.0 */
/* Sleep of the machine: no lease outlives it. */
#ifndef BFTM_POWER_H
#define BFTM_POWER_H

#include <linux/types.h>

/**
 * bftm_power_begin() - may a server, or a helper, begin now?
 * Return: true, and the machine does not sleep before bftm_power_end(); false when it is about to
 * sleep. Context: process.
 */
bool bftm_power_begin(void);
void bftm_power_end(void);

int bftm_power_init(void);
void bftm_power_exit(void);

#endif /* BFTM_POWER_H */
