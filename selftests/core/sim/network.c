// SPDX-License-Identifier: GPL-2.0
/*
 * The network: it loses, doubles, delays, holds back, and now and then knows
 * exactly when a datagram hurts most. After healing every link takes a time of
 * its own within δ, always the same, and nothing is lost.
 */
#include "order.h"
#include "record.h"
#include "story.h"

/** struct letter - a datagram, of locks or of the ordering protocol */
struct letter {
	const struct bftm_msg *msg;
	struct packet *packet;
	u32 client;
	u8 type;
};

/*
 * Of each link and direction: until when it is blocked. Odd numbers: what is
 * sent meanwhile is lost; even: it waits.
 */
void network_start(struct world *w)
{
	u32 links = w->plan->clients * w->plan->n;

	w->blocked[TO_SERVER] = arena_array(&w->arena, u64, links);
	w->blocked[TO_CLIENT] = arena_array(&w->arena, u64, links);
}

void network_heal(struct world *w)
{
	memset(w->blocked[TO_SERVER], 0, sizeof(u64) * w->plan->clients * w->plan->n);
	memset(w->blocked[TO_CLIENT], 0, sizeof(u64) * w->plan->clients * w->plan->n);
}

void network_cut(struct world *w, int to, u32 client, u32 server, u64 until, bool hold)
{
	w->blocked[to][link_of(w, client, server)] = hold ? until & ~1ull : until | 1;
}

static u64 usual_delay(struct world *w, struct rng *r)
{
	const struct plan *p = w->plan;
	u64 octave;

	switch (p->delay) {
	case DELAY_NONE:
		return 0;
	case DELAY_CONSTANT:
		return p->delta / 2;
	case DELAY_UNIFORM:
		return rng_below(r, p->delta + 1);
	case DELAY_NARROW:
		return p->delta * 2 / 5 + rng_below(r, p->delta / 5 + 1);
	case DELAY_HEAVY:
		/*
		 * Pareto, α = 1.5, from δ/8 on, in whole octaves: each is left
		 * for the next with a chance of 2^-1.5. Beyond δ is one in 20.
		 */
		for (octave = p->delta / 8 + 1; octave < 4 * p->lease_max; octave *= 2)
			if (!rng_chance(r, 353553))
				break;
		return octave + rng_below(r, octave);
	case DELAY_RECORDED:
		return p->delta / 2 / 1000 *
		       p->recorded->ppm[rng_below(r, p->recorded->count)] / 1000;
	case DELAYS:
		break;
	}
	return 0;
}

/* A request that arrives when the server's grant or its quarantine just ends. */
static u64 aim_at_server(struct world *w, struct rng *r, u32 u, const struct bftm_msg *msg)
{
	const struct server *s = &w->server[u];
	u64 now = clock_at(&s->clock, w->now), until = s->cfg.quarantine_until_ns;
	struct bftm_lock_view lock;

	server_view(w, u, msg->name[0] | msg->name[1] << 8 | msg->name[2] << 16, &lock);
	if (lock.attempt && lock.until_ns >= now)
		until = lock.until_ns;
	if (until < now || until - now > 4 * w->plan->lease_max)
		return 0;
	/* Just before, at and after it; after is when a correct server grants. */
	until += rng_below(r, 4);
	return clock_when(&s->clock, until ? until - 1 : 0, w->now) - w->now;
}

/* An answer that arrives when the client sends again, or thinks it is over. */
static u64 aim_at_client(struct world *w, struct rng *r, const struct bftm_msg *msg)
{
	const struct client *c = &w->client[msg->client];
	u64 draw = rng_next(r), wake = NEVER, at;
	u32 h;

	for (h = 0; h < w->plan->handles; h++)
		if (c->handle[h].client->attempt == msg->attempt)
			wake = c->handle[h].client->wake_ns;
	if (wake == NEVER || !(draw & 3))
		return 0;
	at = clock_when(&c->clock, wake + (draw >> 2 & 1), w->now);
	if (at - w->now > 4 * w->plan->lease_max)
		return 0;
	/* Or after some more sends. */
	return (at - w->now) * (1 + (draw >> 3 & 1) * (draw >> 4 & 31));
}

/* The work of a server comes when others have done something else meanwhile. */
static u64 aim_order(struct world *w, struct rng *r, int to, u8 type)
{
	u64 draw = rng_next(r);

	if (to == TO_CLIENT || !(draw & 3))
		return draw >> 2 & 7 ? 0 : rng_below(r, 4 * w->plan->resend);
	if (type == BFTM_ORDER_FETCH || (type <= BFTM_ORDER_GET && draw >> 3 & 1))
		return 0;
	return draw >> 2 & 1 ? rng_scale(r, 1, w->plan->order.aim_max) : 0;
}

static u64 aim(struct world *w, struct rng *r, int to, u32 server, const struct letter *l)
{
	if (l->packet)
		return aim_order(w, r, to, l->type);
	if (to == TO_CLIENT)
		return aim_at_client(w, r, l->msg);
	if (l->type == BFTM_MSG_TRY)
		return aim_at_server(w, r, server, l->msg);
	return l->type == BFTM_MSG_YIELD ? rng_below(r, w->plan->lease_max / 2) : 0;
}

static u64 draw_delay(struct world *w, struct rng *r, int to, u32 server,
		      const struct letter *l)
{
	u64 delay;

	if (plan_has(w->plan, FAULT_AIM) && rng_chance(r, w->plan->aim)) {
		delay = aim(w, r, to, server, l);
		w->stats.aimed += delay > 0;
		return delay;
	}
	/* Some servers stamp a token much later than others. */
	if (l->type == BFTM_MSG_STAMP && w->plan->spaced && rng_chance(r, PPM / 4))
		return rng_below(r, w->plan->lease_max / 2);
	if (plan_has(w->plan, FAULT_SLOW) && rng_chance(r, w->plan->slow)) {
		w->stats.slow++;
		return rng_below(r, w->plan->slow_max + 1);
	}
	return usual_delay(w, r);
}

/* Every link has its time: between δ/8 and δ. */
static u64 healed_delay(const struct world *w, int to, u32 client, u32 server)
{
	struct rng r = { .state = w->plan->seed ^ (u64)client << 20 ^ server << 1 ^ (u64)to };

	return rng_between(&r, w->plan->delta / 8 + 1, w->plan->delta);
}

static void deliver(struct world *w, int to, u32 server, const struct letter *l, u64 at)
{
	enum event_kind kind = to == TO_SERVER ? EVENT_TO_SERVER : EVENT_TO_CLIENT;
	struct event *e;

	/* Datagrams that are under way when the world heals arrive within δ. */
	if (!w->healed && at > w->heal_at + w->plan->delta)
		at = w->heal_at + w->plan->delta;
	if (l->packet) {
		l->packet->refs++;
		kind = to == TO_SERVER ? EVENT_ORDER_TO_SERVER : EVENT_ORDER_TO_CLIENT;
	}
	e = queue_push(&w->queue, at, kind, to == TO_SERVER ? server : l->client);
	e->from = (u16)server;
	e->packet = l->packet;
	if (l->msg)
		e->msg = *l->msg;
}

static const char *name_of(const struct letter *l)
{
	return l->packet && l->type != BFTM_MSG_CHALLENGE && l->type != BFTM_MSG_REFUSED ?
	       bftm_order_name(l->type) : bftm_msg_name(l->type);
}

/* In a tangle a token never gets to up to two of the servers, drawn for each. */
static bool is_deaf(const struct world *w, u32 server, const struct letter *l)
{
	struct rng r = { .state = w->plan->seed };

	if (l->type != BFTM_MSG_STAMP || !w->plan->tangle)
		return false;
	r.state ^= l->msg->attempt << 16 ^ l->msg->token << 8 ^ l->client;
	return server == rng_below(&r, w->plan->n) || server == rng_below(&r, w->plan->n);
}

static void send(struct world *w, int to, u32 server, const struct letter *l, u64 at)
{
	struct rng *r = &w->rng[RNG_NET];
	u64 blocked, arrives;
	int copies = 1;

	w->stats.sent++;
	if (w->healed) {
		deliver(w, to, server, l, at + healed_delay(w, to, l->client, server));
		return;
	}
	if (plan_has(w->plan, FAULT_DUP) && rng_chance(r, w->plan->dup)) {
		copies = 2;
		w->stats.doubled++;
	}
	if (w->script) {
		arrives = at + w->link_ns[to][link_of(w, l->client, server)];
		deliver(w, to, server, l, arrives);
		return;
	}
	while (copies--) {
		if (is_deaf(w, server, l) ||
		    (plan_has(w->plan, FAULT_LOSS) && rng_chance(r, w->plan->loss))) {
			w->stats.lost++;
			tell_more(w, l->packet ? 0 : NO_LOCK, "%s from %s%u to %s%u is lost",
				  name_of(l), to == TO_SERVER ? "c" : "s",
				  to == TO_SERVER ? l->client + 1 : server + 1,
				  to == TO_SERVER ? "s" : "c",
				  to == TO_SERVER ? server + 1 : l->client + 1);
			continue;
		}
		arrives = at + draw_delay(w, r, to, server, l);
		blocked = w->blocked[to][link_of(w, l->client, server)];
		if (at < blocked && blocked & 1) {
			w->stats.lost++;
			continue;
		}
		if (at < blocked) {
			w->stats.clogged++;
			arrives += blocked - at;
		}
		deliver(w, to, server, l, arrives);
	}
}

void network_send(struct world *w, int to, u32 server, const struct bftm_msg *msg, u64 at)
{
	struct bftm_msg denial;

	/* Their forms have no k: whoever hears them is to do without. */
	if (msg->type == BFTM_MSG_LOCKED || msg->type == BFTM_MSG_WAIT) {
		denial = *msg;
		denial.k = 0;
		msg = &denial;
	}
	record_message(w, true, to == TO_SERVER, server, msg, at);
	steps_message(w, msg->type);
	send(w, to, server, &(struct letter){
		.msg = msg, .client = msg->client, .type = msg->type,
	}, at);
}

void network_order(struct world *w, int to, u32 server, struct packet *p, u64 at)
{
	p = packet_carried(w, p);
	send(w, to, server, &(struct letter){
		.packet = p, .client = p->msg.client, .type = p->msg.type,
	}, at);
	packet_drop(w, p);
}
