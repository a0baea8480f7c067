/* SPDX-License-Identifier: GPL-2.0 */
/* Bodies of any bytes. */
#ifndef BFTM_ORDER_RANDOM_H
#define BFTM_ORDER_RANDOM_H

#include "order_raw.h"

#define OP(n) ((7ull << 32) + (n))

static inline struct body *random_state(u64 version, const struct peer *p, u32 app_len)
{
	static u8 app[BFTM_STATE_MAX];
	u32 i;

	for (i = 0; i < app_len; i++)
		app[i] = (u8)rand();
	return state_new(version, p, OP(1), "done", app, app_len);
}

static inline struct body *random_op(u32 len)
{
	static u8 data[BFTM_OP_MAX];
	u32 i;

	for (i = 0; i < len; i++)
		data[i] = (u8)rand();
	return body_new(0, data, len);
}

#endif /* BFTM_ORDER_RANDOM_H */
