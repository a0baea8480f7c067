// SPDX-License-Identifier: GPL-2.0
/*
 * Possibly φ and definitely φ, level by level (Figure 14.16). States count only the events that
 * may change φ: an execution of these is what remains of one of all events, and the other way
 * round. One level is kept, each state of it once.
 */
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "trace/levels.h"

#define STATES_MAX 1000000
/* Numbers in the states of a level, and steps of a predicate: some seconds. */
#define NUMBERS_MAX (1u << 26)
#define STEPS_MAX 10000000000ull

/* The relevant events of each host, and what is before them: how many of each host. */
struct search {
	const struct trace *t;
	const struct trace_phi *phi;
	u32 **event;
	u32 *count;
	u32 *before;	/* by event, as a vector of relevant events */
	u32 relevant;
};

/* States of a level, and a table that finds them: indices plus 1 */
struct level {
	u32 *state;
	u8 *clear;	/* reached through states where φ is false only */
	u32 count, slots;
	u32 *slot;
};

static void search_start(struct search *s)
{
	const struct trace *t = s->t;
	u32 *number = trace_zeroed(t->events, sizeof(*number)), h, i, j, at, seen;

	s->event = trace_zeroed(t->hosts, sizeof(*s->event));
	s->count = trace_zeroed(t->hosts, sizeof(*s->count));
	/* number[e]: relevant events of its host up to and with e */
	for (h = 0; h < t->hosts; h++) {
		s->event[h] = trace_zeroed(t->host[h].count, sizeof(u32));
		for (i = 0; i < t->host[h].count; i++) {
			at = t->host[h].first + i;
			if (s->phi->relevant[at])
				s->event[h][s->count[h]++] = at;
			number[at] = s->count[h];
		}
		s->relevant += s->count[h];
	}
	s->before = trace_zeroed((size_t)t->events * t->hosts, sizeof(*s->before));
	for (i = 0; i < t->events; i++)
		for (j = 0; s->phi->relevant[i] && j < t->hosts; j++) {
			seen = trace_vector(t, i, j);
			if (j != t->event[i].host && seen)
				s->before[(size_t)i * t->hosts + j] =
					number[t->host[j].first + seen - 1];
		}
	free(number);
}

static void search_finish(struct search *s)
{
	u32 h;

	for (h = 0; h < s->t->hosts; h++)
		free(s->event[h]);
	free(s->event);
	free(s->count);
	free(s->before);
}

static u32 *state_of(const struct search *s, const struct level *l, u32 i)
{
	return &l->state[(size_t)i * s->t->hosts];
}

static u32 state_hash(const u32 *state, u32 hosts)
{
	u64 h = 0x9e3779b97f4a7c15u;

	while (hosts--)
		h = (h ^ *state++) * 0xff51afd7ed558ccdu;
	return (u32)(h >> 32);
}

static void level_enlarge(const struct search *s, struct level *l)
{
	u32 i, at, slots = l->slots ? 2 * l->slots : 64, hosts = s->t->hosts;

	free(l->slot);
	l->slot = trace_zeroed(slots, sizeof(*l->slot));
	l->slots = slots;
	l->state = realloc(l->state, (size_t)slots * hosts * sizeof(*l->state));
	l->clear = realloc(l->clear, slots);
	if (!l->state || !l->clear)
		err(EX_OSERR, "memory");
	for (i = 0; i < l->count; i++) {
		for (at = state_hash(state_of(s, l, i), hosts); l->slot[at & (slots - 1)]; at++)
			;
		l->slot[at & (slots - 1)] = i + 1;
	}
}

/* Adds a state unless it is there; it is clear if one way to it is. */
static void level_reach(const struct search *s, struct level *l, const u32 *state, bool clear)
{
	u32 hosts = s->t->hosts, at, i;

	if (2 * l->count >= l->slots)
		level_enlarge(s, l);
	for (at = state_hash(state, hosts); (i = l->slot[at & (l->slots - 1)]); at++)
		if (!memcmp(state_of(s, l, i - 1), state, hosts * sizeof(*state))) {
			l->clear[i - 1] |= clear;
			return;
		}
	l->slot[at & (l->slots - 1)] = l->count + 1;
	memcpy(state_of(s, l, l->count), state, hosts * sizeof(*state));
	l->clear[l->count++] = clear;
}

/* May host @h have its next relevant event in this state? */
static bool may_step(const struct search *s, const u32 *state, u32 h)
{
	const u32 *before;
	u32 j;

	if (state[h] == s->count[h])
		return false;
	before = &s->before[(size_t)s->event[h][state[h]] * s->t->hosts];
	for (j = 0; j < s->t->hosts; j++)
		if (before[j] > state[j])
			return false;
	return true;
}

static bool level_full(const struct search *s, const struct level *l)
{
	return l->count > STATES_MAX || (u64)l->count * s->t->hosts > NUMBERS_MAX;
}

static void next_level(const struct search *s, const struct level *from, struct level *to)
{
	u32 *state = trace_zeroed(s->t->hosts, sizeof(*state)), i, h;

	for (i = 0; i < from->count && !level_full(s, to); i++) {
		memcpy(state, state_of(s, from, i), s->t->hosts * sizeof(*state));
		for (h = 0; h < s->t->hosts; h++) {
			if (!may_step(s, state, h))
				continue;
			state[h]++;
			level_reach(s, to, state, from->clear[i]);
			state[h]--;
		}
	}
	free(state);
}

/* Evaluate φ in each state of a level. Return: is there one that was reached clear of φ? */
static bool level_look(const struct search *s, struct level *l, struct trace_levels *ret)
{
	bool any = false;
	u32 i;

	ret->finally = false;
	for (i = 0; i < l->count && *s->phi->steps <= STEPS_MAX; i++) {
		if (s->phi->holds(s->phi->arg, state_of(s, l, i))) {
			l->clear[i] = false;
			ret->possibly = ret->finally = true;
		}
		any |= l->clear[i];
	}
	ret->states += l->count;
	return any;
}

static void level_drop(struct level *l)
{
	free(l->state);
	free(l->clear);
	free(l->slot);
	*l = (struct level){};
}

void trace_levels(const struct trace *t, const struct trace_phi *phi, struct trace_levels *ret)
{
	struct search s = { .t = t, .phi = phi };
	struct level now = {}, next = {};
	u32 *state = trace_zeroed(t->hosts, sizeof(*state)), i;
	bool clear;

	*ret = (struct trace_levels){};
	search_start(&s);
	level_reach(&s, &now, state, true);
	clear = level_look(&s, &now, ret);
	for (i = 0; i < s.relevant && !ret->gave_up; i++) {
		next_level(&s, &now, &next);
		level_drop(&now);
		now = next;
		next = (struct level){};
		clear = level_look(&s, &now, ret);
		ret->gave_up = ret->states > STATES_MAX || level_full(&s, &now) ||
			       *phi->steps > STEPS_MAX;
	}
	ret->definitely = !ret->gave_up && !clear;
	/* The last state is that of all events, however many states are before it. */
	ret->finally = phi->holds(phi->arg, s.count);
	level_drop(&now);
	free(state);
	search_finish(&s);
}
