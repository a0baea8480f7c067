// SPDX-License-Identifier: GPL-2.0
/* Servers: the shipped core between one event and the next, see node.c. */
#include <err.h>

#include "core/backoff/server.h"
#include "core/lease.h"
#include "core/serve.h"
#include "node.h"

/** union waiters - the queue of a lock */
static union {
	struct bftm_queue queue;
	u8 raw[sizeof(struct bftm_queue) + CLIENTS_MAX * sizeof(struct bftm_seat)];
} waiters;

static u32 waiting[2];	/* attempts that may wait: those that go on */

static u8 mode_of(bool held)
{
	return held ? BFTM_MODE_EX : BFTM_MODE_NL;
}

static void load_queue(const struct m_server *s, struct bftm_lock *lock)
{
	u32 c;

	waiters.queue.count = 0;
	waiters.queue.room = CLIENTS_MAX;
	lock->queue = &waiters.queue;
	lock->gno = GNO;
	for (c = 0; c < 2; c++)
		if (s->waits[c])
			waiters.queue.place[waiters.queue.count++].party = (struct bftm_party){
				.attempt = waiting[c], .prio = waiting[c],
				.lease_ns = node_lease(c), .time_ns = NOW - BFTM_TICK_NS,
				.client = c + 1, .k = s->waits[c] & (u8)~WAITS_HELD,
				.want = BFTM_MODE_EX, .held = mode_of(s->waits[c] & WAITS_HELD),
			};
}

static void store_queue(struct m_server *s, const struct bftm_lock *lock)
{
	u32 i, c, seen = 0;

	memset(s->waits, 0, sizeof(s->waits));
	for (i = 0; i < lock->queue->count; i++) {
		if (seen & 1u << lock->queue->place[i].party.client)
			errx(2, "a client waits twice");
		seen |= 1u << lock->queue->place[i].party.client;
	}
	/* Another grant: what was the last is an older one now. */
	for (c = 0; c < 2 && lock->gno != GNO; c++) {
		if (s->yielded[c])
			s->yielded[c] = GRANT_OLD;
	}
}

static void load_lock(const struct m_server *s, const struct event *e, u64 noise,
		      struct bftm_lock *lock)
{
	u32 c, i = 0;

	memset(lock, 0, sizeof(*lock));
	lock->gno = lock->lam = noise;
	if (plan.queue)
		load_queue(s, lock);
	if (s->owner) {
		lock->first.mode = BFTM_MODE_EX;
		lock->first.prio = plan.queue ? s->attempt : noise;
		lock->first.k = plan.held ? s->k : plan.queue ? 1 : (u32)noise;
		lock->first.held = mode_of(e->owner_held);
		lock->first.client = s->owner;
		lock->first.attempt = s->attempt;
		lock->first.time_ns = NOW + (u64)(int64_t)s->left;
		lock->first.lease_ns = node_lease(s->owner - 1u);
	}
	/* With two clients nothing is ever pushed out, so order is nothing. */
	for (c = 0; c < plan.clients && i < BFTM_TOMBS; c++) {
		if (!s->tomb[c])
			continue;
		lock->tomb[i].client = c + 1;
		lock->tomb[i++].attempt = s->tomb[c];
	}
}

static void store_lock(struct m_server *s, const struct bftm_lock *lock)
{
	u32 c, i;

	if (plan.queue)
		store_queue(s, lock);
	s->owner = 0;
	s->attempt = 0;
	s->k = 0;
	s->left = NEVER;
	if (lock->unsettled || (lock->first.attempt && !lock->first.mode))
		errx(2, "a server leaves something undone");
	if (lock->first.attempt) {
		s->k = plan.held ? (u8)lock->first.k : 0;
		s->owner = (u8)lock->first.client;
		s->attempt = (u8)lock->first.attempt;
		s->left = (s32)(int64_t)(lock->first.time_ns - NOW);
		if (lock->first.lease_ns != node_lease(lock->first.client - 1))
			errx(2, "a server keeps a lease that was not asked for");
	}
	for (c = 0; c < plan.clients; c++)
		s->tomb[c] = 0;
	for (i = 0; i < BFTM_TOMBS; i++)
		if (lock->tomb[i].client)
			s->tomb[lock->tomb[i].client - 1] = (u8)lock->tomb[i].attempt;
}

static struct bftm_server_cfg server_cfg(const struct m_server *s, u32 u)
{
	return (struct bftm_server_cfg){
		.id = (u16)(u + 1), .rho_ppm = RHO_PPM, .epoch = 1,
		.lease_max_ns = node_lease_max, .waiters_max = CLIENTS_MAX,
		.spared = (u8)plan.forgets,
		.quarantine_until_ns = s->quarantine == NEVER ? 0 :
				       NOW + (u64)(int64_t)s->quarantine,
	};
}

/* One lock, which is there. */
static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	(void)protocol, (void)req, (void)make, (void)now;
	*ret = arg;
	return true;
}

static const struct bftm_shell shell = { .enter = shell_enter };

static u8 step_server(struct m_server *s, const struct event *e, u64 noise,
		      struct bftm_msg *push)
{
	struct bftm_server_cfg cfg = server_cfg(s, e->server);
	struct bftm_msg req = {
		.type = e->type, .proto = BFTM_PROTO_BACKOFF,
		.server = e->server + 1u, .client = e->client + 1u,
		.attempt = e->attempt, .k = e->k, .server_epoch = cfg.epoch,
		.flags = e->type == BFTM_MSG_TRY && !queues(e->client) && !e->held ?
			 BFTM_FLAG_NOQUEUE : 0,
		.mode = BFTM_MODE_EX, .arg = mode_of(e->held),
		.lease_ns = node_lease(e->client),
		.prio = plan.queue ? e->attempt : noise,
		.gno = plan.queue ? number_of(e->grant) : noise,
	};
	struct bftm_sends sends;
	struct bftm_lock lock;

	load_lock(s, e, noise, &lock);
	bftm_serve(&shell, &lock, &cfg, &req, reading(e), &sends);
	if (sends.reply.type == BFTM_MSG_REFUSED && sends.reply.arg == BFTM_REFUSED_PROTO)
		errx(2, "a server does not serve what it was asked");
	store_lock(s, &lock);
	*push = sends.push;
	if (sends.reply.type == BFTM_MSG_FREE &&
	    (sends.reply.k != req.k || sends.reply.attempt != req.attempt))
		errx(2, "a server says FREE to what was not asked");
	return sends.reply.type;
}

/* FREE to an attempt that is over is in flight anyway. */
static void note_free(struct world *w, u32 u, u32 c, u32 attempt, u32 k)
{
	if (!is_over(w, c, attempt) && w->server[u].yielded[c] != GRANT_LAST)
		w->server[u].flight[c] |= (u8)(1u << (k - 1));
}

static void note_push(struct world *w, u32 u, const struct bftm_msg *push)
{
	if (push->type == BFTM_MSG_FREE)
		note_free(w, u, push->client - 1, (u32)push->attempt, push->k);
}

static void choose_waiting(const struct world *w)
{
	u32 c;

	for (c = 0; c < 2 && plan.queue; c++)
		waiting[c] = w->client[c].attempt;
}

void node_server(struct world *w, struct event *e)
{
	struct m_server *s = &w->server[e->server], again = *s;
	struct bftm_msg push;

	choose_waiting(w);
	if (plan.twice)
		e->reply = step_server(&again, e, 1ull << 50, &push);
	if (plan.twice && (step_server(s, e, 7, &push) != e->reply ||
			   memcmp(&again, s, sizeof(again))))
		errx(2, "a server's step depends on a field that is not kept");
	if (!plan.twice)
		e->reply = step_server(s, e, 7, &push);
	if (e->reply == BFTM_MSG_FREE)
		note_free(w, e->server, e->client, e->attempt, e->k);
	note_push(w, e->server, &push);
}

void node_expire(struct world *w, const struct event *e)
{
	struct m_server *s = &w->server[e->server];
	struct bftm_server_cfg cfg = server_cfg(s, e->server);
	struct bftm_lock lock;
	struct bftm_msg push;

	choose_waiting(w);
	load_lock(s, e, 7, &lock);
	if (!bftm_lock_expire(&cfg, &lock, reading(e), &push))
		return;
	store_lock(s, &lock);
	note_push(w, e->server, &push);
}

void node_restart(struct world *w, const struct event *e)
{
	struct m_server *s = &w->server[e->server];

	s->owner = 0;
	s->attempt = 0;
	s->k = 0;
	s->left = NEVER;
	memset(s->tomb, 0, sizeof(s->tomb));
	s->quarantine = (s32)(int64_t)(bftm_quarantine(node_lease_max, RHO_PPM,
						       reading(e)) - NOW);
	w->restarts += !plan.forgets;
}
