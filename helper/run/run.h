/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a command under a lock, and ends all its processes when the lock is lost. */
#ifndef BFTM_RUN_H
#define BFTM_RUN_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct bftm_taken - a lock that a command needs
 * @fd:    handle that holds it; the command inherits it unless it is close-on-exec
 * @name:  of the lock
 * @shown: @name for messages
 */
struct bftm_taken {
	int fd;
	const char *name;
	const char *shown;
};

/**
 * struct bftm_run - a command and its locks
 * @locks:     the locks, either all of them close-on-exec or none; messages that are about none
 *             of them have the name of the first
 * @count:     of @locks, at least 1
 * @argv:      the command, ends with NULL
 * @margin:    of the handles, as the user wrote it; NULL for none
 * @grace_ns:  from SIGTERM to SIGKILL when a lock is lost
 * @lost_code: exit status when a lock is lost
 * @value:     the only lock is held with its value: unless the command was killed, a request gives the
 *             lock back, since a mere close would leave no valid value
 * @room:      where the command writes the value that it leaves, -1 for none
 * @survivor_code: exit status when a lock is lost, and some processes could not be ended
 */
struct bftm_run {
	const struct bftm_taken *locks;
	unsigned int count;
	char **argv;
	const char *margin;
	bool value;
	int room;
	uint64_t grace_ns;
	int lost_code;
	int survivor_code;
};

/**
 * bftm_run() - run a command and watch the leases
 * @run: the command and its locks
 *
 * The command stays in the process group of the caller. The run is over when the command has ended
 * and none of its descendants holds a handle any more; with @value, when all of them have ended,
 * unless the handle is close-on-exec.
 *
 * Does not return when the command died of a signal that this process got too: then this process
 * dies of the same signal, as the shell or the service manager above expects.
 *
 * Return: the command's exit status, 128 + n when it died of signal n, @lost_code or
 * @survivor_code when a lock was lost, or its margin reached, before that, or one of
 * <sysexits.h>: EX_DATAERR if the value that the command wrote could not be left.
 */
int bftm_run(const struct bftm_run *run);

/**
 * bftm_lost_why() - why a lock was lost, in words that follow its name
 * @reason: enum bftm_lost
 * Return: the words, which begin with " lost: "; NULL when the lease just ended.
 */
const char *bftm_lost_why(uint32_t reason);

/** bftm_exec() - become the command; exits with a status of <sysexits.h> on failure. */
_Noreturn void bftm_exec(char **argv);

/** bftm_boottime() - ns on CLOCK_BOOTTIME, the clock of leases. */
uint64_t bftm_boottime(void);

#endif /* BFTM_RUN_H */
