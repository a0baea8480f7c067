// SPDX-License-Identifier: GPL-2.0
/*
 * Applications: they want locks, hold them for a while, look whether they still
 * do, cancel, and give back; some too late.
 */
#include "story.h"

void app_at(struct world *w, u32 x, u32 i, u64 at)
{
	struct event *e = queue_push(&w->queue, at, EVENT_APP, x);

	e->part = i;
	e->stamp = ++w->client[x].handle[i].stamp;
}

static u64 think(struct world *w)
{
	return rng_below(&w->rng[RNG_APP], w->plan->think_max + 1);
}

void app_start(struct world *w, u32 x)
{
	u32 i;

	for (i = 0; i < w->plan->handles; i++) {
		if (w->client[x].handle[i].app != APP_IDLE)
			continue;	/* its kernel's, as before */
		w->client[x].handle[i].wake_at = NEVER;
		if (!w->script && !w->healed)
			app_at(w, x, i, w->now + think(w));
	}
}

/* A lock that no other application of this host has. */
static bool choose_lock(struct world *w, struct client *c, struct handle *h)
{
	u32 lock = (u32)rng_below(&w->rng[RNG_APP], w->plan->locks), i;

	for (i = 0; i < w->plan->handles; i++)
		if (c->handle[i].app != APP_IDLE && c->handle[i].lock == lock)
			return false;
	h->lock = lock;
	return true;
}

static enum bftm_wait draw_way(struct world *w, u32 x)
{
	struct rng *r = &w->rng[RNG_APP];

	if (rng_chance(r, w->plan->once))
		return BFTM_WAIT_NOT;
	/* For one that is preferred: two would never end. */
	if (!x && rng_chance(r, w->plan->no_backoff))
		return BFTM_WAIT_NO_BACKOFF;
	return rng_chance(r, w->plan->backoff) ? BFTM_WAIT_BACKOFF : BFTM_WAIT_QUEUE;
}

/* Not NL, which is the client's own. */
static enum bftm_mode draw_mode(struct world *w)
{
	struct rng *r = &w->rng[RNG_APP];

	if (!w->plan->modes || !rng_chance(r, w->plan->modes))
		return BFTM_MODE_EX;
	return BFTM_MODE_CR + (enum bftm_mode)rng_below(r, BFTM_MODE_EX);
}

static void want(struct world *w, u32 x, u32 i)
{
	struct rng *r = &w->rng[RNG_APP];
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	if (!client_serves(w, c))
		return;
	if (!choose_lock(w, c, h)) {
		app_at(w, x, i, w->now + think(w) + 1);
		return;
	}
	h->want = (struct bftm_want){
		.lease_ns = rng_between(r, w->plan->lease_min, w->plan->lease_max),
		.wait = draw_way(w, x),
		.renew = rng_chance(r, w->plan->renew),
		.fence = rng_chance(r, w->plan->fence),
		.mode = draw_mode(w),
		.value = w->plan->values && rng_chance(r, w->plan->values),
	};
	if (!(rng_next(r) & 3))
		h->want.lease_ns = w->plan->lease_max / 2;
	if (w->plan->leaseless && rng_chance(r, w->plan->leaseless))
		h->want.lease_ns = BFTM_LEASE_NONE;
	/* It waits for the next helper, and begins then. */
	if (!c->up && !client_kernel_may(w, x, i))
		return;
	h->app = APP_ASKING;
	h->stamp++;
	if (rng_chance(r, w->plan->cancel))
		app_at(w, x, i, w->now + rng_scale(r, 1, 4 * w->plan->lease_max));
	client_begin(w, x, i);
}

/* In the healed world some ask more than once, most of them at once. */
static void again(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	if (!h->turns)
		return;
	h->turns--;
	w->turns--;
	h->app = APP_ASKING;
	h->stamp++;
	check_fact(w, &(struct fact){
		.kind = FACT_WANT, .client = x, .at = w->now,
		.fair = client_is_fair(h),
	});
	client_begin(w, x, i);
}

static void next_turn(struct world *w, u32 x, u32 i)
{
	struct rng *r = &w->rng[RNG_APP];
	u64 at = check_settled(w);

	if (!w->client[x].handle[i].turns)
		return;
	if (at < w->now)
		at = w->now;
	app_at(w, x, i, at + (rng_next(r) & 3 ? 1 : rng_below(r, w->plan->lease_max / 4)));
}

void app_act(struct world *w, u32 x, u32 i)
{
	struct handle *h = &w->client[x].handle[i];

	if (h->app == APP_IDLE) {
		if (!w->healed)
			want(w, x, i);
		else
			again(w, x, i);
		return;
	}
	h->app = APP_IDLE;
	h->stamp++;
	client_end(w, x, i);
	if (w->healed)
		next_turn(w, x, i);
	else if (!w->script)
		app_at(w, x, i, w->now + think(w));
}

/* The holder of a dead helper gives back, if a new helper runs by now. */
void app_orphan(struct world *w, u32 x)
{
	struct client *c = &w->client[x];
	struct orphan *o = &c->orphan;
	struct bftm_out out = {
		.release_attempt = o->attempt,
		.release_to = (u32)((1ull << w->plan->n) - 1),
		.release_surely = o->want.lease_ns == BFTM_LEASE_NONE,
	};

	if (!o->alive)
		return;
	o->alive = !c->up && out.release_surely;
	/* The kernel keeps it in mind until a helper says so. */
	if (o->alive)
		queue_push(&w->queue, w->now + w->plan->lease_max / 8, EVENT_ORPHAN, x);
	if (o->alive && o->stopped)
		return;
	o->stopped = true;
	check_fact(w, &(struct fact){
		.kind = FACT_STOP, .client = x, .lock = o->lock, .hold = o->hold, .at = w->now,
	});
	tell(w, o->lock, "c%u gives %s back that it had from an earlier helper", x + 1,
	     story_lock(o->lock));
	if (!c->up)
		return;
	/* Servers that have not heard which value it left are to doubt; the others ignore this. */
	out.release_doubt = true;
	client_release(w, x, o->lock, &out);
}

static void look_at(struct world *w, u32 x, u32 i, u64 at)
{
	struct event *e = queue_push(&w->queue, at, EVENT_ASK, x);

	e->part = i;
	e->stamp = w->client[x].handle[i].stamp;
}

/* As long as a lease, where there is none. */
static u64 held_for(const struct world *w, const struct handle *h)
{
	return h->want.lease_ns == BFTM_LEASE_NONE ? w->plan->lease_max : h->want.lease_ns;
}

/* Up, down or across, at once or with patience, which may come to an end. */
static void convert(struct world *w, u32 x, u32 i)
{
	struct rng *r = &w->rng[RNG_APP];
	struct handle *h = &w->client[x].handle[i];
	u64 draw = rng_next(r);

	if (h->client->phase == BFTM_PHASE_HOLD && h->client->want.mode != h->mode)
		client_keep(w, x, i);
	else
		client_convert(w, x, i, &(struct bftm_conversion){
			.mode = draw_mode(w), .once = draw & 1,
			.fence = rng_chance(r, w->plan->fence),
		});
	if (draw & 6 && h->app == APP_HOLDING)
		look_at(w, x, i, w->now + 1 + rng_below(r, held_for(w, h) / 2));
}

/* As BFTM_IOC_STATUS: the kernel compares the deadline with its clock, last. */
void app_ask(struct world *w, u32 x, u32 i)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	u64 now = client_look(w, c);

	if (h->app != APP_HOLDING || now > h->end_ns)
		return;
	if (c->up && w->plan->modes && !w->healed && rng_next(&w->rng[RNG_APP]) & 1) {
		convert(w, x, i);
		return;
	}
	check_fact(w, &(struct fact){
		.kind = FACT_TOLD, .client = x, .lock = h->lock, .hold = h->hold,
		.at = w->now, .now_ns = now,
	});
	/* Others wait for the end of this lease when the world has healed. */
	if (c->up && !w->healed && w->plan->renew && rng_next(&w->rng[RNG_APP]) & 1)
		client_renew(w, x, i);
}

void app_won(struct world *w, u32 x, u32 i)
{
	struct rng *r = &w->rng[RNG_APP];
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];
	u64 use, span = held_for(w, h);

	h->end_ns = h->known_end_ns;
	/* The kernel takes no deadline that is over: nobody is told. */
	if (client_look(w, c) > h->end_ns) {
		app_at(w, x, i, w->now);
		return;
	}
	h->app = APP_HOLDING;
	if (w->script)
		return;
	check_fact(w, &(struct fact){
		.kind = FACT_TOLD, .client = x, .lock = h->lock, .hold = h->hold,
		.at = w->now + c->lag, .now_ns = client_look(w, c),
	});
	use = rng_next(r) & 1 ? rng_below(r, span * 5 / 4) : rng_scale(r, 1, span);
	if (h->want.renew)
		use *= 1 + rng_below(r, 4);
	/* Others wait for the end of what has none when the world has healed. */
	if (h->turns || (w->healed && h->end_ns == NEVER))
		use = rng_below(r, span / 4);
	else if (w->plan->steps)
		use = rng_below(r, span / 16);
	else if (rng_chance(r, w->plan->hold_all))
		use = 2 * span;
	app_at(w, x, i, w->now + c->lag + use);
	if (w->plan->modes && !w->healed)
		look_at(w, x, i, w->now + c->lag + rng_below(r, use + 1));
	if (rng_next(r) & 1 || h->end_ns == NEVER)
		return;
	look_at(w, x, i, clock_when(&c->clock, h->end_ns, w->now) + rng_below(r, 4));
}

void app_failed(struct world *w, u32 x, u32 i, enum bftm_verdict verdict)
{
	struct client *c = &w->client[x];
	struct handle *h = &c->handle[i];

	if (verdict == BFTM_LAPSED) {
		w->stats.lapses++;
		tell_at(w, h->lock, w->now + c->lag, "c%u: its lease of %s is over", x + 1,
			story_lock(h->lock));
		client_leaves(w, x, i, FACT_OVER, w->now + c->lag);
	}
	w->stats.refused += verdict == BFTM_REFUSED;
	if (verdict != BFTM_LAPSED && w->healed)
		check_fact(w, &(struct fact){
			.kind = FACT_LEAVE, .client = x, .lock = h->lock, .at = w->now,
		});
	h->hold = 0;
	h->app = APP_IDLE;
	h->stamp++;
	if (w->healed)
		next_turn(w, x, i);
	else if (!w->script)
		app_at(w, x, i, w->now + think(w) + 1);
}

/* From now on only one contends, or some for one lock; nothing else happens. */
void app_heal(struct world *w)
{
	struct rng *r = &w->rng[RNG_APP];
	/* Tokens come when servers know theirs, and sooner when they agree. */
	bool fence = server_token_gap(w, 0) < 8;
	u32 x, i, wanting = w->plan->lone ? 1 : (u32)rng_between(r, 1, w->plan->clients < 5 ?
								   w->plan->clients : 5);

	for (x = 0; x < w->plan->clients; x++) {
		struct client *c = &w->client[x];

		for (i = 0; i < w->plan->handles; i++) {
			struct handle *h = &c->handle[i];
			bool keeps = h->app == APP_ASKING && x < wanting && !i && !h->lock &&
				     h->client->phase != BFTM_PHASE_HOLD &&
				     h->want.wait != BFTM_WAIT_NOT && !h->want.renew &&
				     (fence || !h->want.fence) &&
				     h->want.lease_ns == w->plan->lease_max / 2;

			if (keeps)
				h->stamp++;	/* no cancel */
			else if (h->app == APP_ASKING ||
				 (h->app == APP_HOLDING &&
				  (x < wanting || h->want.renew || h->end_ns == NEVER))) {
				h->app = APP_IDLE;
				client_end(w, x, i);
			}
		}
	}
	for (x = 0; x < wanting; x++) {
		struct handle *h = &w->client[x].handle[0];

		if (w->plan->turns)
			h->turns = w->plan->turns - 1;
		w->turns += h->turns;
		check_fact(w, &(struct fact){ .kind = FACT_WANT, .client = x, .at = w->now });
		if (h->app == APP_ASKING)
			continue;
		h->app = APP_ASKING;
		h->stamp++;
		h->lock = 0;
		/* Every server grants that, and it outlasts some messages. */
		h->want = (struct bftm_want){
			.lease_ns = w->plan->leaseless && rng_chance(r, w->plan->leaseless) ?
				    BFTM_LEASE_NONE : w->plan->lease_max / 2,
			.wait = rng_chance(r, w->plan->backoff) ? BFTM_WAIT_BACKOFF :
								  BFTM_WAIT_QUEUE,
			.fence = rng_chance(r, w->plan->fence) && fence,
			.mode = BFTM_MODE_EX,
		};
		client_begin(w, x, 0);
	}
}
