/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon tells the kernel, and the log, that a request holds its lock, or why it does not. */
#ifndef BFTM_REPORT_H
#define BFTM_REPORT_H

#include <stdbool.h>

#include "core/types.h"
#include "uapi/linux/bftmutex.h"

struct bftm_acquire_op;
struct bftm_ask;
struct bftm_cluster;

/** bftm_report_won() - tell the kernel. False: no program takes the lock, which is to be given back. */
bool bftm_report_won(struct bftm_acquire_op *op);

/**
 * bftm_report_renewed() - until when it is held, and how many sends there were,
 * which the next daemon must not repeat
 * @op: the request
 * Return: false when nobody holds it any more: give it back.
 */
bool bftm_report_renewed(struct bftm_acquire_op *op);

/**
 * bftm_report_converted() - the conversion of @op is decided
 * @op:    the request
 * @error: positive errno, 0: it is held in the mode wanted
 * Return: 0, or negative errno: see bftm_upcall_converted()
 */
int bftm_report_converted(struct bftm_acquire_op *op, int error);

/**
 * bftm_report_wanted() - once in each mode: somebody waits for a mode that the one of @op excludes
 * @op: the request that holds the lock
 *
 * Servers say so, or a request of this host waits. Does nothing if @op does not hold the lock.
 */
void bftm_report_wanted(struct bftm_acquire_op *op);

/**
 * bftm_report_lost() - log that the lease of a lock has ended
 * @cl:  its cluster
 * @ask: what was asked for
 *
 * The program may not report its loss, and a program that is stopped cannot.
 */
void bftm_report_lost(struct bftm_cluster *cl, const struct bftm_ask *ask);

/** bftm_report_refused() - log, once a minute, which servers refuse @op: enum bftm_refusal. */
void bftm_report_refused(const struct bftm_acquire_op *op, u32 refusal);

/**
 * bftm_report_why() - what the program can read beside the error
 * @op:    the request
 * @error: positive errno
 * @text:  used for words that are made for this request
 * Return: the end of a sentence for people; may be empty.
 */
const char *bftm_report_why(const struct bftm_acquire_op *op, int error, char text[BFTM_WHY_MAX]);

/**
 * bftm_report_waited() - the same of a request whose time limit is over, and which has no attempt
 * @cl:    the cluster
 * @error: ETIMEDOUT or ENETUNREACH
 * @text:  gets the words; may be empty
 */
void bftm_report_waited(const struct bftm_cluster *cl, int error, char text[BFTM_WHY_MAX]);

#endif /* BFTM_REPORT_H */
