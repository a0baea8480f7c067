// SPDX-License-Identifier: GPL-2.0
/*
 * Two holders at once: no lattice is needed, since a holding is an interval of its host. Two
 * of them possibly overlap if neither ended before the other began, and definitely if each
 * began before the other ended.
 */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "trace/trace.h"

const char *trace_verdict_name(enum trace_verdict verdict)
{
	static const char *const names[] = {
		[TRACE_NO] = "no", [TRACE_NO_BY_LEASES] = "no, if clocks keep rho",
		[TRACE_POSSIBLY] = "possibly", [TRACE_DEFINITELY] = "definitely",
	};

	return names[verdict];
}

static bool ended_before(const struct trace *t, const struct trace_hold *a,
			 const struct trace_hold *b)
{
	return a->end != TRACE_NONE && trace_before(t, a->end, b->won);
}

/* A lock that is held when the trace ends is held in the last state of all. */
static bool began_before_end(const struct trace *t, const struct trace_hold *a,
			     const struct trace_hold *b)
{
	return b->end == TRACE_NONE || trace_before(t, a->won, b->end);
}

static enum trace_verdict pair_judge(const struct trace *t, const struct trace_hold *a,
				const struct trace_hold *b)
{
	if (ended_before(t, a, b) || ended_before(t, b, a))
		return TRACE_NO;
	return began_before_end(t, a, b) && began_before_end(t, b, a) ? TRACE_DEFINITELY :
									TRACE_POSSIBLY;
}

static bool excluded(const struct trace *t, const struct trace_hold *a,
		     const struct trace_hold *b)
{
	const struct trace_event *won_a = &t->event[a->won], *won_b = &t->event[b->won];

	return (!bftm_modes_conflict((enum bftm_mode)a->mode, (enum bftm_mode)b->mode)) ||
	       won_a->name != won_b->name ||
	       (won_a->client == won_b->client && won_a->attempt == won_b->attempt);
}

/* Section 14.6.5: could the two have been at the same real time? */
static bool clocks_exclude(const struct trace *t, const struct trace_hold *a,
			   const struct trace_hold *b, u64 within)
{
	if (a->end != TRACE_NONE && t->event[a->end].wall + within <= t->event[b->won].wall)
		return true;
	return b->end != TRACE_NONE && t->event[b->end].wall + within <= t->event[a->won].wall;
}

/* Return: false if there are too many. */
static bool pairs_collect(const struct trace *t, u64 within, struct trace_pairs *p)
{
	enum trace_verdict verdict;
	u32 a, b;

	for (a = 0; a < t->holds; a++)
		for (b = a + 1; b < t->holds; b++) {
			if (excluded(t, &t->hold[a], &t->hold[b]))
				continue;
			verdict = pair_judge(t, &t->hold[a], &t->hold[b]);
			if (verdict == TRACE_NO ||
			    (within && clocks_exclude(t, &t->hold[a], &t->hold[b], within)))
				continue;
			if (p->count == TRACE_PAIRS_MAX)
				return false;
			p->found = trace_grow(p->found, p->count, sizeof(*p->found));
			p->found[p->count++] = (struct trace_pair){
				.a = a, .b = b, .verdict = verdict,
			};
		}
	return true;
}

/* The server whose lease orders them: the edge from the one to a grant to the other. */
static u32 lease_server(const struct trace *t, const struct trace_hold *a,
			const struct trace_hold *b)
{
	u32 i;

	for (i = 0; i < t->edges; i++)
		if ((t->edge[i].from == a->end || (a->end != TRACE_NONE &&
						   trace_before(t, a->end, t->edge[i].from))) &&
		    trace_before(t, t->edge[i].to, b->won))
			return t->edge[i].server;
	return 0;
}

static void name_server(const struct trace *t, struct trace_pair *p)
{
	p->server = lease_server(t, &t->hold[p->a], &t->hold[p->b]);
	if (!p->server)
		p->server = lease_server(t, &t->hold[p->b], &t->hold[p->a]);
}

bool trace_two_holders(struct trace *t, bool no_leases, u64 within, struct trace_pairs *ret,
		       char **ret_why)
{
	u32 i;

	*ret = (struct trace_pairs){ .verdict = TRACE_NO };
	t->edges = 0;
	if (!trace_order(t, ret_why))
		return false;
	if (!pairs_collect(t, within, ret)) {
		free(ret->found);
		if (asprintf(ret_why, "more than %u pairs of holdings are in no order: cut the files to less time, or add those of servers",
			     TRACE_PAIRS_MAX) < 0)
			err(EX_OSERR, "memory");
		return false;
	}
	if (!no_leases) {
		trace_leases(t);
		for (i = 0; i < ret->count; i++)
			ret->found[i].verdict = pair_judge(t, &t->hold[ret->found[i].a],
						     &t->hold[ret->found[i].b]);
	}
	for (i = 0; i < ret->count; i++) {
		if (ret->found[i].verdict == TRACE_NO) {
			ret->found[i].verdict = TRACE_NO_BY_LEASES;
			name_server(t, &ret->found[i]);
		}
		if (ret->found[i].verdict > ret->verdict)
			ret->verdict = ret->found[i].verdict;
	}
	return true;
}
