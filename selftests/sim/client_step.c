// SPDX-License-Identifier: GPL-2.0
/* Steps of a client: what its core decides, and what comes of it. */
#include "story.h"

/* The timer of the operation; it comes early when rates change, and late anyway. */
void client_arm(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct event *e;
	u64 at;

	if (h->contend.phase == BFTM_PHASE_DEAD)
		return;
	at = clock_when(&c->clock, h->contend.wake_ns, w->now);
	if (h->wake_at <= at)
		return;
	h->wake_at = at;
	e = queue_push(&w->queue, at, EVENT_WAKE, x);
	e->part = i;
	e->stamp = c->stamp;
}

static void tell_round(struct world *w, u32 x, const struct handle *h, const struct bftm_out *out)
{
	if (out->verdict == BFTM_WON || !out->round_over)
		return;
	tell(w, h->lock, "c%u loses the round for %s: FREE from %s, LOCKED from %s; sleeps %s",
	     x + 1, story_lock(h->lock), story_servers(w, out->said_free),
	     story_servers(w, out->said_locked),
	     h->contend.phase == BFTM_PHASE_BACKOFF ?
		story_span(h->contend.wake_ns - client_look(w, &w->client[x])) : "no more");
}

void client_obey(struct world *w, u32 x, u32 i, const struct bftm_out *out)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	w->stats.rounds += out->round_over;
	if (w->story)
		tell_round(w, x, h, out);
	client_stall(w, c);
	if (out->verdict == BFTM_LAPSED || out->verdict == BFTM_REFUSED)
		app_failed(w, x, i, out->verdict);
	if (out->release_to)
		client_release(w, x, h->lock, out->release_attempt, out->release_to);
	if (out->try_to)
		client_try(w, c, h, out->try_to);
	if (out->verdict == BFTM_LOST_ROUND || out->verdict == BFTM_UNREACHABLE)
		app_failed(w, x, i, out->verdict);
	client_arm(w, x, i);
	if (out->verdict == BFTM_WON)
		app_won(w, x, i);
}

void client_watch(struct world *w, u32 x, u32 i, u64 before, enum bftm_phase phase)
{
	const struct handle *h = &w->client[x].handle[i];
	struct fact f = { .client = x, .lock = h->lock, .at = w->now };

	if ((phase == BFTM_PHASE_TRY || phase == BFTM_PHASE_HOLD) &&
	    (h->contend.attempt != before || h->contend.phase == BFTM_PHASE_DEAD ||
	     h->contend.phase == BFTM_PHASE_BACKOFF)) {
		f.kind = FACT_DEAD;
		f.attempt = before;
		check_fact(w, &f);
	}
	if (h->contend.attempt != before) {
		f.kind = FACT_ATTEMPT;
		f.attempt = h->contend.attempt;
		check_fact(w, &f);
	}
}

void client_watch_hold(struct world *w, u32 x, u32 i, enum bftm_verdict verdict, u64 now)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct fact f = {
		.client = x, .lock = h->lock, .at = w->now, .attempt = h->contend.attempt,
		.now_ns = now,
	};

	if (h->contend.phase != BFTM_PHASE_HOLD)
		return;
	f.end_ns = w->protocol->end(&h->contend, &w->cfg);
	if (verdict == BFTM_WON) {
		h->hold = ++w->holds;
		w->stats.wins++;
		f.kind = FACT_WIN;
		tell(w, h->lock, "c%u has %s, for %s", x + 1, story_lock(h->lock),
		     story_span(f.end_ns > now ? f.end_ns - now : 0));
	} else {
		if (f.end_ns == h->known_end_ns)
			return;
		f.kind = FACT_EXTEND;
		tell(w, h->lock, "c%u has %s for %s more", x + 1, story_lock(h->lock),
		     story_span(f.end_ns - h->known_end_ns));
	}
	h->known_end_ns = f.end_ns;
	f.hold = h->hold;
	check_fact(w, &f);
}

void client_begin(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	struct bftm_out out;
	u64 now = client_look(w, c), before = h->contend.attempt;

	client_stall(w, c);
	w->protocol->start(&h->contend, &w->cfg, &h->want, ++c->attempt, now, &out);
	client_watch(w, x, i, before, BFTM_PHASE_DEAD);
	tell(w, h->lock, "c%u wants %s for %s", x + 1, story_lock(h->lock),
	     story_span(h->want.lease_ns));
	client_obey(w, x, i, &out);
	client_done(w, c);
}

void client_end(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->contend.phase;
	u64 before = h->contend.attempt;
	struct bftm_out out;

	/* Stop using the resource first; then say so. */
	if (h->hold) {
		check_fact(w, &(struct fact){
			.kind = FACT_STOP, .client = x, .lock = h->lock, .hold = h->hold,
			.at = w->now + c->lag,
		});
		tell_at(w, h->lock, w->now + c->lag, "c%u gives %s back", x + 1,
			story_lock(h->lock));
	}
	h->hold = 0;
	client_stall(w, c);
	w->protocol->stop(&h->contend, &w->cfg, &out);
	client_watch(w, x, i, before, phase);
	if (out.release_to)
		client_release(w, x, h->lock, out.release_attempt, out.release_to);
	client_done(w, c);
}

void client_wake(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	enum bftm_phase phase = h->contend.phase;
	u64 now = client_look(w, c), before = h->contend.attempt, attempt = 0;
	struct bftm_out out;

	h->wake_at = NEVER;
	client_stall(w, c);
	if (phase == BFTM_PHASE_BACKOFF && now >= h->contend.wake_ns)
		attempt = ++c->attempt;
	w->protocol->wake(&h->contend, &w->cfg, now, attempt, rng_next(&w->rng[RNG_CLIENT]), &out);
	client_watch(w, x, i, before, phase);
	client_watch_hold(w, x, i, out.verdict, now);
	client_obey(w, x, i, &out);
	client_done(w, c);
}
