/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutex-sim: the program around the simulator. */
#ifndef BFTM_SIM_SIM_H
#define BFTM_SIM_SIM_H

#include <stdio.h>

#include "world.h"

/** struct options - the command line */
struct options {
	struct wish wish;
	u64 seed;
	u64 runs;
	u64 seconds;
	u32 jobs;
	bool batch;		/* --runs or --seconds */
	bool trace;
	bool json;		/* print what hosts record */
	bool compare;		/* with other protocols: bftmutex-peers does so */
	bool shrink;
	bool golden_write;
	const char *golden;
	const char *program;
};

/** cmdline_parse() - exits with a message for a mistake. */
void cmdline_parse(int argc, char **argv, struct options *ret);

/** cmdline_replay() - the command that shows a failure again. */
void cmdline_replay(const struct options *opt, u64 seed, FILE *out);

/** batch_run() - many seeds. Return: exit status. */
int batch_run(const struct options *opt);

/** failure_show() - run a seed that fails again, make it smaller, tell its story. */
void failure_show(const struct options *opt, u64 seed);

/** stats_add() - to a sum. */
void stats_add(struct stats *sum, const struct stats *s);
/** stats_print() - the closing summary. @cpu_ns: of all cores, for the speed. */
void stats_print(const struct stats *s, u64 cpu_ns, u64 wall_ns);

/** steps_print() - what acquires cost, if that was measured. */
void steps_print(const struct stats *s);

/** recorded_load() - delays of a file, one number a line. NULL after a message. */
const struct recorded *recorded_load(const char *path);

#endif /* BFTM_SIM_SIM_H */
