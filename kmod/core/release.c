// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/lease.h"
#include "core/release.h"
#include "core/resend.h"

void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out)
{
	bftm_out_clear(out);
	/* A server believes that a dead attempt owns the lock: tell it. */
	if (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE ||
	    msg->type == BFTM_MSG_PROBE) {
		out->release_to = 1u << u;
		out->release_attempt = msg->attempt;
		/* It may have been the last holder that wrote: nobody remembers how it ended. */
		out->release_doubt = true;
	}
}

void bftm_release_start(struct bftm_release *r, const struct bftm_client_cfg *cfg,
			const struct bftm_out *out, u64 now)
{
	r->attempt = out->release_attempt;
	r->lock = out->release_lock;
	r->unanswered = out->release_to;
	r->sends = 1;
	r->wake_ns = now + cfg->resend_ns;
	r->surely = out->release_surely;
	r->doubt = out->release_doubt;
	r->written = out->written;
	r->late = out->late;
	bftm_ask_due(cfg, &r->late.asking, now);
	/* A TRY of this host may overtake it: what servers say then is no lie. */
	bftm_ask_released(cfg->ask, r->lock, r->unanswered, now);
}

u32 bftm_release_message(const struct bftm_release *r, u32 to, struct bftm_msg *msg)
{
	const u32 u = bftm_lowest(to);

	*msg = (struct bftm_msg){
		.type = BFTM_MSG_RELEASE,
		.flags = r->doubt ? BFTM_FLAG_DOUBT : 0,
		.attempt = r->attempt,
	};
	if (!r->written.any)
		return to;
	if (r->written.at[u])
		bftm_value_put(msg, &r->written, u);
	return 1u << u;
}

/* Is there nobody left to tell, or is the rest for PROBE to find? */
static bool is_done(const struct bftm_release *r, const struct bftm_client_cfg *cfg)
{
	if (r->sends < BFTM_RELEASE_SENDS || cfg->leaseless)
		return false;
	/* b servers may never answer. */
	return !r->surely || bftm_count(r->unanswered) <= cfg->b;
}

/* True when nobody is left. */
static bool count_answer(struct bftm_release *r, u32 u)
{
	r->unanswered &= ~(1u << u);
	return !r->unanswered;
}

bool bftm_release_answer(struct bftm_release *r, const struct bftm_client_cfg *cfg, u32 u)
{
	bftm_ask_release_heard(cfg->ask, r->lock, u);
	return count_answer(r, u);
}

bool bftm_release_restarted(struct bftm_release *r, u32 u)
{
	return r->surely && r->unanswered >> u & 1 && count_answer(r, u);
}

u32 bftm_release_wake(struct bftm_release *r,
		      const struct bftm_client_cfg *cfg, u64 now)
{
	if (now < r->wake_ns || is_done(r, cfg))
		return 0;
	r->wake_ns = bftm_later(now, cfg->resend_ns, r->sends);
	/* Servers that are down for long are not asked more often than a waiting client would. */
	if (r->surely && r->sends >= BFTM_RELEASE_SENDS &&
	    r->wake_ns < now + bftm_poll(BFTM_LEASE_NONE))
		r->wake_ns = now + bftm_poll(BFTM_LEASE_NONE);
	r->sends++;
	return r->unanswered;
}
