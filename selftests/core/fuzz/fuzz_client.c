// SPDX-License-Identifier: GPL-2.0
/* The client's core under any answers at any time, as oracle.h judges it. */
#include "core/release.h"
#include "oracle.h"

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
	oracle_attempt(c, sends + BFTM_ADOPT_SENDS);
	oracle.asked = bftm_all(cfg->n);
	oracle.known_end_ns = end;
}

/* RELEASE of one attempt may still be on its way when the next one asks. */
static void act_start(struct fuzz_bytes *in, struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, struct bftm_want *want, u64 fresh, u64 now,
		      struct bftm_out *out)
{
	struct bftm_release release;

	bftm_contend_stop(c, cfg, out);
	oracle_sets(c, cfg, out);
	must(!out->release_to || out->release_to == oracle.asked);
	bftm_release_start(&release, cfg, out, now);
	oracle_want(in, want);
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
		oracle_draw(in, c, &msg);
		oracle_answer(c, u, &msg);
		bftm_contend_answer(c, cfg, u, &msg, *now, fuzz_take(in, 8), &out);
	}
	oracle_attempt(c, 0);
	oracle_sends(c, *now);
	oracle_judge(c, cfg, &out, *now);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_contend c = {};
	struct bftm_client_cfg cfg;
	struct bftm_want want;
	struct bftm_out out;
	u64 now = 1000000, fresh = 1;

	memset(&oracle, 0, sizeof(oracle));
	oracle_cfg(&in, &cfg);
	oracle_want(&in, &want);
	bftm_contend_start(&c, &cfg, &want, fresh, now, &out);
	oracle_attempt(&c, 0);
	oracle_sends(&c, now);
	oracle_judge(&c, &cfg, &out, now);
	while (in.left)
		act(&in, &c, &cfg, &want, &now, ++fresh);
	return 0;
}
