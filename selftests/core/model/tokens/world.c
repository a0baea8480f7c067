// SPDX-License-Identifier: GPL-2.0
/* All that can happen next, and how a world is kept. */
#include <stdlib.h>

#include "world.h"

u64 reached[KINDS];

bool has_twin(const struct world *w, u32 u)
{
	u32 v;

	for (v = 0; v < u; v++)
		if (!memcmp(&w->server[v], &w->server[u], sizeof(w->server[u])))
			return true;
	return false;
}

static bool same(const struct world *a, const struct world *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/*
 * A message that a server ignores since it knows of tokens is forgotten, and a client that asks for
 * one that knows, or that has restarted, has given up: it would hear so. --late keeps all of that,
 * and looks whether they do ignore it.
 */
static void settle_told(struct world *w)
{
	bool over = w->stale;
	u32 u;

	for (u = 0; u < correct_servers(); u++) {
		struct m_server *s = &w->server[u];

		s->told_before = NOTHING;
		if (s->floor == NOTHING)
			continue;
		s->told = 0;
		over |= s->asked;
	}
	for (u = 0; over && u < correct_servers(); u++) {
		w->server[u].asked = 0;
		w->server[u].top = NOTHING;
	}
	if (over)
		w->stale = w->ahead = 0;
}

/* Worlds that make no difference any more are one. */
static void settle(struct world *w)
{
	u32 u;

	for (u = 0; u < correct_servers(); u++) {
		struct m_server *s = &w->server[u];

		/* A lock that is made has all that the floor says; only an intruder cares. */
		if (!plan.intruder)
			s->floor = s->hi = known(s);
		/* A server that knows need not learn. */
		s->quarantine &= s->floor == NOTHING;
		s->waits &= s->quarantine && w->offered;
		s->stamped &= w->offered != 0;
		s->mine &= w->offered && s->hi == w->offered;
	}
	w->namesake &= w->offered != 0;
	if (!plan.late)
		settle_told(w);
}

void emit(const struct turn *t, struct event e, struct world *next)
{
	settle(next);
	if (same(t->w, next))
		return;
	reached[e.kind]++;
	t->v->see(t->v, &e, next);
}

static struct event about(u8 kind, u32 u, u32 k)
{
	return (struct event){ .kind = kind, .server = (u8)u, .k = (u8)k };
}

/* The holder has its token, or gives up, or offers another one. */
static void offer_is_over(struct world *w)
{
	u32 u;

	w->old |= (u8)(1u << w->offered);
	w->offered = 0;
	for (u = 0; u < correct_servers(); u++)
		w->server[u].stamped = w->server[u].mine = w->server[u].waits = 0;
}

static void holder_moves(const struct turn *t)
{
	struct world next;
	u8 seen, token;

	for (seen = 0; seen < plan.tokens; seen++) {
		token = holder_offer(t->w->offered, seen);
		if (token > plan.tokens)
			continue;
		next = *t->w;
		if (next.offered)
			offer_is_over(&next);
		next.offered = token;
		emit(t, about(OFFER, 0, token), &next);
		next.namesake = 1;
		if (!t->w->offered)
			emit(t, about(OFFER, 0, token), &next);
	}
	if (!t->w->offered)
		return;
	next = *t->w;
	offer_is_over(&next);
	emit(t, about(END, 0, t->w->offered), &next);
	if (!holder_wins(t->w))
		return;
	next.wrong = t->w->offered == t->w->last ? SAME_TOKEN :
		     t->w->offered < t->w->last ? LOWER_TOKEN : RIGHT;
	if (t->w->offered > next.last)
		next.last = t->w->offered;
	emit(t, (struct event){ .kind = WIN, .k = t->w->offered, .won = true }, &next);
}

static void stamps(const struct turn *t, u32 u)
{
	struct world next = *t->w;
	u8 k;

	if (next.offered) {
		next.server[u].stamped |= serve_stamp(&next, u, next.offered, true);
		emit(t, about(STAMP, u, next.offered), &next);
	}
	for (k = 1; k <= plan.tokens; k++) {
		if (!(t->w->old >> k & 1))
			continue;
		next = *t->w;
		serve_stamp(&next, u, k, false);
		emit(t, about(STAMP_OLD, u, k), &next);
	}
}

/* The highest token that some holder may have, or may get. */
static u8 highest_offer(const struct world *w)
{
	u8 k = plan.tokens;

	while (k && k != w->offered && !(w->old >> k & 1))
		k--;
	return k;
}

static void restart(struct world *w, u32 u, u8 floor)
{
	struct m_server *s = &w->server[u];
	u8 told = s->told;

	s->floor = floor;
	s->hi = NOTHING;
	s->quarantine = 1;
	s->waits = w->offered != 0;
	s->mine = 0;
	if (told && (u8)__builtin_ctz(told) < s->told_before)
		s->told_before = (u8)__builtin_ctz(told);
	s->told = 0;
	if (s->asked) {
		w->stale = 1;
		w->ahead = 0;
	}
}

static void starts_anew(const struct turn *t, u32 u)
{
	struct world next = *t->w;

	restart(&next, u, NOTHING);
	emit(t, about(RESTART, u, 0), &next);
	if (plan.floors) {
		next = *t->w;
		restart(&next, u, highest_offer(t->w));
		emit(t, about(START_WITH_FLOOR, u, next.server[u].floor), &next);
	}
	if (t->w->server[u].quarantine && !t->w->server[u].waits) {
		next = *t->w;
		next.server[u].quarantine = 0;
		emit(t, about(QUARANTINE_ENDS, u, 0), &next);
	}
}

static void recover(const struct turn *t, u32 u, u8 kind, u32 client, u8 k, bool before)
{
	struct world next = *t->w;

	if (serve_recover(&next, u, client, k, before))
		emit(t, about(kind, u, k), &next);
}

static void words_of_others(const struct turn *t, u32 u)
{
	const struct m_server *s = &t->w->server[u];
	u8 k;

	for (k = 0; k <= MUCH; k++)
		if (s->told >> k & 1)
			recover(t, u, RECOVER, TELLER, k, false);
	if (s->told_before != NOTHING)
		recover(t, u, RECOVER_OLD, TELLER, s->told_before, true);
	if (!plan.intruder)
		return;
	for (k = 0; k <= MUCH; k++)
		if (k <= plan.tokens || k == MUCH)
			recover(t, u, INTRUDE, PREFIX_ONLY, k, false);
	if (s->quarantine || s->floor != NOTHING)
		recover(t, u, INTRUDE_ALL, TELLER, 0, false);
	recover(t, u, INTRUDE_ALL, TELLER, MUCH, false);
}

static void moves(const void *world, struct visitor *v)
{
	const struct turn t = { .w = world, .v = v };
	u32 u;

	holder_moves(&t);
	for (u = 0; u < correct_servers(); u++) {
		if (has_twin(t.w, u))
			continue;
		stamps(&t, u);
		starts_anew(&t, u);
		words_of_others(&t, u);
	}
	teller_moves(&t);
}

/* The first start of the cluster: no token was ever stamped. */
static void starts(struct visitor *v)
{
	struct world w = { 0 };
	u32 u;

	for (u = 0; u < correct_servers(); u++)
		w.server[u] = (struct m_server){
			.hi = plan.intruder ? NOTHING : 0, .told_before = NOTHING, .top = NOTHING,
		};
	v->see(v, NULL, &w);
}

/* In three bytes. */
static u32 pack_server(const struct m_server *s)
{
	return (u32)s->floor | (u32)s->hi << 3 | (u32)s->top << 6 | (u32)s->told_before << 9 |
	       (u32)s->told << 12 | (u32)s->quarantine << 19 | (u32)s->waits << 20 |
	       (u32)s->stamped << 21 | (u32)s->mine << 22 | (u32)s->asked << 23;
}

static struct m_server unpack_server(u32 p)
{
	return (struct m_server){
		.floor = p & 7, .hi = p >> 3 & 7, .top = p >> 6 & 7, .told_before = p >> 9 & 7,
		.told = p >> 12 & 127, .quarantine = p >> 19 & 1, .waits = p >> 20 & 1,
		.stamped = p >> 21 & 1, .mine = p >> 22 & 1, .asked = p >> 23 & 1,
	};
}

static int by_number(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Servers have no names: sorted, worlds that differ in these are one. */
static void pack(const void *world, u8 *packed)
{
	const struct world *w = world;
	u32 server[SERVERS_MAX] = { 0 }, u;

	for (u = 0; u < correct_servers(); u++)
		server[u] = pack_server(&w->server[u]);
	qsort(server, correct_servers(), sizeof(*server), by_number);
	for (u = 0; u < correct_servers(); u++) {
		*packed++ = (u8)server[u];
		*packed++ = (u8)(server[u] >> 8);
		*packed++ = (u8)(server[u] >> 16);
	}
	*packed++ = (u8)(w->offered | w->last << 3 | w->stale << 6 | w->ahead << 7);
	*packed++ = w->old;
	*packed++ = (u8)(w->wrong | w->namesake << 2);
}

static void unpack(const u8 *packed, void *world)
{
	struct world *w = world;
	u32 u;

	memset(w, 0, sizeof(*w));
	for (u = 0; u < correct_servers(); u++, packed += 3)
		w->server[u] = unpack_server(packed[0] | (u32)packed[1] << 8 | (u32)packed[2] << 16);
	w->offered = packed[0] & 7;
	w->last = packed[0] >> 3 & 7;
	w->stale = packed[0] >> 6 & 1;
	w->ahead = packed[0] >> 7;
	w->old = packed[1];
	w->wrong = packed[2] & 3;
	w->namesake = packed[2] >> 2;
}

static const char *wrong(const void *world)
{
	const struct world *w = world;

	if (w->wrong == SAME_TOKEN)
		return "two holders have the same token";
	if (w->wrong == LOWER_TOKEN)
		return "a holder has a token below that of a holder before it";
	return live_wrong(w);
}

void token_system_init(struct system *sys)
{
	*sys = (struct system){
		.size = sizeof(struct world), .packed = 3 * correct_servers() + 3,
		.starts = starts, .moves = moves, .pack = pack, .unpack = unpack,
		.wrong = wrong, .tell = tell,
	};
}
