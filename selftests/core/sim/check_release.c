// SPDX-License-Identifier: GPL-2.0
/*
 * Release: a correct server that hears that an attempt is over takes back what
 * that attempt had, at once, and nothing else. And in a healed world no correct
 * server believes for longer than messages travel that a dead attempt owns a
 * lock.
 */
#include "story.h"

/** struct grave - attempts that died in the healed world; @gno: a grant after that */
struct grave {
	u64 attempt;
	u32 client;
	u32 lock;
	u32 server;
	u64 gno;
};

#define GRAVES 64

struct graves {
	struct grave grave[GRAVES];
	u32 count;
};

static void *start(struct world *w)
{
	return arena_take(&w->arena, sizeof(struct graves));
}

static void released(struct world *w, const struct fact *f)
{
	const struct bftm_lock_view *b = f->before, *a = f->after;

	if (f->granted)
		check_fails(w, &check_release, f->lock,
			    "s%u was told that c%u is through with %s, and still believes in it",
			    f->server + 1, f->client + 1, story_attempt(w, f->attempt));
	if (f->waits)
		check_fails(w, &check_release, f->lock,
			    "s%u was told that c%u is through with %s, and lets it wait",
			    f->server + 1, f->client + 1, story_attempt(w, f->attempt));
	/* Of several only the strongest is seen, which a grant of this step may have changed. */
	if (b->attempt && !a->attempt && (b->attempt != f->attempt || b->client != f->client))
		check_fails(w, &check_release, f->lock,
			    "c%u is through with %s, and s%u takes %s back from c%u",
			    f->client + 1, story_attempt(w, f->attempt), f->server + 1,
			    story_lock(f->lock), b->client + 1);
}

/*
 * The last TRY left before it died and arrives within δ, as does its RELEASE.
 * Where RELEASE was faster and the tomb is full, TRY is granted or queued, and
 * a queued one granted at some later time. FREE is answered by another RELEASE:
 * 3δ after the grant. Twice that is generous. A server whose new epoch is
 * learned by that RELEASE hears it again one resend later.
 */
static u64 patience(const struct world *w)
{
	return 6 * w->plan->delta + 2 * w->plan->resend;
}

static void look(struct world *w, u32 part, struct grave *g)
{
	struct bftm_lock_view lock;
	u32 u;

	for (u = w->plan->liars; u < w->plan->n; u++) {
		const struct server *s = &w->server[u];

		if (!server_granted(w, u, g->lock, g->client, g->attempt, &lock) ||
		    clock_at(&s->clock, w->now) > lock.until_ns)
			continue;
		if (g->server == u && g->gno == lock.grant)
			check_fails(w, &check_release, g->lock,
				    "c%u was through with %s of %s long ago, and nobody told s%u",
				    g->client + 1, story_attempt(w, g->attempt),
				    story_lock(g->lock), u + 1);
		g->server = u;
		g->gno = lock.grant;
		check_look(w, part, NO_LOCK, w->now + patience(w));
		return;
	}
}

static void died(struct world *w, struct graves *s, const struct fact *f)
{
	if (!w->healed || f->part || s->count == GRAVES || !w->protocol->releases)
		return;
	s->grave[s->count] = (struct grave){
		.attempt = f->attempt, .client = f->client, .lock = f->lock,
	};
	check_look(w, s->count++, NO_LOCK, f->at + patience(w));
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct graves *s = state;

	if (f->kind == FACT_RELEASED)
		released(w, f);
	else if (f->kind == FACT_DEAD)
		died(w, s, f);
	else if (f->client == NO_LOCK)
		look(w, f->part, &s->grave[f->part]);
}

const struct checker check_release = {
	.name = "release",
	.rule = "an attempt that is over frees its own grants, and nothing else",
	.facts = FACT(RELEASED) | FACT(DEAD) | FACT(LOOK),
	.start = start,
	.on_fact = on_fact,
};
