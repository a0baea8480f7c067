/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by node.c and node_server.c. */
#ifndef BFTM_MODEL_NODE_H
#define BFTM_MODEL_NODE_H

#include "world.h"

#define RHO_PPM	BFTM_RHO_MAX_PPM
#define GNO	1000	/* the server's last grant, always */

extern u64 node_lease_max;

static inline u64 reading(const struct event *e)
{
	return NOW - (e->old ? BFTM_TICK_NS : 0);
}

static inline bool queues(u32 c)
{
	return plan.queue >> c & 1;
}

/* Numbers of grants, as far as they matter. */
static inline u64 number_of(enum grant g)
{
	return plan.queue && g != GRANT_NONE ? GNO - GRANT_LAST + g : 0;
}

#endif /* BFTM_MODEL_NODE_H */
