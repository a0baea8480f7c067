/* SPDX-License-Identifier: GPL-2.0 */
/* Conversions of a held lock to another mode: their begin, and what the kernel is told at their end. */
#ifndef BFTM_CONVERT_H
#define BFTM_CONVERT_H

#include <stdbool.h>

#include "core/protocol.h"

struct bftm_acquire_op;
struct bftm_ask;

/**
 * bftm_convert_begin() - convert to @ask->goal; @ask->mode is what the program has
 * @op:  the request, which holds the lock
 * @ask: what the kernel says of the conversion
 * @out: what the core says; only with true
 * Return: false if the protocol has no conversions.
 */
bool bftm_convert_begin(struct bftm_acquire_op *op, const struct bftm_ask *ask,
			struct bftm_out *out);

/**
 * bftm_convert_shrink() - after a conversion, give up all that the program's mode does not need
 * @op:  the request, which holds the lock
 * @out: what the core says; only with true
 *
 * Neither of CW and PR covers the other: servers grant PW in between, which is then reduced.
 * Return: false if nothing is in excess.
 */
bool bftm_convert_shrink(struct bftm_acquire_op *op, struct bftm_out *out);

/**
 * bftm_convert_report() - tell the kernel the end of the conversion, once
 * @op:    the request, which holds the lock
 * @error: positive errno, 0: the program has the mode wanted as soon as the kernel takes the report
 * Return: 0, or negative errno if the kernel has not taken it. A request that says which mode is held
 * comes next then, or that to release the lock.
 */
int bftm_convert_report(struct bftm_acquire_op *op, int error);

/** bftm_convert_kept() - the conversion fails with @error, which is reported. Return: steps.h */
int bftm_convert_kept(struct bftm_acquire_op *op, int error);

/** bftm_kept_errno() - why a lock keeps its mode, as a positive errno. */
int bftm_kept_errno(enum bftm_kept why);

#endif /* BFTM_CONVERT_H */
