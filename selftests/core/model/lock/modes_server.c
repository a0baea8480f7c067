// SPDX-License-Identifier: GPL-2.0
/* Servers of the worlds with modes: the shipped core between one event and the next. */
#include <err.h>

#include "core/backoff/parties.h"
#include "core/lease.h"
#include "modes.h"
#include "node.h"

/** union places - the queue of a lock */
static union {
	struct bftm_queue queue;
	u8 raw[sizeof(struct bftm_queue) + CLIENTS_MAX * sizeof(struct bftm_seat)];
} places;

/** struct numbers - how cores number the newest grant of each client in this step */
struct numbers {
	u64 newest[CLIENTS_MAX];
};

#define SEAT_GNO(c)	(GNO - CLIENTS_MAX + (c))	/* of all grants but the newest */

static struct bftm_party party_of(const struct modes_world *w, u32 u, u32 c, u8 k)
{
	const struct m_asker *m = &w->client[c];
	const struct m_share *s = &w->share[u][c];
	struct bftm_party p = {
		.attempt = CURRENT, .prio = c + 1, .client = c + 1, .lease_ns = node_lease(c),
	};

	if (s->mode) {
		p.time_ns = NOW + (u64)(int64_t)s->left;
		p.k = s->k;
		p.mode = s->mode & 7;
		p.want = s->want & 7;
		p.held = s->held & 7;
	} else {
		p.time_ns = NOW - BFTM_TICK_NS;
		p.k = k;
		p.want = m->tried[k - 1] & 7;
		p.held = m->said[k - 1] & 7;
	}
	return p;
}

static void load_lock(const struct modes_world *w, u32 u, const u8 waits[CLIENTS_MAX],
		      struct bftm_lock *lock, struct numbers *numbers)
{
	struct bftm_party p, *place;
	u32 c;

	bftm_lock_init(lock, GNO, 0);
	memset(&places, 0, sizeof(places));
	places.queue.room = CLIENTS_MAX;
	lock->queue = &places.queue;
	for (c = 0; c < plan.clients; c++) {
		numbers->newest[c] = 0;
		if (!w->share[u][c].mode)
			continue;
		p = party_of(w, u, c, 0);
		place = bftm_party_add(lock, &p);
		if (place != &lock->first)
			((struct bftm_seat *)place)->gno = SEAT_GNO(c);
		numbers->newest[c] = bftm_party_gno(lock, place);
	}
	for (c = 0; c < plan.clients; c++) {
		if (w->share[u][c].mode || !waits[c])
			continue;
		p = party_of(w, u, c, waits[c]);
		bftm_party_add(lock, &p);
	}
}

/* In a step numbers only grow. */
static void note_number(struct modes_world *w, u32 u, u32 c, u64 number, struct numbers *numbers)
{
	struct m_share *s = &w->share[u][c];

	if (number == numbers->newest[c])
		return;
	numbers->newest[c] = number;
	if (s->grant == GRANTS)
		w->over = 1;
	else
		s->grant++;
	s->keeps = 0;		/* of an earlier grant: the server will not take it */
	s->inquiries = 0;
}

/* FREE arrives at once, and stays in the network. */
static void note_free(struct modes_world *w, u32 u, const struct bftm_msg *msg,
		      struct numbers *numbers)
{
	u32 c = msg->client - 1;
	struct m_share *s = &w->share[u][c];

	note_number(w, u, c, msg->gno, numbers);
	if (msg->k > w->client[c].sends || !msg->k)
		errx(2, "a server grants what was not asked for");
	s->flight[s->grant - 1][msg->k - 1] |= (u8)(1u << msg->mode);
}

static void note_message(struct modes_world *w, u32 u, const struct bftm_msg *msg,
			 struct numbers *numbers)
{
	if (msg->type == BFTM_MSG_FREE)
		note_free(w, u, msg, numbers);
	if (msg->type != BFTM_MSG_INQUIRE)
		return;
	note_number(w, u, msg->client - 1, msg->gno, numbers);
	w->share[u][msg->client - 1].inquiries |= (u8)(1u << msg->mode);
}

static void store_party(struct modes_world *w, u32 u, const struct bftm_lock *lock,
			const struct bftm_party *p, struct numbers *numbers)
{
	struct m_share *s = &w->share[u][p->client - 1];

	note_number(w, u, p->client - 1, bftm_party_gno(lock, p), numbers);
	s->mode = p->mode;
	s->want = p->want;
	s->held = p->held;
	s->k = (u8)p->k;
	s->left = (s32)(int64_t)(p->time_ns - NOW);
}

static void store_lock(struct modes_world *w, u32 u, const struct bftm_lock *lock,
		       struct numbers *numbers)
{
	u32 c, i, seen = 0;

	for (c = 0; c < plan.clients; c++) {
		struct m_share *s = &w->share[u][c];

		s->mode = 0;
		s->want = 0;
		s->held = 0;
		s->k = 0;
		s->left = 0;
	}
	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		if (p->attempt && seen & 1u << p->client)
			errx(2, "a client has two places at a server");
		seen |= 1u << p->client;
		if (bftm_party_granted(p))
			store_party(w, u, lock, p, numbers);
	}
	for (c = 0; c < plan.clients; c++) {
		if (w->share[u][c].mode)
			continue;
		w->share[u][c].keeps = 0;
		w->share[u][c].inquiries = 0;
	}
}

static void step_lock(struct modes_world *w, struct event *e, struct bftm_lock *lock,
		      struct numbers *numbers)
{
	const struct bftm_server_cfg cfg = {
		.id = (u16)(e->server + 1), .rho_ppm = RHO_PPM, .epoch = 1,
		.lease_max_ns = node_lease_max, .waiters_max = CLIENTS_MAX,
	};
	const struct bftm_msg req = {
		.type = e->type, .proto = BFTM_PROTO_BACKOFF, .server = e->server + 1u,
		.client = e->client + 1u, .attempt = CURRENT, .k = e->k, .server_epoch = 1,
		.mode = e->type == BFTM_MSG_TRY ? w->client[e->client].tried[e->k - 1] : 0,
		.arg = e->type == BFTM_MSG_TRY ? w->client[e->client].said[e->k - 1] :
		       e->type == BFTM_MSG_YIELD ? e->mode : 0,
		.lease_ns = node_lease(e->client), .prio = e->client + 1u,
		.gno = numbers->newest[e->client],
	};
	struct bftm_msg reply, push;

	if (e->kind == REQUEST) {
		bftm_server_step(&cfg, lock, &req, reading(e), &reply, &push);
		e->reply = reply.type;
		note_message(w, e->server, &reply, numbers);
		note_message(w, e->server, &push, numbers);
	} else {
		lock->unsettled = 1;
	}
	while (lock->unsettled) {
		bftm_lock_expire(&cfg, lock, reading(e), &push);
		note_message(w, e->server, &push, numbers);
	}
}

/* R3: what was sent in this step to a client arrives. */
static void deliver(struct modes_world *w, const struct m_share *before, u32 u, u32 c)
{
	const struct m_share sent = w->share[u][c];
	struct event e = {
		.kind = ANSWER, .type = BFTM_MSG_FREE, .client = (u8)c, .server = (u8)u,
		.old = true,
	};
	u32 i;

	for (i = 0; i < GRANTS * MODES_SENDS * BFTM_MODES; i++) {
		u32 g = i / BFTM_MODES / MODES_SENDS, k = i / BFTM_MODES % MODES_SENDS;

		e.grant = (u8)(g + 1);
		e.k = (u8)(k + 1);
		e.mode = (u8)(i % BFTM_MODES);
		if ((sent.flight[g][k] & ~before->flight[g][k]) >> e.mode & 1 &&
		    w->client[c].phase != BFTM_PHASE_DEAD)
			modes_answer(w, &e);
	}
}

void modes_serve(struct modes_world *w, struct event *e, const u8 waits[CLIENTS_MAX])
{
	const struct modes_world before = *w;
	struct numbers numbers;
	struct bftm_lock lock;
	u32 c;

	load_lock(w, e->server, waits, &lock, &numbers);
	step_lock(w, e, &lock, &numbers);
	store_lock(w, e->server, &lock, &numbers);
	for (c = 0; uses(3) && c < plan.clients; c++)
		deliver(w, &before.share[e->server][c], e->server, c);
}
