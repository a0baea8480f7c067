/* SPDX-License-Identifier: GPL-2.0 */
/* A counter in a file that refuses tokens lower than one that came before. */
#ifndef BFTM_TORTURE_GUARD_H
#define BFTM_TORTURE_GUARD_H

#include <stdlib.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/types.h"

/** struct guarded - what is in the file */
struct guarded {
	u64 highest, value;
};

/**
 * guard() - read the counter in @fd, and set it when @set is not NULL
 * @token:     of who asks
 * @ret_value: what was there before
 *
 * Return: false when a higher token came before; then nothing is changed.
 */
static inline bool guard(int fd, u64 token, const u64 *set, u64 *ret_value)
{
	struct guarded g = {};
	bool good;

	if (flock(fd, LOCK_EX) < 0)
		exit(EX_OSERR);
	if (pread(fd, &g, sizeof(g), 0) < 0)
		exit(EX_IOERR);
	good = token >= g.highest;
	*ret_value = g.value;
	if (good) {
		g.highest = token;
		g.value = set ? *set : g.value;
		if (pwrite(fd, &g, sizeof(g), 0) != sizeof(g))
			exit(EX_IOERR);
	}
	flock(fd, LOCK_UN);
	return good;
}

#endif /* BFTM_TORTURE_GUARD_H */
