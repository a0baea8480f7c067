/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Golden scenarios: what happens is written down, and the story that must come
 * of it. A file is the script, a line of dashes, and the story:
 *
 *	# for the reader
 *	servers 4 b 1 clients 2 lease 100ms delay 5ms seed 1
 *	liar always-free		s1 lies like that
 *	at 0ms c1 wants 80ms		for that long, with back-off
 *	at 0ms c1 queues 80ms		… in the queue
 *	at 0ms c1 keeps 80ms		… and renews it
 *	at 0ms c1 fences 80ms		in the queue, with a fencing token
 *	at 0ms c1 reads 80ms		… in mode PR, and renews it
 *	at 0ms c1 writes 80ms		… in mode PW, likewise
 *	at 0ms c1 stays			… in the queue, without a lease
 *	at 20ms c1 converts EX		to another mode of what it holds
 *	at 20ms c1 leaves 7		when it gives that up next, as value number 7
 *	at 20ms c1 gives		the lock back
 *	at 20ms c1 dies
 *	at 20ms c1 stops 50ms
 *	at 20ms c1 restarts		its helper
 *	at 20ms s2 restarts
 *	at 20ms s2 evicts c1		up to its present start
 *	at 20ms s2 c1 takes 30ms	from then on, from s2 to c1
 *	at 0ms c1 submits add 1		of the ordering protocol, to a counter
 *	end 300ms
 *
 * Words for the first line: "values 1", locks are wanted with their values; "leaseless 1", clients
 * may hold locks without a lease; "ask first" or "ask auto", they ask F servers first; "protocol order" chooses the ordering protocol, "signed 1" its
 * signed ranks, "continues 1" clients that want more whenever they commit, "alone 1" clients that
 * think that they are alone.
 */
#ifndef BFTM_SIM_SCRIPT_H
#define BFTM_SIM_SCRIPT_H

#include "world.h"

#define SCRIPT_LINES 64

/** enum script_verb - what a line does */
enum script_verb {
	SCRIPT_WANTS,
	SCRIPT_QUEUES,
	SCRIPT_KEEPS,
	SCRIPT_FENCES,
	SCRIPT_READS,
	SCRIPT_WRITES,
	SCRIPT_STAYS,
	SCRIPT_EVICTS,
	SCRIPT_CONVERTS,
	SCRIPT_LEAVES,
	SCRIPT_GIVES,
	SCRIPT_DIES,
	SCRIPT_STOPS,
	SCRIPT_RESTARTS,
	SCRIPT_TAKES,
	SCRIPT_SUBMITS,
};

/** struct script_line - at true time @at */
struct script_line {
	enum script_verb verb;
	u64 at;
	u64 ns;
	char request[32];
	enum bftm_mode mode;
	u64 value;
	u32 client;
	u32 server;
	int to;		/* TO_SERVER: from, or at, a client; or TO_CLIENT */
};

/** struct script - one file; @delay by direction, client and server */
struct script {
	struct plan plan;
	struct script_line line[SCRIPT_LINES];
	u32 lines;
	u64 end;
	u64 delay;
	char strategy[32];
	const char *expected;	/* in the text of the file */
};

/** script_parse() - false with a message on stderr. @text must stay. */
bool script_parse(struct script *s, const char *path, char *text);

void script_start(struct world *w);
void script_line(struct world *w, u32 i);

/** golden_run() - every script of a folder, in TAP. Return: how many differ. */
int golden_run(const char *dir, bool rewrite);

#endif /* BFTM_SIM_SCRIPT_H */
