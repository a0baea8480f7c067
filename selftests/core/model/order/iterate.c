// SPDX-License-Identifier: GPL-2.0
/* All iterations that can follow: whom PROPOSE and COMMIT reach, after each answer to GET. */
#include "model.h"

static void (*tell)(const struct world *w, const struct move *m);

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
	bftm_order_made(&o, model_cfg(), &id, NOW, &out);
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
	m.invented = m.base > w->made;
	if (m.invented) {
		end(&next, &m, &o, &(struct message){});
		return;
	}
	id = o.base;
	if (o.applies) {
		m.next = make_state(&next, m.base);
		id = body_in(&next, m.next)->id;
	}
	bftm_order_made(&o, model_cfg(), &id, NOW, &out);
	if (m.next)
		every_propose(&next, &m, &o);
}

void iterate(const struct world *w, void (*found)(const struct world *, const struct move *))
{
	const struct outcome *outcome;
	u32 i, outcomes;
	u8 c;

	tell = found;
	for (c = 0; c < plan.clients; c++) {
		outcomes = every_get(w, c, &outcome);
		for (i = 0; i < outcomes; i++)
			follow(w, &outcome[i]);
	}
}
