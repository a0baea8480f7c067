// SPDX-License-Identifier: GPL-2.0
/* Predicates of global states: a state has the marks of the events that its hosts have had. */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "core/quorum.h"
#include "trace/spells.h"

static bool spell_has(const struct trace_spells *w, const struct trace_spell *s, const u32 *done)
{
	return done[s->host] >= w->number[s->from] &&
	       (s->to == TRACE_NONE || done[s->host] < w->number[s->to]);
}

static bool spells_conflict(struct trace_spells *w, const struct trace_spell *a, const struct trace_spell *b)
{
	w->steps++;
	return a->name == b->name && (a->client != b->client || a->attempt != b->attempt) &&
	       bftm_modes_conflict((enum bftm_mode)a->mode, (enum bftm_mode)b->mode);
}

static bool two_holders(void *arg, const u32 *done)
{
	struct trace_spells *w = arg;
	u32 i, j;

	for (i = 0; i < w->spells; i++)
		for (j = i + 1; spell_has(w, &w->spell[i], done) && j < w->spells; j++)
			if (spells_conflict(w, &w->spell[i], &w->spell[j]) && spell_has(w, &w->spell[j], done))
				return true;
	return false;
}

/* How many servers have queued this attempt, and granted the lock to nobody? */
static u32 idle_servers(struct trace_spells *w, const struct trace_spell *waits, const u32 *done)
{
	u32 i, j, idle = 0;

	w->steps += w->spells;
	for (i = 0; i < w->spells; i++) {
		const struct trace_spell *queued = &w->spell[i], *s;

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
	struct trace_spells *w = arg;
	u32 i;

	for (i = 0; i < w->spells; i++)
		if (w->spell[i].mark == MARK_WAITS && spell_has(w, &w->spell[i], done) &&
		    idle_servers(w, &w->spell[i], done) >=
		    bftm_grants_needed(w->t->servers, w->t->b, w->t->m))
			return true;
	return false;
}

/* Does client @from wait, through others, for client @to? Depth-first, each wait once. */
static bool waits_for(struct trace_spells *w, u32 from, u32 to, const u32 *done)
{
	const struct trace_spell *a, *b;
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
	struct trace_spells *w = arg;
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
	struct trace_spells *w = arg;
	u32 i, j;

	for (i = 0; i < w->spells; i++) {
		const struct trace_spell *over = &w->spell[i], *s;
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
	struct trace_spells w = { .t = t };
	int r = 0;
	bool few;
	u32 i;

	for (i = 0; i < sizeof(phis) / sizeof(*phis) && strcmp(phis[i].name, name); i++)
		;
	if (i == sizeof(phis) / sizeof(*phis))
		r = asprintf(ret_why, "'%s': must be two-holders, waited-but-free, deadlock, ghost, cut, why, order or draw",
			     name);
	few = !r && trace_spells_build(&w);
	if (few) {
		trace_spells_choose(&w, phis[i].marks);
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
