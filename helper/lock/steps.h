/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ends of every step of a request: messages are sent, its timer is set, or it is given back.
 * A step returns what became of the request: a positive errno, or BFTM_ATTEMPT_...
 */
#ifndef BFTM_STEPS_H
#define BFTM_STEPS_H

#include <stdbool.h>

#include "core/protocol.h"

struct bftm_acquire_op;
struct bftm_ask_value;

#define BFTM_ATTEMPT_GOES_ON	0
#define BFTM_ATTEMPT_OVER	-1	/* it is over, and nobody is to be told */

/** bftm_core_of() - the client side of the protocol of @op's cluster. */
const struct bftm_client_ops *bftm_core_of(const struct bftm_acquire_op *op);

/** bftm_attempt_is_held() - does this request hold its lock? */
bool bftm_attempt_is_held(const struct bftm_acquire_op *op);

/** bftm_attempt_is_timed() - does the time limit of the program apply to what is under way? */
bool bftm_attempt_is_timed(const struct bftm_acquire_op *op);

/** bftm_attempt_send() - the messages of @out to their servers, RELEASE included. */
void bftm_attempt_send(struct bftm_acquire_op *op, const struct bftm_out *out);

/** bftm_attempt_arm() - wake @op when the core wants it, or when its time limit has passed. */
void bftm_attempt_arm(struct bftm_acquire_op *op);

/**
 * bftm_attempt_pending() - wait for answers, unless too few servers can give one
 * @op:  the request
 * @now: of bftm_now(), ns
 */
int bftm_attempt_pending(struct bftm_acquire_op *op, u64 now);

/**
 * bftm_attempt_give_back() - stop contending or holding: servers are told
 * @op: the request
 *
 * Nobody said how the program ended: if it could write a value, the lock's is in doubt.
 */
void bftm_attempt_give_back(struct bftm_acquire_op *op);

/** bftm_attempt_leave() - the same, when the kernel has said what becomes of the value. */
void bftm_attempt_leave(struct bftm_acquire_op *op, const struct bftm_ask_value *value);

#endif /* BFTM_STEPS_H */
