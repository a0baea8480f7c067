/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Few events change what clients and servers hold, want and grant; each of these is a mark that a
 * host sets or takes back, for a spell.
 */
#ifndef BFTM_TRACE_SPELLS_H
#define BFTM_TRACE_SPELLS_H

#include "trace/levels.h"

/** enum trace_mark - what a host has, of an attempt for a lock */
enum trace_mark {
	MARK_HOLDS,	/* its client is inside */
	MARK_WAITS,	/* its client wants it, and has not got it */
	MARK_OVER,	/* its client is through with it */
	MARK_GRANTED,	/* a server has granted it */
	MARK_QUEUED,	/* a server has told it to wait */
};

/**
 * struct trace_spell - a host has a mark
 * @mark:    enum trace_mark
 * @host:    index of the host
 * @name:    index of the lock's name
 * @client:  whose attempt it is
 * @server:  that grants or lets wait; else 0
 * @attempt: the attempt
 * @from:    event with which it begins
 * @to:      event with which it ends, TRACE_NONE for the end of the trace
 * @mode:    enum bftm_mode, where the mark has one
 */
struct trace_spell {
	enum trace_mark mark;
	u32 host, name, client, server;
	u64 attempt;
	u32 from, to;
	u8 mode;
};

/**
 * struct trace_spells - all spells of a trace
 * @t:        the trace
 * @spell:    in no order
 * @spells:   number of these
 * @relevant: events that begin or end one, a byte for each event
 * @seen:     for a search, a byte for each of @spell
 * @steps:    number of steps that predicates have taken
 * @number:   relevant events of its host up to each event
 */
struct trace_spells {
	const struct trace *t;
	struct trace_spell *spell;
	u32 spells;
	u8 *relevant, *seen;
	u64 steps;
	u32 *number;
};

/** trace_spells_build() - find the spells of @w->t; false: there are too many */
bool trace_spells_build(struct trace_spells *w);
/** trace_spells_choose() - keep spells with one of these marks, a bit mask, and number events */
void trace_spells_choose(struct trace_spells *w, u32 marks);

#endif /* BFTM_TRACE_SPELLS_H */
