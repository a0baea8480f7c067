/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Room in the next state, and for whom it is. The head and the table of a state come first; there
 * is room for what the type keeps and for the responses to what is applied; responses from before
 * get what is left. Nobody is kept waiting by a state that is full: the type may not grow into the
 * last part of it, and new clients not into the end of that.
 */
#ifndef BFTM_ORDER_ROOM_H
#define BFTM_ORDER_ROOM_H

#include "core/ordering/state.h"

/**
 * struct bftm_order_space - of a state in the making
 * @base:     the state before; NULL for σ0
 * @base_len: its bytes
 * @limit:    bytes that a state may have
 * @new:      clients that are not in @base, so far
 */
struct bftm_order_space {
	const u8 *base;
	u32 base_len;
	u32 limit;
	u32 new;
};

/** enum bftm_order_turn - may an operation be applied? */
enum bftm_order_turn {
	BFTM_TURN_NOT,		/* it was, or another of its client is before it */
	BFTM_TURN_FULL,		/* the state cannot take note of one more client */
	BFTM_TURN_NOW,
};

/** bftm_order_turn() - of operation @op; when it may, its client counts from then on */
enum bftm_order_turn bftm_order_turn(struct bftm_order_space *s, u32 client, u64 op);

/** bftm_order_left() - bytes for what the type keeps and responses: of a job, @room */
u32 bftm_order_left(const struct bftm_order_space *s);

/** bftm_order_spare() - of a job, @spare */
u32 bftm_order_spare(const struct bftm_order_space *s);

#endif /* BFTM_ORDER_ROOM_H */
