// SPDX-License-Identifier: GPL-2.0
/*
 * Fairness of the queue, when all faults have ended and all that was granted or
 * in quarantine then is over. A client that asks at T has its place at every correct server
 * by T + δ, and their reports of its priority are under way by then. From T + 2δ
 * on, each of the others gets in
 *
 *  - with the attempt that it began before, and
 *  - with the next, if all that made it win the one before was said before T + δ.
 *
 * To the one after that it has heard, by F FREE of which F - b >= b + 1 come of
 * correct servers, of priorities as high as that of the one that waits; so it
 * takes a higher one. And no correct server gives a higher one what a lower one
 * waits for. So while one of m waits, the others get in 2 (m - 1) times.
 *
 * A request with a token, or by back-off, has no such place: a holder that
 * finds no token in time asks with another attempt. If the kernel's attempt is
 * lost, T is when the helper asks.
 */
#include "story.h"

/** struct place - of a client that waits */
struct place {
	bool waits;
	bool counts;	/* the rule holds for this wait */
	u64 from;	/* true time at which counting begins */
	u32 passed;	/* others got in since */
	u32 all;	/* … since it asked */
	u64 wins;
};

struct fairness {
	struct place *place;	/* by client */
	u32 contenders;
};

static void *start(struct world *w)
{
	struct fairness *s = arena_take(&w->arena, sizeof(*s));

	s->place = arena_array(&w->arena, struct place, w->plan->clients);
	if (w->plan->fair)
		s->contenders = w->plan->clients;
	return s;
}

/* As "settle" of check_liveness.c. */
u64 check_settled(const struct world *w)
{
	const struct plan *p = w->plan;
	u64 ns = 2 * p->delta + 2 * p->lease_max + BFTM_TICK_NS + p->lease_max * p->rho / PPM + 1;

	return (w->healed ? w->heal_at : 0) + p->delta + ns / (PPM - p->rho) * PPM + PPM;
}

static void asks(struct world *w, struct place *me, bool fair)
{
	me->waits = true;
	me->counts = fair && w->now > check_settled(w);
	me->from = w->now + 2 * w->plan->delta;
	me->passed = 0;
	me->all = 0;
}

static void wins(struct world *w, struct fairness *s, const struct fact *f)
{
	struct place *p;

	s->place[f->client].waits = false;
	s->place[f->client].wins++;
	for (p = s->place; p < s->place + w->plan->clients; p++) {
		if (!p->waits)
			continue;
		p->all++;
		p->passed += w->now > p->from;
		if (w->now > check_settled(w) && p->all > w->stats.worst_wait)
			w->stats.worst_wait = p->all;
		if (p->counts && p->passed > 2 * (s->contenders - 1))
			check_fails(w, &check_fairness, f->lock,
				    "c%u waits in the queue for %s, and others got in %u times",
				    (u32)(p - s->place) + 1, story_lock(f->lock), p->passed);
	}
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct fairness *s = state;
	struct place *me = &s->place[f->client];

	if (f->lock || !(w->healed || w->plan->fair))
		return;
	switch (f->kind) {
	case FACT_WANT:
		s->contenders += !w->plan->fair && f->at == w->heal_at;
		asks(w, me, f->fair);
		break;
	case FACT_QUEUED:
		if (w->healed)
			asks(w, me, f->fair);
		break;
	case FACT_ATTEMPT:
		/* Of back-off there are many until one wins. */
		if (!w->healed && !me->waits)
			asks(w, me, !w->plan->backoff);
		break;
	case FACT_WIN:
		wins(w, s, f);
		break;
	case FACT_DEAD:
		/* Some do not want it any more when the world heals. */
		me->waits &= !w->healed;
		break;
	default:
		me->waits = false;
	}
}

/* Jain, Chiu, Hawe 1984: (Σ x)² / n Σ x², 1 when all are served equally often. */
static void at_end(struct world *w, void *state)
{
	const struct place *p = ((struct fairness *)state)->place;
	u64 sum = 0, squares = 0;
	u32 x;

	for (x = 0; x < w->plan->clients; x++) {
		sum += p[x].wins;
		squares += p[x].wins * p[x].wins;
	}
	if (!w->plan->fair || !sum)
		return;
	w->stats.jains++;
	w->stats.jain_ppm += (u64)((double)sum * (double)sum * PPM / w->plan->clients /
				   (double)squares);
}

const struct checker check_fairness = {
	.name = "fairness",
	.rule = "in a healed world others pass who waits in the queue twice at most",
	.facts = FACT(WANT) | FACT(QUEUED) | FACT(ATTEMPT) | FACT(WIN) | FACT(LEAVE) | FACT(DEAD),
	.start = start,
	.on_fact = on_fact,
	.at_end = at_end,
};
