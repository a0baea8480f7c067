// SPDX-License-Identifier: GPL-2.0
/*
 * The server's core under any sequence of requests and timers, beside an
 * oracle that knows only this: FREE, asked for or not, excludes all others
 * until its time is over or its owner gives it back; who is next goes before
 * all who wait; tokens only grow.
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

/** struct oracle - who may be inside and until when, who asked, what was stamped */
struct oracle {
	u64 attempt;
	u32 client;
	u64 lease_ns;
	u64 until_ns;
	u64 gno;
	u32 k[CLIENTS][ATTEMPTS];	/* highest that was heard */
	u8 leases[CLIENTS][ATTEMPTS];	/* that were asked for, a bit each */
	bool over[CLIENTS][ATTEMPTS];
	u64 hi, hi_attempt;
	u32 hi_client;
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
	/* Of that byte, three bits more: what is held, or kept, truly or not. */
	req->arg = req->prio >> 4 & 1 ? BFTM_MODE_EX : BFTM_MODE_NL;
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

static bool is_mine(u32 client, u64 attempt)
{
	return o.attempt && o.attempt == attempt && o.client == client;
}

/* FREE to this attempt, which counts from a send that must have been heard. */
static void check_free(const struct bftm_msg *free, u64 now)
{
	u64 until;

	must(now > cfg.quarantine_until_ns);
	must(free->attempt && free->k);
	must(free->k <= o.k[free->client][free->attempt]);
	must(free->gno == lock.gno);
	if (!is_mine(free->client, free->attempt)) {
		must(!o.attempt || now > o.until_ns);
		must(free->gno > o.gno);
		must(lock.first.lease_ns >= BFTM_LEASE_MIN_NS && lock.first.lease_ns <= cfg.lease_max_ns);
		must(asked_for(free->client, free->attempt, lock.first.lease_ns));
		o.attempt = free->attempt;
		o.client = free->client;
		o.lease_ns = lock.first.lease_ns;
		o.until_ns = 0;
	}
	o.gno = free->gno;
	until = now + bftm_lease_at_server(o.lease_ns, cfg.rho_ppm);
	if (until > o.until_ns)
		o.until_ns = until;
	must(lock.first.time_ns >= o.until_ns);
}

static void check_push(const struct bftm_msg *push, u64 now)
{
	const struct bftm_party owner = {
		.prio = lock.first.prio, .client = lock.first.client, .held = lock.first.held,
	};
	u32 i;

	must(!push->seq && push->server == SERVER && push->cluster == CLUSTER);
	must(push->client == lock.first.client && push->attempt == lock.first.attempt);
	if (push->type == BFTM_MSG_INQUIRE) {
		must(is_mine(push->client, push->attempt) && push->gno == o.gno);
		must(lock.first.held == BFTM_MODE_NL);
		return;
	}
	must(push->type == BFTM_MSG_FREE);
	must(!o.over[push->client][push->attempt]);
	check_free(push, now);
	for (i = 0; lock.queue && i < lock.queue->count; i++) {
		const struct bftm_party *w = &lock.queue->place[i].party;

		must(!bftm_waits_before(w, &owner));
	}
}

static void check_queue(u32 most)
{
	u32 i, j;

	if (!lock.queue)
		return;
	must(lock.queue->count <= lock.queue->room && lock.queue->room <= most);
	for (i = 0; i < lock.queue->count; i++) {
		const struct bftm_party *w = &lock.queue->place[i].party;

		must(w->attempt && w->k && w->k <= o.k[w->client][w->attempt]);
		must(w->lease_ns >= BFTM_LEASE_MIN_NS && w->lease_ns <= cfg.lease_max_ns);
		must(!is_mine(w->client, w->attempt) || !bftm_lock_owned(&lock, w->heard_ns));
		for (j = 0; j < i; j++)
			must(lock.queue->place[j].party.client != w->client);
	}
}

static void check_stamp(const struct bftm_msg *req, const struct bftm_msg *reply)
{
	bool same = req->client == o.hi_client && req->attempt == o.hi_attempt;

	must(reply->type == BFTM_MSG_SACK || reply->type == BFTM_MSG_SNACK ||
	     reply->type == BFTM_MSG_REFUSED);
	if (reply->type == BFTM_MSG_SACK) {
		must(reply->gno == req->token && o.hi != BFTM_TOKEN_UNKNOWN);
		must(req->token > o.hi || (req->token == o.hi && same));
		o.hi = req->token;
		o.hi_client = req->client;
		o.hi_attempt = req->attempt;
	}
	must(lock.hi == o.hi);
}

/* What is kept stays as it was, with another number; what is held is not given back. */
static bool is_kept(const struct bftm_msg *req, const struct bftm_msg *push)
{
	if (req->type != BFTM_MSG_YIELD || req->gno != o.gno || !is_mine(req->client, req->attempt))
		return false;
	if (req->arg != BFTM_MODE_NL) {
		must(push->type == BFTM_MSG_FREE && push->gno == o.gno + 1);
		must(push->client == o.client && push->attempt == o.attempt);
		must(push->k && push->k <= o.k[o.client][o.attempt]);
		must(lock.first.time_ns == o.until_ns && lock.first.held == req->arg);
		o.gno = push->gno;
		return true;
	}
	return push->type == BFTM_MSG_NONE && lock.first.held != BFTM_MODE_NL &&
	       lock.first.client == o.client && lock.first.attempt == o.attempt && lock.gno == o.gno;
}

static void check(const struct bftm_msg *req, const struct bftm_msg *reply,
		  const struct bftm_msg *push, u64 now)
{
	bool mine = is_mine(req->client, req->attempt);

	must(reply->type == BFTM_MSG_NONE || reply->client == req->client);
	if (is_kept(req, push))
		return;
	if ((req->type == BFTM_MSG_RELEASE ||
	     (req->type == BFTM_MSG_YIELD && req->gno == o.gno)) && mine)
		o.attempt = 0;
	if (req->type == BFTM_MSG_RELEASE)
		o.over[req->client][req->attempt] = true;
	if (req->type == BFTM_MSG_YIELD && req->attempt)
		must(reply->type == BFTM_MSG_NONE);
	if (reply->type == BFTM_MSG_FREE) {
		must(req->type == BFTM_MSG_TRY && reply->k == req->k &&
		     reply->attempt == req->attempt);
		must(push->type == BFTM_MSG_NONE);
		check_free(reply, now);
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

	must(waiters <= cfg.waiters_max && waiters > protocol->server->room(state));
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
	check_queue(cfg.waiters_max);
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

	if (!bftm_lock_expire(&cfg, &lock, now, &push)) {
		must(push.type == BFTM_MSG_NONE);
		return;
	}
	must(now > o.until_ns || !o.attempt);
	o.attempt = 0;
	if (push.type != BFTM_MSG_NONE)
		check_push(&push, now);
	must(push.type != BFTM_MSG_NONE || !bftm_lock_waiters(&lock));
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
