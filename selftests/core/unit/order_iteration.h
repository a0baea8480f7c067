/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client's iterations among n servers that the tests play by hand. Unless a
 * test says otherwise n = 7, b = 1, q = 5.
 */
#ifndef BFTM_UNIT_ORDER_ITERATION_H
#define BFTM_UNIT_ORDER_ITERATION_H

#include "unit.h"

#include "core/ordering/client.h"
#include "core/quorum.h"

#define MS	BFTM_NS_PER_MS
#define RESEND	(40 * MS)
#define LIMIT	(5000 * MS)
#define T0	(7000 * MS)
#define ALL	0x7fu
#define ME	7u

/* The client, what it last wanted to be done, and its time. */
extern struct bftm_order_cfg order_cfg;
extern struct bftm_order o;
extern struct bftm_order_out order_out;
extern u64 now;

int fresh_iteration(void **state);

/* A state of this version; the letter stands for its content. σ0 is (0, 0). */
struct bftm_body_id state_id(u64 version, char letter);

struct bftm_op op_id(u32 client, u64 op, char letter);
enum bftm_order_verdict begin(void);

/* Server @u answers the iteration that is under way. */
enum bftm_order_verdict answer(u32 u, struct bftm_order_msg msg);

enum bftm_order_verdict order_says(u32 u, u8 type);

/** struct told - what a server answers to GET */
struct told {
	struct bftm_body_id sc, sp;
	struct bftm_rank prop;
	u32 pending, count;
	const struct bftm_op *op;
};

enum bftm_order_verdict got(u32 u, struct told t);

/* σc and σpc are the same, by this proposer. */
enum bftm_order_verdict got_one(u32 u, struct bftm_body_id s, u64 prop);

enum bftm_order_verdict says_exception(u32 u, struct bftm_rank max, bool genuine);
enum bftm_order_verdict made(struct bftm_body_id id);
enum bftm_order_verdict order_wake(u64 at);

/* Nobody answers any more. An iteration that is over already has no time to wake at. */
void order_time_out(void);

/* σ0 everywhere, until the state is to be made: servers 0 … q - 1. */
void get_nothing(void);

/* The same up to a phase, with state A of version 1. */
void reach(enum bftm_order_phase phase);

#endif /* BFTM_UNIT_ORDER_ITERATION_H */
