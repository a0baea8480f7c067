/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shell around the client side of a protocol: does for a request what the core says.
 * It never ends a request: a function that may returns what became of it, as steps.h says.
 */
#ifndef BFTM_ATTEMPT_H
#define BFTM_ATTEMPT_H

#include "core/wire.h"
#include "lock/steps.h"

struct bftm_acquire_op;
struct bftm_ask;

/** bftm_attempt_start() - contend; it is this request's turn. */
int bftm_attempt_start(struct bftm_acquire_op *op);

/**
 * bftm_attempt_adopt() - go on with what an earlier daemon, or the kernel, won, as ask says
 * @op:    the request
 * @whole: no mode of it was ever given up
 */
void bftm_attempt_adopt(struct bftm_acquire_op *op, bool whole);

/** bftm_attempt_renew() - make it last longer, if it is held. */
int bftm_attempt_renew(struct bftm_acquire_op *op);

/**
 * bftm_attempt_convert() - hold it in @ask->goal; @ask->mode is what the program has
 * @op:  the request
 * @ask: what the kernel says of the conversion
 *
 * A goal that this covers is there at once, whatever else was under way.
 */
int bftm_attempt_convert(struct bftm_acquire_op *op, const struct bftm_ask *ask);

/** bftm_attempt_wake() - its timer has fired. */
int bftm_attempt_wake(struct bftm_acquire_op *op);

/** bftm_attempt_answer() - an authentic answer of server number @u. */
int bftm_attempt_answer(struct bftm_acquire_op *op, u32 u, const struct bftm_msg *msg);

/** bftm_attempt_epoch() - server @u has a new epoch and was asked by the old. */
void bftm_attempt_epoch(struct bftm_acquire_op *op, u32 u);

/**
 * bftm_attempt_contended() - have servers said to a request that contends that somebody else has
 * the lock, or goes before it, so that it does not win at once?
 * @op: the request
 */
bool bftm_attempt_contended(const struct bftm_acquire_op *op);

/** bftm_attempt_restarted() - server @u has forgotten grants without a lease, as this is one. */
void bftm_attempt_restarted(struct bftm_acquire_op *op, u32 u);

#endif /* BFTM_ATTEMPT_H */
