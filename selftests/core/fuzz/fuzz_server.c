// SPDX-License-Identifier: GPL-2.0
/*
 * The server's core under any sequence of requests and timers, beside an
 * oracle that knows only this: FREE, asked for or not, is in a mode that was
 * asked for or held, and excludes what this mode excludes until its time is
 * over or its owner gives it back, or a part of it; tokens only grow, and are
 * shared where modes may.
 */
#include "core/backoff/server.h"
#include "core/lease.h"
#include "core/replay.h"
#include "core/serve.h"
#include "core/backoff/parties.h"
#include "travel.h"

#define EPOCH	7
#define CLUSTER	1
#define SERVER	2
#define CLIENTS	6
#define ATTEMPTS 8

/** struct granted - what an attempt may have, and until when */
struct granted {
	u64 until_ns;
	u64 gno;
	u8 mode;
};

/** struct oracle - who may be inside, who asked for what, what was stamped */
struct oracle {
	struct granted grant[CLIENTS][ATTEMPTS];
	u32 k[CLIENTS][ATTEMPTS];	/* highest that was heard */
	u8 leases[CLIENTS][ATTEMPTS];	/* that were asked for, a bit each */
	u8 modes[CLIENTS][ATTEMPTS];	/* … or said to be held */
	bool over[CLIENTS][ATTEMPTS];
	u64 hi, hi_attempt;
	u32 hi_client;
	u8 himask;
};

static struct oracle o;
static struct bftm_server_cfg cfg;
static struct bftm_lock lock;

static const u64 lease[] = {
	0, BFTM_LEASE_MIN_NS - 1, BFTM_LEASE_MIN_NS, 5000000, 20000000, 20000001, ~0ull, 7777777,
};

/* Did this attempt ask for such a lease? */
static bool asked_for(u32 client, u64 attempt, u64 ns)
{
	u32 i;

	for (i = 0; i < 8; i++)
		if (o.leases[client][attempt] & 1u << i && lease[i] == ns)
			return true;
	return false;
}

static void note_try(const struct bftm_msg *req)
{
	u32 i;

	/* Heard even when it comes to nothing. */
	if (req->k > o.k[req->client][req->attempt])
		o.k[req->client][req->attempt] = req->k;
	for (i = 0; i < 8; i++)
		if (lease[i] == req->lease_ns)
			o.leases[req->client][req->attempt] |= (u8)(1u << i);
	o.modes[req->client][req->attempt] |= (u8)(1u << req->mode | 1u << req->arg);
	o.over[req->client][req->attempt] = false;
}

/* One in four has what is not served. */
static void make_odd(struct bftm_msg *req, u64 how)
{
	switch (how) {
	case 15:
		req->proto = BFTM_PROTO_TEST + 1;	/* of which there is none */
		break;
	case 14:
		req->mode = BFTM_MODE_PR;
		break;
	case 13:
		req->arg = BFTM_MODE_PR;
		break;
	case 12:
		req->flags |= BFTM_FLAG_VALUE | BFTM_FLAG_REASSERT;
		break;
	}
}

/* Return: false for what has a wrong form, and does not come to the core. */
static bool read_request(struct fuzz_bytes *in, struct bftm_msg *req, struct bftm_wire *wire)
{
	u64 bits = fuzz_take(in, 2);

	*req = (struct bftm_msg){
		.type = (u8)fuzz_take(in, 1),
		.proto = BFTM_PROTO_BACKOFF,
		.mode = BFTM_MODE_EX,
		.flags = bits >> 4 & 1 ? 0 : BFTM_FLAG_NOQUEUE,
		.cluster = CLUSTER + (bits >> 5 & 7) / 7,
		.server = SERVER + (bits >> 8 & 7) / 7,
		.server_epoch = EPOCH + (bits >> 11 & 3) / 3,
		.lease_ns = lease[bits >> 13],
		.client = (u32)fuzz_take(in, 1) % CLIENTS,
		.attempt = fuzz_take(in, 1) % ATTEMPTS,
		.k = (u32)fuzz_take(in, 1) % 8,
		.seq = fuzz_take(in, 2),
		.prio = fuzz_take(in, 1),
		.token = fuzz_take(in, 1),
		.name_len = 1,
		.name = "x",
	};
	/* Of that byte, four bits more: the mode, and what is held, or kept, truly or not. */
	if (req->prio >> 7)
		req->mode = (u8)(BFTM_MODE_CR + (req->prio >> 5 & 3));
	req->arg = req->prio >> 4 & 1 ? req->mode : BFTM_MODE_NL;
	if (req->arg && req->k & 1)
		req->arg = (u8)(1 + req->token % BFTM_MODE_EX);
	req->prio %= 16;
	if (req->token > 250)
		req->token = ~0ull - (req->token - 251);
	/* Most of what arrives is what clients send. */
	if (req->type & 0xf0)
		req->type = BFTM_MSG_TRY + req->type % 4;
	if (req->type == BFTM_MSG_YIELD)
		req->gno = lock.gno - (req->token & 7) / 7;
	if (req->type != BFTM_MSG_TRY)
		req->flags = 0;
	make_odd(req, bits & 15);
	return fuzz_travels(req, wire);
}

static struct granted *grant_of(u32 client, u64 attempt)
{
	return &o.grant[client][attempt];
}

static bool is_beside(const struct granted *mine, u8 mode, u64 now)
{
	u32 c, a;

	for (c = 0; c < CLIENTS; c++)
		for (a = 0; a < ATTEMPTS; a++) {
			const struct granted *g = &o.grant[c][a];

			if (g != mine && g->mode && now <= g->until_ns &&
			    bftm_modes_conflict(g->mode, mode))
				return false;
		}
	return true;
}

/* FREE to this attempt, which counts from a send that must have been heard. */
static void check_free(const struct bftm_msg *free, bool asked, u64 now)
{
	const struct bftm_party *p = bftm_party_find(&lock, free->client, free->attempt);
	struct granted *g = grant_of(free->client, free->attempt);
	u64 until;

	must(now > cfg.quarantine_until_ns);
	must(free->attempt && free->k && free->mode && p && p->mode == free->mode);
	must(free->k <= o.k[free->client][free->attempt]);
	must(o.modes[free->client][free->attempt] >> free->mode & 1);
	must(free->gno == bftm_party_gno(&lock, p) && free->gno >= g->gno && free->gno <= lock.gno);
	must(is_beside(g, free->mode, now));
	must(p->lease_ns >= BFTM_LEASE_MIN_NS && p->lease_ns <= cfg.lease_max_ns);
	must(asked_for(free->client, free->attempt, p->lease_ns));
	until = now + bftm_lease_at_server(p->lease_ns, cfg.rho_ppm);
	if (!g->mode)
		g->until_ns = 0;
	/* A grant that becomes more, or has another number, is as long as it was. */
	if ((asked || !g->mode) && until > g->until_ns)
		g->until_ns = until;
	g->mode = free->mode;
	g->gno = free->gno;
	must(p->time_ns >= g->until_ns);
}

static void check_push(const struct bftm_msg *push, u64 now)
{
	const struct bftm_party *p = bftm_party_find(&lock, push->client, push->attempt);

	must(!push->seq && push->server == SERVER && push->cluster == CLUSTER);
	must(p && push->k == p->k && push->gno == bftm_party_gno(&lock, p));
	if (push->type == BFTM_MSG_INQUIRE) {
		must(push->mode == p->mode && p->mode && !bftm_mode_covers(p->held, p->mode));
		return;
	}
	must(push->type == BFTM_MSG_FREE);
	must(!o.over[push->client][push->attempt]);
	check_free(push, false, now);
}

static void check_queue(u32 most)
{
	u32 i, j;

	if (lock.queue)
		must(lock.queue->count <= lock.queue->room && lock.queue->room <= most);
	for (i = 0; i < bftm_parties(&lock); i++) {
		const struct bftm_party *p = bftm_party(&lock, i);

		if (!p->attempt) {
			must(!i && !p->mode && !p->want && !p->held);
			continue;
		}
		must(p->k && p->k <= o.k[p->client][p->attempt]);
		must(p->lease_ns >= BFTM_LEASE_MIN_NS && p->lease_ns <= cfg.lease_max_ns);
		must(p->mode || p->want);
		must(!p->want || !bftm_mode_covers(p->mode, p->want));
		for (j = 0; j < i; j++) {
			const struct bftm_party *other = bftm_party(&lock, j);

			must(!other->attempt || other->client != p->client ||
			     (other->attempt != p->attempt &&
			      (other->mode || p->mode || other->held || p->held)));
		}
	}
}

static void check_stamp(const struct bftm_msg *req, const struct bftm_msg *reply)
{
	bool same = req->client == o.hi_client && req->attempt == o.hi_attempt &&
		    o.himask >> req->mode & 1;

	must(reply->type == BFTM_MSG_SACK || reply->type == BFTM_MSG_SNACK ||
	     reply->type == BFTM_MSG_REFUSED);
	if (reply->type == BFTM_MSG_SACK) {
		must(reply->gno == req->token && o.hi != BFTM_TOKEN_UNKNOWN);
		must(req->token > o.hi ||
		     (req->token == o.hi &&
		      (same || !(bftm_mode_conflicts(req->mode) & o.himask))));
		o.himask = (u8)((req->token > o.hi ? 0 : o.himask) | 1u << req->mode);
		o.hi = req->token;
		if (bftm_modes_conflict(req->mode, req->mode)) {
			o.hi_client = req->client;
			o.hi_attempt = req->attempt;
		}
	}
	must(lock.hi == o.hi);
}

/* The part that was given back: all of a grant, or what is not kept of it. */
static void note_yield(const struct bftm_msg *req)
{
	const struct bftm_party *p = bftm_party_find(&lock, req->client, req->attempt);
	struct granted *g = grant_of(req->client, req->attempt);

	if (!g->mode || req->gno != g->gno || (p && bftm_party_gno(&lock, p) == g->gno && p->mode))
		return;
	g->mode = req->arg && bftm_mode_covers(g->mode, req->arg) ? req->arg : BFTM_MODE_NL;
}

static void check(const struct bftm_msg *req, const struct bftm_msg *reply,
		  const struct bftm_msg *push, u64 now)
{
	must(reply->type == BFTM_MSG_NONE || reply->client == req->client);
	if (req->type == BFTM_MSG_RELEASE && req->attempt) {
		grant_of(req->client, req->attempt)->mode = BFTM_MODE_NL;
		o.over[req->client][req->attempt] = true;
	}
	if (req->type == BFTM_MSG_YIELD && req->attempt) {
		must(reply->type == BFTM_MSG_NONE);
		note_yield(req);
	}
	if (reply->type == BFTM_MSG_FREE) {
		must(req->type == BFTM_MSG_TRY && reply->k == req->k &&
		     reply->attempt == req->attempt);
		check_free(reply, true, now);
	}
	if (push->type != BFTM_MSG_NONE)
		check_push(push, now);
	if (req->type == BFTM_MSG_STAMP && req->attempt)
		check_stamp(req, reply);
}

static struct bftm_window window[CLIENTS];

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	(void)arg;
	if (!bftm_window_take(&window[req->client], req->seq))
		return false;
	must(!bftm_window_take(&window[req->client], req->seq));
	return true;
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	(void)arg, (void)make, (void)now;
	must(protocol->number == BFTM_PROTO_BACKOFF);
	must(req->server_epoch == EPOCH);
	if (req->type == BFTM_MSG_TRY)
		note_try(req);
	*ret = &lock;
	return true;
}

/* Memory may be short. A fresh block each time, so that a stale pointer is found out. */
static void shell_enlarge(void *arg, const struct bftm_protocol *protocol, void *state,
			  u32 waiters)
{
	const struct bftm_msg *req = arg;
	void *block;

	must(waiters <= cfg.waiters_max + BFTM_HOLDERS_DEFAULT &&
	     waiters > protocol->server->room(state));
	if (req->k == 7)
		return;
	block = malloc(protocol->server->room_size(waiters));
	if (!block)
		abort();
	free(protocol->server->move_room(state, block, waiters));
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *state,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	(void)arg, (void)protocol, (void)state;
	check(req, &sends->reply, &sends->push, now);
	check_queue(CLIENTS + BFTM_HOLDERS_DEFAULT);
}

static const struct bftm_shell shell = {
	.take = shell_take,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

static void expire(u64 now)
{
	struct bftm_msg push;

	u32 steps = 0;

	/* One thing at a time, and there is an end of it. */
	do {
		must(steps++ < 3 * CLIENTS * ATTEMPTS);
		bftm_lock_expire(&cfg, &lock, now, &push);
		if (push.type != BFTM_MSG_NONE)
			check_push(&push, now);
	} while (bftm_lock_deadline(&lock) == 1);
	check_queue(CLIENTS + BFTM_HOLDERS_DEFAULT);
	/* A waiting client waits for another one. */
	must(bftm_lock_holders(&lock) || !bftm_lock_waiters(&lock));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	u64 now = 1000, gno = 5;

	memset(&o, 0, sizeof(o));
	memset(window, 0, sizeof(window));
	cfg = (struct bftm_server_cfg){
		.cluster = CLUSTER, .id = SERVER, .rho_ppm = 1 + (u32)fuzz_take(&in, 2),
		.epoch = EPOCH, .lease_max_ns = 20000000,
		.waiters_max = 1 + (u32)fuzz_take(&in, 1) % CLIENTS,
	};
	cfg.quarantine_until_ns = bftm_quarantine(cfg.lease_max_ns, cfg.rho_ppm, now);
	o.hi = fuzz_take(&in, 1);
	if (o.hi & 1)
		o.hi = BFTM_TOKEN_UNKNOWN;
	o.himask = 1 << BFTM_MODE_EX;
	bftm_lock_init(&lock, gno, o.hi);
	while (in.left) {
		struct bftm_sends sends;
		struct bftm_wire wire;
		struct bftm_msg req;

		now += fuzz_take(&in, 1) * fuzz_take(&in, 2);
		if (!read_request(&in, &req, &wire))
			continue;
		switch (bftm_serve(&shell, &req, &cfg, &req, now, &sends)) {
		case BFTM_NOT_FOR_US:
			must(req.cluster != CLUSTER || req.server != SERVER ||
			     req.type & BFTM_MSG_REPLY);
			continue;
		case BFTM_SERVED:
			must(sends.reply.type == BFTM_MSG_NONE || sends.reply.server_epoch == EPOCH);
			fuzz_answers(&sends.reply, &wire);
			fuzz_answers(&sends.push, &wire);
			break;
		default:
			continue;
		}
		must(lock.gno >= gno);
		gno = lock.gno;
		if (req.k & 4)
			expire(now);
		if (req.seq % 64 == 63 && o.hi == BFTM_TOKEN_UNKNOWN) {
			o.hi = req.token;
			bftm_lock_learn(&lock, o.hi);
		}
	}
	free(lock.queue);
	return 0;
}
