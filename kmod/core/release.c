// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/release.h"
#include "core/resend.h"

void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	/* A server believes that a dead attempt owns the lock: tell it. */
	if (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE) {
		out->release_to = 1u << u;
		out->release_attempt = msg->attempt;
	}
}

void bftm_release_start(struct bftm_release *r,
			const struct bftm_client_cfg *cfg, u64 attempt, u32 to,
			u64 now)
{
	r->attempt = attempt;
	r->unanswered = to;
	r->sends = 1;
	r->wake_ns = now + cfg->resend_ns;
}

bool bftm_release_answer(struct bftm_release *r, u32 u)
{
	r->unanswered &= ~(1u << u);
	return !r->unanswered;
}

u32 bftm_release_wake(struct bftm_release *r,
		      const struct bftm_client_cfg *cfg, u64 now)
{
	if (now < r->wake_ns || (r->sends >= BFTM_RELEASE_SENDS && !cfg->leaseless))
		return 0;
	r->wake_ns = bftm_later(now, cfg->resend_ns, r->sends);
	r->sends++;
	return r->unanswered;
}
