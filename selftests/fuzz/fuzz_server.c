// SPDX-License-Identifier: GPL-2.0
/*
 * The server's core under any sequence of requests, beside an oracle that knows
 * only this: FREE excludes all others until its time is over or its owner
 * releases.
 */
#include "../../kmod/core/backoff_server.h"
#include "../../kmod/core/lease.h"
#include "../../kmod/core/replay.h"
#include "fuzz.h"

#define EPOCH	7
#define CLUSTER	1
#define SERVER	2

/* Who may be inside, and until when at the latest. */
struct oracle {
	u64 attempt;
	u32 client;
	u64 lease_ns;
	u64 until_ns;
};

static void read_request(struct fuzz_bytes *in, struct bftm_msg *req)
{
	static const u64 lease[] = {
		0, BFTM_LEASE_MIN_NS - 1, BFTM_LEASE_MIN_NS, 5000000, 20000000,
		20000001, ~0ull, 7777777,
	};
	u64 bits = fuzz_take(in, 2);

	*req = (struct bftm_msg){
		.type = (u8)fuzz_take(in, 1),
		.proto = bits & 1 ? 2 : BFTM_PROTO_BACKOFF,
		.flags = bits & 2 ? 0 : BFTM_FLAG_NOQUEUE,
		.cluster = CLUSTER + (bits >> 2 & 7) / 7,
		.server = SERVER + (bits >> 5 & 7) / 7,
		.server_epoch = EPOCH + (bits >> 8 & 7) / 7,
		.lease_ns = lease[bits >> 11 & 7],
		.client = (u32)fuzz_take(in, 1) % 4,
		.attempt = fuzz_take(in, 1) % 8,
		.k = (u32)fuzz_take(in, 1) % 8,
		.seq = fuzz_take(in, 2),
		.prio = fuzz_take(in, 1),
		.name_len = 1,
		.name = "x",
	};
	/* Most of what arrives is what clients send. */
	if (req->type & 0xc0)
		req->type = req->type & 1 ? BFTM_MSG_TRY : BFTM_MSG_RELEASE;
}

static void check(struct oracle *o, const struct bftm_server_cfg *cfg,
		  const struct bftm_msg *req, const struct bftm_msg *reply,
		  u64 now)
{
	bool mine = o->attempt && o->attempt == req->attempt &&
		    o->client == req->client;
	u64 until;

	if (req->type == BFTM_MSG_RELEASE && mine)
		o->attempt = 0;
	if (reply->type != BFTM_MSG_FREE)
		return;
	must(req->type == BFTM_MSG_TRY && req->attempt && req->k);
	must(now > cfg->quarantine_until_ns);
	must(mine || !o->attempt || now > o->until_ns);
	if (!mine) {
		must(req->lease_ns >= BFTM_LEASE_MIN_NS &&
		     req->lease_ns <= cfg->lease_max_ns);
		*o = (struct oracle){
			.attempt = req->attempt,
			.client = req->client,
			.lease_ns = req->lease_ns,
		};
	}
	until = now + bftm_lease_at_server(o->lease_ns, cfg->rho_ppm);
	if (until > o->until_ns)
		o->until_ns = until;
	must(reply->k == req->k && reply->attempt == req->attempt);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_server_cfg cfg = {
		.cluster = CLUSTER,
		.id = SERVER,
		.rho_ppm = 1 + (u32)fuzz_take(&in, 2),
		.epoch = EPOCH,
		.lease_max_ns = 20000000,
	};
	struct bftm_window window[4] = {};
	struct bftm_lock lock;
	struct oracle oracle = {};
	u64 now = 1000, gno = 5;

	cfg.quarantine_until_ns = bftm_quarantine(cfg.lease_max_ns, cfg.rho_ppm, now);
	bftm_lock_init(&lock, gno);
	while (in.left) {
		struct bftm_msg req, reply;

		now += fuzz_take(&in, 1) * fuzz_take(&in, 2);
		read_request(&in, &req);
		if (!bftm_admit_address(&cfg, &req)) {
			must(req.cluster != CLUSTER || req.server != SERVER ||
			     req.type & BFTM_MSG_REPLY);
			continue;
		}
		if (!bftm_window_take(&window[req.client], req.seq))
			continue;
		must(!bftm_window_take(&window[req.client], req.seq));
		if (bftm_admit(&cfg, &req, now, &reply)) {
			must(req.server_epoch == EPOCH);
			bftm_server_step(&cfg, &lock, &req, now, &reply);
		}
		check(&oracle, &cfg, &req, &reply, now);
		must(lock.gno >= gno);
		gno = lock.gno;
		/* The same attempt may come again later, with another Δ. */
		if (req.k & 4 && bftm_lock_expire(&lock, now)) {
			must(now > oracle.until_ns || !oracle.attempt);
			oracle.attempt = 0;
		}
	}
	return 0;
}
