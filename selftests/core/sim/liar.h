/* SPDX-License-Identifier: GPL-2.0 */
/* A server that lies, whatever its protocol. */
#ifndef BFTM_SIM_LIAR_H
#define BFTM_SIM_LIAR_H

#include "world.h"

#define LIAR_STRATEGIES_MAX 32

struct bftm_order_msg;

/**
 * struct liar - a server that lies
 * @set:     strategies that it uses in this scenario
 * @current: the one in use, an index of strategies[] or order_strategies[]
 * @state:   of each, when it was used
 * @together: all liars use the same at the same time
 * @lag_ppm: answers that come late on top of it: two strategies in one
 * @honest:  answer or push at hand
 * @order_honest: likewise, of the ordering protocol
 */
struct liar {
	struct world *w;
	u32 number;
	u32 set;
	u32 current;
	bool together;
	u32 lag_ppm;
	const struct bftm_msg *honest;
	const struct bftm_order_msg *order_honest;
	void *state[LIAR_STRATEGIES_MAX];
};

#endif /* BFTM_SIM_LIAR_H */
