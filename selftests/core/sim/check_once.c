// SPDX-License-Identifier: GPL-2.0
/*
 * Once is enough: a datagram reaches a core at most once (Section 3: "p2
 * receives any message m from p1 at most once"), over restarts of a server as
 * well; an attempt is begun once, over restarts of a client as well, and wins
 * at most once.
 */
#include "story.h"

#define FIRST_ROOM 4096
#define LAST_ROOM (1u << 24)

/** struct seen - a set of numbers that are as good as random, never 0 */
struct seen {
	u64 *slot;
	u32 room;
	u32 count;
	u64 *attempt;	/* the last of each client */
	u64 *won;	/* the last that won, of each client and handle */
};

static void *start(struct world *w)
{
	struct seen *s = arena_take(&w->arena, sizeof(*s));

	s->room = FIRST_ROOM;
	s->slot = arena_array(&w->arena, u64, s->room);
	s->attempt = arena_array(&w->arena, u64, w->plan->clients);
	return s;
}

static bool insert(struct seen *s, u64 key)
{
	u32 i = (u32)key & (s->room - 1);

	for (; s->slot[i]; i = (i + 1) & (s->room - 1))
		if (s->slot[i] == key)
			return false;
	s->slot[i] = key;
	s->count++;
	return true;
}

static void grow(struct world *w, struct seen *s)
{
	u64 *old = s->slot;
	u32 room = s->room, i;

	if (room >= LAST_ROOM) {
		/* In a very long scenario the distant past is forgotten. */
		memset(s->slot, 0, sizeof(*s->slot) * room);
		s->count = 0;
		return;
	}
	s->room = 4 * room;
	s->slot = arena_array(&w->arena, u64, s->room);
	s->count = 0;
	for (i = 0; i < room; i++)
		if (old[i])
			insert(s, old[i]);
}

/* True when these were not together before. 64 bits hardly ever collide. */
static bool is_new(struct world *w, struct seen *s, u64 a, u64 b, u64 c)
{
	u64 key = ((a * 0x9e3779b97f4a7c15u ^ b) * 0xbf58476d1ce4e5b9u ^ c) * 0x94d049bb133111ebu;

	key ^= key >> 32;
	if (2 * s->count > s->room)
		grow(w, s);
	return insert(s, key * 0x9e3779b97f4a7c15u | 1);
}

static void taken(struct world *w, struct seen *s, const struct fact *f)
{
	if (is_new(w, s, f->receiver << 8 | 1, f->sender, f->seq))
		return;
	if (f->receiver < BFTM_SERVERS_MAX)
		check_fails(w, &check_once, f->lock,
			    "s%u decides a datagram of c%u for the second time (number %llu)",
			    f->server + 1, f->client + 1, (unsigned long long)f->seq);
	else
		check_fails(w, &check_once, NO_LOCK,
			    "c%u believes a datagram of s%u for the second time (number %llu)",
			    f->client + 1, f->server + 1, (unsigned long long)f->seq);
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct seen *s = state;

	switch (f->kind) {
	case FACT_TAKEN:
		taken(w, s, f);
		break;
	case FACT_ATTEMPT:
		if (f->attempt <= s->attempt[f->client])
			check_fails(w, &check_once, f->lock,
				    "c%u uses number %s for an attempt, and did so before",
				    f->client + 1, story_attempt(w, f->attempt));
		s->attempt[f->client] = f->attempt;
		break;
	default:
		if (!is_new(w, s, 2, f->client, f->attempt))
			check_fails(w, &check_once, f->lock, "c%u wins with attempt %s again",
				    f->client + 1, story_attempt(w, f->attempt));
	}
}

const struct checker check_once = {
	.name = "once",
	.rule = "a datagram is taken, an attempt begun and won, at most once",
	.facts = FACT(TAKEN) | FACT(ATTEMPT) | FACT(WIN),
	.start = start,
	.on_fact = on_fact,
};
