// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "trace/grants.h"
#include "trace/spells.h"

/* Spells times events: some seconds. */
#define WORK_MAX 10000000000ull

static struct trace_spell *spell_add(struct trace_spells *w, enum trace_mark what, u32 event, u8 mode)
{
	const struct trace_event *e = &w->t->event[event];

	w->spell = trace_grow(w->spell, w->spells, sizeof(*w->spell));
	w->spell[w->spells] = (struct trace_spell){
		.mark = what, .host = e->host, .name = e->name, .client = e->client,
		.server = e->server, .attempt = e->attempt, .from = event, .to = TRACE_NONE,
		.mode = mode,
	};
	return &w->spell[w->spells++];
}

/* The open spell of an attempt at a host, or NULL. */
static struct trace_spell *spell_open(struct trace_spells *w, enum trace_mark what, const struct trace_event *e)
{
	struct trace_spell *s;
	u32 i;

	for (i = w->spells; i-- > 0;) {
		s = &w->spell[i];
		if (s->mark == what && s->to == TRACE_NONE && s->host == e->host &&
		    s->client == e->client && s->attempt == e->attempt && s->name == e->name &&
		    (what < MARK_GRANTED || s->server == e->server))
			return s;
	}
	return NULL;
}

static void spell_end(struct trace_spells *w, enum trace_mark what, const struct trace_event *e, u32 at)
{
	struct trace_spell *s = spell_open(w, what, e);

	if (s)
		s->to = at;
}

/* A client that began anew, as the high half of its numbers says, waits for nothing of before. */
static void begin_anew(struct trace_spells *w, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	struct trace_spell *s;

	for (s = w->spell; s < w->spell + w->spells; s++)
		if (s->mark == MARK_WAITS && s->to == TRACE_NONE && s->host == e->host &&
		    s->client == e->client && s->attempt >> 32 < e->seq >> 32)
			s->to = i;
}

static void of_client(struct trace_spells *w, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	bool release = e->kind == TRACE_SEND && e->type == BFTM_MSG_RELEASE;

	if (e->kind == TRACE_SEND && !(e->type & BFTM_MSG_REPLY))
		begin_anew(w, i);
	if (e->kind == TRACE_SEND && e->type == BFTM_MSG_TRY && !spell_open(w, MARK_WAITS, e) &&
	    !spell_open(w, MARK_HOLDS, e) && !spell_open(w, MARK_OVER, e)) {
		spell_add(w, MARK_WAITS, i, e->mode);
	} else if (e->kind == TRACE_WON) {
		spell_end(w, MARK_WAITS, e, i);
		spell_end(w, MARK_HOLDS, e, i);
		spell_add(w, MARK_HOLDS, i, e->mode);
	} else if (e->kind == TRACE_LOST || e->kind == TRACE_RELEASED || release) {
		spell_end(w, MARK_WAITS, e, i);
		spell_end(w, MARK_HOLDS, e, i);
		if (!spell_open(w, MARK_OVER, e))
			spell_add(w, MARK_OVER, i, 0);
	}
}

/*
 * A server decides a request in one step, which ends with what it sends: its marks change when the
 * first datagram of the step leaves, and at the request if none does.
 */
static u32 step_of(const struct trace *t, u32 i)
{
	const struct trace_event *e = &t->event[i];
	const struct trace_host *h = &t->host[e->host];

	if (e->kind == TRACE_SEND) {
		while (t->event[i].at && t->event[i - 1].kind == TRACE_SEND)
			i--;
		return i;
	}
	return e->at + 1 < h->count && t->event[i + 1].kind == TRACE_SEND ? i + 1 : i;
}

/* Grants that the server has no more, or has for another mode, and those that are new. */
static void regrant(struct trace_spells *w, const struct trace_grants *g, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	const struct trace_grant *grant;
	struct trace_spell *s;
	u32 j, at = step_of(w->t, i);

	for (j = 0; j < w->spells; j++) {
		s = &w->spell[j];
		if (s->mark != MARK_GRANTED || s->to != TRACE_NONE || s->host != e->host ||
		    s->server != e->server || s->name != e->name)
			continue;
		grant = trace_grant_find(g, s->client, s->attempt);
		if (!grant || grant->mode != s->mode)
			s->to = at;
	}
	if (e->kind != TRACE_SEND || e->type != BFTM_MSG_FREE || spell_open(w, MARK_GRANTED, e))
		return;
	spell_add(w, MARK_GRANTED, i, e->mode)->from = at;
}

/* A new grant ends grants that exclude it: they are over, or the server lies. */
static void drop_others(struct trace_grants *g, const struct trace_event *e)
{
	struct trace_grant *x;
	u32 j;

	for (j = g->count; j-- > 0;) {
		x = &g->grant[j];
		if ((x->client != e->client || x->attempt != e->attempt) &&
		    bftm_modes_conflict((enum bftm_mode)x->mode, (enum bftm_mode)e->mode))
			trace_grant_drop(g, x);
	}
}

static void of_server(struct trace_spells *w, struct trace_grants *g, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	u32 at = step_of(w->t, i);

	if (trace_grant_step(w->t, g, i))
		drop_others(g, e);
	regrant(w, g, i);
	if (e->kind == TRACE_SEND && e->type == BFTM_MSG_WAIT && e->position &&
	    !spell_open(w, MARK_QUEUED, e))
		spell_add(w, MARK_QUEUED, i, 0)->from = at;
	else if ((e->kind == TRACE_SEND && e->type == BFTM_MSG_FREE) ||
		 (e->kind == TRACE_RECV && e->type == BFTM_MSG_RELEASE))
		spell_end(w, MARK_QUEUED, e, at);
}

bool trace_spells_build(struct trace_spells *w)
{
	const struct trace *t = w->t;
	struct trace_grants g = {};
	u32 *list, count, i;

	w->relevant = trace_zeroed(t->events, 1);
	w->number = trace_zeroed(t->events, sizeof(*w->number));
	for (i = 0; i < t->events && (u64)w->spells * t->events <= WORK_MAX; i++)
		of_client(w, i);
	list = trace_served(t, &count);
	for (i = 0; i < count && (u64)w->spells * t->events <= WORK_MAX; i++) {
		if (i && !trace_same_lock(t, list[i - 1], list[i]))
			g.count = 0;
		of_server(w, &g, list[i]);
	}
	free(list);
	free(g.grant);
	w->seen = trace_zeroed(w->spells, 1);
	return (u64)w->spells * t->events <= WORK_MAX;
}

void trace_spells_choose(struct trace_spells *w, u32 marks)
{
	u32 i, kept = 0, count = 0;

	for (i = 0; i < w->spells; i++) {
		if (!(marks >> w->spell[i].mark & 1))
			continue;
		w->spell[kept++] = w->spell[i];
		w->relevant[w->spell[i].from] = 1;
		if (w->spell[i].to != TRACE_NONE)
			w->relevant[w->spell[i].to] = 1;
	}
	w->spells = kept;
	for (i = 0; i < w->t->events; i++) {
		count = w->t->event[i].at ? count + w->relevant[i] : w->relevant[i];
		w->number[i] = count;
	}
}
