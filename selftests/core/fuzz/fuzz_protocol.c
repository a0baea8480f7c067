// SPDX-License-Identifier: GPL-2.0
/*
 * Each protocol of the table, the reference ones too, both sides: any requests at any time at
 * a server, any answers at a client. Rules of every protocol are checked: the client that is
 * said to have the lock has it, grants are counted upwards, what is sent is bounded.
 */
#include "core/serve.h"
#include "travel.h"

#define CLIENTS	20
#define WAITERS	5

static struct bftm_server_cfg server_cfg;
static const struct bftm_protocol *protocol;
static void *state;

static bool shell_enter(void *arg, const struct bftm_protocol *p, const struct bftm_msg *req,
			bool make, u64 *now, void **ret)
{
	(void)arg, (void)make, (void)now, (void)req;
	must(p == protocol);
	*ret = state;
	return true;
}

static void shell_enlarge(void *arg, const struct bftm_protocol *p, void *lock, u32 waiters)
{
	const struct bftm_msg *req = arg;
	void *block;

	must(waiters <= WAITERS + BFTM_HOLDERS_DEFAULT && waiters > p->server->room(lock));
	if (req->k == 7)
		return;		/* memory is short */
	block = malloc(p->server->room_size(waiters));
	if (!block)
		abort();
	free(p->server->move_room(lock, block, waiters));
}

static const struct bftm_shell shell = { .enter = shell_enter, .enlarge = shell_enlarge };

/* Return: false for what has a wrong form, and does not come to the protocol. */
static bool read_request(struct fuzz_bytes *in, struct bftm_msg *req, struct bftm_wire *wire)
{
	u64 bits = fuzz_take(in, 2);

	*req = (struct bftm_msg){
		.type = (u8)(1 + (bits & 7)),
		.proto = protocol->number,
		.mode = BFTM_MODE_EX,
		.client = bits >> 4 & 15 ? (u32)(bits >> 4 & 3) : (u32)(bits >> 8) % CLIENTS,
		.server_epoch = 1,
		.seq = bits,
		.attempt = fuzz_take(in, 1) % 8,
		.k = (u32)fuzz_take(in, 1) % 8,
		.lease_ns = BFTM_LEASE_MIN_NS + (bits >> 8 << 16),
		.prio = bits >> 12,
		.gno = bits >> 13,
		.token = bits >> 10,
		.name_len = 1,
		.name = "x",
	};
	if (req->type == BFTM_MSG_TRY && bits >> 3 & 1)
		req->flags = BFTM_FLAG_NOQUEUE;
	return fuzz_travels(req, wire);
}

/* FREE goes to an attempt that has a grant now, and to no other. */
static void check_free(const struct bftm_msg *msg)
{
	struct bftm_lock_view view;

	if (msg->type != BFTM_MSG_FREE)
		return;
	must(msg->attempt &&
	     protocol->server->granted(state, msg->client, msg->attempt, &view));
	must(msg->gno == view.grant && msg->attempt == view.attempt && msg->client == view.client);
}

static void serve(struct fuzz_bytes *in, u64 now)
{
	struct bftm_lock_view before, after;
	struct bftm_sends sends;
	struct bftm_wire wire;
	struct bftm_msg req;

	if (!read_request(in, &req, &wire))
		return;
	protocol->server->describe(state, &before);
	if (bftm_serve(&shell, &req, &server_cfg, &req, now, &sends) != BFTM_SERVED)
		return;
	protocol->server->describe(state, &after);
	must(sends.reply.type == BFTM_MSG_NONE || sends.reply.type & BFTM_MSG_REPLY);
	must(sends.reply.type == BFTM_MSG_NONE ||
	     (sends.reply.client == req.client && sends.reply.seq == req.seq));
	must(sends.push.type == BFTM_MSG_NONE || !sends.push.seq);
	fuzz_answers(&sends.reply, &wire);
	fuzz_answers(&sends.push, &wire);
	must(after.grant >= before.grant);
	must(sends.granted == (after.grant != before.grant));
	check_free(&sends.reply);
	check_free(&sends.push);
	must(!after.attempt || !protocol->server->waits(state, after.client, after.attempt) ||
	     now > after.until_ns);
	must(!after.attempt || after.until_ns < ~0ull || !protocol->server->deadline(state));
	if (req.seq & 1)
		protocol->server->expire(&server_cfg, state, now, &sends.push);
}

static void try_server(struct fuzz_bytes *in)
{
	u64 now = 1000;

	server_cfg = (struct bftm_server_cfg){
		.rho_ppm = 2000, .epoch = 1, .lease_max_ns = BFTM_LEASE_MAX_NS,
		.waiters_max = WAITERS,
	};
	state = malloc(protocol->server->lock_size);
	if (!state)
		abort();
	protocol->server->init(state, 7, 0);
	while (in->left) {
		now += fuzz_take(in, 1) << (fuzz_take(in, 1) & 31);
		serve(in, now);
	}
	if (protocol->server->move_room)
		free(protocol->server->move_room(state, NULL, 0));
	free(state);
}

static void check_out(const struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_out *out, u64 now)
{
	u32 all = (u32)((1ull << cfg->n) - 1), i;

	must(out->count < BFTM_OUT_SENDS);
	for (i = 0; i < out->count; i++) {
		must(out->send[i].to && !(out->send[i].to & ~all));
		must(out->send[i].type && !(out->send[i].type & BFTM_MSG_REPLY));
	}
	must(!(out->release_to & ~all));
	must(!out->release_to || out->release_attempt != c->attempt || !bftm_contender_alive(c));
	must(out->verdict != BFTM_WON ||
	     (c->phase == BFTM_PHASE_HOLD && now <= protocol->client->end(c, cfg)));
	must(out->verdict <= BFTM_WON || c->phase == BFTM_PHASE_DEAD);
}

static void read_answer(struct fuzz_bytes *in, const struct bftm_contender *c,
			struct bftm_msg *msg)
{
	u64 bits = fuzz_take(in, 2);

	*msg = (struct bftm_msg){
		.type = BFTM_MSG_REPLY | (u8)(bits & 15),
		.attempt = c->attempt - (bits >> 4 & 3) / 3,
		.k = bits & 64 ? c->sends : (u32)(bits >> 7 & 7),
		.position = (u32)(bits >> 10 & 7),
		.arg = (u8)(bits >> 10 & 7),
		.prio = bits >> 8, .gno = bits >> 12, .token = bits >> 11,
	};
}

static void try_client(struct fuzz_bytes *in)
{
	struct bftm_client_cfg cfg = {
		.n = protocol->servers_needed(0), .rho_ppm = 2000, .exponent = 2,
		.delta_ns = BFTM_NS_PER_MS, .resend_ns = 4 * BFTM_NS_PER_MS,
		.retry_max_ns = BFTM_NS_PER_SEC, .leaseless = !(protocol->traits & BFTM_LEASED),
	};
	u64 bits = fuzz_take(in, 1), now = 1000000, fresh = 1;
	struct bftm_want want = {
		.lease_ns = BFTM_NS_PER_SEC, .wait = bits & 3, .renew = bits >> 2 & 1,
		.fence = protocol->traits & BFTM_FENCES && bits >> 3 & 1, .mode = BFTM_MODE_EX,
	};
	struct bftm_contender *c = calloc(1, protocol->client->size(cfg.n));
	struct bftm_out out;
	struct bftm_msg msg;

	if (!c)
		abort();
	protocol->client->start(c, &cfg, &want, fresh, now, &out);
	check_out(c, &cfg, &out, now);
	while (in->left) {
		bits = fuzz_take(in, 1);
		now += fuzz_take(in, 1) << (bits >> 3);
		switch (bits & 7) {
		case 0:
			if (c->phase != BFTM_PHASE_DEAD && c->wake_ns != ~0ull && now < c->wake_ns)
				now = c->wake_ns;
			protocol->client->wake(c, &cfg, now, ++fresh, bits, &out);
			must(c->phase == BFTM_PHASE_DEAD || c->wake_ns > now);
			break;
		case 1:
			protocol->client->stop(c, &cfg, &out);
			check_out(c, &cfg, &out, now);
			protocol->client->start(c, &cfg, &want, ++fresh, now, &out);
			break;
		case 2:
			protocol->client->renew(c, &cfg, now, &out);
			break;
		case 3:
			protocol->client->epoch(c, (u32)(bits >> 3) % cfg.n, &out);
			break;
		default:
			read_answer(in, c, &msg);
			protocol->client->answer(c, &cfg, (u32)(bits >> 3) % cfg.n, &msg, now,
						 bits, &out);
		}
		check_out(c, &cfg, &out, now);
	}
	free(c);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	u64 which = fuzz_take(&in, 1), count = 0;

	while (bftm_protocols[count])
		count++;
	protocol = bftm_protocols[which / 2 % count];
	if (which & 1)
		try_server(&in);
	else
		try_client(&in);
	return 0;
}
