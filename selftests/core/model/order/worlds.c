// SPDX-License-Identifier: GPL-2.0
/* The worlds that are known, each once, with the way that leads there. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

/** struct known - a world, and the iteration that first made it */
struct known {
	struct world world;
	struct move move;
	u32 from;
};

static struct known *known;
static u32 *table;		/* number + 1 by hash, open addressing */
static u32 total, first, room, slots, at;
static u32 violation;		/* number + 1 */

u64 worlds_known, worlds_moves;

static int compare_places(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct place));
}

/* Numbers of ranks in order, without gaps. */
static void renumber_ranks(struct world *w)
{
	u8 number[256] = {}, used = 0;
	u32 u, i;

	for (u = 0; u < plan.correct; u++)
		number[w->place[u].prop] = 1;
	number[0] = 0;
	for (i = 1; i < 256; i++)
		if (number[i])
			number[i] = ++used;
	for (u = 0; u < plan.correct; u++)
		w->place[u].prop = number[w->place[u].prop];
	w->count = used;
}

/* States that nobody has and nothing was made of are forgotten. */
static void renumber_states(struct world *w)
{
	u8 number[STATES] = {}, used = 0, i, k;
	struct world old = *w;
	bool keep[STATES] = {};
	u32 u;

	for (u = 0; u < plan.correct; u++)
		keep[w->place[u].sc] = keep[w->place[u].sp] = true;
	for (i = 0; i <= STATES; i++)
		keep[w->decided[i]] = true;
	keep[w->late.state] = true;
	for (i = w->made; i; i--)
		if (keep[i])
			for (k = w->parent[i]; k; k = w->parent[k])
				keep[k] = true;
	memset(w->parent, 0, sizeof(w->parent));
	memset(w->version, 0, sizeof(w->version));
	for (i = 1; i <= old.made; i++)
		if (keep[i]) {
			number[i] = ++used;
			w->parent[used] = number[old.parent[i]];
			w->version[used] = old.version[i];
		}
	for (u = 0; u < plan.correct; u++) {
		w->place[u].sc = number[w->place[u].sc];
		w->place[u].sp = number[w->place[u].sp];
	}
	for (i = 0; i <= STATES; i++)
		w->decided[i] = number[w->decided[i]];
	w->late.state = number[w->late.state];
	w->made = used;
}

static void normalise(struct world *w)
{
	u32 u;

	renumber_states(w);
	if (!plan.late) {
		/* The next rank is higher than any: which those were does not matter. */
		renumber_ranks(w);
		for (u = 0; u < plan.correct; u++) {
			w->place[u].max = w->place[u].prop;
			w->place[u].prop_client = w->place[u].max_client = 0;
		}
	}
	qsort(w->place, plan.correct, sizeof(w->place[0]), compare_places);
}

static u64 hash(const struct world *w)
{
	const u8 *byte = (const u8 *)w;
	u64 h = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < sizeof(*w); i++)
		h = (h ^ byte[i]) * 0x100000001b3;
	return h ^ h >> 29;
}

static void grow(void)
{
	u32 i, k;

	room = room ? 2 * room : 1024;
	slots = 4 * room;
	/* cppcheck-suppress memleakOnRealloc; without memory this is the end */
	known = realloc(known, room * sizeof(*known));
	free(table);
	table = calloc(slots, sizeof(*table));
	if (!known || !table)
		errx(2, "no memory for %u worlds", room);
	for (i = 0; i < total; i++) {
		for (k = (u32)(hash(&known[i].world) % slots); table[k]; k = (k + 1) % slots)
			;
		table[k] = i + 1;
	}
}

static void add(const struct world *w, const struct move *m)
{
	bool violates = m->forks || m->invented || (m->unsure && !plan.forks);
	struct world norm = *w;
	u32 k;

	worlds_moves++;
	normalise(&norm);
	if (total == room)
		grow();
	for (k = (u32)(hash(&norm) % slots); table[k]; k = (k + 1) % slots)
		if (!violates && !memcmp(&known[table[k] - 1].world, &norm, sizeof(norm)))
			return;
	known[total] = (struct known){ .world = norm, .move = *m, .from = at };
	table[k] = ++total;
	if (violates && !violation)
		violation = total;
}

void worlds_first(void)
{
	struct world w = {};

	add(&w, &(struct move){});
	worlds_moves = 0;
	worlds_known = total;
}

static void tell_way(u32 i)
{
	if (i) {
		tell_way(known[i].from);
		story_move(&known[i].move);
	}
	story_world(&known[i].world);
}

bool worlds_next(void)
{
	u32 last = total;
	struct world w;

	for (at = first; at < last && !violation; at++) {
		w = known[at].world;	/* the array may move */
		iterate(&w, add);
	}
	first = last;
	worlds_known = total;
	if (violation)
		tell_way(violation - 1);
	return !violation;
}
