/* SPDX-License-Identifier: GPL-2.0 */
/* Several locks for one command: bftmutex --and. */
#ifndef BFTM_SEVERAL_H
#define BFTM_SEVERAL_H

#include "run/options.h"
#include "run/run.h"

#define BFTM_SEVERAL_MAX (1 + BFTM_AND_MAX)

/**
 * bftm_several_order() - the order in which locks are taken, the same for all programs
 * @locks: the locks
 * @count: of @locks, 1 to BFTM_SEVERAL_MAX
 * @ret:   their indices, ascending by the bytes of the names
 *
 * Programs that take locks in one order never wait for each other in a cycle: a program that waits
 * for a lock holds only locks with smaller names.
 */
void bftm_several_order(const struct bftm_taken *locks, unsigned int count,
			unsigned int ret[BFTM_SEVERAL_MAX]);

/**
 * bftm_several_take() - take the locks, one after the other, under one time limit
 * @o:         the command line
 * @locks:     handles that hold nothing, and block
 * @count:     of @locks, 1 to BFTM_SEVERAL_MAX
 * @waiting:   called before each lock is waited for
 * @ret_grant: what was granted, for each of @locks, with the deadline that it has in the end; some
 *             may be set on failure
 * @ret_status: the exit status after a failure, untouched else
 *
 * While one lock is waited for, the others are watched: the loss of one, or its margin, ends the
 * waiting.
 *
 * Return: false after a message; then all handles are to be closed.
 */
bool bftm_several_take(const struct options *o, const struct bftm_taken *locks, unsigned int count,
		       void (*waiting)(const struct options *o, const struct bftm_taken *lock),
		       struct bftmutex_grant *ret_grant, int *ret_status);

#endif /* BFTM_SEVERAL_H */
