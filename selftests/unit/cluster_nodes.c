// SPDX-License-Identifier: GPL-2.0
/* The simulated cluster: clients and servers around the cores, and the liars. */
#include "cluster_world.h"

/*
 * Clients
 */

static void carry_out(struct world *w, u32 x, const struct bftm_out *out)
{
	struct sim_client *c = &w->client[x];
	struct bftm_msg msg = { .client = x, .k = c->contend.sends };
	u32 u;

	for (u = 0; u < w->plan->n; u++) {
		if (out->try_to >> u & 1) {
			msg.type = BFTM_MSG_TRY;
			msg.flags = BFTM_FLAG_NOQUEUE;
			msg.attempt = c->contend.attempt;
			msg.lease_ns = c->want.lease_ns;
			msg.prio = c->contend.prio;
			world_send(w, TO_SERVER, u, &msg);
		}
		if (out->release_to >> u & 1) {
			msg.type = BFTM_MSG_RELEASE;
			msg.attempt = out->release_attempt;
			world_send(w, TO_SERVER, u, &msg);
		}
	}
	if (__builtin_popcount(out->release_to) > 1) {
		bftm_release_start(&c->release, &w->cfg, out->release_attempt,
				   out->release_to, sim_show(w, &c->clock));
		world_push(w, RELEASE_WAKE, sim_when(&c->clock, c->release.wake_ns))->client = x;
	}
}

void sim_app_at(struct world *w, u32 x, u64 at)
{
	struct event *e = world_push(w, APP, at);

	e->client = x;
	e->generation = ++w->client[x].generation;
}

static void after_step(struct world *w, u32 x, const struct bftm_out *out)
{
	struct sim_client *c = &w->client[x];

	carry_out(w, x, out);
	switch (out->verdict) {
	case BFTM_PENDING:
		break;
	case BFTM_WON:
		w->report->wins++;
		sim_app_at(w, x, w->now + world_between(w, 0, c->want.lease_ns * 3 / 2));
		break;
	default:
		w->report->lapses += out->verdict == BFTM_LAPSED;
		sim_app_at(w, x, w->now + world_between(w, 0, LEASE_MAX));
	}
	if (c->contend.phase == BFTM_PHASE_DEAD)
		return;
	if (!c->wake_at || sim_when(&c->clock, c->contend.wake_ns) < c->wake_at) {
		c->wake_at = sim_when(&c->clock, c->contend.wake_ns);
		world_push(w, WAKE, c->wake_at)->client = x;
	}
}

/* The application starts, cancels or releases. */
static void app(struct world *w, const struct event *e)
{
	struct sim_client *c = &w->client[e->client];
	struct bftm_out out;

	if (e->generation != c->generation)
		return;
	if (c->contend.phase == BFTM_PHASE_DEAD) {
		c->want = (struct bftm_want){
			.lease_ns = world_between(w, 2 * MS, LEASE_MAX),
			.once = world_chance(w, PPM / 8),
			/* Meant for one that is preferred: two would never end. */
			.no_backoff = !e->client && world_chance(w, PPM / 8),
		};
		bftm_contend_start(&c->contend, &w->cfg, &c->want, ++c->attempt,
				   sim_show(w, &c->clock), &out);
		sim_app_at(w, e->client, w->now + world_between(w, 0, 50 * LEASE_MAX));
	} else {
		bftm_contend_stop(&c->contend, &w->cfg, &out);
		sim_app_at(w, e->client, w->now + world_between(w, 0, LEASE_MAX));
	}
	after_step(w, e->client, &out);
}

static void client_wakes(struct world *w, u32 x)
{
	struct sim_client *c = &w->client[x];
	struct bftm_out out;

	c->wake_at = 0;
	if (world_chance(w, PPM / 50)) {	/* the process is not scheduled for long */
		c->wake_at = w->now + world_between(w, 0, 3 * LEASE_MAX);
		world_push(w, WAKE, c->wake_at)->client = x;
		return;
	}
	bftm_contend_wake(&c->contend, &w->cfg, sim_show(w, &c->clock), c->attempt + 1,
			  unit_random(&w->rnd), &out);
	if (c->contend.attempt > c->attempt)
		c->attempt = c->contend.attempt;
	after_step(w, x, &out);
}

static void release_wakes(struct world *w, u32 x)
{
	struct sim_client *c = &w->client[x];
	struct bftm_out out = { .release_attempt = c->release.attempt };

	out.release_to = bftm_release_wake(&c->release, &w->cfg, sim_show(w, &c->clock));
	if (out.release_to) {
		struct bftm_release kept = c->release;

		carry_out(w, x, &out);
		c->release = kept;	/* repeated, not begun anew */
		world_push(w, RELEASE_WAKE, sim_when(&c->clock, kept.wake_ns))->client = x;
	}
}

static void client_hears(struct world *w, const struct event *e)
{
	struct sim_client *c = &w->client[e->client];
	struct bftm_out out;

	if (e->msg.type == BFTM_MSG_RELEASED && e->msg.attempt == c->release.attempt)
		bftm_release_answer(&c->release, e->server);
	bftm_contend_answer(&c->contend, &w->cfg, e->server, &e->msg,
			    sim_show(w, &c->clock), unit_random(&w->rnd), &out);
	after_step(w, e->client, &out);
}

void sim_client_event(struct world *w, const struct event *e)
{
	switch (e->kind) {
	case TO_CLIENT:
		client_hears(w, e);
		break;
	case WAKE:
		client_wakes(w, e->client);
		break;
	case RELEASE_WAKE:
		release_wakes(w, e->client);
		break;
	default:
		app(w, e);
	}
}

/*
 * Servers
 */

static void restart(struct world *w, u32 u)
{
	struct sim_server *s = &w->server[u];
	u64 now = sim_show(w, &s->clock);

	bftm_lock_init(&s->lock, s->lock.gno + 1);
	s->cfg.quarantine_until_ns = w->plan->amnesia ? 0 :
		bftm_quarantine(LEASE_MAX, w->plan->rho_ppm, now);
	world_push(w, RESTART, w->now + world_between(w, 0, w->plan->restart_ns))->server = u;
}

/* Anything, to anybody, about what is or was: but in its own name. */
static void babble(struct world *w, struct bftm_msg *reply)
{
	static const u8 type[] = {
		BFTM_MSG_FREE, BFTM_MSG_LOCKED, BFTM_MSG_WAIT, BFTM_MSG_RELEASED,
		BFTM_MSG_REFUSED, BFTM_MSG_INQUIRE, BFTM_MSG_CHALLENGE,
	};
	struct sim_client *c;

	reply->client = (u32)world_between(w, 0, w->plan->clients - 1);
	c = &w->client[reply->client];
	reply->type = type[world_between(w, 0, ARRAY_SIZE(type) - 1)];
	reply->attempt = c->attempt - (world_chance(w, PPM / 4) ? world_between(w, 0, 2) : 0);
	reply->k = c->contend.sends;
	if (world_chance(w, PPM / 4))
		reply->k += (u32)world_between(w, 0, 2);
	reply->prio = unit_random(&w->rnd);
	reply->position = (u32)world_between(w, 0, 6);
}

/* Liars conspire; one that always says FREE is the most dangerous. */
static void lie(struct world *w, struct bftm_msg *reply)
{
	if (world_chance(w, PPM / 500))
		w->mood = (u32)world_between(w, 0, 7);
	switch (w->mood) {
	case 0:
		reply->type = BFTM_MSG_NONE;
		break;
	case 1:
		reply->type = BFTM_MSG_LOCKED;
		break;
	case 2:
		babble(w, reply);
		break;
	case 3:
		/* FREE to one, LOCKED to the other, turn and turn about. */
		reply->type = (reply->client ^ w->now / LEASE_MAX) & 1 ? BFTM_MSG_FREE :
									 BFTM_MSG_LOCKED;
		break;
	default:
		reply->type = BFTM_MSG_FREE;
	}
}

static void server_hears(struct world *w, const struct event *e)
{
	struct sim_server *s = &w->server[e->server];
	struct bftm_msg reply;

	bftm_server_step(&s->cfg, &s->lock, &e->msg, sim_show(w, &s->clock), &reply);
	if (e->server < w->plan->liars)
		lie(w, &reply);
	if (reply.type != BFTM_MSG_NONE)
		world_send(w, TO_CLIENT, e->server, &reply);
}

void sim_server_event(struct world *w, const struct event *e)
{
	if (e->kind == RESTART)
		restart(w, e->server);
	else
		server_hears(w, e);
}
