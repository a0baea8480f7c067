/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shell around contend() of the core: does for a request what the core
 * says. The request may be gone after each of these calls.
 */
#ifndef BFTM_ATTEMPT_H
#define BFTM_ATTEMPT_H

#include "core/wire.h"

struct bftm_acquire_op;

/** bftm_attempt_init() - before all others */
void bftm_attempt_init(struct bftm_acquire_op *op);

/** bftm_attempt_start() - contend; it is this request's turn. */
void bftm_attempt_start(struct bftm_acquire_op *op);

/** bftm_attempt_adopt() - go on with what an earlier daemon, or the kernel, won, as ask says. */
void bftm_attempt_adopt(struct bftm_acquire_op *op);

/** bftm_attempt_renew() - make it last longer, if it is held. */
void bftm_attempt_renew(struct bftm_acquire_op *op);

/** bftm_attempt_give_back() - stop contending or holding: servers are told. */
void bftm_attempt_give_back(struct bftm_acquire_op *op);

/** bftm_attempt_answer() - an authentic answer of server number @u. */
void bftm_attempt_answer(struct bftm_acquire_op *op, u32 u,
			 const struct bftm_msg *msg);

/** bftm_attempt_again() - server @u has a new epoch and was asked by the old. */
void bftm_attempt_again(struct bftm_acquire_op *op, u32 u);

#endif /* BFTM_ATTEMPT_H */
