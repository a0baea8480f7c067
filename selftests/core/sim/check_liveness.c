// SPDX-License-Identifier: GPL-2.0
/*
 * Liveness. When all faults end, at H, some clients contend for one lock, and
 * within a bound one of them is inside; then the next, until none is left.
 *
 * The bound, in true time, with clocks at their slowest (1 - ρ):
 *
 *  settle  what was sent before H arrives by H + δ; a grant or quarantine that
 *          begins by then lasts Δmax (1 + ρ) + tick by the server's clock
 *  round   a round that lost messages repeats its send after resend · 1, 2, 4,
 *          8, 8 and is given up after another 8: 31 resend
 *  sleep   at most max(2B, cap), B = Δ + 4δ
 *
 * One that contends alone loses the round in which the world settles, sleeps,
 * and then hears FREE from all correct servers, n - b >= F, within 2δ, or 4δ
 * where it learns a server's new epoch first, and one resend later where FREE
 * overtakes CHALLENGE, before which it does not count. So it wins by
 *
 *	settle + round + sleep + 4δ + resend                         (certainly)
 *
 * One that asks F servers first finds leaseless grants of dead attempts at these alone. Each further
 * round that is lost to such grants finds at least one of them at the n - F other servers. These
 * are at most half of n - b, and the bound has a round for each.
 *
 * Several that contend lose a round only when another's TRY reached a server
 * within 2δ of their own: a later one finds a winner, an earlier one wins. Each
 * period of cap + round is a new draw for all of them; Lemma 2 says that s
 * grows until draws hardly ever meet, and even with s = 1 they meet with a
 * chance below 0.7. A hundred periods in a row: 0.7^100 = 3 · 10^-16.
 *
 * In the queue there is no sleep but a poll, Δ/8, or two: every correct
 * server then knows all who wait, and all give the lock to the one with the
 * least priority, those that gave it to another after INQUIRE and YIELD, 4δ.
 * Before that may come who is in a queue and dead: nobody is for longer than
 * its poll window, Δ/2, and the last one granted has a lease. Settle is longer
 * by that window.
 *
 *  kernel  a kernel that asks for a lock by itself sends three times and hands the lock to its
 *          helper 1 + 1 + 2 resend after the first time
 *
 *  fence   a token is refused by servers that stamped a higher one. The next
 *          attempt offers one more, so each of the gap between correct servers
 *          may cost a lease, and a pause of δ. Where servers forgot their tokens, and
 *          with fewer than 5b + 1 nobody can tell them, q may not be left: then the
 *          client is refused when its lease is over, which counts as served
 *
 * The goal is 10 (Δ + 2δ) for one that contends; that holds whenever the cap of
 * the sleep lets it, and this bound says by how much it does not.
 */
#include "story.h"

#define PERIODS 100

struct waiting {
	u32 count;	/* clients that contend and are not served yet */
	u64 since;	/* when the last was served */
	u64 gap;	/* between the tokens of correct servers when it healed */
	u64 serial;	/* of the deadline that was set last */
};

static void *start(struct world *w)
{
	return arena_take(&w->arena, sizeof(struct waiting));
}

static u64 slowest(const struct world *w, u64 ns)
{
	return ns / (PPM - w->plan->rho) * PPM + PPM;
}

/*
 * Where locks are held without a lease: each member says HELLO within a second, and hears with
 * CHALLENGE that it is awaited; what it holds is told within a resend, and SYNC goes likewise. A
 * grant whose RELEASE was forgotten by a helper that was killed goes when a waiter has polled, and
 * PROBE is answered.
 */
static u64 members(const struct world *w)
{
	const struct plan *p = w->plan;

	if (!p->leaseless)
		return 0;
	return slowest(w, 2 * BFTM_NS_PER_SEC + 2 * p->resend + BFTM_PACE_NS) + 12 * p->delta;
}

static u64 bound(const struct world *w, const struct waiting *s)
{
	const struct plan *p = w->plan;
	u64 paced = p->leaseless && p->lease_max < BFTM_PACE_NS ? BFTM_PACE_NS : p->lease_max;
	u64 base = paced + 4 * p->delta;
	u64 sleep = p->retry_max > 2 * base ? p->retry_max : 2 * base;
	u64 settle = p->delta + slowest(w, 2 * p->delta + p->lease_max + BFTM_TICK_NS +
					p->lease_max * p->rho / PPM + 1) +
		     slowest(w, paced) + members(w);
	u64 fence = p->fence ? (s->gap + 2) * slowest(w, p->lease_max + 2 * p->delta) : 0;
	u64 round = slowest(w, 31 * p->resend);
	u64 poll = slowest(w, paced);
	u64 kernel = p->kernel ? slowest(w, 4 * p->resend) : 0;
	u64 decide = 8 * p->delta + slowest(w, p->resend);
	u64 unasked = p->leaseless && p->ask != ASK_ALL ? (p->n - p->b) / 2 : 0;
	u64 once = settle + kernel + (1 + unasked) * (round + slowest(w, sleep)) + decide + fence;

	if (!p->backoff && !p->no_backoff)
		return settle + kernel + poll + decide + fence;
	return s->count == 1 ? once : once + PERIODS * slowest(w, sleep + 31 * p->resend);
}

static void expect(struct world *w, struct waiting *s)
{
	s->since = w->now;
	s->serial++;
	if (s->count)
		check_look(w, (u32)s->serial, 0, w->now + bound(w, s));
}

static void on_fact(struct world *w, void *state, const struct fact *f)
{
	struct waiting *s = state;

	switch (f->kind) {
	case FACT_WANT:
		s->count++;
		if (s->count == 1)
			expect(w, s);
		break;
	case FACT_LEAVE:
		if (w->healed && s->count && !f->lock) {
			s->count--;
			expect(w, s);
		}
		break;
	case FACT_HEALED:
		s->gap = server_token_gap(w, 0);
		if (s->gap == NEVER)
			s->gap = 0;	/* then nobody asks for a token */
		expect(w, s);
		break;
	case FACT_WIN:
		if (!w->healed || f->lock || !s->count)
			break;
		s->count--;
		expect(w, s);
		break;
	default:
		if (f->client || f->part != (u32)s->serial || !s->count)
			break;
		check_fails(w, &check_liveness, 0,
			    "%u of those who contend for %s were not served for %s",
			    s->count, story_lock(0), story_span(w->now - s->since));
	}
	/* Nobody waits any more: a bit longer, for what others check. */
	if (w->healed && !s->count && !w->turns && w->end == NEVER)
		w->end = w->now + 8 * w->plan->delta + 2 * w->plan->resend +
			 w->plan->lease_max;
}

const struct checker check_liveness = {
	.name = "liveness",
	.rule = "when faults end, who contends gets in within a bound",
	.facts = FACT(WANT) | FACT(LEAVE) | FACT(HEALED) | FACT(WIN) | FACT(LOOK),
	.start = start,
	.on_fact = on_fact,
};
