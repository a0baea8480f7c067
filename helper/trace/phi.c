// SPDX-License-Identifier: GPL-2.0
/*
 * Predicates of global states. Few events change what clients and servers hold, want and
 * grant; each of these is a mark that a host sets or takes back, and a state has the marks of the
 * events that its hosts have had.
 */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "core/quorum.h"
#include "trace/grants.h"

/* Spells times events: some seconds. */
#define WORK_MAX 10000000000ull

/* enum mark - what a host has, of an attempt for a lock */
enum mark {
	MARK_HOLDS,	/* its client is inside */
	MARK_WAITS,	/* its client wants it, and has not got it */
	MARK_OVER,	/* its client is through with it */
	MARK_GRANTED,	/* a server has granted it */
	MARK_QUEUED,	/* a server has told it to wait */
};

/* A host has a mark from event @from until event @to, TRACE_NONE for the end of the trace. */
struct spell {
	enum mark mark;
	u32 host, name, client, server;
	u64 attempt;
	u32 from, to;
	u8 mode;
};

struct world {
	const struct trace *t;
	struct spell *spell;
	u32 spells;
	u8 *relevant, *seen;
	u64 steps;
	u32 *number;	/* relevant events of its host up to each event */
};

static struct spell *spell_add(struct world *w, enum mark what, u32 event, u8 mode)
{
	const struct trace_event *e = &w->t->event[event];

	w->spell = trace_grow(w->spell, w->spells, sizeof(*w->spell));
	w->spell[w->spells] = (struct spell){
		.mark = what, .host = e->host, .name = e->name, .client = e->client,
		.server = e->server, .attempt = e->attempt, .from = event, .to = TRACE_NONE,
		.mode = mode,
	};
	return &w->spell[w->spells++];
}

/* The open spell of an attempt at a host, or NULL. */
static struct spell *spell_open(struct world *w, enum mark what, const struct trace_event *e)
{
	struct spell *s;
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

static void spell_end(struct world *w, enum mark what, const struct trace_event *e, u32 at)
{
	struct spell *s = spell_open(w, what, e);

	if (s)
		s->to = at;
}

/* A client that began anew, as the high half of its numbers says, waits for nothing of before. */
static void begin_anew(struct world *w, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	struct spell *s;

	for (s = w->spell; s < w->spell + w->spells; s++)
		if (s->mark == MARK_WAITS && s->to == TRACE_NONE && s->host == e->host &&
		    s->client == e->client && s->attempt >> 32 < e->seq >> 32)
			s->to = i;
}

static void of_client(struct world *w, u32 i)
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
static void regrant(struct world *w, const struct trace_grants *g, u32 i)
{
	const struct trace_event *e = &w->t->event[i];
	const struct trace_grant *grant;
	struct spell *s;
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

static void of_server(struct world *w, struct trace_grants *g, u32 i)
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

/* Return: false if there are too many. */
static bool spells_build(struct world *w)
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

/* Events count that begin or end a spell with one of these marks. */
static void spells_choose(struct world *w, u32 marks)
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

static bool spell_has(const struct world *w, const struct spell *s, const u32 *done)
{
	return done[s->host] >= w->number[s->from] &&
	       (s->to == TRACE_NONE || done[s->host] < w->number[s->to]);
}

static bool spells_conflict(struct world *w, const struct spell *a, const struct spell *b)
{
	w->steps++;
	return a->name == b->name && (a->client != b->client || a->attempt != b->attempt) &&
	       bftm_modes_conflict((enum bftm_mode)a->mode, (enum bftm_mode)b->mode);
}

static bool two_holders(void *arg, const u32 *done)
{
	struct world *w = arg;
	u32 i, j;

	for (i = 0; i < w->spells; i++)
		for (j = i + 1; spell_has(w, &w->spell[i], done) && j < w->spells; j++)
			if (spells_conflict(w, &w->spell[i], &w->spell[j]) && spell_has(w, &w->spell[j], done))
				return true;
	return false;
}

/* How many servers have queued this attempt, and granted the lock to nobody? */
static u32 idle_servers(struct world *w, const struct spell *waits, const u32 *done)
{
	u32 i, j, idle = 0;

	w->steps += w->spells;
	for (i = 0; i < w->spells; i++) {
		const struct spell *queued = &w->spell[i], *s;

		if (queued->mark != MARK_QUEUED || queued->name != waits->name ||
		    queued->client != waits->client || queued->attempt != waits->attempt ||
		    !spell_has(w, queued, done))
			continue;
		w->steps += w->spells;
		for (j = 0; j < w->spells; j++) {
			s = &w->spell[j];
			if (s->mark == MARK_GRANTED && s->host == queued->host &&
			    s->server == queued->server && s->name == queued->name && spell_has(w, s, done))
				break;
		}
		idle += j == w->spells;
	}
	return idle;
}

static bool waited_but_free(void *arg, const u32 *done)
{
	struct world *w = arg;
	u32 i;

	for (i = 0; i < w->spells; i++)
		if (w->spell[i].mark == MARK_WAITS && spell_has(w, &w->spell[i], done) &&
		    idle_servers(w, &w->spell[i], done) >=
		    bftm_grants_needed(w->t->servers, w->t->b, w->t->m))
			return true;
	return false;
}

/* Does client @from wait, through others, for client @to? Depth-first, each wait once. */
static bool waits_for(struct world *w, u32 from, u32 to, const u32 *done)
{
	const struct spell *a, *b;
	u32 i, j;

	w->steps += w->spells;
	for (i = 0; i < w->spells; i++) {
		a = &w->spell[i];
		if (w->seen[i] || a->mark != MARK_WAITS || a->client != from || !spell_has(w, a, done))
			continue;
		w->seen[i] = 1;
		for (j = 0; j < w->spells; j++) {
			b = &w->spell[j];
			if (b->mark != MARK_HOLDS || b->client == from || !spells_conflict(w, a, b) ||
			    !spell_has(w, b, done))
				continue;
			if (b->client == to || waits_for(w, b->client, to, done))
				return true;
		}
	}
	return false;
}

static bool deadlock(void *arg, const u32 *done)
{
	struct world *w = arg;
	u32 i;

	for (i = 0; i < w->spells; i++) {
		if (w->spell[i].mark != MARK_HOLDS || !spell_has(w, &w->spell[i], done))
			continue;
		memset(w->seen, 0, w->spells);
		if (waits_for(w, w->spell[i].client, w->spell[i].client, done))
			return true;
	}
	return false;
}

static bool ghost(void *arg, const u32 *done)
{
	struct world *w = arg;
	u32 i, j;

	for (i = 0; i < w->spells; i++) {
		const struct spell *over = &w->spell[i], *s;
		u32 servers = 0;

		if (over->mark != MARK_OVER || !spell_has(w, over, done))
			continue;
		w->steps += w->spells;
		for (j = 0; j < w->spells; j++) {
			s = &w->spell[j];
			servers += s->mark == MARK_GRANTED && s->name == over->name &&
				   s->client == over->client && s->attempt == over->attempt &&
				   spell_has(w, s, done);
		}
		if (servers >= bftm_grants_needed(w->t->servers, w->t->b, w->t->m))
			return true;
	}
	return false;
}

static const struct {
	const char *name;
	u32 marks;
	bool (*holds)(void *arg, const u32 *done);
} phis[] = {
	{ "two-holders", 1 << MARK_HOLDS, two_holders },
	{ "waited-but-free", 1 << MARK_WAITS | 1 << MARK_QUEUED | 1 << MARK_GRANTED,
	  waited_but_free },
	{ "deadlock", 1 << MARK_HOLDS | 1 << MARK_WAITS, deadlock },
	{ "ghost", 1 << MARK_OVER | 1 << MARK_GRANTED, ghost },
};

bool trace_phi(const struct trace *t, const char *name, struct trace_levels *ret, char **ret_why)
{
	struct world w = { .t = t };
	int r = 0;
	bool few;
	u32 i;

	for (i = 0; i < sizeof(phis) / sizeof(*phis) && strcmp(phis[i].name, name); i++)
		;
	if (i == sizeof(phis) / sizeof(*phis))
		r = asprintf(ret_why, "'%s': must be two-holders, waited-but-free, deadlock, ghost, cut, why, order or draw",
			     name);
	few = !r && spells_build(&w);
	if (few) {
		spells_choose(&w, phis[i].marks);
		trace_levels(t, &(struct trace_phi){
			.relevant = w.relevant, .holds = phis[i].holds, .arg = &w, .steps = &w.steps,
		}, ret);
	} else if (!r) {
		r = asprintf(ret_why, "%s: too many attempts for the %u events: cut the files to less time",
			     name, t->events);
	}
	if (r < 0)
		err(EX_OSERR, "memory");
	free(w.spell);
	free(w.relevant);
	free(w.seen);
	free(w.number);
	return few;
}
