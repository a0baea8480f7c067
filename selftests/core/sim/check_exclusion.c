// SPDX-License-Identifier: GPL-2.0
/*
 * Mutual exclusion, in true time: a holding begins when the client is told and
 * ends when it gives back, when its host goes down, or when its own clock shows
 * more than the deadline, whichever is first. No two of one lock overlap. Also
 * a client that is stopped holds: it may wake up and act at any moment before.
 *
 * Modes that do not exclude each other may overlap. A holding has another mode from the instant
 * at which its client is told so. A client that asks for less has stopped doing what the lesser mode
 * does not allow.
 */
#include <stdlib.h>

#include "story.h"

/** struct inside - a holding of a lock */
struct inside {
	u64 hold;	/* 0: there was none */
	u64 end_ns;	/* by the client's clock, still inside at this instant */
	u64 stopped;	/* true time at which it gave back; NEVER: not yet */
	u64 since;
	u32 client;
	enum bftm_mode mode;
};

#define INSIDES 32	/* of one lock at a time; hosts of a world with modes are few */

static void *start(struct world *w)
{
	return arena_array(&w->arena, struct inside, w->plan->locks * INSIDES);
}

static bool is_inside(const struct world *w, const struct inside *in)
{
	return in->hold && w->now < in->stopped &&
	       clock_at(&w->client[in->client].clock, w->now) <= in->end_ns;
}

/* The place of this holding, or one that is free. */
static struct inside *place_of(const struct world *w, struct inside *of_lock, u64 hold)
{
	struct inside *empty = NULL;
	u32 i;

	for (i = 0; i < INSIDES; i++) {
		if (of_lock[i].hold == hold)
			return &of_lock[i];
		if (!is_inside(w, &of_lock[i]))
			empty = &of_lock[i];
	}
	if (!empty)
		abort();
	return empty;
}

static void collide(struct world *w, const struct inside *of_lock, const struct fact *f)
{
	const struct inside *in;
	u32 i;

	for (i = 0; i < INSIDES; i++) {
		in = &of_lock[i];
		if (in->hold != f->hold && is_inside(w, in) &&
		    bftm_modes_conflict(in->mode, f->mode))
			check_fails(w, &check_exclusion, f->lock,
				    "c%u and c%u are both inside %s, in modes %s and %s: c%u has it since %s, for %s more",
				    f->client + 1, in->client + 1, story_lock(f->lock), story_mode(f->mode),
				    story_mode(in->mode), in->client + 1, story_span(in->since),
				    story_span(in->end_ns -
					       clock_at(&w->client[in->client].clock, w->now)));
	}
}

static void enter(struct world *w, struct inside *of_lock, const struct fact *f)
{
	struct inside *in = place_of(w, of_lock, f->hold);

	collide(w, of_lock, f);
	if (in->hold != f->hold)
		in->since = w->now;
	in->hold = f->hold;
	in->client = f->client;
	in->end_ns = f->end_ns;
	in->mode = f->mode;
	in->stopped = NEVER;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct inside *of_lock = (struct inside *)state + f->lock * INSIDES, *in;

	if (f->kind == FACT_WIN || f->kind == FACT_EXTEND) {
		/* One that is over when it is told is nobody's. */
		if (clock_at(&w->client[f->client].clock, w->now) <= f->end_ns)
			enter(w, of_lock, f);
		return;
	}
	in = place_of(w, of_lock, f->hold);
	if (in->hold == f->hold && f->at < in->stopped)
		in->stopped = f->at;
}

const struct checker check_exclusion = {
	.name = "exclusion",
	.rule = "no two clients are inside a lock at the same time, in modes that exclude each other",
	.facts = FACT(WIN) | FACT(EXTEND) | FACT(STOP) | FACT(OVER) | FACT(GONE),
	.start = start,
	.on_fact = on_fact,
};
