// SPDX-License-Identifier: GPL-2.0
/* Servers of the worlds with members: the shipped core between one event and the next. */
#include "core/access.h"
#include "core/backoff/parties.h"
#include "core/serve.h"
#include "members.h"

/* Places of a lock: each boot of each client may have one. */
static union {
	struct bftm_queue queue;
	u8 raw[sizeof(struct bftm_queue) + L_CLIENTS * L_BOOTS * sizeof(struct bftm_seat)];
} places;

static struct bftm_lock lock;
static struct bftm_member member[L_CLIENTS];
static struct bftm_members members;

static void load_column(const struct l_column *col)
{
	u32 c, i;

	bftm_lock_init(&lock, 1000, 0);
	memset(&places, 0, sizeof(places));
	places.queue.room = L_CLIENTS * L_BOOTS;
	lock.queue = &places.queue;
	members = (struct bftm_members){
		.member = member, .count = L_CLIENTS, .awaited = col->awaited,
		.roll = members_plan.roll,
	};
	for (c = 0; c < L_CLIENTS; c++) {
		const struct l_share *s = &col->share[c];

		member[c] = (struct bftm_member){
			.client = c + 1, .evicted = s->evicted, .noted = s->noted,
			.awaited = s->awaited,
		};
		for (i = 0; i < L_BOOTS; i++) {
			const struct bftm_party p = {
				.attempt = (u64)(i + 1) << 32 | 1, .prio = c + 1, .client = c + 1,
				.lease_ns = BFTM_LEASE_NONE, .time_ns = BFTM_LEASE_NONE,
				.k = s->k[i], .mode = BFTM_MODE_EX,
				.held = s->held[i] ? BFTM_MODE_EX : BFTM_MODE_NL,
			};

			if (s->k[i])
				bftm_party_add(&lock, &p);
		}
	}
}

static void store_column(struct l_column *col)
{
	u32 c, i;

	col->awaited = (u8)members.awaited;
	for (c = 0; c < L_CLIENTS; c++) {
		struct l_share *s = &col->share[c];

		s->awaited = member[c].awaited;
		s->evicted = (u8)member[c].evicted;
		s->noted = (u8)member[c].noted;
		memset(s->k, 0, sizeof(s->k));
		memset(s->held, 0, sizeof(s->held));
	}
	for (i = 0; i < bftm_parties(&lock); i++) {
		const struct bftm_party *p = bftm_party(&lock, i);
		u32 boot = (u32)(p->attempt >> 32);

		if (!p->attempt)
			continue;
		/* It may be forgotten at any time: a TRY that arrives again stands for it. */
		if (!bftm_party_granted(p))
			continue;
		col->share[p->client - 1].k[boot - 1] = (u8)p->k;
		col->share[p->client - 1].held[boot - 1] = p->held == BFTM_MODE_EX;
	}
}

/* One rule: each name may be locked without a lease. */
static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			 struct bftm_msg *reply)
{
	static const struct bftm_rule rule = {
		.client_first = 1, .client_last = ~0u, .leaseless = true,
	};

	(void)arg;
	return bftm_access_admit(&rule, 1, req, cfg, reply);
}

static const struct bftm_members *shell_members(void *arg)
{
	(void)arg;
	return &members;
}

static bool shell_synced(void *arg, u32 client, u32 incarnation)
{
	(void)arg;
	bftm_lock_drop(&lock, client, incarnation, true);
	bftm_members_heard(&members, bftm_members_find(&members, client));
	return true;
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol, const struct bftm_msg *req,
			bool make, u64 *now, void **ret)
{
	(void)arg;
	(void)protocol;
	(void)req;
	(void)make;
	(void)now;
	*ret = &lock;
	return true;
}

static const struct bftm_shell shell = {
	.permit = shell_permit, .members = shell_members, .synced = shell_synced,
	.enter = shell_enter,
};

/* @e->attempt is the boot. */
static void column_serve(const struct members_world *w, struct event *e)
{
	const struct l_member *m = &w->client[e->client];
	const struct bftm_server_cfg cfg = {
		.cluster = 1, .id = (u16)(e->server + 1), .epoch = w->server[e->server].start,
		.rho_ppm = 2000, .waiters_max = L_CLIENTS, .lease_max_ns = BFTM_NS_PER_SEC,
	};
	/* Only the attempt of this boot was ever told. */
	bool asserts = m->boot == e->attempt && m->asserts >> e->k & 1;
	struct bftm_msg req = {
		.type = e->kind == L_TRY ? BFTM_MSG_TRY : BFTM_MSG_SYNC,
		.proto = BFTM_PROTO_BACKOFF, .cluster = 1, .server = e->server + 1u,
		.client = e->client + 1u, .server_epoch = cfg.epoch,
		.seq = (u64)e->attempt << 32 | 9,
	};
	struct bftm_sends sends;

	if (e->kind == L_TRY) {
		req.attempt = (u64)e->attempt << 32 | 1;
		req.k = e->k;
		req.mode = BFTM_MODE_EX;
		req.arg = asserts ? BFTM_MODE_EX : BFTM_MODE_NL;
		req.flags = asserts ? BFTM_FLAG_REASSERT : BFTM_FLAG_NOQUEUE;
		req.lease_ns = BFTM_LEASE_NONE;
		req.prio = e->client + 1u;
		req.name_len = 1;
		req.name[0] = 'l';
	} else {
		req.incarnation = e->attempt;
	}
	bftm_serve(&shell, NULL, &cfg, &req, NOW, &sends);
	e->reply = sends.reply.type;
	e->k = (u8)sends.reply.k;
}

void members_serve(struct members_world *w, struct event *e)
{
	struct l_column *col = &w->server[e->server];
	struct l_share *s = &col->share[e->client];

	load_column(col);
	if (e->kind == L_EVICT) {
		bftm_members_evict(&members, e->client + 1u, 1, s->window > 1);
		bftm_lock_drop(&lock, e->client + 1u, 1, false);
	} else if (e->kind == L_NOTE) {
		bftm_members_note(&members, e->client + 1u, s->window);
	} else {
		if (e->attempt > s->window)
			s->window = e->attempt;
		column_serve(w, e);
	}
	store_column(col);
	if (e->reply == BFTM_MSG_FREE)
		s->frees[e->attempt - 1][e->k - 1] |= (u8)(1u << col->start);
}

void members_start(struct members_world *w, u32 u)
{
	struct l_column *col = &w->server[u];
	u32 c;

	for (c = 0; c < L_CLIENTS; c++) {
		memset(col->share[c].k, 0, sizeof(col->share[c].k));
		memset(col->share[c].held, 0, sizeof(col->share[c].held));
		col->share[c].window = 0;
	}
	col->start++;
	load_column(col);
	bftm_members_start(&members);
	if (members_plan.roll)
		bftm_members_roll(&members);
	store_column(col);
}
