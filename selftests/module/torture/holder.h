/* SPDX-License-Identifier: GPL-2.0 */
/* A process of torture_client while it holds a lock. */
#ifndef BFTM_TORTURE_HOLDER_H
#define BFTM_TORTURE_HOLDER_H

#include <stdbool.h>

#include "selftests/core/sim/rng.h"

#define MS		1000000ull

/**
 * struct me - one process, where it writes, and what it holds
 * @mode:     enum bftm_lock_mode
 * @token:    that goes with it, 0 for none
 * @lease_ms: longest lease that is asked for
 */
struct me {
	char who[24], lock[24];
	struct rng rng;
	int fd, log, counter;
	u32 mode;
	u64 token, lease_ms;
};

u64 now_ns(void);
void stay(u64 ns);

/** note() - write a line of the history */
__attribute__((format(printf, 4, 5)))
void note(struct me *me, u64 at_ns, const char *what, const char *format, ...);

/** inside() - use the lock that was just taken, for @hold_ns and a bit longer */
void inside(struct me *me, u64 hold_ns, bool renews);

#endif /* BFTM_TORTURE_HOLDER_H */
