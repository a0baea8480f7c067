// SPDX-License-Identifier: GPL-2.0
/*
 * Liveness. When all faults end, whoever wants an operation gets its answer, one
 * after the other within a bound, in true time with clocks at their slowest:
 *
 *  settle   a server that restarted last is silent for Δmax (1 + ρ) + tick; what
 *           was under way arrives within δ; an old iteration ends with its
 *           time-outs, at most 15 resend a phase
 *  attempt  an iteration takes three phases and fetches bodies: 60 resend with
 *           all time-outs; then a pause of up to 256 δ
 *
 * Clients without a mutex outrank each other; pauses double, so that of a hundred
 * attempts one is alone.
 */
#include "order.h"
#include "story.h"

#define ATTEMPTS 100

/** struct awaited - operations that wait for their answer */
struct awaited {
	bool *waits;
	u32 count;
	u64 since;
	u64 serial;
};

static void *start(struct world *w)
{
	struct awaited *s = arena_take(&w->arena, sizeof(*s));

	s->waits = arena_array(&w->arena, bool, w->plan->clients);
	return s;
}

static u64 bound(const struct world *w)
{
	const struct plan *p = w->plan;
	u64 settle = 2 * p->lease_max + 60 * p->resend + p->delta;
	u64 attempt = 60 * p->resend + 256 * p->delta;

	return (settle + ATTEMPTS * attempt) / (PPM - p->rho) * PPM;
}

static void expect(struct world *w, struct awaited *s)
{
	s->since = w->now;
	s->serial++;
	if (s->count)
		check_look(w, (u32)s->serial, 0, w->now + bound(w));
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct awaited *s = state;

	switch (f->kind) {
	case FACT_SUBMIT:
		s->waits[f->client] = true;
		s->count++;
		if (w->healed && s->count == 1)
			expect(w, s);
		break;
	case FACT_ANSWERED:
	case FACT_IN_DOUBT:
		s->waits[f->client] = false;
		s->count--;
		if (w->healed)
			expect(w, s);
		break;
	case FACT_HEALED:
		expect(w, s);
		break;
	default:
		if (f->part == (u32)s->serial && s->count)
			check_fails(w, &check_answered, 0,
				    "%u operations are not answered for %s", s->count,
				    story_span(w->now - s->since));
	}
}

static void at_end(struct world *w, void *state)
{
	struct awaited *s = state;

	if (s->count && w->healed && !w->script)
		check_fails(w, &check_answered, 0, "%u operations are not answered", s->count);
}

const struct checker check_answered = {
	.name = "answered",
	.rule = "when faults end, every operation is answered within a bound",
	.facts = FACT(SUBMIT) | FACT(IN_DOUBT) | FACT(ANSWERED) | FACT(HEALED) | FACT(LOOK),
	.orders = true,
	.start = start,
	.on_fact = on_fact,
	.at_end = at_end,
};
