/* SPDX-License-Identifier: GPL-2.0 */
/* Corrects the clock of the machine as chronyd does. Needs CAP_SYS_TIME. */
#ifndef BFTM_TEST_SLEW_H
#define BFTM_TEST_SLEW_H

#include <stdbool.h>
#include <sys/timex.h>

#define TICK_US		10000	/* without a correction */
#define TICK_SLOW_US	9000	/* the slowest there is */
#define TICK_FAST_US	11000	/* the fastest */

static inline bool set_tick(long us)
{
	struct timex t = { .modes = ADJ_TICK, .tick = us };

	return adjtimex(&t) >= 0;
}

#endif /* BFTM_TEST_SLEW_H */
