// SPDX-License-Identifier: GPL-2.0
/* All that can happen next in the worlds with members, and what must never be so. */
#include "selftests/core/model/store.h"
#include "members.h"

#define NUMBERED_BYTES	(1ull << 31)	/* of address space, for all columns */

struct members_plan members_plan;
u64 members_reached[L_KINDS], members_over;

static struct store columns;

/** struct members_turn - what the functions below hand on */
struct members_turn {
	const struct members_world *w;
	struct visitor *v;
};

static void members_emit(const struct members_turn *t, struct event *e, const struct members_world *next)
{
	members_over += next->over;
	if (next->over || !memcmp(t->w, next, sizeof(*next)))
		return;
	e->won = members_inside(next, e->client) && !members_inside(t->w, e->client);
	members_reached[e->kind]++;
	t->v->see(t->v, e, next);
}

static void client_acts(const struct members_turn *t, struct event e)
{
	struct members_world next = *t->w;

	members_act(&next, &e);
	members_emit(t, &e, &next);
}

static void server_serves(const struct members_turn *t, struct event e)
{
	struct members_world next = *t->w;

	members_serve(&next, &e);
	members_emit(t, &e, &next);
}

/* A boot knows nothing any more; its messages stay under way. */
static void lose_power(struct members_world *w, u32 c)
{
	u32 u;

	for (u = 0; u < plan.n; u++) {
		struct l_share *s = &w->server[u].share[c];

		memset(s->frees[0], 0, sizeof(s->frees[0]));
		s->epoch = 0;
		s->sent = 0;
		s->fresh = 0;
		s->answered = 0;
		s->reasserts = 0;
	}
	w->client[c].runs = 0;
	w->client[c].phase = BFTM_PHASE_DEAD;
	w->client[c].sends = 0;
	w->client[c].asserts = 0;
}

static void boot_host(struct members_world *w, u32 c)
{
	u32 u;

	w->client[c] = (struct l_member){ .boot = 2, .runs = 1, .phase = BFTM_PHASE_DEAD };
	for (u = 0; u < plan.n; u++)
		w->server[u].share[c].fresh = w->server[u].start;
}

static void power_moves(const struct members_turn *t, u32 c)
{
	struct event e = { .client = (u8)c };
	struct members_world next = *t->w;
	struct l_member *m = &next.client[c];

	if (c || !members_plan.crashes || m->boot == L_BOOTS)
		return;
	e.kind = m->runs ? L_CUT : L_BOOT;
	if (m->runs)
		lose_power(&next, c);
	else
		boot_host(&next, c);
	members_emit(t, &e, &next);
}

static void challenges_arrive(const struct members_turn *t, u32 c, u32 u)
{
	const struct l_column *col = &t->w->server[u];
	struct event e = { .kind = L_CHALLENGE, .client = (u8)c, .server = (u8)u };

	for (e.grant = 1; e.grant <= col->start; e.grant++) {
		struct members_world next = *t->w;
		struct l_share *s = &next.server[u].share[c];

		e.old = e.grant < s->fresh;
		/* The newest start has then heard of the client. */
		if (e.grant == col->start && s->window < next.client[c].boot)
			s->window = next.client[c].boot;
		members_act(&next, &e);
		members_emit(t, &e, &next);
	}
}

static void grants_arrive(const struct members_turn *t, u32 c, u32 u)
{
	const struct l_share *s = &t->w->server[u].share[c];
	struct event e = { .kind = ANSWER, .client = (u8)c, .server = (u8)u };

	for (e.k = 1; e.k <= t->w->client[c].sends; e.k++)
		for (e.grant = 1; e.grant <= L_STARTS; e.grant++)
			if (s->frees[t->w->client[c].boot - 1][e.k - 1] >> e.grant & 1)
				client_acts(t, e);
}

static void client_moves(const struct members_turn *t, u32 c)
{
	const struct l_member *m = &t->w->client[c];
	u32 u;

	power_moves(t, c);
	if (!m->runs)
		return;
	if (m->phase != BFTM_PHASE_DEAD)
		client_acts(t, (struct event){ .kind = STOP, .client = (u8)c });
	else if (!m->begun)
		client_acts(t, (struct event){ .kind = START, .client = (u8)c });
	for (u = 0; u < correct_servers(); u++) {
		challenges_arrive(t, c, u);
		grants_arrive(t, c, u);
	}
}

/* Requests of a client that are under way to this start. */
static void requests_arrive(const struct members_turn *t, u32 u, u32 c)
{
	const struct l_column *col = &t->w->server[u];
	const struct l_share *s = &col->share[c];
	struct event e = { .client = (u8)c, .server = (u8)u };

	for (e.attempt = s->window ?: 1; e.attempt <= L_BOOTS; e.attempt++) {
		e.kind = L_SYNC;
		e.k = 0;
		if (s->syncs[e.attempt - 1] >> col->start & 1)
			server_serves(t, e);
		e.kind = L_TRY;
		for (e.k = 1; e.k <= L_SENDS; e.k++)
			if (s->tries[e.attempt - 1][e.k - 1] >> col->start & 1)
				server_serves(t, e);
	}
}

static u32 restarts_so_far(const struct members_world *w)
{
	u32 u, sum = 0;

	for (u = 0; u < plan.n; u++)
		sum += w->server[u].start - 1u;
	return sum;
}

static void server_moves(const struct members_turn *t, u32 u)
{
	struct event e = { .kind = L_RESTART, .server = (u8)u };
	u32 c;

	if (restarts_so_far(t->w) < plan.restarts && t->w->server[u].start < L_STARTS) {
		struct members_world next = *t->w;

		members_start(&next, u);
		members_emit(t, &e, &next);
	}
	for (c = 0; c < L_CLIENTS; c++) {
		const struct l_member *m = &t->w->client[c];
		const struct l_share *s = &t->w->server[u].share[c];

		requests_arrive(t, u, c);
		e.client = (u8)c;
		e.kind = L_EVICT;
		if (!c && (members_plan.crashes || members_plan.early) && !s->evicted &&
		    (members_plan.early || !m->runs))
			server_serves(t, e);
		e.kind = L_NOTE;
		if (members_plan.roll && s->window > s->noted)
			server_serves(t, e);
	}
}

/* Is there a server before it that is the same but for its name? */
static bool has_twin(const struct members_world *w, u32 u)
{
	u32 v;

	for (v = 0; v < u; v++)
		if (!memcmp(&w->server[u], &w->server[v], sizeof(w->server[u])))
			return true;
	return false;
}

static void members_moves(const void *world, struct visitor *v)
{
	const struct members_turn t = { .w = world, .v = v };
	u32 u, c;

	for (c = 0; c < L_CLIENTS; c++)
		client_moves(&t, c);
	for (u = 0; u < correct_servers(); u++)
		if (!has_twin(t.w, u))
			server_moves(&t, u);
}

/* All know the first start of each server, and no server waits for anybody. */
static void members_starts(struct visitor *v)
{
	struct members_world w;
	u32 u, c;

	memset(&w, 0, sizeof(w));
	for (c = 0; c < L_CLIENTS; c++) {
		w.client[c] = (struct l_member){ .boot = 1, .runs = 1, .phase = BFTM_PHASE_DEAD };
		for (u = 0; u < plan.n; u++) {
			w.server[u].start = 1;
			w.server[u].share[c].epoch = 1;
			w.server[u].share[c].sent = 1;
			w.server[u].share[c].fresh = 1;
			w.server[u].share[c].window = 1;
		}
	}
	v->see(v, NULL, &w);
}

static const char *members_wrong(const void *world)
{
	return members_inside(world, 0) && members_inside(world, 1) ?
	       "two clients hold the lock" : NULL;
}

static void members_pack(const void *world, u8 *packed)
{
	const struct members_world *w = world;
	u32 number[L_SERVERS] = { 0 }, u, i, x;

	for (u = 0; u < plan.n; u++) {
		x = store_number(&columns, (const u8 *)&w->server[u]);
		/* Sorted among those that are interchangeable. */
		for (i = u; i && i != correct_servers() && number[i - 1] > x; i--)
			number[i] = number[i - 1];
		number[i] = x;
	}
	memcpy(packed, number, plan.n * sizeof(u32));
	memcpy(packed + plan.n * sizeof(u32), w->client, sizeof(w->client));
}

static void members_unpack(const u8 *packed, void *world)
{
	struct members_world *w = world;
	u32 number[L_SERVERS], u;

	memset(w, 0, sizeof(*w));
	memcpy(number, packed, plan.n * sizeof(u32));
	for (u = 0; u < plan.n; u++)
		memcpy(&w->server[u], store_get(&columns, number[u]), sizeof(w->server[u]));
	memcpy(w->client, packed + plan.n * sizeof(u32), sizeof(w->client));
}

struct system members_system(void)
{
	store_init(&columns, sizeof(struct l_column), NUMBERED_BYTES);
	return (struct system){
		.size = sizeof(struct members_world),
		.packed = plan.n * sizeof(u32) + L_CLIENTS * sizeof(struct l_member),
		.starts = members_starts, .moves = members_moves,
		.pack = members_pack, .unpack = members_unpack,
		.wrong = members_wrong, .tell = members_tell,
	};
}
