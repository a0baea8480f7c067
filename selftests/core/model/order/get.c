// SPDX-License-Identifier: GPL-2.0
/* All that a client can make of answers to its GET, each once: of which servers, and of what lie. */
#include <stdlib.h>

#include "model.h"

#define OUTCOMES_MAX 1024

static struct outcome outcome[OUTCOMES_MAX];
static u32 outcomes;

/* Correct servers are numbered behind or before the liar. */
static void hear_lie(struct bftm_order *o, const struct world *w, const struct lie *lie)
{
	struct bftm_body_id sc = { .version = 99, .digest = { 0xfe } };
	struct bftm_body_id sp = { .version = lie->version, .digest = { 0xff } };
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GOT, .rank = o->rank, .prop = { lie->prop, 1, 1 },
	};

	if (lie->sc >= 0)
		sc = id_of(body_in(w, (u8)lie->sc));
	if (lie->sp >= 0)
		sp = id_of(body_in(w, (u8)lie->sp));
	msg.id = sc;
	msg.sp = sp;
	hear(o, lie->first ? 0 : plan.n - 1, &msg);
}

static void begin(struct bftm_order *o, const struct world *w, const struct move *m)
{
	struct bftm_order_out out;

	o->phase = BFTM_ORDER_IDLE;
	/* From exceptions it knows the highest count there is. */
	o->rank = (struct bftm_rank){ w->count, m->client + 1u, 1 };
	o->completed = w->completed[m->client];
	o->timeouts = 0;
	memset(o->reported, 0, sizeof(o->reported));
	bftm_order_begin(o, model_cfg(), m->refresh, NOW, &out);
}

static bool same_outcome(const struct outcome *a, const struct bftm_order *o,
			 const struct move *m)
{
	return a->order.phase == o->phase && a->order.completed == o->completed &&
	       (o->phase != BFTM_ORDER_MAKING ||
		(a->order.applies == o->applies && bftm_body_same(&a->order.base, &o->base))) &&
	       a->order.refresh == o->refresh &&
	       (!plan.late || a->move.got == m->got);
}

static void note_outcome(const struct bftm_order *o, const struct move *m)
{
	u32 i;

	for (i = 0; i < outcomes; i++)
		if (same_outcome(&outcome[i], o, m))
			return;
	if (outcomes == OUTCOMES_MAX)
		abort();
	outcome[outcomes].order = *o;
	outcome[outcomes++].move = *m;
}

static void try_lie(const struct world *w, struct bftm_order *o, const struct move *m,
		    const struct bftm_order_msg *reply)
{
	u32 u;

	begin(o, w, m);
	for (u = 0; u < plan.correct; u++)
		if (m->got >> u & 1)
			hear(o, u + m->lie.first, &reply[u]);
	hear_lie(o, w, &m->lie);
	note_outcome(o, m);
}

/*
 * It has a state that there is, or one that nobody has, of any version, from any
 * proposer that there was or from the highest; before or behind all others where
 * answers are alike.
 */
static void every_lie(const struct world *w, struct bftm_order *o, const struct move *m,
		      const struct bftm_order_msg *reply)
{
	struct move move = *m;
	int sc, sp, prop;

	move.lied = true;
	for (sc = -1; sc <= w->made; sc++)
		for (sp = -(int)STATES - 1; sp <= w->made; sp++)
			for (prop = 0; prop <= w->count + 1; prop++) {
				move.lie = (struct lie){
					.sc = (int8_t)sc, .sp = (int8_t)(sp < 0 ? -1 : sp),
					.version = (u8)(sp < 0 ? -sp - 1 : 0), .prop = (u8)prop,
				};
				try_lie(w, o, &move, reply);
				move.lie.first = true;
				try_lie(w, o, &move, reply);
			}
}

/* Any q of the correct servers, or q - 1 and the liar. */
static void every_quorum(const struct world *w, struct bftm_order *o, const struct move *first,
			 const struct bftm_order_msg *reply)
{
	u32 q = bftm_order_quorum(plan.n, plan.b), u, got;

	for (got = 0; got < 1u << plan.correct; got++) {
		struct move m = *first;
		u32 answers = (u32)__builtin_popcount(got);

		m.got = (u8)got;
		if (answers == q - 1 && plan.correct < plan.n)
			every_lie(w, o, &m, reply);
		if (answers != q)
			continue;
		begin(o, w, &m);
		for (u = 0; u < plan.correct; u++)
			if (got >> u & 1)
				hear(o, u, &reply[u]);
		note_outcome(o, &m);
	}
}

u32 every_get(const struct world *w, u8 client, const struct outcome **ret)
{
	static u8 data[CORRECT_MAX][BFTM_ORDER_ROOM_MAX];
	static struct bftm_order_msg reply[CORRECT_MAX];
	static struct bftm_order o;
	struct world scratch = *w;
	struct call get = { .type = BFTM_ORDER_GET };
	struct move m = { .client = client };
	u32 u;

	outcomes = 0;
	begin(&o, w, &m);
	get.rank = o.rank;
	for (u = 0; u < plan.correct; u++)
		ask(&scratch, u, &get, data[u], &reply[u]);
	every_quorum(w, &o, &m, reply);
	if (plan.refreshes) {
		m.refresh = true;
		every_quorum(w, &o, &m, reply);
	}
	*ret = outcome;
	return outcomes;
}
