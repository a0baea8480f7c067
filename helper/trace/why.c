// SPDX-License-Identifier: GPL-2.0
/* The chain of messages to an event: backwards, from what arrived last before each step. */
#include <stdlib.h>

#include "trace/trace.h"

static bool same_lock(const struct trace_event *a, const struct trace_event *b)
{
	return a->name == b->name || a->name == TRACE_NONE || b->name == TRACE_NONE;
}

/* The end of another's lease that a grant waited for, or TRACE_NONE. */
static u32 lease_before(const struct trace *t, u32 event)
{
	u32 i;

	for (i = 0; i < t->edges; i++)
		if (t->edge[i].to == event)
			return t->edge[i].from;
	return TRACE_NONE;
}

/* The cause of an event: its send, a lease that ended, or an earlier event of its host. */
static u32 event_cause(const struct trace *t, u32 event)
{
	const struct trace_event *e = &t->event[event], *old;
	u32 i, lease;

	if (e->kind == TRACE_RECV)
		return e->from;
	lease = lease_before(t, event);
	if (lease != TRACE_NONE)
		return lease;
	for (i = event; i > t->host[e->host].first;) {
		old = &t->event[--i];
		if (!same_lock(e, old))
			continue;
		/* A client sends of itself; and RELEASE because it is through with the lock. */
		if (e->kind == TRACE_SEND && !(e->type & BFTM_MSG_REPLY) &&
		    (old->kind == TRACE_SEND || old->kind == TRACE_RECV))
			continue;
		if (old->kind != TRACE_SEND)
			return i;
	}
	return TRACE_NONE;
}

/* A chain begins with the first send of an attempt, or when the holder before was inside. */
static bool chain_begins(const struct trace_event *e, bool first)
{
	return !first && (e->kind == TRACE_WON ||
			  (e->kind == TRACE_SEND && e->type == BFTM_MSG_TRY));
}

void trace_why_print(const struct trace *t, u32 event, bool json, FILE *out)
{
	u32 *chain = trace_zeroed(t->events, sizeof(*chain)), count = 0, i = event;

	while (i != TRACE_NONE && count < t->events) {
		chain[count++] = i;
		if (chain_begins(&t->event[i], i == event))
			break;
		i = event_cause(t, i);
	}
	while (count)
		trace_event_print(t, chain[--count], json, out);
	free(chain);
}
