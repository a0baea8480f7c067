/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of the machine, corrected as chronyd does. Needs CAP_SYS_TIME. */
#ifndef BFTM_TEST_SLEW_H
#define BFTM_TEST_SLEW_H

#include <stdbool.h>
#include <sys/timex.h>

#define TICK_US		10000	/* of who does not correct it */
#define TICK_SLOW_US	9000	/* the slowest there is */
#define TICK_FAST_US	11000	/* the fastest */

static inline bool set_tick(long us)
{
	struct timex t = { .modes = ADJ_TICK, .tick = us };

	return adjtimex(&t) >= 0;
}

#endif /* BFTM_TEST_SLEW_H */
