// SPDX-License-Identifier: GPL-2.0
/*
 * Mutual exclusion, in true time: a holding begins when the client is told and
 * ends when it gives back, when its host goes down, or when its own clock shows
 * more than the deadline, whichever is first. No two of one lock overlap. Also
 * a client that is stopped holds: it may wake up and act at any moment before.
 */
#include "story.h"

/** struct inside - the last holding of a lock */
struct inside {
	u64 hold;	/* 0: there was none */
	u64 end_ns;	/* by the client's clock, still inside at this instant */
	u64 stopped;	/* true time at which it gave back; NEVER: not yet */
	u64 since;
	u32 client;
};

static void *start(struct world *w)
{
	return arena_array(&w->arena, struct inside, w->plan->locks);
}

static bool is_inside(const struct world *w, const struct inside *in)
{
	return in->hold && w->now < in->stopped &&
	       clock_at(&w->client[in->client].clock, w->now) <= in->end_ns;
}

static void enter(struct world *w, struct inside *in, const struct fact *f)
{
	u64 left;

	if (in->hold != f->hold && is_inside(w, in)) {
		left = in->end_ns - clock_at(&w->client[in->client].clock, w->now);
		check_fails(w, &check_exclusion, f->lock,
			    "c%u and c%u are both inside %s: c%u has it since %s, for %s more",
			    f->client + 1, in->client + 1, story_lock(f->lock), in->client + 1,
			    story_span(in->since), story_span(left));
	}
	if (in->hold != f->hold)
		in->since = w->now;
	in->hold = f->hold;
	in->client = f->client;
	in->end_ns = f->end_ns;
	in->stopped = NEVER;
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct inside *in = (struct inside *)state + f->lock;

	if (f->kind == FACT_WIN || f->kind == FACT_EXTEND) {
		/* One that is over when it is told is nobody's. */
		if (clock_at(&w->client[f->client].clock, w->now) <= f->end_ns)
			enter(w, in, f);
	} else if (in->hold == f->hold && f->at < in->stopped) {
		in->stopped = f->at;
	}
}

const struct checker check_exclusion = {
	.name = "exclusion",
	.rule = "no two clients are inside a lock at the same time",
	.facts = FACT(WIN) | FACT(EXTEND) | FACT(STOP) | FACT(OVER) | FACT(GONE),
	.start = start,
	.on_fact = on_fact,
};
