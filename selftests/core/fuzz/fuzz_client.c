// SPDX-License-Identifier: GPL-2.0
/*
 * The client's core under any answers at any time. The oracle: it holds only
 * while F different servers said FREE, by a grant that was not given back, to
 * a send of this attempt that is not longer ago than its lease; and until it
 * was told when it took the lock over. With a fencing token, q servers have
 * stamped it. An end never moves back. The messages that it asks to be sent are bounded. RELEASE
 * goes to those that were asked.
 */
#include "core/backoff/client.h"
#include "core/lease.h"
#include "core/quorum.h"
#include "core/release.h"
#include "fuzz.h"

#define SENDS_MAX 4096

/** struct oracle - what may be believed of one attempt */
struct oracle {
	u64 attempt;
	u32 base, sends;			/* k from base + 1 to sends */
	u64 sent_ns[SENDS_MAX];			/* of base + 1 … */
	u32 asked;				/* servers that TRY went to */
	u64 known_end_ns;
	u64 end_ns;				/* highest that was seen while held */
	bool fenced;				/* by an earlier helper */
	u64 token;
	u32 stamped;				/* those that accepted it */
	u32 k[BFTM_SERVERS_MAX];		/* highest that was answered FREE */
	u64 granted[BFTM_SERVERS_MAX], yielded[BFTM_SERVERS_MAX];
};

static struct oracle o;
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

static void note_attempt(const struct bftm_contend *c, u32 base)
{
	if (o.attempt == c->base.attempt)
		return;
	memset(&o, 0, sizeof(o));
	o.attempt = c->base.attempt;
	o.base = o.sends = base;
}

static void note_sends(const struct bftm_contend *c, u64 now)
{
	must(c->base.sends <= o.sends + 1 && c->base.sends - o.base < SENDS_MAX);
	if (c->base.sends > o.sends)
		o.sent_ns[c->base.sends - o.base] = now;
	o.sends = c->base.sends;
}

/* Before the core sees it. */
static void note_answer(const struct bftm_contend *c, u32 u, const struct bftm_msg *msg)
{
	if (msg->attempt != c->base.attempt)
		return;
	if (msg->type == BFTM_MSG_INQUIRE && c->base.phase == BFTM_PHASE_TRY) {
		if (msg->gno > o.yielded[u])
			o.yielded[u] = msg->gno;
		if (o.granted[u] <= msg->gno)
			o.k[u] = 0;
	}
	if (msg->type == BFTM_MSG_FREE && msg->k > o.base && msg->k <= o.sends &&
	    (msg->gno > o.yielded[u] || !o.yielded[u])) {
		if (msg->k > o.k[u])
			o.k[u] = msg->k;
		if (msg->gno > o.granted[u])
			o.granted[u] = msg->gno;
	}
	if (o.token != c->base.token) {
		o.token = c->base.token;
		o.stamped = 0;
	}
	if (msg->type == BFTM_MSG_SACK && msg->gno == c->base.token &&
	    c->base.phase == BFTM_PHASE_FENCE)
		o.stamped |= 1u << u;
}

/* The latest instant up to which F of those grants are good. */
static u64 latest_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u64 end[BFTM_SERVERS_MAX] = {}, f;
	u32 u;

	for (u = 0; u < cfg->n; u++)
		if (o.k[u])
			end[u] = o.sent_ns[o.k[u] - o.base] +
				 bftm_lease_at_client(c->base.want.lease_ns, cfg->rho_ppm);
	f = bftm_kth_largest(end, cfg->n, bftm_win(cfg));
	return f > o.known_end_ns ? f : o.known_end_ns;
}

static void check_sets(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
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
	o.asked |= try_to;
	must(!try_to || c->base.phase == BFTM_PHASE_TRY || c->base.phase == BFTM_PHASE_HOLD);
	must(!yield_to || (bftm_contender_alive(&c->base) && count(yield_to) == 1) ||
	     c->base.phase == BFTM_PHASE_BACKOFF || c->base.phase == BFTM_PHASE_DEAD);
	must(!stamp_to || c->base.phase == BFTM_PHASE_FENCE);
	/* A living attempt is released nowhere, a dead one holds nothing. */
	must(!out->release_to || out->release_attempt != c->base.attempt ||
	     !bftm_contender_alive(&c->base));
}

static void check(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  const struct bftm_out *out, u64 now)
{
	u64 end = bftm_contend_end(c, cfg);

	check_sets(c, cfg, out);
	if (out->verdict == BFTM_WON) {
		must(c->base.phase == BFTM_PHASE_HOLD && now <= end);
		if (c->base.want.fence)
			must(2 * count(o.stamped) >= cfg->n + 3 * cfg->b + 1 ||
			     count(o.stamped) >= cfg->n - cfg->b);
	}
	if (is_held(c)) {
		must(end <= latest_end(c, cfg));
		must(end >= o.end_ns);
		/* A request that was over is not revived. */
		must(!o.end_ns || end == o.end_ns || now <= o.end_ns);
		must(!out->extended || end > o.end_ns);
		o.end_ns = end;
	} else {
		must(!out->extended);
	}
	if (out->verdict > BFTM_WON)
		must(c->base.phase == BFTM_PHASE_DEAD && out->release_to == o.asked);
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

static void read_cfg(struct fuzz_bytes *in, struct bftm_client_cfg *cfg)
{
	u8 ask;

	*cfg = (struct bftm_client_cfg){
		.b = (u32)fuzz_take(in, 1) % 4,
		.rho_ppm = 1 + (u32)fuzz_take(in, 2),
		.literal = fuzz_take(in, 1) & 1,
		.polynomial = (ask = (u8)fuzz_take(in, 1)) & 1,
		.exponent = (u32)fuzz_take(in, 1) % 9,
		.delta_ns = 1 + fuzz_take(in, 4),
		.retry_max_ns = fuzz_take(in, 8),
	};
	cfg->resend_ns = 4 * cfg->delta_ns;
	cfg->n = cfg->literal ? bftm_servers_needed_literal(cfg->b) :
				bftm_servers_needed(cfg->b);
	cfg->n += (u32)fuzz_take(in, 1) % (BFTM_SERVERS_MAX + 1 - cfg->n);
	if (ask & 2)
		ask_first(cfg, ask & 4);
}

static void read_want(struct fuzz_bytes *in, struct bftm_want *want)
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

static void read_answer(struct fuzz_bytes *in, const struct bftm_contend *c,
			struct bftm_msg *msg)
{
	u64 bits = fuzz_take(in, 1);

	*msg = (struct bftm_msg){
		.type = BFTM_MSG_REPLY | (u8)(bits & 15),
		.attempt = c->base.attempt - (bits >> 4 & 3) / 3,
		.k = bits & 64 ? c->base.sends - (bits >> 4 & 3) : (u32)fuzz_take(in, 1),
		.position = (u32)fuzz_take(in, 1) % 9,
		.prio = bits & 128 ? ~0ull : fuzz_take(in, 1),
		.gno = fuzz_take(in, 1) % 8,
		.token = fuzz_take(in, 1),
	};
	msg->arg = msg->type == BFTM_MSG_REFUSED ? (u8)msg->position : 0;
	msg->lease_ns = msg->token << 12;
	if (msg->token > 240)
		msg->token = ~0ull - (msg->token - 241);
	/* Most stamps answer the offer that is out. */
	if ((msg->type == BFTM_MSG_SACK || msg->type == BFTM_MSG_SNACK) && msg->gno & 3)
		msg->gno = c->base.token;
}

/* Nothing may be due again at once, or a shell would spin. */
static void act_wake(struct fuzz_bytes *in, struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg, u64 *now, u64 fresh,
		     struct bftm_out *out)
{
	if (*now < c->base.wake_ns && c->base.phase != BFTM_PHASE_DEAD)
		*now = c->base.wake_ns;
	bftm_contend_wake(c, cfg, *now, fresh, fuzz_take(in, 8), out);
	must(c->base.phase == BFTM_PHASE_DEAD || c->base.wake_ns > *now);
}

static void act_adopt(struct fuzz_bytes *in, struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, const struct bftm_want *want,
		      u64 fresh, u64 now, struct bftm_out *out)
{
	u32 sends = (u32)fuzz_take(in, 1);
	u64 end = now - 1000 + (fuzz_take(in, 2) << 8);

	bftm_contend_adopt(c, cfg, want, fresh, end, sends, fresh & 1);
	bftm_contend_renew(c, cfg, now, out);
	note_attempt(c, sends + BFTM_ADOPT_SENDS);
	o.asked = bftm_all(cfg->n);
	o.known_end_ns = end;
}

/* RELEASE of one attempt may still be on its way when the next one asks. */
static void act_start(struct fuzz_bytes *in, struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, struct bftm_want *want, u64 fresh, u64 now,
		      struct bftm_out *out)
{
	struct bftm_release release;

	bftm_contend_stop(c, cfg, out);
	check_sets(c, cfg, out);
	must(!out->release_to || out->release_to == o.asked);
	bftm_release_start(&release, cfg, out, now);
	read_want(in, want);
	bftm_contend_start(c, cfg, want, fresh, now, out);
}

static void act(struct fuzz_bytes *in, struct bftm_contend *c,
		const struct bftm_client_cfg *cfg, struct bftm_want *want, u64 *now, u64 fresh)
{
	u32 u = (u32)fuzz_take(in, 1) % cfg->n;
	u8 what = (u8)fuzz_take(in, 1);
	struct bftm_msg msg;
	struct bftm_out out;

	*now += fuzz_take(in, 2) << (what >> 4);
	switch (what % 16) {
	case 10:
		bftm_contend_again(c, u, &out);
		break;
	case 11:
	case 12:
		act_wake(in, c, cfg, now, fresh, &out);
		break;
	case 13:
		act_start(in, c, cfg, want, fresh, *now, &out);
		break;
	case 14:
		bftm_contend_renew(c, cfg, *now, &out);
		break;
	case 15:
		bftm_contend_stop(c, cfg, &out);
		act_adopt(in, c, cfg, want, fresh, *now, &out);
		break;
	default:
		read_answer(in, c, &msg);
		note_answer(c, u, &msg);
		bftm_contend_answer(c, cfg, u, &msg, *now, fuzz_take(in, 8), &out);
	}
	note_attempt(c, 0);
	note_sends(c, *now);
	check(c, cfg, &out, *now);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_contend c = {};
	struct bftm_client_cfg cfg;
	struct bftm_want want;
	struct bftm_out out;
	u64 now = 1000000, fresh = 1;

	memset(&o, 0, sizeof(o));
	read_cfg(&in, &cfg);
	read_want(&in, &want);
	bftm_contend_start(&c, &cfg, &want, fresh, now, &out);
	note_attempt(&c, 0);
	note_sends(&c, now);
	check(&c, &cfg, &out, now);
	while (in.left)
		act(&in, &c, &cfg, &want, &now, ++fresh);
	return 0;
}
