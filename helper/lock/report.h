/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel is told of a request that is held. */
#ifndef BFTM_REPORT_H
#define BFTM_REPORT_H

#include <stdbool.h>

#include "core/types.h"

struct bftm_acquire_op;

/** bftm_report_won() - false when nobody has it by that: give it back. */
bool bftm_report_won(struct bftm_acquire_op *op);

/**
 * bftm_report_renewed() - until when it is held, and how many sends there were,
 * which the next daemon must not repeat
 * Return: false when nobody holds it any more: give it back.
 */
bool bftm_report_renewed(struct bftm_acquire_op *op);

/** bftm_refusal_errno() - how applications see an enum bftm_refusal. */
int bftm_refusal_errno(u32 refusal);

#endif /* BFTM_REPORT_H */
