// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "trace/grants.h"

#define GRANTS_MAX BFTM_HOLDERS_MAX

static const struct trace *sorted;

static int by_lock(const void *a, const void *b)
{
	const struct trace_event *x = &sorted->event[*(const u32 *)a];
	const struct trace_event *y = &sorted->event[*(const u32 *)b];

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

u32 *trace_served(const struct trace *t, u32 *ret_count)
{
	u32 *list = trace_zeroed(t->events, sizeof(*list)), i, count = 0;
	const struct trace_event *e;

	for (i = 0; i < t->events; i++) {
		e = &t->event[i];
		if (e->name != TRACE_NONE &&
		    ((e->kind == TRACE_SEND && e->type & BFTM_MSG_REPLY) ||
		     (e->kind == TRACE_RECV && !(e->type & BFTM_MSG_REPLY))))
			list[count++] = i;
	}
	sorted = t;
	qsort(list, count, sizeof(*list), by_lock);
	*ret_count = count;
	return list;
}

bool trace_same_lock(const struct trace *t, u32 a, u32 b)
{
	const struct trace_event *x = &t->event[a], *y = &t->event[b];

	return x->server == y->server && x->host == y->host && x->name == y->name;
}

struct trace_grant *trace_grant_find(const struct trace_grants *g, u32 client, u64 attempt)
{
	u32 i;

	for (i = 0; i < g->count; i++)
		if (g->grant[i].client == client && g->grant[i].attempt == attempt)
			return &g->grant[i];
	return NULL;
}

void trace_grant_drop(struct trace_grants *g, struct trace_grant *one)
{
	*one = g->grant[--g->count];
}

static bool grant_add(struct trace_grants *g, const struct trace_event *e, u32 event)
{
	struct trace_grant *mine = trace_grant_find(g, e->client, e->attempt);
	bool more = !mine || mine->gno != e->gno ||
		    !bftm_mode_covers((enum bftm_mode)mine->mode, (enum bftm_mode)e->mode);

	if (!mine) {
		/* No server that keeps its rules has so many. */
		if (g->count == GRANTS_MAX)
			trace_grant_drop(g, g->grant);
		g->grant = trace_grow(g->grant, g->count, sizeof(*g->grant));
		mine = &g->grant[g->count++];
		*mine = (struct trace_grant){ .client = e->client, .attempt = e->attempt };
	}
	mine->gno = e->gno;
	mine->last = event;
	mine->mode = e->mode;
	mine->doubted = false;
	if (e->k > mine->k)
		mine->k = e->k;
	return more;
}

/* RELEASE, YIELD, and TRY of a holder that went down to a lesser mode, which it names twice. */
static void grant_end(struct trace_grants *g, const struct trace_event *e)
{
	struct trace_grant *mine = trace_grant_find(g, e->client, e->attempt);

	if (!mine)
		return;
	if (e->type == BFTM_MSG_RELEASE ||
	    (e->type == BFTM_MSG_YIELD && e->gno == mine->gno && e->kept == BFTM_MODE_NL))
		trace_grant_drop(g, mine);
	else if (e->type == BFTM_MSG_YIELD && e->gno == mine->gno)
		mine->mode = e->kept;
	else if (e->type == BFTM_MSG_TRY && e->kept == e->mode && e->k > mine->k &&
		 bftm_mode_covers((enum bftm_mode)mine->mode, (enum bftm_mode)e->mode))
		mine->mode = e->mode;
}

bool trace_grant_step(const struct trace *t, struct trace_grants *g, u32 event)
{
	const struct trace_event *e = &t->event[event];

	if (e->kind == TRACE_SEND)
		return e->type == BFTM_MSG_FREE && grant_add(g, e, event);
	grant_end(g, e);
	return false;
}
