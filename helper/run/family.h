/* SPDX-License-Identifier: GPL-2.0 */
/* All processes that a command has started, in any group or session. */
#ifndef BFTM_FAMILY_H
#define BFTM_FAMILY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct bftm_found - descendants that a walk found
 * @alive:   processes that have not ended, of those that were to be signalled
 * @refused: number of these that could not be signalled
 * @error:   errno of one of those, or the reason why there was no walk at all
 * @names:   the first processes that could not be signalled, or, when all could be, of @alive:
 *           "12 (sudo), 13 (work)"; ends in "…" when there are more
 */
struct bftm_found {
	unsigned int alive;
	unsigned int refused;
	int error;
	char names[160];
};

/**
 * bftm_family_signal() - signal all descendants of a process, each once
 * @root:  that process, which is not signalled itself
 * @child: a descendant that is known without a walk, and was not waited for; 0 for none
 * @pgrp:  only those in this process group; 0 for all
 * @signo: 0 only finds the descendants
 * @info:  siginfo of the signal, si_code below 0; NULL: as by kill()
 * @ret:   the result
 *
 * A process that forks meanwhile is found together with its children, unless that takes more than
 * 300 milliseconds: a process that has a signal pending cannot fork.
 */
void bftm_family_signal(pid_t root, pid_t child, pid_t pgrp, int signo, siginfo_t *info,
			struct bftm_found *ret);

/** bftm_family_is_gone() - has this subreaper no descendant, zombies included? */
bool bftm_family_is_gone(void);

#endif /* BFTM_FAMILY_H */
