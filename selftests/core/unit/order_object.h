/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An object at a server that the tests send requests to. Digests are numbers
 * here: the core compares them only.
 */
#ifndef BFTM_UNIT_ORDER_OBJECT_H
#define BFTM_UNIT_ORDER_OBJECT_H

#include "order_rank.h"
#include "unit.h"

#include "core/ordering/server.h"

#define QUIET	1000ull		/* the silence after a start ends with this instant */
#define LATER	(QUIET + 1)
#define ROOM	8u

enum who { ALICE = 7, BOB = 9, CAROL = 11 };

extern const struct bftm_server_cfg server;
extern struct bftm_object obj;
extern struct bftm_order_msg reply;	/* the last one; its data are in reply_data */
extern u8 reply_data[BFTM_ORDER_ROOM_MAX];

/** union order_pending - the list of what waits at the object, with its room */
union order_pending {
	struct bftm_pendings list;
	u8 raw[sizeof(struct bftm_pendings) + ROOM * sizeof(struct bftm_pending)];
};

extern union order_pending waiting;

/* Bodies of a test, and their bytes. */
extern struct bftm_body bodies[64];
extern u8 bytes[64][2 * BFTM_OP_MAX];

int fresh_object(void **state);

/* So many bytes of an operation. */
struct bftm_body *op_of(u32 len);

/* A state; these were applied last, ascending by client. */
struct bftm_body *state_with(u64 version, const struct bftm_applied *applied, u32 count);

/* A state that reflects an operation of Alice. */
struct bftm_body *state_of(u64 version, u64 op, const char *response);

u8 step_at(u64 now, struct bftm_order_msg req, struct bftm_body *body);
u8 submit(u32 client, u64 op, struct bftm_body *body);
u8 get(u64 count, u32 client);

/* PROPOSE, COMMIT or INSTALL; a state that is NULL is σ0. */
u8 put_state(u8 type, u64 count, u32 client, struct bftm_body *state, bool brought);

u8 propose(u64 count, u32 client, struct bftm_body *state);
u8 commit(u64 count, u32 client, struct bftm_body *state);
void assert_rank(struct bftm_rank r, u64 count, u32 client);

#endif /* BFTM_UNIT_ORDER_OBJECT_H */
