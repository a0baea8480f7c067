// SPDX-License-Identifier: GPL-2.0
/* All iterations that can follow, by the shipped cores. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

#define NOW	1000
#define OUTCOMES_MAX 1024

/** struct outcome - what a client made of answers to its GET */
struct outcome {
	struct bftm_order order;
	struct move move;
};

/** struct call - what servers are asked; @then of COMMIT_GET only */
struct call {
	u8 type, state;
	struct bftm_rank rank, then;
};

static const struct bftm_server_cfg server_cfg;
static struct bftm_order_cfg cfg;
static struct outcome outcome[OUTCOMES_MAX];
static u32 outcomes;
static void (*tell)(const struct world *w, const struct move *m);

/* State @i with this version: its digest is what it is. */
static struct bftm_body *body_of(u8 i, u8 version)
{
	static struct bftm_body body[STATES][STATES + 1];
	static u8 data[STATES][STATES + 1][32];
	struct bftm_body *b = &body[i][version];

	if (!i || b->data)
		return i ? b : NULL;
	b->id.version = version;
	b->id.len = bftm_state_make(NULL, version, NULL, 0, &i, 1, data[i][version],
				    sizeof(data[i][version]));
	b->id.digest[0] = i;
	b->data = data[i][version];
	return b;
}

static struct bftm_body *body_in(const struct world *w, u8 i)
{
	return body_of(i, w->version[i]);
}

static struct bftm_body_id id_of(const struct bftm_body *body)
{
	return body ? body->id : (struct bftm_body_id){};
}

static struct bftm_rank rank_of(u8 count, u8 client)
{
	return (struct bftm_rank){ count, count ? client + 1u : 0, count ? 1 : 0 };
}

static void load(const struct world *w, u32 u, struct bftm_object *ret)
{
	const struct place *p = &w->place[u];

	bftm_object_init(ret, false);
	ret->sc = body_in(w, p->sc);
	ret->sp = body_in(w, p->sp);
	ret->prop = rank_of(p->prop, p->prop_client);
	ret->max = rank_of(p->max, p->max_client);
}

static void save(struct world *w, u32 u, const struct bftm_object *o)
{
	w->place[u] = (struct place){
		.sc = o->sc ? o->sc->id.digest[0] : 0,
		.sp = o->sp ? o->sp->id.digest[0] : 0,
		.prop = (u8)o->prop.count, .prop_client = o->prop.count ? (u8)(o->prop.client - 1) : 0,
		.max = (u8)o->max.count, .max_client = o->max.count ? (u8)(o->max.client - 1) : 0,
	};
}

/* Server @u hears this; what it says is for the client. */
static void ask(struct world *w, u32 u, const struct call *c, u8 *out, struct bftm_order_msg *reply)
{
	struct bftm_order_msg req = {
		.type = c->type, .client = c->rank.client, .rank = c->rank, .then = c->then,
		.room = BFTM_ORDER_ROOM_MAX,
	};
	struct bftm_object o;

	load(w, u, &o);
	req.id = id_of(body_in(w, c->state));
	bftm_order_step(&server_cfg, &o, &req, body_in(w, c->state), NOW, out, reply);
	save(w, u, &o);
}

static void hear(struct bftm_order *o, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_order_out out;

	bftm_order_answer(o, &cfg, u, msg, false, NOW, &out);
}

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

static void begin(struct bftm_order *o, const struct world *w, u8 client)
{
	struct bftm_order_out out;

	o->phase = BFTM_ORDER_IDLE;
	/* From exceptions it knows the highest count there is. */
	o->rank = (struct bftm_rank){ w->count, client + 1u, 1 };
	o->completed = w->completed[client];
	o->timeouts = 0;
	memset(o->reported, 0, sizeof(o->reported));
	bftm_order_begin(o, &cfg, false, NOW, &out);
}

static bool same_outcome(const struct outcome *a, const struct bftm_order *o,
			 const struct move *m)
{
	return a->order.phase == o->phase && a->order.completed == o->completed &&
	       (o->phase != BFTM_ORDER_MAKING ||
		(a->order.applies == o->applies && bftm_body_same(&a->order.base, &o->base))) &&
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

	begin(o, w, m->client);
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

static void every_get(const struct world *w, u8 client)
{
	static u8 data[CORRECT_MAX][BFTM_ORDER_ROOM_MAX];
	static struct bftm_order_msg reply[CORRECT_MAX];
	u32 q = bftm_order_quorum(plan.n, plan.b), u, got;
	static struct bftm_order o;
	struct world scratch = *w;
	struct call get = { .type = BFTM_ORDER_GET };

	outcomes = 0;
	begin(&o, w, client);
	get.rank = o.rank;
	for (u = 0; u < plan.correct; u++)
		ask(&scratch, u, &get, data[u], &reply[u]);
	for (got = 0; got < 1u << plan.correct; got++) {
		struct move m = { .client = client, .got = (u8)got };
		u32 answers = (u32)__builtin_popcount(got);

		if (answers == q - 1 && plan.correct < plan.n)
			every_lie(w, &o, &m, reply);
		if (answers != q)
			continue;
		begin(&o, w, client);
		for (u = 0; u < plan.correct; u++)
			if (got >> u & 1)
				hear(&o, u, &reply[u]);
		note_outcome(&o, &m);
	}
}

/* It is begun to be committed. Return: false when another was. */
static bool decide(struct world *w, u8 state)
{
	u8 i, version;

	for (i = state; i; i = w->parent[i]) {
		version = w->version[i];
		if (w->decided[version] && w->decided[version] != i)
			return false;
	}
	w->decided[w->version[state]] = state;
	/* Later decisions must be made of it. */
	for (version = w->version[state] + 1; version <= STATES; version++)
		for (i = w->decided[version]; i; i = w->parent[i])
			if (w->version[i] == w->version[state] && i != state)
				return false;
	return true;
}

static u8 answer_to(u8 type)
{
	if (type == BFTM_ORDER_PROPOSE)
		return BFTM_ORDER_PROPOSED;
	return type == BFTM_ORDER_COMMIT ? BFTM_ORDER_COMMITTED : BFTM_ORDER_COMMITTED_GOT;
}

static void reach(struct world *w, struct bftm_order *o, const struct call *c, u32 set)
{
	u8 data[BFTM_ORDER_ROOM_MAX];
	struct bftm_order_msg reply;
	u32 u;

	for (u = 0; u < plan.correct; u++)
		if (set >> u & 1) {
			ask(w, u, c, data, &reply);
			if (o)
				hear(o, u, &reply);
		}
	if (!o || plan.correct == plan.n)
		return;
	reply = (struct bftm_order_msg){
		.type = answer_to(c->type), .rank = c->rank, .then = c->then,
		.id = id_of(body_in(w, c->state)),
	};
	hear(o, plan.n - 1, &reply);
}

/* The rest of the iteration before may come now. */
static void end(struct world *w, struct move *m, const struct bftm_order *o,
		const struct message *left)
{
	struct message late = w->late;
	struct call call = {
		.type = late.type, .state = late.state, .rank = rank_of(late.count, late.client),
	};
	struct world after;
	u32 set, most = plan.late && late.type ? 1u << plan.correct : 1;

	w->completed[m->client] = (u8)o->completed;
	if (w->count < o->rank.count)
		w->count = (u8)o->rank.count;
	if (w->count < o->then)
		w->count = (u8)o->then;
	w->late = plan.late ? *left : (struct message){};
	for (set = 0; set < most; set++) {
		after = *w;
		m->late = (u8)set;
		if (set)
			reach(&after, NULL, &call, set);
		tell(&after, m);
	}
}

static void every_propose(const struct world *w, const struct move *m, const struct bftm_order *o);

/* A state that is made of @base. */
static u8 make_state(struct world *w, u8 base)
{
	u8 i = ++w->made;

	w->parent[i] = base;
	w->version[i] = (u8)(w->version[base] + 1);
	return i;
}

/* A quorum has answered COMMIT_GET: the client goes on with the next rank. */
static void go_on(const struct world *w, const struct move *m, const struct bftm_order *from)
{
	struct bftm_order o = *from;
	struct world next = *w;
	struct bftm_order_out out;
	struct move move = *m;
	struct bftm_body_id id;

	move.continued = true;
	move.before.next = m->next;
	move.before.proposed = m->proposed;
	move.before.committed = m->committed;
	move.proposed = move.committed = 0;
	move.base = o.base.digest[0];
	move.applied = o.applies;
	move.next = make_state(&next, move.base);
	id = body_in(&next, move.next)->id;
	bftm_order_made(&o, &cfg, &id, NOW, &out);
	every_propose(&next, &move, &o);
}

static void every_commit(const struct world *w, const struct move *m, const struct bftm_order *o)
{
	struct bftm_order after;
	struct message left = {
		.type = BFTM_ORDER_COMMIT, .state = m->next, .count = (u8)o->rank.count,
		.client = m->client,
	};
	struct call call = {
		.type = bftm_order_message(o), .state = m->next, .rank = o->rank,
	};
	struct bftm_order asked = *o;
	struct move move = *m;
	struct world next;
	u32 set;

	if (asked.then)
		call.then = bftm_order_then(&asked);
	for (set = 0; set < 1u << plan.correct; set++) {
		next = *w;
		after = asked;
		move.committed = (u8)set;
		move.forks = !decide(&next, m->next);
		reach(&next, &after, &call, set);
		if (after.phase == BFTM_ORDER_MAKING)
			go_on(&next, &move, &after);
		else
			end(&next, &move, &after, &left);
	}
}

static void every_propose(const struct world *w, const struct move *m, const struct bftm_order *o)
{
	struct bftm_order after;
	struct message left = {
		.type = BFTM_ORDER_PROPOSE, .state = m->next, .count = (u8)o->rank.count,
		.client = m->client,
	};
	struct call call = { .type = BFTM_ORDER_PROPOSE, .state = m->next, .rank = o->rank };
	struct bftm_order asked = *o;
	struct move move = *m;
	struct world next;
	u32 set;

	asked.more = plan.continues && !m->continued;
	for (set = 0; set < 1u << plan.correct; set++) {
		next = *w;
		after = asked;
		move.proposed = (u8)set;
		reach(&next, &after, &call, set);
		if (after.phase == BFTM_ORDER_COMMITTING)
			every_commit(&next, &move, &after);
		else
			end(&next, &move, &after, &left);
	}
}

static void follow(const struct world *w, const struct outcome *from)
{
	static struct bftm_order o;
	struct world next = *w;
	struct move m = from->move;
	struct bftm_order_out out;
	struct bftm_body_id id;
	u32 u;

	o = from->order;
	/* The promise to this rank; without it what is late could still come. */
	for (u = 0; plan.late && u < plan.correct; u++)
		if (m.got >> u & 1 && bftm_rank_cmp(&(struct bftm_rank){
			next.place[u].max, next.place[u].max_client + 1u, 1 }, &o.rank) < 0) {
			next.place[u].max = (u8)o.rank.count;
			next.place[u].max_client = m.client;
		}
	if (o.phase != BFTM_ORDER_MAKING) {
		m.unsure = o.phase == BFTM_ORDER_IDLE && !o.excepted;
		end(&next, &m, &o, &(struct message){});
		return;
	}
	m.base = m.next = o.base.digest[0];
	m.applied = o.applies;
	id = o.base;
	if (o.applies) {
		m.next = make_state(&next, m.base);
		id = body_in(&next, m.next)->id;
	}
	bftm_order_made(&o, &cfg, &id, NOW, &out);
	if (m.next)
		every_propose(&next, &m, &o);
}

void iterate(const struct world *w, void (*found)(const struct world *, const struct move *))
{
	u32 i;
	u8 c;

	cfg = (struct bftm_order_cfg){
		.n = plan.n, .b = plan.b, .resend_ns = 1, .limit_ns = 1000000,
	};
	tell = found;
	for (c = 0; c < plan.clients; c++) {
		every_get(w, c);
		for (i = 0; i < outcomes; i++)
			follow(w, &outcome[i]);
	}
}
