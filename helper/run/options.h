/* SPDX-License-Identifier: GPL-2.0 */
/* The options of bftmutex(1). */
#ifndef BFTM_RUN_OPTIONS_H
#define BFTM_RUN_OPTIONS_H

#include <sha2.h>
#include <stdbool.h>

#include "config/conf.h"
#include "lib/libbftmutex.h"
#include "run/value.h"

#define BFTM_AND_MAX 16	/* locks beside NAME */

/**
 * struct another_lock - NAME of --and
 * @name:  of the lock
 * @shown: NAME as it was given, fit for a terminal
 * @hash:  what @name points to for --hash-name
 */
struct another_lock {
	const char *name;
	const char *shown;
	char hash[SHA256_DIGEST_STRING_LENGTH];
};

/**
 * struct options - the command line
 * @lock:          options of the acquire
 * @mode:          name of the mode, which @lock has too
 * @name:          of the lock; NULL with @unlock, @held, @convert and @set_value, and with @value
 *                 when it is to be printed
 * @shown:         NAME as it was given, fit for a terminal
 * @hash:          what @name points to for --hash-name
 * @and:           locks of --and
 * @and_count:     of @and
 * @lease:         --lease as it was written, NULL for the default
 * @wait:          --wait as it was written, NULL without
 * @command:       ends with NULL; NULL without one
 * @shell:         what @command points to for --command
 * @margin:        --margin as it was written, NULL without
 * @margin_ns:     time before the end of the lease at which the command is ended
 * @set_value:     --set-value as it was written, NULL without
 * @hex:           the bytes of @set_value
 * @fd:            of --fd, else -1
 * @grace_ns:      from SIGTERM to SIGKILL when the lock is lost
 * @conflict_code: exit status when somebody else has the lock
 * @lost_code:     exit status when the lock is lost
 * @survivor_code: exit status when the command could not be ended then
 * @close_fd:      --close
 * @no_fork:       --no-fork
 * @no_lease:      --no-lease
 * @nonblock:      --nonblock
 * @unlock:        --unlock
 * @verbose:       --verbose
 * @hash_name:     --hash-name
 * @held:          --held
 * @convert:       --convert
 * @value:         --value
 * @print:         --print
 * @notify:        --notify or --fdstore
 * @fdstore:       --fdstore
 */
struct options {
	struct bftmutex_options lock;
	const char *mode;
	const char *name;
	const char *shown;
	char hash[SHA256_DIGEST_STRING_LENGTH];
	struct another_lock and[BFTM_AND_MAX];
	unsigned int and_count;
	const char *lease;
	const char *wait;
	char **command;
	char *shell[4];
	const char *margin;
	u64 margin_ns;
	const char *set_value;
	struct bftm_hex hex;
	int fd;
	u64 grace_ns;
	int conflict_code;
	int lost_code;
	int survivor_code;
	bool close_fd;
	bool no_fork;
	bool no_lease;
	bool nonblock;
	bool unlock;
	bool verbose;
	bool hash_name;
	bool held;
	bool convert;
	bool value;
	bool print;
	bool notify;
	bool fdstore;
};

struct argp_state;

/** options_is_number() - is this word a number, such as that of a descriptor? */
bool options_is_number(const char *text);

/** options_hash() - the digest of each name becomes the name */
void options_hash(struct options *o);

/** options_check() - exits with EX_USAGE and a message if the options do not go together. */
void options_check(struct argp_state *state, const struct options *o);

#endif /* BFTM_RUN_OPTIONS_H */
