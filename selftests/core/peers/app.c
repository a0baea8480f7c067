// SPDX-License-Identifier: GPL-2.0
/* Applications, by task: what they ask of the algorithm, and when. */
#include "world.h"

#define THINK (4 * PEER_UNIT)		/* ticks: the longest between two wishes to enter */
#define CASTING (3 * PEER_UNIT)		/* … the mean between two casts */

static bool is_client(const struct peer_plan *plan, u32 id)
{
	return id >= peer_servers(plan) && plan->wanting >> (id < 64 ? id : 63) & 1;
}

static void think(struct peer_world *w, u32 id)
{
	u64 ticks = w->plan->exact ? id * w->plan->stagger : rng_below(&w->app, THINK);

	if (is_client(w->plan, id) && w->host[id].entered < w->plan->entries)
		peer_push(w, w->now + ticks, PEER_ACT, id, 0);
}

static void draw_ranks(struct peer_world *w)
{
	u32 i, j, rank;

	for (i = 1; i < w->plan->n; i++) {
		j = (u32)rng_below(&w->app, i + 1);
		rank = w->host[i].peer.rank;
		w->host[i].peer.rank = w->host[j].peer.rank;
		w->host[j].peer.rank = rank;
	}
}

/* Processes @calls call an election within so many ticks. */
static void start_calls(struct peer_world *w, u64 calls, u64 within)
{
	u32 id;

	for (id = 0; id < w->plan->n; id++)
		if (calls >> id & 1)
			peer_push(w, rng_below(&w->app, within), PEER_ACT, id, 0);
}

/* The process of the largest rank is elected, and crashes. */
static void start_with_elected(struct peer_world *w)
{
	u32 n = w->plan->n, id;

	for (id = 0; id < n; id++)
		w->host[id].elected = n - 1;
	if (w->plan->exact)
		w->host[n - 1].is_dead = true;
	else
		peer_push(w, rng_below(&w->app, PEER_UNIT), PEER_CRASH, n - 1, 0);
}

static void start_election(struct peer_world *w)
{
	u32 n = w->plan->n, some = (u32)rng_between(&w->app, 1, (1u << n) - 1);
	bool has_elected = w->plan->algorithm->assumes & ASSUME_SYNC;

	if (has_elected)
		start_with_elected(w);
	if (w->plan->exact) {
		start_calls(w, w->plan->wanting, 1);
	} else if (!has_elected) {
		draw_ranks(w);
		start_calls(w, some, 2 * n * PEER_UNIT);
	}
}

static void start_casts(struct peer_world *w, u32 id)
{
	u32 i;

	for (i = 0; i < w->plan->casts && w->plan->wanting >> id & 1; i++)
		peer_push(w, w->plan->exact ? 0 : rng_below(&w->app, CASTING * w->plan->casts),
			  PEER_ACT, id, id * w->plan->casts + i);
}

void app_start(struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;
	u32 id;

	if (plan->algorithm->task == TASK_ELECTION)
		start_election(w);
	for (id = 0; id < plan->n; id++) {
		if (plan->algorithm->task == TASK_MUTEX)
			think(w, id);
		else if (plan->algorithm->task == TASK_MULTICAST)
			start_casts(w, id);
		else if (plan->algorithm->task == TASK_SNAPSHOT)
			start_casts(w, id);
		else if (plan->algorithm->task == TASK_AGREEMENT)
			peer_push(w, 0, PEER_ACT, id, 0);
		w->value[id] = id;
	}
	if (plan->algorithm->task == TASK_SNAPSHOT)
		peer_push(w, rng_below(&w->app, CASTING * plan->casts), PEER_ACT,
			  (u32)rng_below(&w->app, plan->n), CASTS_MAX);
}

/* … that this process wants to enter; by a message of the application. */
static void tell_somebody(struct peer_world *w, u32 id)
{
	struct peer_note note = { .clock = ++w->host[id].peer.clock };
	u32 to = (u32)rng_below(&w->app, w->plan->n);

	if (to != id)
		network_send(w, id, to, &note, true);
}

static void want(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];

	peer_story(w, "%u wants to enter", id);
	h->state = WANTED;
	h->past[id]++;
	memcpy(h->request, h->past, sizeof(h->request));
	w->wanted_at[id] = w->now;
	h->peer.reads = w->plan->reads_pct && rng_below(&w->app, 100) < w->plan->reads_pct;
	w->plan->algorithm->want(&h->peer);
	if (w->plan->tell_pct && rng_below(&w->app, 100) < w->plan->tell_pct)
		tell_somebody(w, id);
}

void app_tale(struct peer_world *w, u32 id)
{
	const struct peer_host *h = &w->host[id];

	peer_story(w, "%u is told that another process wants to enter", id);
	if (h->state == RELEASED && is_client(w->plan, id) && h->entered < w->plan->entries)
		want(w, id);
}

static void leave(struct peer_world *w, u32 id)
{
	struct peer_host *h = &w->host[id];
	u32 i;

	peer_story(w, "%u leaves", id);
	h->state = RELEASED;
	h->left++;
	w->holders--;
	if (!h->peer.reads) {
		w->writers--;
		h->peer.value = ++w->written;
	}
	w->left_at = w->now;
	for (i = 0; i < w->plan->n; i++)
		w->is_contended |= w->host[i].state == WANTED && !w->host[i].is_dead;
	w->plan->algorithm->leave(&h->peer);
	think(w, id);
}

static void cast(struct peer_world *w, u32 id, u32 value)
{
	struct peer_host *h = &w->host[id];

	peer_story(w, "%u casts %u", id, value);
	w->depends[value] = h->known;
	h->cast |= 1ull << value;
	h->known |= 1ull << value;
	w->plan->algorithm->cast(&h->peer, value);
}

static void act_on_snapshot(struct peer_world *w, u32 id, u64 arg)
{
	struct peer *p = &w->host[id].peer;

	if (arg == CASTS_MAX)
		w->plan->algorithm->call(p, PEER_NOBODY);
	else
		w->plan->algorithm->cast(p, (u32)rng_below(&w->app, 1u << 16));
}

void app_act(struct peer_world *w, u32 id, u64 arg)
{
	struct peer_host *h = &w->host[id];
	u32 last = w->plan->n - 1;

	switch (w->plan->algorithm->task) {
	case TASK_MUTEX:
		if (!arg && h->state == RELEASED && h->entered < w->plan->entries)
			want(w, id);
		else if (arg && h->state == HELD)
			leave(w, id);
		break;
	case TASK_ELECTION:
		w->plan->algorithm->call(&h->peer, w->host[last].is_dead ? last : PEER_NOBODY);
		break;
	case TASK_MULTICAST:
		cast(w, id, (u32)arg);
		break;
	case TASK_SNAPSHOT:
		act_on_snapshot(w, id, arg);
		break;
	case TASK_AGREEMENT:
		w->plan->algorithm->propose(&h->peer, w->value[id]);
		break;
	}
}

bool app_is_done(const struct peer_world *w)
{
	u32 id;

	if (w->plan->algorithm->task != TASK_MUTEX)
		return false;
	for (id = 0; id < w->plan->n; id++)
		if (!w->host[id].is_dead && is_client(w->plan, id) &&
		    w->host[id].left < w->plan->entries)
			return false;
	return true;
}
