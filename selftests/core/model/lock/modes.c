// SPDX-License-Identifier: GPL-2.0
/* All that can happen next in the worlds with modes, and what must never be so. */
#include "selftests/core/model/excludes.h"
#include "modes.h"

struct modes_plan modes_plan = { .conversions = 1 };
struct modes_reached modes_reached;

/** struct modes_turn - what the functions below hand on */
struct modes_turn {
	const struct modes_world *w;
	struct visitor *v;
};

static bool lives(const struct modes_world *w, u32 c)
{
	return w->client[c].phase != BFTM_PHASE_DEAD;
}

static void count_reached(const struct modes_world *w, struct event *e,
			  const struct modes_world *next)
{
	u32 c, inside = 0;

	for (c = 0; c < plan.clients; c++) {
		const struct m_asker *x = &w->client[c], *y = &next->client[c];

		inside += y->held != BFTM_MODE_NL;
		if (!y->held || x->held == y->held)
			continue;
		e->won |= !x->held;
		modes_reached.up += x->held && !bftm_mode_covers(x->held, y->held);
		modes_reached.down += x->held && bftm_mode_covers(x->held, y->held);
	}
	modes_reached.shared += inside > 1;
}

/* A client past its end sees that at once: it is (c) of reduce.c. */
static void lapse_all(struct modes_world *w)
{
	struct event e = { .kind = LAPSE };
	u32 c;

	for (c = 0; c < plan.clients; c++) {
		e.client = (u8)c;
		if (w->client[c].phase == BFTM_PHASE_HOLD && !modes_inside(w, c))
			modes_act(w, &e);
	}
}

/* This may come next. Return: false when nothing came of it. */
static bool modes_emit(const struct modes_turn *t, struct event *e, struct modes_world *next)
{
	lapse_all(next);
	modes_settle(next);
	if (!memcmp(t->w, next, offsetof(struct modes_world, part)))
		return false;
	if (next->over) {
		modes_reached.over++;
		return true;
	}
	count_reached(t->w, e, next);
	t->v->see(t->v, e, next);
	return true;
}

static void act_in(const struct modes_turn *t, u32 c, u8 kind, u8 mode)
{
	struct event e = { .kind = kind, .client = (u8)c, .mode = mode };
	struct modes_world next = *t->w;

	modes_act(&next, &e);
	e.k = next.client[c].sends;
	modes_emit(t, &e, &next);
	if (kind != CONVERT || lives(&next, c))
		return;
	/* R5: by an old reading it is not over yet. */
	next = *t->w;
	e.old = true;
	modes_act(&next, &e);
	modes_emit(t, &e, &next);
}

static void act_in_any(const struct modes_turn *t, u32 c, u8 kind)
{
	u8 m;

	for (m = BFTM_MODE_CR; m < BFTM_MODES; m++)
		if (modes_plan.modes >> m & 1 && m != t->w->client[c].held)
			act_in(t, c, kind, m);
}

static void client_moves(const struct modes_turn *t, u32 c)
{
	const struct m_asker *m = &t->w->client[c];
	bool sends = m->sends < plan.sends;

	if (m->phase == BFTM_PHASE_DEAD) {
		act_in_any(t, c, START);
		return;
	}
	/* Where no time passes, the TRY that is out arrives again, and no other is needed. */
	if (sends && (m->phase == BFTM_PHASE_HOLD || !modes_plan.timeless))
		act_in(t, c, RESEND, 0);
	act_in(t, c, STOP, 0);
	if (m->phase != BFTM_PHASE_HOLD)
		return;
	if (sends && m->conversions < modes_plan.conversions)
		act_in_any(t, c, CONVERT);
	if (sends && m->want != m->held)
		act_in(t, c, KEEP, 0);
}

/* Digits of @set are the k of clients that wait at a server. Return: false when that cannot be. */
static bool let_wait(const struct modes_world *w, u32 u, u32 asking, u32 set,
		     u8 waits[CLIENTS_MAX])
{
	u32 c;

	for (c = 0; c < plan.clients; c++, set /= plan.sends + 1) {
		waits[c] = set % (plan.sends + 1);
		if (waits[c] && (asking >> c & 1 || w->share[u][c].mode ||
				 waits[c] > w->client[c].sends))
			return false;
	}
	return true;
}

static u32 sets_of_waiters(void)
{
	u32 c, sets = 1;

	for (c = 0; c < plan.clients; c++)
		sets *= plan.sends + 1;
	return sets;
}

static void serve_while(const struct modes_turn *t, struct event e, const u8 waits[CLIENTS_MAX])
{
	struct modes_world next;

	/* R5: by an old reading a grant ends earlier; by a fresh one another's is over. */
	for (e.old = true; ; e.old = false) {
		next = *t->w;
		modes_serve(&next, &e, waits);
		if (modes_emit(t, &e, &next) || modes_plan.timeless || !e.old)
			break;
	}
}

/* @asking: bit of the client that does not wait, since it asks; 0: none */
static void serve_any(const struct modes_turn *t, struct event e, u32 asking)
{
	u8 waits[CLIENTS_MAX];
	u32 set;

	for (set = 0; set < sets_of_waiters(); set++)
		if (let_wait(t->w, e.server, asking, set, waits))
			serve_while(t, e, waits);
}

static void client_requests(const struct modes_turn *t, u32 u, u32 c)
{
	struct event e = { .kind = REQUEST, .server = (u8)u, .client = (u8)c };
	u8 k, m;

	e.type = BFTM_MSG_TRY;
	for (k = 1; k <= t->w->client[c].sends; k++) {
		e.k = k;
		serve_any(t, e, 1u << c);
	}
	e.k = 0;
	e.type = BFTM_MSG_YIELD;
	for (m = 0; m < BFTM_MODES; m++) {
		e.mode = m;
		if (t->w->share[u][c].keeps >> m & 1)
			serve_any(t, e, 1u << c);
	}
}

static void answer_of(const struct modes_turn *t, struct event e)
{
	struct modes_world next = *t->w;

	e.kind = ANSWER;
	e.old = true;
	modes_answer(&next, &e);
	modes_emit(t, &e, &next);
}

static void client_answers(const struct modes_turn *t, u32 u, u32 c)
{
	const struct m_share *s = &t->w->share[u][c];
	struct event e = {
		.type = BFTM_MSG_INQUIRE, .server = (u8)u, .client = (u8)c, .grant = s->grant,
	};
	u32 i;

	for (; e.mode < BFTM_MODES; e.mode++)
		if (s->inquiries >> e.mode & 1)
			answer_of(t, e);
	e.type = BFTM_MSG_FREE;
	for (i = 0; i < GRANTS * MODES_SENDS * BFTM_MODES; i++) {
		u32 g = i / BFTM_MODES / MODES_SENDS, k = i / BFTM_MODES % MODES_SENDS;

		e.grant = (u8)(g + 1);
		e.k = (u8)(k + 1);
		e.mode = (u8)(i % BFTM_MODES);
		if (s->flight[g][k] >> e.mode & 1)
			answer_of(t, e);
	}
}

static void pass(const struct modes_turn *t)
{
	struct event e = { .kind = STEP };
	struct modes_world next = *t->w;
	const s32 slow = node_gain(next.instant, false), fast = node_gain(next.instant, true);
	u32 u, c, k;

	for (c = 0; c < plan.clients; c++) {
		for (u = 0; u < correct_servers(); u++)
			if (next.share[u][c].mode)
				next.share[u][c].left -= fast;
		for (k = 0; k < next.client[c].sends; k++)
			next.client[c].age[k] += slow;
	}
	if (++next.instant == plan.instants) {
		next.instant = 0;
		next.part++;
	}
	modes_emit(t, &e, &next);
}

/* Is there a server before it that is the same but for its name? */
static bool has_namesake(const struct modes_world *w, u32 u)
{
	u32 v;

	for (v = 0; v < u; v++)
		if (!memcmp(w->share[u], w->share[v], sizeof(w->share[u])))
			return true;
	return false;
}

static void modes_moves(const void *world, struct visitor *v)
{
	const struct modes_turn t = { .w = world, .v = v };
	u32 u, c;

	for (c = 0; c < plan.clients; c++)
		client_moves(&t, c);
	for (u = 0; u < correct_servers(); u++) {
		if (has_namesake(t.w, u))
			continue;
		for (c = 0; c < plan.clients; c++) {
			if (!lives(t.w, c))
				continue;
			client_requests(&t, u, c);
			client_answers(&t, u, c);
		}
		serve_any(&t, (struct event){ .kind = LOOK, .server = (u8)u }, 0);
	}
	if (!modes_plan.timeless)
		pass(&t);
}

static void modes_starts(struct visitor *v)
{
	struct modes_world w;

	memset(&w, 0, sizeof(w));
	v->see(v, NULL, &w);
}

static const char *modes_wrong(const void *world)
{
	const struct modes_world *w = world;
	enum bftm_mode mode[CLIENTS_MAX];
	u32 c, d;

	switch (w->fault) {
	case FAULT_LATE:
		return "a client was told that it holds after its end";
	case FAULT_REVIVED:
		return "a client that was past its end is inside again";
	case FAULT_RELEASED:
		return "a client released an attempt that is not over";
	case FAULT_YIELDED:
		return "a client yielded a mode that it holds";
	}
	for (c = 0; c < plan.clients; c++) {
		mode[c] = modes_inside(w, c);
		for (d = 0; d < c; d++)
			if (excludes(mode[c], mode[d]))
				return "two clients are inside in modes that exclude each other";
	}
	return NULL;
}

struct system modes_system(void)
{
	return (struct system){
		.size = sizeof(struct modes_world), .packed = modes_pack_length(),
		.starts = modes_starts, .moves = modes_moves,
		.pack = modes_pack, .unpack = modes_unpack,
		.wrong = modes_wrong, .tell = modes_tell,
	};
}
