// SPDX-License-Identifier: GPL-2.0
/*
 * Applications that are measured, instead of those of selftests/core/sim/app.c: they
 * ask at one instant, hold the lock for a given time, give it back, and note
 * when they got in and after how many rounds.
 */
#include "figures.h"

static struct trial *trial_of(struct world *w)
{
	return (struct trial *)w;
}

void app_at(struct world *w, u32 x, u32 i, u64 at)
{
	struct event *e = queue_push(&w->queue, at, EVENT_APP, x);

	e->part = i;
	e->stamp = ++w->client[x].handle[i].stamp;
}

/* Servers have been up for long, or are not there at all. */
static void set_servers(struct world *w, const struct load *load)
{
	u32 u;

	for (u = 0; u < w->plan->n; u++) {
		w->server[u].cfg.quarantine_until_ns = 0;
		w->server[u].up = !(load->down >> u & 1);
	}
}

void app_start(struct world *w, u32 x)
{
	struct trial *t = trial_of(w);
	struct load *load = &t->load;

	w->client[x].handle[0].wake_at = NEVER;
	if (load->healing) {
		if (!w->healed)
			app_at(w, x, 0, w->now + rng_below(&w->rng[RNG_APP], w->plan->think_max));
		return;
	}
	if (!x)
		set_servers(w, load);
	/* By then all have learned the epochs of the servers. */
	if (load->registered ? !x : x < load->contenders)
		app_at(w, x, 0, w->now + 10 * w->plan->delta);
}

static struct bftm_want want(const struct trial *t, u32 x)
{
	return (struct bftm_want){
		/* A lease that all servers grant, also those that came back with a shorter one. */
		.lease_ns = t->load.healing ? t->plan.lease_max / 2 : t->plan.lease_max,
		.wait = t->load.preferred && !x ? BFTM_WAIT_NO_BACKOFF : t->load.wait,
		.mode = BFTM_MODE_EX,
	};
}

static void ask(struct world *w, u32 x)
{
	struct trial *t = trial_of(w);
	struct handle *h = &w->client[x].handle[0];

	if (!t->asked && !(t->load.registered && t->registered < w->plan->clients)) {
		t->asked = w->now;
		t->sent = w->stats.sent;
	}
	h->want = want(t, x);
	h->app = APP_ASKING;
	h->stamp++;
	client_begin(w, x, 0);
}

static void ask_all(struct world *w, u64 at)
{
	u32 x;

	for (x = 0; x < trial_of(w)->load.contenders; x++)
		app_at(w, x, 0, at);
}

/* This one gave back, or failed. */
static void next(struct world *w, u32 x)
{
	struct trial *t = trial_of(w);

	if (t->load.healing) {
		/* Won, and over before the application ran: it asks again. */
		if (w->healed && !x && !t->served)
			ask(w, x);
		else if (!w->healed && w->client[x].up)
			app_at(w, x, 0, w->now + rng_below(&w->rng[RNG_APP], w->plan->think_max));
	} else if (t->load.registered && t->registered < w->plan->clients) {
		/* One after the other all have the lock; then those that count ask. */
		if (++t->registered < w->plan->clients)
			app_at(w, x + 1, 0, w->now + 6 * w->plan->delta);
		else
			ask_all(w, w->now + 6 * w->plan->delta);
	} else if (++t->back == t->load.contenders && ++t->turn < t->load.turns) {
		t->asked = 0;
		t->back = 0;
		ask_all(w, w->now + w->plan->lease_max);
	}
}

void app_act(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	if (h->app == APP_IDLE) {
		if (w->client[x].up && (!w->healed || !trial_of(w)->load.healing))
			ask(w, x);
		return;
	}
	h->app = APP_IDLE;
	h->stamp++;
	client_end(w, x, i);
	next(w, x);
}

static void note(struct world *w, struct trial *t, u32 x)
{
	u64 since = t->load.healing ? w->heal_at : t->asked;
	u32 i = t->turn * t->load.contenders + x;

	if (!since || x >= t->load.contenders || (t->load.healing && !w->healed) ||
	    t->delay[i] != NEVER)
		return;
	t->delay[i] = w->now - since;
	t->rounds[i] = w->client[x].handle[0].client->rounds;
	if (++t->served == t->load.contenders * t->load.turns)
		w->end = w->now + t->load.hold + 4 * w->plan->delta;
}

void app_won(struct world *w, u32 x, u32 i)
{
	struct trial *t = trial_of(w);
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	u64 hold = t->load.hold;

	h->end_ns = h->known_end_ns;
	/* The kernel takes no deadline that is over: nobody is told. */
	if (client_look(w, c) > h->end_ns) {
		app_at(w, x, i, w->now);
		return;
	}
	h->app = APP_HOLDING;
	note(w, t, x);
	if (t->load.healing)
		hold = rng_below(&w->rng[RNG_APP], h->want.lease_ns);
	else if (!t->asked)
		hold = w->plan->delta;
	if (hold)
		app_at(w, x, i, w->now + c->lag + hold);
}

void app_failed(struct world *w, u32 x, u32 i, enum bftm_verdict verdict)
{
	struct handle *h = &w->client[x].handle[i];

	if (verdict == BFTM_LAPSED)
		check_fact(w, &(struct fact){
			.kind = FACT_OVER, .client = x, .lock = h->lock, .hold = h->hold,
			.at = w->now + w->client[x].lag,
		});
	h->hold = 0;
	h->app = APP_IDLE;
	h->stamp++;
	if (trial_of(w)->load.wait == BFTM_WAIT_NOT)
		w->end = w->now;
	next(w, x);
}

/* The last moment; or of healing: the first contends, others only go on holding. */
void app_heal(struct world *w)
{
	u32 x;

	if (!trial_of(w)->load.healing) {
		w->end = w->now;
		return;
	}
	for (x = 0; x < w->plan->clients; x++) {
		struct handle *h = &w->client[x].handle[0];

		if (x ? h->app == APP_ASKING :
			h->app != APP_IDLE && h->client->phase == BFTM_PHASE_HOLD) {
			h->app = APP_IDLE;
			h->stamp++;
			client_end(w, x, 0);
		}
	}
	check_fact(w, &(struct fact){ .kind = FACT_WANT, .at = w->now });
	if (w->client[0].handle[0].app == APP_IDLE)
		ask(w, 0);
}

/* The holder of a dead helper gives back, if a new helper runs by now. */
void app_orphan(struct world *w, u32 x)
{
	struct client *c = &w->client[x];

	if (!c->orphan.alive)
		return;
	c->orphan.alive = false;
	check_fact(w, &(struct fact){
		.kind = FACT_STOP, .client = x, .lock = c->orphan.lock, .hold = c->orphan.hold,
		.at = w->now,
	});
	if (c->up)
		client_release(w, x, c->orphan.lock, &(struct bftm_out){
			.release_attempt = c->orphan.attempt,
			.release_to = (u32)((1ull << w->plan->n) - 1),
		});
}

/* These applications trust their lease. */
void app_ask(struct world *w, u32 x, u32 i)
{
	(void)w;
	(void)x;
	(void)i;
}
