// SPDX-License-Identifier: GPL-2.0
#include "core/lease.h"
#include "core/quorum.h"
#include "oracle.h"


struct oracle oracle;
static struct bftm_ask_state asks;

static bool is_held(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD || c->base.phase == BFTM_PHASE_VALUE ||
	       c->base.phase == BFTM_PHASE_FENCE;
}

static u32 count(u32 set)
{
	return (u32)__builtin_popcount(set);
}

void oracle_attempt(const struct bftm_contend *c, u32 base)
{
	if (oracle.attempt == c->base.attempt)
		return;
	memset(&oracle, 0, sizeof(oracle));
	oracle.attempt = c->base.attempt;
	oracle.base = oracle.sends = base;
}

void oracle_sends(const struct bftm_contend *c, u64 now)
{
	must(c->base.sends <= oracle.sends + 1 && c->base.sends - oracle.base < ORACLE_SENDS_MAX);
	if (c->base.sends > oracle.sends)
		oracle.sent_ns[c->base.sends - oracle.base] = now;
	oracle.sends = c->base.sends;
}

/* Before the core sees it. */
void oracle_answer(const struct bftm_contend *c, u32 u, const struct bftm_msg *msg)
{
	if (msg->attempt != c->base.attempt)
		return;
	if (msg->type == BFTM_MSG_INQUIRE && c->base.phase == BFTM_PHASE_TRY) {
		if (msg->gno > oracle.yielded[u])
			oracle.yielded[u] = msg->gno;
		if (oracle.granted[u] <= msg->gno)
			oracle.k[u] = 0;
	}
	if (msg->type == BFTM_MSG_FREE && msg->k > oracle.base && msg->k <= oracle.sends &&
	    (msg->gno > oracle.yielded[u] || !oracle.yielded[u])) {
		if (msg->k > oracle.k[u] && msg->mode == BFTM_MODE_EX)
			oracle.k[u] = msg->k;
		if (msg->gno > oracle.granted[u])
			oracle.granted[u] = msg->gno;
	}
	if (oracle.token != c->base.token) {
		oracle.token = c->base.token;
		oracle.stamped = 0;
	}
	if (msg->type == BFTM_MSG_SACK && msg->gno == c->base.token &&
	    c->base.phase == BFTM_PHASE_FENCE)
		oracle.stamped |= 1u << u;
}

/* The latest instant up to which F of those grants are good. */
static u64 latest_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u64 end[BFTM_SERVERS_MAX] = {}, f;
	u32 u;

	for (u = 0; u < cfg->n; u++)
		if (oracle.k[u])
			end[u] = oracle.sent_ns[oracle.k[u] - oracle.base] +
				 bftm_lease_at_client(c->base.want.lease_ns, cfg->rho_ppm);
	f = bftm_kth_largest(end, cfg->n, bftm_win(cfg));
	return f > oracle.known_end_ns ? f : oracle.known_end_ns;
}

void oracle_sets(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		 const struct bftm_out *out)
{
	u32 all = (u32)((1ull << cfg->n) - 1);

	u32 try_to = bftm_out_to(out, BFTM_MSG_TRY), yield_to = bftm_out_to(out, BFTM_MSG_YIELD);
	u32 stamp_to = bftm_out_to(out, BFTM_MSG_STAMP), i;

	/* No message is left out for want of room, none is another, and none is said twice. */
	must(out->count < BFTM_OUT_SENDS);
	must(out->count == (u32)!!try_to + !!yield_to + !!stamp_to);
	for (i = 0; i < out->count; i++)
		must(out->send[i].to);
	/* A held lock is reported as held, renewed in the queue, and kept. */
	for (i = 0; i < out->count && is_held(c) && out->verdict == BFTM_PENDING; i++)
		must(out->send[i].type == BFTM_MSG_STAMP ||
		     (out->send[i].arg == BFTM_MODE_EX && !out->send[i].flags));
	must(!((try_to | out->release_to | yield_to | stamp_to) & ~all));
	oracle.asked |= try_to;
	must(!try_to || c->base.phase == BFTM_PHASE_TRY || c->base.phase == BFTM_PHASE_HOLD);
	must(!yield_to || (bftm_contender_alive(&c->base) && count(yield_to) == 1) ||
	     c->base.phase == BFTM_PHASE_BACKOFF || c->base.phase == BFTM_PHASE_DEAD);
	must(!stamp_to || c->base.phase == BFTM_PHASE_FENCE);
	/* A living attempt is released nowhere, a dead one holds nothing. */
	must(!out->release_to || out->release_attempt != c->base.attempt ||
	     !bftm_contender_alive(&c->base));
}

void oracle_judge(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  const struct bftm_out *out, u64 now)
{
	u64 end = bftm_contend_end(c, cfg);

	oracle_sets(c, cfg, out);
	if (out->verdict == BFTM_WON) {
		must(c->base.phase == BFTM_PHASE_HOLD && now <= end);
		if (c->base.want.fence)
			must(2 * count(oracle.stamped) >= cfg->n + 3 * cfg->b + 1 ||
			     count(oracle.stamped) >= cfg->n - cfg->b);
	}
	if (is_held(c)) {
		must(end <= latest_end(c, cfg));
		must(end >= oracle.end_ns);
		/* A request that was over is not revived. */
		must(!oracle.end_ns || end == oracle.end_ns || now <= oracle.end_ns);
		must(!out->extended || end > oracle.end_ns);
		oracle.end_ns = end;
	} else {
		must(!out->extended);
	}
	if (out->verdict > BFTM_WON)
		must(c->base.phase == BFTM_PHASE_DEAD && out->release_to == oracle.asked);
}

/* All servers are equally fast: which of them are asked first is up to the lock. */
static void ask_first(struct bftm_client_cfg *cfg, bool adapts)
{
	u32 u;

	bftm_ask_start(&asks, adapts);
	for (u = 0; u < cfg->n; u++) {
		bftm_ask_server(&asks, u, 1, u + 1);
		asks.speed.srtt_ns[u] = cfg->delta_ns;
	}
	cfg->ask = &asks;
}

void oracle_cfg(struct fuzz_bytes *in, struct bftm_client_cfg *cfg)
{
	u8 ask;

	*cfg = (struct bftm_client_cfg){
		.b = (u32)fuzz_take(in, 1) % 4,
		.rho_ppm = 1 + (u32)fuzz_take(in, 2),
		.literal = fuzz_take(in, 1) & 1,
		.polynomial = (ask = (u8)fuzz_take(in, 1)) & 1,
		.exponent = (u32)fuzz_take(in, 1) % 9,
		.delta_ns = 1 + fuzz_take(in, 4),
		/* Of days: no clock runs to its end. */
		.retry_max_ns = fuzz_take(in, 8) >> 16,
	};
	cfg->resend_ns = 4 * cfg->delta_ns;
	cfg->n = cfg->literal ? bftm_servers_needed_literal(cfg->b) :
				bftm_servers_needed(cfg->b);
	cfg->n += (u32)fuzz_take(in, 1) % (BFTM_SERVERS_MAX + 1 - cfg->n);
	if (ask & 2)
		ask_first(cfg, ask & 4);
}

void oracle_want(struct fuzz_bytes *in, struct bftm_want *want)
{
	u64 lease_ns = BFTM_LEASE_MIN_NS + fuzz_take(in, 4);
	u64 bits = fuzz_take(in, 1);

	*want = (struct bftm_want){
		.lease_ns = lease_ns,
		.wait = bits & 3,
		.renew = bits >> 2 & 1,
		.fence = bits >> 3 & 1,
		.whole = bits >> 6 & 1,
		.mode = BFTM_MODE_EX,
		.lock = 1 + (bits >> 4 & 3),
	};
}

void oracle_draw(struct fuzz_bytes *in, const struct bftm_contend *c, struct bftm_msg *msg)
{
	u64 bits = fuzz_take(in, 1), mode = fuzz_take(in, 1);

	*msg = (struct bftm_msg){
		.type = BFTM_MSG_REPLY | (u8)(bits & 15),
		.attempt = c->base.attempt - (bits >> 4 & 3) / 3,
		.k = bits & 64 ? c->base.sends - (bits >> 4 & 3) : (u32)fuzz_take(in, 1),
		.position = (u32)fuzz_take(in, 1) % 9,
		.prio = bits & 128 ? ~0ull : fuzz_take(in, 1),
		.gno = fuzz_take(in, 1) % 8,
		.token = fuzz_take(in, 1),
		/* Most grants are of what was asked for. */
		.mode = mode < BFTM_MODES ? (u8)mode : BFTM_MODE_EX,
	};
	msg->arg = msg->type == BFTM_MSG_REFUSED ? (u8)msg->position : 0;
	msg->lease_ns = msg->token << 12;
	if (msg->token > 240)
		msg->token = ~0ull - (msg->token - 241);
	/* Most stamps answer the offer that is out. */
	if ((msg->type == BFTM_MSG_SACK || msg->type == BFTM_MSG_SNACK) && msg->gno & 3)
		msg->gno = c->base.token;
}

