// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Waiting in the servers' queue: one attempt, asked for again and again. The
 * paper lets servers hold their answers back (Section 5, "delayed reply list");
 * as printed that is unsafe. Here a server says WAIT at once and FREE later,
 * and a lease counts from the last try() that it had heard.
 *
 * A try() also refreshes what was granted. A client that cannot hear that it has the lock
 * would so keep it from all others; it gives back what it may have, and sleeps.
 */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

static void wait_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	c->base.wake_ns = c->poll_ns;
	if (bftm_said(c, cfg, BFTM_MSG_NONE) && c->resend_ns < c->base.wake_ns)
		c->base.wake_ns = c->resend_ns;
}

void bftm_wait_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now)
{
	c->resends = 0;
	c->resend_ns = now + cfg->resend_ns;
	c->poll_ns = now + bftm_poll(c->base.want.lease_ns);
	wait_arm(c, cfg);
}

void bftm_wait_granted(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u64 now)
{
	/*
	 * A release reaches all servers at once. An answer that is missing was
	 * lost; or b liars have made up those that came.
	 */
	if (bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE)) > cfg->b &&
	    now + cfg->resend_ns < c->poll_ns)
		c->poll_ns = now + cfg->resend_ns;
}

void bftm_wait_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out)
{
	u64 poll;

	/* Else the next poll has the leases of these grants begin anew. */
	if (bftm_may_begin(c, cfg, now)) {
		bftm_hold_begin(c, cfg, now, out);
		return;
	}
	poll = now + bftm_quarantine_left(c, cfg, bftm_poll(c->base.want.lease_ns));
	if (poll < c->poll_ns)
		c->poll_ns = poll;
	wait_arm(c, cfg);
}

void bftm_wait_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, u64 rnd, struct bftm_out *out)
{
	u32 u;

	if (now < c->poll_ns) {
		/*
		 * The same k: send times are kept for a few sends only, and
		 * those of the servers that answered must not be lost.
		 */
		bftm_repeat_try(c, bftm_said(c, cfg, BFTM_MSG_NONE), out);
		c->resends++;
		c->resend_ns = bftm_later(now, cfg->resend_ns, c->resends);
		wait_arm(c, cfg);
		return;
	}
	c->unheard = bftm_answered(c, cfg) ? 0 : c->unheard + 1;
	if (c->unheard == BFTM_UNHEARD_POLLS) {
		bftm_lose_round(c, cfg, now, rnd, out);
		return;
	}
	bftm_end_round(c, cfg, out);
	c->base.rounds++;
	c->again = 0;
	/* Grants are kept, and so is how long they are good. */
	for (u = 0; u < cfg->n; u++)
		c->server[u].type = BFTM_MSG_NONE;
	bftm_send_try(c, bftm_everyone(cfg), now, out);
	bftm_wait_begun(c, cfg, now);
}
