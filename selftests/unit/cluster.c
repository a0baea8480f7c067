// SPDX-License-Identifier: GPL-2.0
/* The simulated cluster: time, network, and who is inside. */
#include "cluster_world.h"

u64 sim_when(const struct sim_clock *clock, u64 shown)
{
	if (shown <= clock->offset)
		return 0;
	return (u64)((unsigned __int128)(shown - clock->offset) * PPM / clock->rate) + 2;
}

/*
 * Queue of events, a heap
 */

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

struct event *world_push(struct world *w, enum event_kind kind, u64 at)
{
	struct event *e = calloc(1, sizeof(*e));
	u32 i = w->count++;

	if (w->count > w->room) {
		w->room = 2 * w->count;
		w->heap = realloc(w->heap, w->room * sizeof(*w->heap));
	}
	assert_true(e && w->heap);
	e->kind = kind;
	e->at = at > w->now ? at : w->now;
	e->order = w->order++;
	for (; i && before(e, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
	return e;
}

struct event *world_pop(struct world *w)
{
	struct event *first = w->heap[0], *last = w->heap[--w->count];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < w->count) {
		if (child + 1 < w->count && before(w->heap[child + 1], w->heap[child]))
			child++;
		if (!before(w->heap[child], last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return first;
}

/*
 * Network: usually fast, sometimes slower than a lease, and unreliable.
 */

static u64 delay(struct world *w)
{
	u64 draw = unit_random(&w->rnd) % 100;

	return world_between(w, 0, draw < 80 ? MS / 4 : draw < 97 ? 4 * MS : 3 * LEASE_MAX);
}

void world_send(struct world *w, enum event_kind kind, u32 server, const struct bftm_msg *msg)
{
	u32 copies = 1 + world_chance(w, w->plan->loss_ppm);
	struct event *e;

	while (copies--) {
		if (world_chance(w, w->plan->loss_ppm))
			continue;
		e = world_push(w, kind, w->now + delay(w));
		e->server = server;
		e->client = msg->client;
		e->msg = *msg;
	}
}

/*
 * The whole
 */

static void check_exclusion(struct world *w)
{
	u32 x, inside = 0;

	for (x = 0; x < w->plan->clients; x++) {
		const struct sim_client *c = &w->client[x];

		inside += c->contend.phase == BFTM_PHASE_HOLD &&
			  sim_show(w, &c->clock) <= bftm_contend_end(&c->contend, &w->cfg);
	}
	if (inside > 1 && !w->report->overlaps++)
		w->report->first_ns = w->now;
}

static void handle(struct world *w, const struct event *e)
{
	if (e->kind == TO_SERVER || e->kind == RESTART) {
		sim_server_event(w, e);
	} else {
		sim_client_event(w, e);
		check_exclusion(w);
	}
}

static struct sim_clock random_clock(struct world *w)
{
	u32 skew = w->plan->skew_ppm;

	/* Mostly the worst that is allowed. */
	return (struct sim_clock){
		.offset = world_between(w, BFTM_NS_PER_SEC, 1000 * BFTM_NS_PER_SEC),
		.rate = PPM - skew + (world_chance(w, PPM / 4) ? world_between(w, 0, 2 * skew) :
				      world_chance(w, PPM / 2) ? 0 : 2 * skew),
	};
}

static void set_up(struct world *w)
{
	const struct cluster_plan *plan = w->plan;
	u32 i;

	w->cfg = (struct bftm_client_cfg){
		.n = plan->n, .b = plan->b, .rho_ppm = plan->rho_ppm, .literal = plan->literal,
		.delta_ns = MS / 2, .resend_ns = MS, .retry_max_ns = 10 * LEASE_MAX,
	};
	for (i = 0; i < plan->n; i++) {
		w->server[i].clock = random_clock(w);
		w->server[i].cfg.lease_max_ns = LEASE_MAX;
		w->server[i].cfg.rho_ppm = plan->rho_ppm;
		if (plan->restart_ns)
			world_push(w, RESTART, world_between(w, 0, plan->restart_ns))->server = i;
	}
	for (i = 0; i < plan->clients; i++) {
		w->client[i].clock = random_clock(w);
		sim_app_at(w, i, world_between(w, 0, LEASE_MAX));
	}
}

void cluster_run(const struct cluster_plan *plan, u64 seed, u64 steps,
		 struct cluster_report *ret)
{
	struct world *w = calloc(1, sizeof(*w));
	struct event *e;

	assert_non_null(w);
	memset(ret, 0, sizeof(*ret));
	w->plan = plan;
	w->report = ret;
	w->rnd = seed;
	set_up(w);
	while (ret->steps < steps && !ret->overlaps) {
		e = world_pop(w);
		w->now = e->at;
		ret->steps++;
		ret->trace = ret->trace * 0x100000001b3u + (e->at ^ e->kind << 8 ^ e->msg.type);
		handle(w, e);
		free(e);
	}
	ret->time_ns = w->now;
	while (w->count)
		free(w->heap[--w->count]);
	free(w->heap);
	free(w);
}
