// SPDX-License-Identifier: GPL-2.0
/* The loop of a run, in which the algorithm is told what happens. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

#define EVENTS_MAX 200000	/* of a run; a token goes round for ever when nobody gets it */

void peer_story(const struct peer_world *w, const char *format, ...)
{
	va_list args;

	if (!w->plan->trace)
		return;
	printf("%8.3f ", (double)w->now / PEER_UNIT);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void peer_break(struct peer_world *w, enum peer_rule rule, const char *why)
{
	if (!(w->broken & rule))
		peer_story(w, "BROKEN: %s", why);
	w->broken |= rule;
}

struct event *peer_push(struct peer_world *w, u64 at, enum peer_event part, u32 to, u64 arg)
{
	struct event *e = queue_push(&w->queue, at, EVENT_PEER, to);

	e->part = part;
	e->arg = arg;
	return e;
}

void peer_crash(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];
	u32 other;

	if (h->is_dead)
		return;
	peer_story(w, "%u crashes", id);
	h->is_dead = true;
	w->holders -= h->state == HELD;
	w->writers -= h->state == HELD && !h->peer.reads;
	for (other = 0; other < w->plan->n; other++)
		if (w->host[other].elected == h->peer.rank)
			peer_push(w, w->now + rng_between(&w->fault, 2 * PEER_TRANSIT,
							  4 * PEER_TRANSIT),
				  PEER_NOTICE, other, h->peer.rank);
	if (w->plan->replace)
		peer_push(w, w->now + rng_below(&w->fault, 10 * PEER_TRANSIT), PEER_REPLACE, id, 0);
}

/* After each call of the algorithm at this process. */
static void end_step(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];

	if (h->crash_step && h->steps == h->crash_step && w->step_sends)
		peer_crash(w, id);
	w->step_sends = 0;
}

void network_hear(struct peer_world *w, const struct peer_message *m)
{
	struct peer_host *h = &w->host[m->to];
	struct peer *p = &h->peer;
	u32 i;

	for (i = 0; i < p->n; i++)
		if (h->past[i] < m->past[i])
			h->past[i] = m->past[i];
	if (!(p->lacks & REPAIR_LC2) && p->clock < m->note.clock)
		p->clock = m->note.clock;
	p->clock++;
	if (m->is_tale) {
		app_tale(w, m->to);
		return;
	}
	peer_story(w, "%u hears %s of %u", m->to, w->plan->algorithm->kinds[m->note.kind], m->from);
	if (h->lies && w->plan->algorithm->lie)
		w->plan->algorithm->lie(p, m->from, &m->note);
	else
		w->plan->algorithm->hear(p, m->from, &m->note);
	end_step(w, m->to);
	if (m->is_after && !h->is_recorded)
		peer_break(w, RULE_CUT, "the cut has a message's arrival without its sending");
}

static void notice(struct peer_world *w, u32 id, u32 rank)
{
	struct peer_host *h = &w->host[id];
	u32 other;

	for (other = 0; other < w->plan->n; other++)
		if (w->host[other].peer.rank == rank && !w->host[other].is_dead)
			return;
	if (h->elected == rank)
		w->plan->algorithm->call(&h->peer, rank);
}

static void start_host(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];

	memset(h->peer.state, 0, w->plan->algorithm->size);
	if (w->plan->algorithm->start)
		w->plan->algorithm->start(&h->peer);
}

static void replace(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];

	peer_story(w, "%u is replaced", id);
	h->is_dead = h->is_cut = false;
	h->is_replaced = true;
	h->crash_step = 0;
	h->elected = PEER_NOBODY;
	start_host(w, id);
	w->plan->algorithm->call(&h->peer, PEER_NOBODY);
}

static void forget(struct peer_world *w, u32 id)
{
	peer_story(w, "%u forgets all it knew", id);
	start_host(w, id);
}

static void handle(struct peer_world *w, const struct event *e)
{
	struct peer_host *h = &w->host[e->to];

	if (e->part <= PEER_RESEND) {
		network_event(w, e->part, (u32)e->arg);
		return;
	}
	if (e->part == PEER_REPLACE)
		replace(w, e->to);
	else if (h->is_dead)
		return;
	else if (e->part == PEER_FORGET)
		forget(w, e->to);
	else if (e->part == PEER_WAKE && h->wake_at == w->now)
		w->plan->algorithm->wake(&h->peer);
	else if (e->part == PEER_ACT)
		app_act(w, e->to, e->arg);
	else if (e->part == PEER_NOTICE)
		notice(w, e->to, (u32)e->arg);
	else if (e->part == PEER_CRASH)
		peer_crash(w, e->to);
	end_step(w, e->to);
}

/* All is as new, but memory stays. */
static void begin(struct peer_world *w, const struct peer_plan *plan, u64 seed)
{
	u32 i;

	w->plan = plan;
	queue_reset(&w->queue);
	/* Streams of their own, so that one more draw of one leaves the others alone. */
	w->network.state = seed * 3;
	w->app.state = rng_next(&w->network);
	w->fault.state = rng_next(&w->app);
	w->choice.state = ~seed;
	w->now = w->messages = w->holders = w->writers = w->written = w->broken = w->step_sends = 0;
	w->is_contended = w->is_failed = false;
	w->counts = (struct peer_counts){ 0 };
	memset(w->depends, 0, sizeof(w->depends));
	memset(w->head, 0xff, sizeof(w->head));
	memset(w->tail, 0xff, sizeof(w->tail));
	for (i = 0; i < plan->n; i++) {
		void *state = w->host[i].peer.state ?: malloc(PEER_STATE_MAX);

		w->host[i] = (struct peer_host){
			.peer = { .id = i, .n = plan->n, .rank = i, .f = plan->f,
				  .servers = peer_servers(plan), .hold = peer_hold(plan),
				  .majority = plan->majority,
				  .lacks = plan->lacks, .state = state, .world = w },
			.elected = PEER_NOBODY,
		};
	}
}

u32 world_run_peers(struct peer_world *w, const struct peer_plan *plan, u64 seed)
{
	struct event e;
	u32 i, events = 0;

	begin(w, plan, seed);
	app_start(w);
	if (plan->patterns)
		pattern_apply(w, seed);
	else
		faults_draw(w);
	for (i = 0; i < plan->n; i++) {
		start_host(w, i);
		end_step(w, i);
	}
	while ((plan->until ? w->now < plan->until : !app_is_done(w)) && !(w->broken & plan->judge) &&
	       (events++ < EVENTS_MAX || plan->until) &&
	       queue_pop(&w->queue, &e)) {
		w->now = e.at;
		handle(w, &e);
	}
	check_end(w);
	return w->broken & plan->judge;
}

void world_free_peers(struct peer_world *w)
{
	u32 i;

	for (i = 0; i < PEERS_MAX; i++)
		free(w->host[i].peer.state);
	free(w->message);
	queue_free(&w->queue);
}
