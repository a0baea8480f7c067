// SPDX-License-Identifier: GPL-2.0
/* Fencing tokens by mode: see modes.h. */
#include <stdio.h>
#include <stdlib.h>

#include "selftests/core/model/command.h"
#include "selftests/core/model/excludes.h"
#include "modes.h"

enum modes_kind { MODES_BEGIN, MODES_CONVERT, MODES_OFFER, MODES_STAMP, MODES_STAMP_OLD, MODES_WIN,
		  MODES_END };

u64 modes_shared;

static u32 modes;

/** struct mturn - what moves are made of */
struct mturn {
	const struct modes_world *w;
	struct visitor *v;
};

/* An offer below what each server has stamped is refused by all. */
static void forget_refused(struct modes_world *w)
{
	u8 lowest = w->server[0].hi;
	u32 u, m;

	for (u = 1; u < correct_servers(); u++)
		if (w->server[u].hi < lowest)
			lowest = w->server[u].hi;
	for (m = 0; m < BFTM_MODES; m++)
		w->old[m] &= (u8)(~0u << lowest);
}

static void show(const struct mturn *t, struct event e, struct modes_world *next)
{
	forget_refused(next);
	if (memcmp(t->w, next, sizeof(*next)))
		t->v->see(t->v, &e, next);
}

static u32 client_of_tenure(u32 c)
{
	return c + 1;
}

/* A STAMP of tenure @c, or of one that is gone. Return: was it accepted? */
static bool stamp(struct modes_world *w, u32 u, u32 c, u8 mode, u8 token, bool gone)
{
	struct m_stamper *s = &w->server[u];
	const struct m_server plain = { .hi = s->hi };
	struct bftm_msg reply;
	struct running r;

	server_load(&r, &plain, u, false);
	r.lock.himask = s->himask & 63;
	r.lock.hi_client = s->owner ? client_of_tenure(s->owner - 1u) : client_of_tenure(c);
	r.lock.hi_attempt = s->owner ? ATTEMPT : ATTEMPT - 1;
	reply = server_step(&r, &(struct bftm_msg){
		.type = BFTM_MSG_STAMP, .client = client_of_tenure(c), .server_epoch = EPOCH,
		.attempt = gone ? ATTEMPT - 2 : ATTEMPT, .mode = mode, .token = token,
	});
	s->hi = token_code(r.lock.hi);
	s->himask = r.lock.himask;
	s->owner = r.lock.hi_attempt == ATTEMPT ? (u8)r.lock.hi_client : 0;
	return reply.type == BFTM_MSG_SACK;
}

static bool is_compatible(const struct modes_world *w, u32 c, u8 mode)
{
	return !excludes(mode, w->tenure[!c].mode);
}

/* The tenure gives its offer up, which still arrives. */
static void offer_no_more(struct modes_world *w, u32 c)
{
	struct m_tenure *m = &w->tenure[c];
	u32 u;

	if (m->offered)
		w->old[m->mode] |= (u8)(1u << m->offered);
	m->offered = 0;
	for (u = 0; u < correct_servers(); u++)
		w->server[u].stamped &= (u8)~(1u << c);
}

static void tenure_ends(const struct mturn *t, u32 c)
{
	struct modes_world next = *t->w;
	u32 u, m;

	offer_no_more(&next, c);
	for (m = 0; m < BFTM_MODES; m++)
		if (next.tenure[c].got[m] > next.last[m])
			next.last[m] = next.tenure[c].got[m];
	memset(&next.tenure[c], 0, sizeof(next.tenure[c]));
	for (u = 0; u < correct_servers(); u++)
		if (next.server[u].owner == c + 1)
			next.server[u].owner = 0;
	show(t, (struct event){ .kind = MODES_END, .client = (u8)c }, &next);
}

static void tenure_gets(const struct mturn *t, u32 c)
{
	struct modes_world next = *t->w;
	const struct m_tenure m = next.tenure[c];
	struct world plain = { .offered = m.offered };
	u32 u, o;

	for (u = 0; u < correct_servers(); u++)
		plain.server[u].stamped = next.server[u].stamped >> c & 1;
	if (!holder_wins(&plain))
		return;
	for (o = 0; o < BFTM_MODES; o++) {
		u8 got = next.tenure[!c].got[o];
		u8 highest = got > next.last[o] ? got : next.last[o];

		if (excludes(m.mode, o) && m.offered <= highest)
			next.wrong = m.offered == highest ? SAME_TOKEN : LOWER_TOKEN;
		modes_shared += m.offered == highest;
	}
	if (m.offered > m.got[m.mode])
		next.tenure[c].got[m.mode] = m.offered;
	offer_no_more(&next, c);
	show(t, (struct event){ .kind = MODES_WIN, .client = (u8)c, .k = m.offered, .mode = m.mode,
				.won = true }, &next);
}

static void tenure_moves(const struct mturn *t, u32 c)
{
	const struct m_tenure *m = &t->w->tenure[c];
	struct modes_world next;
	u8 mode, k;

	for (mode = 0; mode < BFTM_MODES; mode++) {
		if (!(modes >> mode & 1) || mode == m->mode || !is_compatible(t->w, c, mode))
			continue;
		next = *t->w;
		offer_no_more(&next, c);
		next.tenure[c].mode = mode;
		show(t, (struct event){ .kind = m->mode ? MODES_CONVERT : MODES_BEGIN,
					.client = (u8)c, .mode = mode }, &next);
	}
	if (!m->mode)
		return;
	for (k = m->highest + 1; k <= plan.tokens; k++) {
		next = *t->w;
		offer_no_more(&next, c);
		next.tenure[c].offered = k;
		next.tenure[c].highest = k;
		show(t, (struct event){ .kind = MODES_OFFER, .client = (u8)c, .k = k }, &next);
	}
	if (m->offered)
		tenure_gets(t, c);
	tenure_ends(t, c);
}

static void stamp_old(const struct mturn *t, u32 u)
{
	struct modes_world next;
	u8 mode, k;

	for (mode = 0; mode < BFTM_MODES; mode++)
		for (k = 1; k <= plan.tokens; k++) {
			if (!(t->w->old[mode] >> k & 1))
				continue;
			next = *t->w;
			stamp(&next, u, 0, mode, k, true);
			show(t, (struct event){ .kind = MODES_STAMP_OLD, .server = (u8)u, .k = k,
						.mode = mode }, &next);
		}
}

static void stamper_moves(const struct mturn *t, u32 u)
{
	struct modes_world next;
	u32 c;

	for (c = 0; c < TENURES; c++) {
		const struct m_tenure *m = &t->w->tenure[c];

		if (!m->offered)
			continue;
		next = *t->w;
		if (stamp(&next, u, c, m->mode, m->offered, false))
			next.server[u].stamped |= (u8)(1u << c);
		show(t, (struct event){ .kind = MODES_STAMP, .server = (u8)u, .client = (u8)c,
					.k = m->offered, .mode = m->mode }, &next);
	}
	stamp_old(t, u);
}

static void modes_moves(const void *world, struct visitor *v)
{
	const struct mturn t = { .w = world, .v = v };
	u32 u, c;

	for (c = 0; c < TENURES; c++)
		tenure_moves(&t, c);
	for (u = 0; u < correct_servers(); u++)
		stamper_moves(&t, u);
}

static void modes_starts(struct visitor *v)
{
	struct modes_world w = { 0 };
	u32 u;

	for (u = 0; u < correct_servers(); u++)
		w.server[u].himask = bftm_mode_mask(BFTM_MODE_EX);
	v->see(v, NULL, &w);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct m_stamper));
}

/* Servers have no names: sorted, worlds that differ in these are one. */
static void modes_pack(const void *world, u8 *packed)
{
	struct modes_world w = *(const struct modes_world *)world;

	qsort(w.server, correct_servers(), sizeof(*w.server), by_bytes);
	memcpy(packed, &w, sizeof(w));
}

static void modes_unpack(const u8 *packed, void *world)
{
	memcpy(world, packed, sizeof(struct modes_world));
}

static const char *modes_wrong(const void *world)
{
	const struct modes_world *w = world;

	if (w->wrong == SAME_TOKEN)
		return "two tenures that exclude each other have the same token";
	return w->wrong ? "a tenure has a token below that of an earlier one that it excludes" :
			  NULL;
}

static void modes_tell(const void *before, const struct event *e, const void *after)
{
	static const char *const does[] = {
		[MODES_BEGIN] = "begins", [MODES_CONVERT] = "converts", [MODES_OFFER] = "offers",
		[MODES_STAMP] = "is heard", [MODES_WIN] = "has its token",
		[MODES_END] = "ends",
	};
	const struct modes_world *w = after;

	(void)before;
	if (!e)
		return;
	if (e->kind == MODES_STAMP_OLD)
		printf("an earlier offer is heard");
	else
		printf("tenure %c %s", 'A' + e->client, does[e->kind]);
	if (e->mode)
		printf(" in %s", command_mode[e->mode]);
	if (e->k)
		printf(", token %u", e->k);
	if (e->kind == MODES_STAMP || e->kind == MODES_STAMP_OLD)
		printf(", by server %u, whose highest is %u", e->server + 1u,
		       w->server[e->server].hi);
	printf("\n");
}

void modes_system_init(struct system *sys, u32 which)
{
	modes = which;
	*sys = (struct system){
		.size = sizeof(struct modes_world), .packed = sizeof(struct modes_world),
		.starts = modes_starts, .moves = modes_moves, .pack = modes_pack,
		.unpack = modes_unpack, .wrong = modes_wrong, .tell = modes_tell,
	};
}
