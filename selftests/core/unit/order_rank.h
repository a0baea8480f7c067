/* SPDX-License-Identifier: GPL-2.0 */
/* Ranks of clients that never started anew. */
#ifndef BFTM_UNIT_ORDER_RANK_H
#define BFTM_UNIT_ORDER_RANK_H

#include "core/ordering/order.h"

static inline struct bftm_rank rank_of(u64 count, u32 client)
{
	return (struct bftm_rank){ count, client, 1 };
}

#endif /* BFTM_UNIT_ORDER_RANK_H */
