// SPDX-License-Identifier: GPL-2.0
/*
 * All that can happen next. Moves that uses(r) leaves out are the reduction Rr,
 * proven in reduce.c.
 */
#include "moves.h"

void emit(const struct turn *t, const struct event *e, struct world *next)
{
	settle(next);
	reduce(next);
	/* Nothing came of it? (Whatever the time, until it goes on.) */
	if (!memcmp(t->w, next, offsetof(struct world, part)))
		return;
	if (uses(6) && !plan.queue && e->kind == REQUEST && e->type == BFTM_MSG_TRY &&
	    !gains(t->w, next))
		return;
	t->v->see(t->v, e, next);
}

/* A client acts, whatever its clock may show. */
static void act(const struct turn *t, u32 c, u8 kind)
{
	struct event e = { .kind = kind, .client = (u8)c };
	struct world next;
	u32 u;

	for (e.old = false; ; e.old = true) {
		next = *t->w;
		e.attempt = next.client[c].attempt;
		if (kind == START && plan.attempts)
			e.attempt++;
		/* R2: what was the current attempt is an earlier one now. */
		if (kind == START && !plan.attempts)
			for (u = 0; u < correct_servers(); u++)
				if (next.server[u].owner == c + 1)
					next.server[u].attempt = 1;
		node_act(&next, &e);
		e.k = next.client[c].sends;
		emit(t, &e, &next);
		if (uses(5) || kind == STOP || e.old)
			break;
	}
}

static void answer_of(const struct turn *t, u32 c, u32 u, u8 type, u32 attempt, u32 k,
		      enum grant grant)
{
	struct event e = {
		.kind = ANSWER, .client = (u8)c, .server = (u8)u, .type = type,
		.attempt = (u8)attempt, .k = (u8)k, .grant = (u8)grant,
	};
	struct world next;

	for (e.old = true; ; e.old = false) {
		next = *t->w;
		e.won = false;
		node_answer(&next, &e);
		emit(t, &e, &next);
		if (uses(5) || !e.old)
			break;
	}
}

static void answer(const struct turn *t, u32 c, u32 u, u8 type, u32 attempt,
		   u32 k)
{
	answer_of(t, c, u, type, attempt, k, GRANT_LAST);
}

/* Has somebody asked to wait who goes before c? */
static bool has_better(const struct world *w, u32 c)
{
	u32 d = !c, attempt = w->client[d].attempt;

	if (!plan.attempts && attempt)
		attempt--;		/* one before was better yet */
	return plan.queue >> d & 1 && attempt &&
	       (attempt < w->client[c].attempt || (attempt == w->client[c].attempt && d < c));
}

/*
 * INQUIRE, and FREE for what was yielded: of correct servers what they said,
 * of liars all there is. The YIELD that answers is in flight by that alone.
 */
static void inquiries(const struct turn *t, u32 c, u32 u)
{
	const struct m_client *m = &t->w->client[c];
	const struct m_server *s = &t->w->server[u];
	u32 k, g;

	if (is_liar(u)) {
		for (g = GRANT_OLD; !uses(4) && g <= GRANT_NEXT; g++) {
			answer_of(t, c, u, BFTM_MSG_INQUIRE, m->attempt, 1, g);
			answer_of(t, c, u, BFTM_MSG_FREE, m->attempt, m->sends, g);
		}
		return;
	}
	if (s->owner == c + 1 && s->attempt == m->attempt &&
	    (has_better(t->w, c) || (plan.held && t->w->client[!c].attempt)))
		answer_of(t, c, u, BFTM_MSG_INQUIRE, m->attempt, 1, GRANT_LAST);
	for (k = 1; s->yielded[c] && k <= m->sends; k++)
		answer_of(t, c, u, BFTM_MSG_FREE, m->attempt, k, s->yielded[c]);
}

/* Answers that u may give to c about attempts that are over, or not begun. */
static void stray_answers(const struct turn *t, u32 c, u32 u)
{
	const struct m_client *m = &t->w->client[c];
	u32 a;

	for (a = 1; a <= m->attempt; a++)
		if (is_over(t->w, c, a))
			answer(t, c, u, BFTM_MSG_FREE, a, 1);
	if (is_liar(u))
		answer(t, c, u, BFTM_MSG_FREE, m->attempt + 1u, 1);
}

static void refusals(const struct turn *t, u32 c, u32 u)
{
	static const u8 types[] = {
		BFTM_MSG_LOCKED, BFTM_MSG_WAIT, BFTM_MSG_REFUSED,
		BFTM_MSG_INQUIRE, BFTM_MSG_RELEASED, BFTM_MSG_SACK,
	};
	u32 i, a = t->w->client[c].attempt;

	/* LOCKED and WAIT are what a correct server may say. */
	for (i = 0; i < (is_liar(u) ? ARRAY_SIZE(types) : 2); i++)
		answer(t, c, u, types[i], a, 1);
}

static void answers(const struct turn *t, u32 c, u32 u)
{
	const struct m_client *m = &t->w->client[c];
	u32 k;

	if (plan.silent && is_liar(u))
		return;
	stray_answers(t, c, u);
	if (m->phase == BFTM_PHASE_DEAD)
		return;
	if (plan.queue)
		inquiries(t, c, u);
	if (!uses(4) || (is_liar(u) && m->phase == BFTM_PHASE_HOLD))
		refusals(t, c, u);
	if (is_liar(u) && (!uses(3) || m->phase == BFTM_PHASE_HOLD)) {
		/* Also to sends there never were. */
		for (k = 0; k <= m->sends + 1u; k++)
			answer(t, c, u, BFTM_MSG_FREE, m->attempt, k);
	} else if (!uses(3)) {
		for (k = 1; k <= m->sends; k++)
			if (t->w->server[u].flight[c] & 1u << (k - 1))
				answer(t, c, u, BFTM_MSG_FREE, m->attempt, k);
	}
}

/* R3: every FREE there is arrives. */
static void win(const struct turn *t, u32 c)
{
	struct world next = *t->w;
	struct m_client *m = &next.client[c];
	struct event e = { .kind = WIN, .client = (u8)c, .attempt = m->attempt };
	struct event one = {
		.kind = ANSWER, .client = (u8)c, .attempt = m->attempt, .old = true,
		.grant = GRANT_LAST,
	};
	u32 u, k;

	for (u = 0; u < plan.n && m->phase != BFTM_PHASE_DEAD; u++) {
		u8 flight = next.server[u].flight[c];

		k = is_liar(u) ? (plan.silent ? 0 : m->sends) :
		    flight ? (u32)__builtin_ctz(flight) + 1 : 0;
		if (!k)
			continue;
		one.server = (u8)u;
		one.type = BFTM_MSG_FREE;
		one.k = (u8)k;
		one.grant = is_liar(u) && plan.queue ? GRANT_NEXT : GRANT_LAST;
		node_answer(&next, &one);
		e.won |= one.won;
		next.server[u].flight[c] = 0;
	}
	/* The literal rule wants q answers; LOCKED are always there. */
	one.type = BFTM_MSG_LOCKED;
	for (u = 0; u < plan.n && plan.literal && m->phase == BFTM_PHASE_TRY; u++) {
		if (m->known[u].type)
			continue;
		one.server = (u8)u;
		node_answer(&next, &one);
		e.won |= one.won;
	}
	if (m->phase == BFTM_PHASE_HOLD)
		emit(t, &e, &next);
}

static void step(const struct turn *t)
{
	struct event e = { .kind = STEP };
	struct world next = *t->w;
	u32 i, k;

	for (i = 0; i < correct_servers(); i++) {
		struct m_server *s = &next.server[i];

		if (s->owner)
			s->left -= node_gain(t->w->instant, s->fast);
		if (s->quarantine != NEVER)
			s->quarantine -= node_gain(t->w->instant, s->fast);
	}
	for (i = 0; i < plan.clients; i++) {
		struct m_client *m = &next.client[i];

		for (k = 0; k < m->sends; k++)
			m->age[k] += node_gain(t->w->instant, m->fast);
		for (k = 0; k < plan.n; k++)
			if (m->known[k].k)
				m->known[k].age += node_gain(t->w->instant, m->fast);
	}
	if (++next.instant == plan.instants) {
		next.instant = 0;
		next.part++;
	}
	emit(t, &e, &next);
}

/* Is there a server before u that is the same but for its name? */
static bool repeated(const struct world *w, u32 u)
{
	u32 v, c;

	for (v = is_liar(u) ? correct_servers() : 0; v < u; v++) {
		if (memcmp(&w->server[u], &w->server[v], sizeof(w->server[u])))
			continue;
		for (c = 0; c < plan.clients; c++)
			if (memcmp(&w->client[c].known[u], &w->client[c].known[v],
				   sizeof(struct m_known)))
				break;
		if (c == plan.clients)
			return true;
	}
	return false;
}

/* May a server restart without a quarantine? So many others may have done so within one. */
static bool may_forget(const struct world *w, u32 u)
{
	u32 v, others = 0;

	for (v = 0; v < correct_servers(); v++)
		others += v != u && w->server[v].quarantine != NEVER;
	return others < plan.forgets;
}

static bool may_restart(const struct world *w, u32 u)
{
	return plan.forgets ? may_forget(w, u) : w->restarts < plan.restarts;
}

static void client_moves(const struct turn *t, u32 c)
{
	const struct m_client *m = &t->w->client[c];

	switch (m->phase) {
	case BFTM_PHASE_DEAD:
		if (!plan.attempts || m->attempt < plan.attempts)
			act(t, c, START);
		break;
	case BFTM_PHASE_TRY:
		if (uses(3))
			win(t, c);
		if (m->sends < plan.sends)
			act(t, c, RESEND);
		act(t, c, STOP);
		break;
	default:
		if (plan.held && m->phase == BFTM_PHASE_HOLD && m->sends < plan.sends)
			act(t, c, RESEND);
		act(t, c, STOP);
		act(t, c, LAPSE);
	}
}

void world_moves(const void *world, struct visitor *v)
{
	const struct turn t = { .w = world, .v = v };
	u32 u, c;

	for (c = 0; c < plan.clients; c++)
		client_moves(&t, c);
	for (u = 0; u < plan.n; u++) {
		if (repeated(t.w, u))
			continue;
		for (c = 0; c < plan.clients; c++) {
			answers(&t, c, u);
			if (!is_liar(u))
				requests(&t, u, c);
		}
		if (!is_liar(u) && plan.queue)
			timer(&t, u);
		if (!is_liar(u) && may_restart(t.w, u))
			restart(&t, u);
	}
	step(&t);
}

void world_starts(struct visitor *v)
{
	u32 all = plan.speeds == SPEEDS_ALL, correct = correct_servers();
	u32 clients, servers, i;
	struct world w;

	/* Bits of clients: who is fast. Servers: how many are. */
	for (clients = 0; clients < (all ? 1u << plan.clients : 1); clients++) {
		for (servers = all ? 0 : correct; servers <= correct; servers++) {
			memset(&w, 0, sizeof(w));
			for (i = 0; i < plan.clients; i++) {
				w.client[i].attempt = plan.attempts ? 0 : CURRENT;
				w.client[i].fast = clients >> i & 1;
			}
			for (i = 0; i < correct; i++) {
				w.server[i].quarantine = NEVER;
				w.server[i].fast = i < servers;
			}
			settle(&w);
			v->see(v, NULL, &w);
		}
	}
}

const char *world_wrong(const void *world)
{
	const struct world *w = world;
	u32 c, inside = 0;

	switch (w->fault) {
	case FAULT_LATE:
		return "a client was told that it holds after its end";
	case FAULT_REVIVED:
		return "a client that was past its end is inside again";
	case FAULT_RELEASED:
		return "a client released an attempt that is not over";
	}
	for (c = 0; c < plan.clients; c++)
		inside += node_inside(w, c);
	return inside > 1 ? "two clients are inside at the same time" : NULL;
}
