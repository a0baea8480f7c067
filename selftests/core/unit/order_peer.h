/* SPDX-License-Identifier: GPL-2.0 */
/* Clients of the ordering protocol of a bftmutex-liar, as liar_peer.h has them of locks. */
#ifndef BFTM_UNIT_ORDER_PEER_H
#define BFTM_UNIT_ORDER_PEER_H

#include "liar_peer.h"
#include "order_rank.h"

#include "crypto/digest.h"
#include "core/ordering/state.h"
#include "core/ordering/wire.h"

/* The data of the last answer. */
extern u8 heard[BFTM_DATAGRAM_MAX + 8];

void order_start(const char *order);

/* About object x; with the next number and a good tag. */
void order_send(u32 c, struct bftm_order_msg msg);

/* The next datagram, an authentic answer; REFUSED has its reason in @offset. */
struct bftm_order_msg order_answer(u32 c);

struct bftm_order_msg order_ask(u32 c, struct bftm_order_msg msg);
struct bftm_order_msg order_get(u32 c, u64 count);

/* A request about a body, which it brings. */
struct bftm_order_msg about(u8 type, u64 version, const void *data, u32 len);

/* A state in which client 1 has this response to operation 1. */
u32 make_state(u64 version, const char *response, u8 *ret, u32 room);

/* All of it, piece by piece. Return: the type of the last answer. */
u8 order_put(u32 c, u64 version, const u8 *data, u32 len);

#endif /* BFTM_UNIT_ORDER_PEER_H */
