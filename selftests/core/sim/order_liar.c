// SPDX-License-Identifier: GPL-2.0
/*
 * Liars of the ordering protocol: between the honest server inside and the
 * network stands a strategy of selftests/core/liar/order_*.c, as liar.c has it for
 * locks.
 */
#include "selftests/core/liar/order_known.h"
#include "selftests/core/liar/order_strategies.h"
#include "liar.h"
#include "order.h"
#include "script.h"
#include "story.h"

/** struct liar_from, struct liar_client - who asked */
struct liar_from {
	u32 client;
};

struct liar_client {
	u32 id;
};

static_assert(ORDER_STRATEGIES <= LIAR_STRATEGIES_MAX);

void *order_liar_state(struct liar *l)
{
	if (!l->state[l->current])
		l->state[l->current] =
			arena_take(&l->w->arena, order_strategies[l->current]->state);
	return l->state[l->current];
}

struct order_known *order_liar_known(struct liar *l)
{
	return l->w->order->known;
}

void order_liar_digest(const u8 *data, size_t len, u8 ret[BFTM_DIGEST_LEN])
{
	order_digest(data, len, ret);
}

static void tell_lie(const struct liar *l, const struct bftm_order_msg *msg, u64 delay_ns)
{
	struct world *w = l->w;
	const struct bftm_order_msg *honest = l->order_honest;
	char tells[80];
	const char *after = delay_ns ? ", after " : "", *span = delay_ns ? story_span(delay_ns) : "";

	if (msg->type == honest->type && msg->data_len == honest->data_len &&
	    bftm_body_same(&msg->id, &honest->id) && msg->offset == honest->offset &&
	    !bftm_rank_cmp(&msg->rank, &honest->rank) &&
	    !bftm_rank_cmp(&msg->then, &honest->then) && msg->pending == honest->pending &&
	    !bftm_rank_cmp(&msg->max, &honest->max) &&
	    !bftm_rank_cmp(&msg->prop, &honest->prop) && bftm_body_same(&msg->sp, &honest->sp) &&
	    !msg->signature == !honest->signature &&
	    (msg->data == honest->data || !memcmp(msg->data, honest->data, msg->data_len))) {
		tell_more(w, 0, "s%u does so%s%s", l->number + 1, after, span);
		return;
	}
	snprintf(tells, sizeof(tells), "lies (%s)%s%s to", order_strategies[l->current]->name, after,
		 span);
	tell_order_answer(w, l->number, tells, msg, msg);
}

/* A lie is what a datagram can say; what is of no form every client drops. */
static bool is_lie(struct packet *p, const struct bftm_order_msg *msg)
{
	if (bftm_order_form(msg->type))
		return packet_read(p, msg);
	p->msg = *msg;
	p->msg.data = NULL;
	return true;
}

static void deliver(struct liar *l, u32 client, const struct bftm_order_msg *msg, u64 delay_ns)
{
	struct world *w = l->w;
	struct packet *p;

	if (msg->type == BFTM_MSG_NONE)
		return;
	if (msg->client != client || client >= w->plan->clients) {
		w->stats.forged++;
		return;
	}
	if (rng_chance(&w->rng[RNG_LIAR], l->lag_ppm))
		delay_ns += liar_delay(l);
	if (w->story)
		tell_lie(l, msg, delay_ns);
	p = packet_new(w, BFTM_DATAGRAM_MAX);
	if (!is_lie(p, msg)) {
		packet_drop(w, p);
		return;
	}
	p->msg.server = (u16)(l->number + 1);
	p->msg.server_epoch = w->server[l->number].cfg.epoch;
	packet_send(w, TO_CLIENT, l->number, p, w->now + delay_ns);
}

void order_liar_say(struct liar *l, const struct order_request *req,
		    const struct bftm_order_msg *msg, u64 delay_ns)
{
	deliver(l, req->from->client, msg, delay_ns);
}

void order_liar_push(struct liar *l, const struct bftm_order_msg *msg, u64 delay_ns)
{
	struct bftm_order_msg push = *msg;

	push.seq = 0;
	deliver(l, msg->client, &push, delay_ns);
}

static u32 draw_one(struct rng *r, u32 set)
{
	u32 i = (u32)rng_below(r, ORDER_STRATEGIES);

	while (!(set >> i & 1))
		i = (i + 1) % ORDER_STRATEGIES;
	return i;
}

/* Those that want a fork, or that clients stay behind; of order_strategies[]. */
static u32 dangerous(const struct plan *p)
{
	static const struct order_strategy *const some[] = {
		&order_rival, &order_permit, &order_twin, &order_mix, &order_deny,
	};
	const struct order_strategy *behind = p->order.signed_ranks ? &order_signed : &order_outrank;
	u32 set = 0, i, k;

	for (i = 0; i < ORDER_STRATEGIES; i++) {
		if (p->order.past && order_strategies[i] == behind)
			return 1u << i;
		for (k = 0; k < sizeof(some) / sizeof(some[0]); k++)
			if (order_strategies[i] == some[k])
				set |= 1u << i;
	}
	return set;
}

/* One strategy, two, or all; half of the time the most dangerous. */
static u32 draw_set(const struct plan *p, struct rng *r)
{
	u32 one = 1u << rng_below(r, ORDER_STRATEGIES);

	switch (rng_below(r, 8)) {
	case 0:
		return (u32)((1ull << ORDER_STRATEGIES) - 1);
	case 1:
		return 1u << rng_below(r, ORDER_STRATEGIES) | one;
	case 2:
	case 3:
		return one;
	case 4:
		return dangerous(p);
	default:
		return 1u << draw_one(r, dangerous(p));
	}
}

/* A golden scenario names what its liar does. */
static void play(struct liar *l, const char *name)
{
	u32 i;

	for (i = 0; i < ORDER_STRATEGIES; i++) {
		if (strcmp(order_strategies[i]->name, name))
			continue;
		l->set = 1u << i;
		l->current = i;
	}
	l->lag_ppm = 0;
}

void order_liar_setup(struct world *w, u32 u)
{
	struct rng *r = &w->rng[RNG_LIAR];
	struct liar *l = arena_take(&w->arena, sizeof(*l));

	l->w = w;
	l->number = u;
	l->together = u && rng_next(r) & 3;
	l->set = l->together ? w->server[0].liar->set : draw_set(w->plan, r);
	l->current = draw_one(r, l->set);
	l->lag_ppm = rng_next(r) & 3 ? 0 : PPM / 4;
	w->server[u].liar = l;
	if (w->script)
		play(l, w->script->strategy);
	if (!w->order->known)
		w->order->known = arena_take(&w->arena, sizeof(*w->order->known));
}

/* The strategy of the hour. */
static const struct order_strategy *choose(struct liar *l, const struct bftm_order_msg *honest)
{
	struct world *w = l->w;

	if (!(rng_next(&w->rng[RNG_LIAR]) & 63))
		l->current = draw_one(&w->rng[RNG_LIAR], l->set);
	if (l->together)
		l->current = w->server[0].liar->current;
	l->order_honest = honest;
	return order_strategies[l->current];
}

/* Of the one who is gone they have kept all signatures; the next hurts most. */
static void remember(struct world *w, const struct bftm_order_msg *req)
{
	u8 signature[BFTM_SIGNATURE_LEN];
	const struct bftm_rank *rank = order_get_rank(req);
	struct bftm_order_msg old = { .signature = signature };

	if (!rank || rank->count >= w->plan->order.past || !w->order->cfg.signed_ranks)
		return;
	old.rank = order_past(w, rank->count + 1);
	order_sign(w, &old.rank, signature);
	order_known_signature(w->order->known, &old);
}

void order_liar_answer(struct world *w, u32 u, const struct bftm_order_msg *req,
		       const struct bftm_order_msg *honest, u64 now)
{
	struct liar *l = w->server[u].liar;
	struct liar_client client = { .id = req->client };
	struct liar_from from = { .client = req->client };
	struct order_request r = {
		.msg = req, .honest = honest, .object = &w->order->server[u].object,
		.client = &client, .from = &from, .now_ns = now,
	};

	order_known_note(w->order->known, req);
	remember(w, req);
	choose(l, honest)->answer(l, &r);
}

void order_liar_pushes(struct world *w, u32 u, const struct bftm_order_msg *push, u64 now)
{
	struct liar *l = w->server[u].liar;
	const struct order_strategy *s = choose(l, push);

	if (s->push)
		s->push(l, push, now);
	else
		order_liar_push(l, push, 0);
}
