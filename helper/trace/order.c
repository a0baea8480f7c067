// SPDX-License-Identifier: GPL-2.0
/*
 * Happened-before: HB1 by the order of each host, HB2 by messages, and the edges of leases. One pass
 * gives each event its Lamport number (LC1, LC2) and its vector (VC1 to VC4), which count each event.
 */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "trace/trace.h"

static u32 first_edge(const struct trace *t, u32 to)
{
	u32 from = 0, end = t->edges, mid;

	while (from < end) {
		mid = from + (end - from) / 2;
		if (t->edge[mid].to < to)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

static void vector_merge(struct trace *t, u32 into, u32 from)
{
	u32 *to = &t->vector[(size_t)into * t->hosts];
	const u32 *of = &t->vector[(size_t)from * t->hosts];
	u32 h;

	for (h = 0; h < t->hosts; h++)
		if (of[h] > to[h])
			to[h] = of[h];
	if (t->event[from].lamport >= t->event[into].lamport)
		t->event[into].lamport = t->event[from].lamport + 1;
}

/* Is all done that is before this event? Events that are done have a Lamport number. */
static bool event_step(struct trace *t, u32 i)
{
	struct trace_event *e = &t->event[i];
	u32 edge;

	if (e->from != TRACE_NONE && !t->event[e->from].lamport)
		return false;
	for (edge = first_edge(t, i); edge < t->edges && t->edge[edge].to == i; edge++)
		if (!t->event[t->edge[edge].from].lamport)
			return false;
	e->lamport = 1;
	if (e->at)
		vector_merge(t, i, i - 1);
	if (e->from != TRACE_NONE)
		vector_merge(t, i, e->from);
	for (edge = first_edge(t, i); edge < t->edges && t->edge[edge].to == i; edge++)
		vector_merge(t, i, t->edge[edge].from);
	t->vector[(size_t)i * t->hosts + e->host] = e->at + 1;
	return true;
}

bool trace_order(struct trace *t, char **ret_why)
{
	u32 *next = trace_zeroed(t->hosts, sizeof(*next));
	u32 i, h, stuck = TRACE_NONE;
	bool moved = true;

	free(t->vector);
	t->vector = trace_zeroed((size_t)t->events * t->hosts, sizeof(*t->vector));
	for (i = 0; i < t->events; i++)
		t->event[i].lamport = 0;
	while (moved) {
		moved = false;
		stuck = TRACE_NONE;
		for (h = 0; h < t->hosts; h++) {
			while (next[h] < t->host[h].count && event_step(t, t->host[h].first + next[h])) {
				next[h]++;
				moved = true;
			}
			if (next[h] < t->host[h].count)
				stuck = t->host[h].first + next[h];
		}
	}
	free(next);
	if (stuck == TRACE_NONE)
		return true;
	if (asprintf(ret_why, "event %s would have happened before itself: a file is not that of its host; --distrust SERVER leaves out that of a server that lies",
		     trace_label(t, stuck)) < 0)
		err(EX_OSERR, "memory");
	return false;
}

static const struct trace *sorted;

static int by_lamport(const void *a, const void *b)
{
	const struct trace_event *x = &sorted->event[*(const u32 *)a];
	const struct trace_event *y = &sorted->event[*(const u32 *)b];

	if (x->lamport != y->lamport)
		return x->lamport < y->lamport ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

u32 *trace_linear(const struct trace *t)
{
	u32 *list = trace_zeroed(t->events, sizeof(*list)), i;

	for (i = 0; i < t->events; i++)
		list[i] = i;
	sorted = t;
	qsort(list, t->events, sizeof(*list), by_lamport);
	return list;
}
