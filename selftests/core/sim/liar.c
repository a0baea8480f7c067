// SPDX-License-Identifier: GPL-2.0
/*
 * Liars: between the honest server inside and the network stands a strategy of
 * selftests/core/liar, the very same files. Their surroundings are here
 * . A liar has the keys of its server and of no other: what it says under
 * another name arrives as what it is.
 */
#include "selftests/core/liar/strategies.h"
#include "liar.h"
#include "script.h"
#include "story.h"

/** struct liar_from - where a request came from */
struct liar_from {
	u32 client;
};

/** struct liar_client - only its number: keys are the network's business here */
struct liar_client {
	u32 id;
};

void *liar_state(struct liar *l)
{
	if (!l->state[l->current])
		l->state[l->current] = arena_take(&l->w->arena, strategies[l->current]->state);
	return l->state[l->current];
}

struct liar_shared *liar_shared(struct liar *l)
{
	return l->w->liars;
}

const struct bftm_server_cfg *liar_cfg(const struct liar *l)
{
	return &l->w->server[l->number].cfg;
}

u64 liar_random(struct liar *l)
{
	return rng_next(&l->w->rng[RNG_LIAR]);
}

/* 2δ - ε, 2δ, 2δ + ε; the next send; after the next attempt. */
u64 liar_delay(const struct liar *l)
{
	struct rng *r = &l->w->rng[RNG_LIAR];
	u64 delta = l->w->plan->delta;

	switch (rng_below(r, 4)) {
	case 0:
		return 2 * delta - 1 + rng_below(r, 3);
	case 1:
		return rng_scale(r, 1, 2 * l->w->plan->resend);
	case 2:
		return l->w->plan->resend + rng_below(r, 3);
	default:
		return rng_scale(r, delta, 4 * l->w->plan->lease_max);
	}
}

void liar_lied(struct liar *l)
{
	l->w->stats.lies++;
}

void liar_seal(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	       struct bftm_wire *wire)
{
	struct bftm_msg reply = *msg;

	if (!liar_keeps_epoch(&reply))
		reply.server_epoch = liar_cfg(l)->epoch;
	reply.flags = 0;
	bftm_wire_put(&reply, wire);
	/* In place of a tag: whose key it is. */
	memcpy(wire->data + wire->len - BFTM_TAG_LEN, &req->client->id, sizeof(req->client->id));
}

/* The line before said what it should tell. */
static void tell_lie(const struct liar *l, const struct bftm_msg *msg, u64 delay_ns)
{
	struct world *w = l->w;
	const struct bftm_msg *honest = l->honest;
	u32 lock = msg->name[0] | (u32)msg->name[1] << 8 | (u32)msg->name[2] << 16;

	if (msg->type != honest->type || msg->attempt != honest->attempt || msg->k != honest->k)
		tell_more(w, lock, "s%u lies (%s): %s to send %u of c%u's %s%s%s", l->number + 1,
			  strategies[l->current]->name, bftm_msg_name(msg->type), msg->k,
			  msg->client + 1, story_attempt(w, msg->attempt),
			  delay_ns ? ", after " : "", delay_ns ? story_span(delay_ns) : "");
	else if (!liar_keeps_epoch(msg) && msg->type != BFTM_MSG_RELEASED)
		tell_more(w, lock, "s%u does so%s%s", l->number + 1,
			  delay_ns ? ", after " : "", delay_ns ? story_span(delay_ns) : "");
}

static void deliver(struct liar *l, const struct liar_from *to, const struct bftm_msg *msg,
		    u64 delay_ns)
{
	struct world *w = l->w;

	/* Nobody believes what is sealed for somebody else. */
	if (msg->client != to->client) {
		w->stats.forged++;
		return;
	}
	if (rng_chance(&w->rng[RNG_LIAR], l->lag_ppm))
		delay_ns += liar_delay(l);
	if (w->story)
		tell_lie(l, msg, delay_ns);
	network_send(w, TO_CLIENT, l->number, msg, w->now + delay_ns);
}

void liar_send(struct liar *l, const struct liar_request *req, const void *data, size_t len,
	       u64 delay_ns)
{
	struct bftm_msg msg;
	u32 key;

	if (bftm_wire_get(data, len, &msg)) {
		l->w->stats.forged++;
		return;
	}
	memcpy(&key, (const u8 *)data + len - BFTM_TAG_LEN, sizeof(key));
	if (key == msg.client)
		deliver(l, req->from, &msg, delay_ns);
}

void liar_say(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	      u64 delay_ns)
{
	struct bftm_msg reply = *msg;

	if (msg->type == BFTM_MSG_NONE)
		return;
	if (!liar_keeps_epoch(&reply))
		reply.server_epoch = liar_cfg(l)->epoch;
	reply.flags = 0;
	deliver(l, req->from, &reply, delay_ns);
}

void liar_push(struct liar *l, const struct bftm_msg *msg, u64 delay_ns)
{
	struct liar_from to = { .client = msg->client };
	struct bftm_msg push = *msg;

	if (msg->type == BFTM_MSG_NONE || msg->client >= l->w->plan->clients)
		return;
	if (!liar_keeps_epoch(&push))
		push.server_epoch = liar_cfg(l)->epoch;
	push.flags = 0;
	deliver(l, &to, &push, delay_ns);
}

static u32 find(const char *name)
{
	u32 i;

	for (i = 0; i < STRATEGIES - 1; i++)
		if (!strcmp(strategies[i]->name, name))
			break;
	return i;
}

/* One strategy, a few, or all. */
static u32 draw_set(const struct plan *p, struct rng *r)
{
	u32 all = (1u << STRATEGIES) - 1, one = 1u << rng_below(r, STRATEGIES);

	switch (rng_below(r, 4)) {
	case 0:
		return all;
	case 1:
		return 1u << rng_below(r, STRATEGIES) | one;
	default:
		/* The most dangerous: FREE to everybody, and tokens forgotten. */
		return rng_below(r, 3) ? one : 1u << find(p->tangle ? "deny" : "always-free");
	}
}

static u32 draw_one(struct rng *r, u32 set)
{
	u32 i = (u32)rng_below(r, STRATEGIES);

	while (!(set >> i & 1))
		i = (i + 1) % STRATEGIES;
	return i;
}

/* A golden scenario names what its liar does. */
static void play(struct liar *l, const char *name)
{
	u32 i;

	for (i = 0; i < STRATEGIES; i++) {
		if (strcmp(strategies[i]->name, name))
			continue;
		l->set = 1u << i;
		l->current = i;
	}
	l->lag_ppm = 0;
}

void liar_setup(struct world *w, u32 u)
{
	struct rng *r = &w->rng[RNG_LIAR];
	struct liar *l = arena_take(&w->arena, sizeof(*l));

	l->w = w;
	l->number = u;
	l->together = u && rng_next(r) & 1;
	l->set = l->together ? w->server[0].liar->set : draw_set(w->plan, r);
	l->current = draw_one(r, l->set);
	l->lag_ppm = rng_next(r) & 3 ? 0 : PPM / 4;
	w->server[u].liar = l;
	if (w->script)
		play(l, w->script->strategy);
	if (!w->liars)
		w->liars = arena_take(&w->arena, sizeof(*w->liars));
}

/* The strategy of the hour. */
static const struct strategy *choose(struct liar *l, const struct bftm_msg *honest)
{
	struct world *w = l->w;

	if (!(rng_next(&w->rng[RNG_LIAR]) & 63))
		l->current = draw_one(&w->rng[RNG_LIAR], l->set);
	if (l->together)
		l->current = w->server[0].liar->current;
	l->honest = honest;
	return strategies[l->current];
}

void liar_answer(struct world *w, u32 u, const struct bftm_msg *req,
		 const struct bftm_msg *honest, u64 now)
{
	struct liar *l = w->server[u].liar;
	struct liar_client client = { .id = req->client };
	struct liar_from from = { .client = req->client };
	struct liar_request r = {
		.msg = req, .honest = honest, .client = &client, .from = &from, .now_ns = now,
	};

	choose(l, honest)->answer(l, &r);
}

void liar_pushes(struct world *w, u32 u, const struct bftm_msg *push, u64 now)
{
	struct liar *l = w->server[u].liar;
	const struct strategy *s = choose(l, push);

	if (s->push)
		s->push(l, push, now);
	else
		liar_push(l, push, 0);
}
