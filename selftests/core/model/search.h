/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Breadth-first search of everything that can happen, so that the first
 * violation found is one of the shortest, and the story of it.
 */
#ifndef BFTM_MODEL_SEARCH_H
#define BFTM_MODEL_SEARCH_H

#include "core/types.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PACKED_MAX	96
#define WORLD_MAX	1024

/**
 * struct event - what happened between two worlds; unused fields are 0
 * @kind:    of the system's own list
 * @client:  who acts, or whom it concerns
 * @server:  likewise
 * @attempt: which attempt a message belongs to
 * @k:       which send of it
 * @type:    of the message delivered
 * @reply:   what a server answered
 * @grant:   which grant a message is about, enum grant
 * @mode:    that is asked for or told
 * @old:     the clock read showed a value one tick old
 * @won:     a client got in by this
 * @held:    a TRY or YIELD says that its client holds the lock
 * @owner_held: the owner has said so to this server
 */
struct event {
	u8 kind, client, server, attempt, k, type, reply, grant, mode;
	bool old, won, held, owner_held;
};

/** struct visitor - who is told of each world that may come next */
struct visitor {
	void (*see)(struct visitor *v, const struct event *e, const void *world);
};

/**
 * struct system - what is searched
 * @size:   bytes of a world, all of which have a meaning (no padding)
 * @packed: bytes of a packed world
 * @starts: show every world in which it may begin
 * @moves:  show every world that may come next, with what led there; always
 *          in the same order
 * @pack:   the same bytes for worlds that differ in names only
 * @unpack: one of the worlds with these bytes
 * @wrong:  what is wrong here, NULL when all is well
 * @tell:   print one line (or none) about a step
 */
struct system {
	size_t size;
	size_t packed;
	void (*starts)(struct visitor *v);
	void (*moves)(const void *world, struct visitor *v);
	void (*pack)(const void *world, u8 *packed);
	void (*unpack)(const u8 *packed, void *world);
	const char *(*wrong)(const void *world);
	void (*tell)(const void *before, const struct event *e, const void *after);
};

/** struct found - what came of a search */
struct found {
	u64 states, moves, wins, bytes;
	u32 depth;
	double seconds;
	bool full;		/* the memory was not enough */
	const char *wrong;	/* NULL when nothing is */
};

/**
 * search() - enumerate, and tell the shortest story of the first violation
 * @memory:  bytes that may be used
 * @command: that repeats it, printed with the choices of the story
 */
void search(const struct system *sys, u64 memory, const char *command,
	    struct found *ret);

/**
 * search_report() - print the line "result: ..."
 * Return: exit status: 0 all enumerated, nothing wrong; 1 a violation; 3 the memory was not enough
 */
int search_report(const struct found *f);

/**
 * replay() - tell the story of these choices ("0.3.1"), and what is wrong at its end
 * Return: exit status: 0 nothing is wrong, 1 a violation
 */
int replay(const struct system *sys, const char *choices);

#endif /* BFTM_MODEL_SEARCH_H */
