/* SPDX-License-Identifier: GPL-2.0 */
/* Predicates of global states, and the search for states in which they are true. */
#ifndef BFTM_TRACE_LEVELS_H
#define BFTM_TRACE_LEVELS_H

#include "trace/trace.h"

/* levels.c */

/**
 * struct trace_phi - a predicate of global states
 * @relevant: events that may change it, a byte for each event
 * @holds:    is it true when host h has had its first @done[h] relevant events?
 * @arg:      for @holds
 * @steps:    number of steps that @holds has taken
 */
struct trace_phi {
	const u8 *relevant;
	bool (*holds)(void *arg, const u32 *done);
	void *arg;
	const u64 *steps;
};

/**
 * struct trace_levels - what a search found
 * @states:   number of states that were looked at
 * @gave_up:  there are more than a million states, or they take too long. Then @definitely says
 *            nothing, and @possibly only if it is true
 * @possibly: in one state at least, Section 14.6.2
 * @definitely: in a state of each order of events, Section 14.6.2
 * @finally:  true when all that was recorded has happened
 */
struct trace_levels {
	u64 states;
	bool gave_up, possibly, definitely, finally;
};

/** trace_levels() - search level by level, Figure 14.16 */
void trace_levels(const struct trace *t, const struct trace_phi *phi, struct trace_levels *ret);

/* phi.c */

/**
 * trace_phi() - search by the name of a predicate
 * @t:    after trace_holds() and trace_order()
 * @name: "two-holders", "waited-but-free", "deadlock" or "ghost"
 * @ret:  what was found
 * @ret_why: says in words what is wrong, to be freed
 * Return: false if no predicate has this name, or the trace is too large for it.
 */
bool trace_phi(const struct trace *t, const char *name, struct trace_levels *ret, char **ret_why);

#endif /* BFTM_TRACE_LEVELS_H */
