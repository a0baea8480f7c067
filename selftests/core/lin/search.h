/* SPDX-License-Identifier: GPL-2.0 */
/* The search's own; search.c says how it goes. */
#ifndef BFTM_LIN_SEARCH_H
#define BFTM_LIN_SEARCH_H

#include "model.h"

#define NOTHING UINT32_MAX

struct node {
	u32 next;
	u32 prev;
};

struct frame {
	u32 call;
	struct lin_run run;
	struct lin_undo undo;
};

struct tried {
	u64 set;
	u64 state;
};

/**
 * struct search - @window says when each must have a place at the latest, see
 *		   window.c; @node links what is left, ascending by invocation, node @calls is
 *		   head and end; @rank says what to try first
 * @left:  operations that must have a place yet
 * @depth: of @stack
 * @set:   hash of what has a place
 * @guided: look only where the order is that of versions, and where a queue holds at
 *          most so many texts that nobody saw; 0: look everywhere
 * @turns:  of a counter that only grows, or of a queue when @guided; else NULL
 * @run:    what was put last without an answer, and nobody has looked at yet
 */
struct search {
	const struct lin_model *model;
	struct lin_call *call;
	struct lin_state *state;
	u32 calls;
	u64 until;
	u32 guided;
	struct lin_window *window;
	struct node *node;
	u32 *rank;
	bool *placed;
	u32 left;
	struct lin_turns *turns;
	struct lin_run run;
	struct frame *stack;
	u32 depth;
	u64 set;
	struct tried *tried;
	u64 tried_size;
	u64 tried_count;
};

/* worth.c */

/**
 * lin_next() - of those without a place, one that may come next
 * @i:        the one before, s->calls at first
 * @returned: LIN_NEVER at first: when one of those before had its answer
 *
 * Return: s->calls at the end: all others were asked after some answer.
 */
static inline u32 lin_next(const struct search *s, u32 i, u64 *returned)
{
	i = s->node[i].next;
	if (i == s->calls || s->call[i].op->invoke_ns > *returned)
		return s->calls;
	if (s->window[i].end_ns < *returned)
		*returned = s->window[i].end_ns;
	return i;
}

/** lin_first_applied() - of what has no place yet, the one that a client applied first */
u32 lin_first_applied(const struct search *s);
/**
 * lin_is_early() - does another one of the same client's same operation as @first, or
 * an earlier one, come before call @i?
 */
bool lin_is_early(const struct search *s, u32 i, u32 first);
/** lin_is_worth_trying() - of a change without an answer: may anything depend on it? */
bool lin_is_worth_trying(const struct search *s, u32 call);
/** lin_is_out() - does something that has no place yet have to come before it? */
bool lin_is_out(struct search *s, u32 i);

#endif /* BFTM_LIN_SEARCH_H */
