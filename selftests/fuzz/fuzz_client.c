// SPDX-License-Identifier: GPL-2.0
/*
 * The client's core under any answers at any time. The oracle: it holds only
 * while F different servers said FREE to a send of this attempt that is not
 * longer ago than its lease, and what it asks to be sent is bounded.
 */
#include "../../kmod/core/backoff_client.h"
#include "../../kmod/core/lease.h"
#include "../../kmod/core/quorum.h"
#include "fuzz.h"

struct oracle {
	u64 attempt;
	u64 sent_ns[BFTM_ROUND_SENDS + 1];	/* by k */
	u32 sends;
	u32 k[BFTM_SERVERS_MAX];		/* highest that was answered FREE */
};

static void new_attempt(struct oracle *o, const struct bftm_contend *c)
{
	if (o->attempt == c->attempt)
		return;
	memset(o, 0, sizeof(*o));
	o->attempt = c->attempt;
}

static void note_sends(struct oracle *o, const struct bftm_contend *c, u64 now)
{
	new_attempt(o, c);
	must(c->sends <= BFTM_ROUND_SENDS);
	while (o->sends < c->sends)
		o->sent_ns[++o->sends] = now;
}

static void note_answer(struct oracle *o, const struct bftm_contend *c, u32 u,
			const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_FREE && msg->attempt == c->attempt &&
	    msg->k <= o->sends && msg->k > o->k[u])
		o->k[u] = msg->k;
}

/* The latest instant up to which F of those grants are good. */
static u64 end_of(const struct oracle *o, const struct bftm_contend *c,
		  const struct bftm_client_cfg *cfg)
{
	u64 end[BFTM_SERVERS_MAX] = {};
	u32 u;

	for (u = 0; u < cfg->n; u++)
		if (o->k[u])
			end[u] = o->sent_ns[o->k[u]] +
				 bftm_lease_at_client(c->want.lease_ns,
						      cfg->rho_ppm);
	return bftm_kth_largest(end, cfg->n, bftm_free_needed(cfg->n, cfg->b));
}

static void check(const struct oracle *o, const struct bftm_contend *c,
		  const struct bftm_client_cfg *cfg, const struct bftm_out *out,
		  u64 now)
{
	u32 all = (u32)((1ull << cfg->n) - 1);

	must(!(out->try_to & ~all) && !(out->release_to & ~all));
	must(!out->try_to || c->phase == BFTM_PHASE_TRY);
	if (out->verdict == BFTM_WON)
		must(c->phase == BFTM_PHASE_HOLD && now <= bftm_contend_end(c, cfg));
	if (c->phase == BFTM_PHASE_HOLD)
		must(bftm_contend_end(c, cfg) <= end_of(o, c, cfg));
	if (out->verdict > BFTM_WON)
		must(c->phase == BFTM_PHASE_DEAD && out->release_to == all);
}

static void read_cfg(struct fuzz_bytes *in, struct bftm_client_cfg *cfg)
{
	*cfg = (struct bftm_client_cfg){
		.b = (u32)fuzz_take(in, 1) % 4,
		.rho_ppm = 1 + (u32)fuzz_take(in, 2),
		.literal = fuzz_take(in, 1) & 1,
		.polynomial = fuzz_take(in, 1) & 1,
		.exponent = (u32)fuzz_take(in, 1) % 9,
		.delta_ns = 1 + fuzz_take(in, 4),
		.retry_max_ns = fuzz_take(in, 8),
	};
	cfg->resend_ns = 4 * cfg->delta_ns;
	cfg->n = cfg->literal ? bftm_servers_needed_literal(cfg->b) :
				bftm_servers_needed(cfg->b);
	cfg->n += (u32)fuzz_take(in, 1) % (BFTM_SERVERS_MAX + 1 - cfg->n);
}

static void read_answer(struct fuzz_bytes *in, const struct bftm_contend *c,
			struct bftm_msg *msg)
{
	u64 bits = fuzz_take(in, 1);

	*msg = (struct bftm_msg){
		.type = BFTM_MSG_REPLY | (u8)(bits & 15),
		.attempt = c->attempt - (bits >> 4 & 3) / 3,
		.k = bits & 64 ? c->sends : (u32)fuzz_take(in, 1),
		.position = (u32)fuzz_take(in, 1),
		.prio = bits & 128 ? ~0ull : fuzz_take(in, 1),
	};
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_contend c = {};
	struct bftm_client_cfg cfg;
	struct bftm_want want;
	struct oracle o = {};
	struct bftm_out out;
	struct bftm_msg msg;
	u64 now = 1000000, fresh = 1;

	read_cfg(&in, &cfg);
	want = (struct bftm_want){
		.lease_ns = BFTM_LEASE_MIN_NS + fuzz_take(&in, 4),
		.once = fuzz_take(&in, 1) & 1,
		.no_backoff = fuzz_take(&in, 1) & 1,
	};
	bftm_contend_start(&c, &cfg, &want, fresh, now, &out);
	while (in.left) {
		u32 u = (u32)fuzz_take(&in, 1) % cfg.n;
		u8 what = (u8)fuzz_take(&in, 1);

		note_sends(&o, &c, now);
		check(&o, &c, &cfg, &out, now);
		now += fuzz_take(&in, 2) << (what >> 3);
		if (what % 8 < 5) {
			read_answer(&in, &c, &msg);
			note_answer(&o, &c, u, &msg);
			bftm_contend_answer(&c, &cfg, u, &msg, now,
					    fuzz_take(&in, 8), &out);
		} else if (what % 8 == 5) {
			bftm_contend_again(&c, u, &out);
		} else if (what % 8 == 6) {
			if (now < c.wake_ns)
				now = c.wake_ns;
			bftm_contend_wake(&c, &cfg, now, ++fresh,
					  fuzz_take(&in, 8), &out);
		} else {
			bftm_contend_stop(&c, &cfg, &out);
			bftm_contend_start(&c, &cfg, &want, ++fresh, now, &out);
		}
	}
	return 0;
}
