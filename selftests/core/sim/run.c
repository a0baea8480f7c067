// SPDX-License-Identifier: GPL-2.0
/* One scenario from its beginning to its end: the loop of events. */
#include "order.h"
#include "script.h"
#include "story.h"

/* An unlucky draw of fast rounds could go on for ever: enough is enough. */
#define EVENTS_MAX 400000u

static void set_up(struct world *w)
{
	const struct plan *p = w->plan;
	u32 i;

	w->cfg = (struct bftm_client_cfg){
		.n = p->n, .b = p->b, .m = p->m, .rho_ppm = p->rho, .literal = p->literal,
		.polynomial = p->polynomial, .exponent = p->exponent, .delta_ns = p->delta,
		.resend_ns = p->resend, .retry_max_ns = p->retry_max,
		.leaseless = !(p->protocol->core->traits & BFTM_LEASED),
	};
	for (i = 0; i < STREAMS; i++)
		w->rng[i].state = p->seed * 0x2545f4914f6cdd1du + i * 0x9fb21c651e98df25u;
	w->server = arena_array(&w->arena, struct server, p->n);
	w->client = arena_array(&w->arena, struct client, p->clients);
	intruder_rules(w);
	w->heal_at = w->now + p->safety;
	w->end = NEVER;
	if (p->protocol->orders)
		order_start(w);
	network_start(w);
	check_start(w);
	if (w->script)
		script_start(w);
	for (i = 0; i < p->n; i++)
		server_setup(w, i);
	for (i = 0; i < p->clients; i++)
		client_setup(w, i);
	fault_start(w);
	if (!w->script)
		queue_push(&w->queue, w->heal_at, EVENT_HEAL, 0);
}

static void heal(struct world *w)
{
	w->healed = true;
	tell(w, NO_LOCK, "all faults end");
	fault_heal(w);
	if (w->order)
		order_heal(w);
	else
		app_heal(w);
	check_fact(w, &(struct fact){ .kind = FACT_HEALED });
}

static void start_again(struct world *w, const struct event *e)
{
	if (e->to >= w->plan->clients) {
		struct server *s = &w->server[e->to - w->plan->clients];

		if (!s->up && s->stamp == e->stamp)
			server_up(w, e->to - w->plan->clients);
	} else if (!w->client[e->to].up && w->client[e->to].stamp == e->stamp) {
		client_up(w, e->to);
	}
}

/* A host that is stopped, or busy, sees everything later. */
static bool put_off(struct world *w, const struct event *e)
{
	struct client *c = &w->client[e->to];
	struct event *later;

	if (c->busy_until <= w->now)
		return false;
	later = queue_push(&w->queue, c->busy_until, (enum event_kind)e->kind, e->to);
	if (e->kind == EVENT_WAKE && c->handle[e->part].wake_at <= e->at)
		c->handle[e->part].wake_at = c->busy_until;
	later->part = e->part;
	later->stamp = e->stamp;
	later->from = e->from;
	later->arg = e->arg;
	later->packet = e->packet;
	if (e->kind == EVENT_TO_CLIENT)
		later->msg = e->msg;
	return true;
}

static void for_client(struct world *w, const struct event *e)
{
	struct client *c = &w->client[e->to];

	if (w->order) {
		order_event(w, e);
	} else if (e->kind == EVENT_ORPHAN) {
		app_orphan(w, e->to);
	} else if (e->kind == EVENT_TO_CLIENT) {
		client_receive(w, e->to, e->from, &e->msg);
	} else if (e->kind == EVENT_APP || e->kind == EVENT_ASK) {
		if (c->handle[e->part].stamp != e->stamp || !client_serves(w, c))
			return;
		if (e->kind == EVENT_APP)
			app_act(w, e->to, e->part);
		else
			app_ask(w, e->to, e->part);
	} else if (c->stamp == e->stamp && client_serves(w, c)) {
		if (e->kind == EVENT_RELEASE)
			client_release_wake(w, e->to, e->part);
		else if (e->kind == EVENT_RECOVER)
			client_recover(w, e->to, e->part);
		else if (e->kind == EVENT_HELLO)
			client_member_hello(w, e->to);
		else if (c->handle[e->part].wake_at <= e->at)
			client_wake(w, e->to, e->part);
	}
}

static void handle(struct world *w, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_TO_SERVER:
		server_receive(w, e->to, &e->msg);
		break;
	case EVENT_ORDER_TO_SERVER:
		order_event(w, e);
		break;
	case EVENT_EXPIRE:
		if (w->server[e->to].stamp == e->stamp)
			server_expire(w, e->to, e->part);
		break;
	case EVENT_START:
		start_again(w, e);
		break;
	case EVENT_INTRUDE:
		if (w->server[e->to].stamp == e->stamp)
			intruder_speak(w, e->to);
		break;
	case EVENT_FAULT:
		if (e->part < FAULTS)
			fault_next(w, e->part);
		else if (!w->healed)
			client_down(w, e->to, e->part == FAULTS, e->part != FAULTS ?
				    w->plan->delta : w->plan->order.down_max ?:
				    w->plan->lease_max);
		break;
	case EVENT_EVICT:
		server_evict(w, e->to, e->part, (u32)e->arg);
		break;
	case EVENT_SILENCE:
		server_crash(w, e->to, NEVER / 2);
		break;
	case EVENT_HEAL:
		heal(w);
		break;
	case EVENT_LOOK:
		check_fact(w, &(struct fact){
			.kind = FACT_LOOK, .part = e->part, .client = e->to,
		});
		break;
	case EVENT_SCRIPT:
		script_line(w, e->part);
		break;
	default:
		if (!put_off(w, e))
			for_client(w, e);
	}
}

static void loop(struct world *w)
{
	u32 limit = w->plan->clients > 100 ? ~0u : EVENTS_MAX;
	struct event e;

	/* A record goes on: what came of two holders is for others to judge. */
	while ((!w->failed.checker || w->record) && w->stats.events < limit && queue_pop(&w->queue, &e)) {
		if (e.at > w->end)
			break;
		w->now = e.at;
		w->stats.events++;
		world_mix(w, e.at ^ (u64)e.kind << 58 ^ (u64)e.to << 40);
		handle(w, &e);
		if (w->progress && !(w->stats.events & 0xfffff))
			w->progress(w);
	}
}

void world_run(struct world *w, const struct plan *plan, const struct script *script,
	       struct story *story, struct outcome *ret)
{
	struct world fresh = {
		.plan = plan, .protocol = plan->protocol, .script = script, .story = story,
		.arena = w->arena, .queue = w->queue, .progress = w->progress,
		.record = w->record,
	};

	*w = fresh;
	arena_reset(&w->arena);
	queue_reset(&w->queue);
	set_up(w);
	loop(w);
	if (!w->failed.checker)
		check_end(w);
	w->stats.scenarios = 1;
	w->stats.sim_ns = w->now;
	world_mix(w, w->stats.wins);
	ret->stats = w->stats;
	ret->failed = w->failed;
	ret->hash = w->hash;
}

void world_free(struct world *w)
{
	arena_free(&w->arena);
	queue_free(&w->queue);
}
