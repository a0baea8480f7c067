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
	bftm_first_begun(c, cfg, now);
	c->polled_ns = now;
	c->poll_ns = now + bftm_poll(c->base.want.lease_ns);
	wait_arm(c, cfg);
}

/*
 * How long after a poll the next one is due. Of the (b + 1)-th smallest T_w that servers told, one
 * that is no more was told by a correct server, and liars alone cannot make it less than all of
 * those say.
 */
static u64 wait_pause(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u64 wait[BFTM_SERVERS_MAX];
	u32 told = 0, u;

	for (u = 0; u < cfg->n; u++) {
		const struct bftm_answer *a = &c->server[u];
		bool tells = a->type == BFTM_MSG_WAIT && a->queue_ns;

		wait[u] = tells ? a->queue_ns : ~0ull;
		told += tells;
	}
	if (told <= cfg->b)
		return bftm_poll(c->base.want.lease_ns);
	return bftm_poll_informed(c->base.want.lease_ns,
				  bftm_kth_largest(wait, cfg->n, cfg->n - cfg->b));
}

void bftm_wait_granted(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u64 now)
{
	/*
	 * A release reaches all servers at once. An answer that is missing was
	 * lost; or b liars have made up those that came.
	 */
	if (now + cfg->resend_ns < c->poll_ns &&
	    bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE)) > cfg->b)
		c->poll_ns = now + cfg->resend_ns;
}

/*
 * Others have asked since this client last heard of the lock, if it ever did, and with its own
 * priority the client would overtake them. An attempt goes behind others once, however many come
 * later. A server of an earlier version keeps the old priority with its grants, and would go by
 * another order than the other servers for ever: beside it the client does not go behind.
 */
static bool would_overtake(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 told = 0, u;

	/* A FREE tells of those that came later, too: its client has waited. */
	for (u = 0; u < cfg->n; u++)
		told += c->server[u].type == BFTM_MSG_WAIT && c->server[u].lam > c->base.prio;
	return !cfg->older && c->base.sends == 1 && told > cfg->b &&
	       bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE)) <= cfg->b;
}

/* By what servers say of the time until they may grant it. */
static void plan_poll(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	if (bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE)) <= cfg->b)
		c->poll_ns = c->polled_ns + wait_pause(c, cfg);
	/* Those that asked at the same time have agreed by then who goes first. */
	if (would_overtake(c, cfg) && c->polled_ns + cfg->resend_ns < c->poll_ns)
		c->poll_ns = c->polled_ns + cfg->resend_ns;
	if (now < c->poll_ns)
		c->poll_ns = now + bftm_quarantine_left(c, cfg, c->poll_ns - now);
}

void bftm_wait_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out)
{
	/* Else the next poll has the leases of these grants begin anew. */
	if (bftm_may_begin(c, cfg, now)) {
		bftm_hold_begin(c, cfg, now, out);
		return;
	}
	if (bftm_said(c, cfg, BFTM_MSG_WAIT))
		plan_poll(c, cfg, now);
	bftm_first_judge(c, cfg, now, out);
	wait_arm(c, cfg);
}

void bftm_wait_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, u64 rnd, struct bftm_out *out)
{
	u32 u;

	if (now < c->poll_ns) {
		bftm_first_over(c, cfg, now, out);
		wait_arm(c, cfg);
		return;
	}
	if (bftm_answered(c, cfg))
		c->heard_ns = now;
	if (now - c->heard_ns >= BFTM_UNHEARD_POLLS * bftm_poll(c->base.want.lease_ns)) {
		bftm_lose_round(c, cfg, now, rnd, out);
		return;
	}
	bftm_end_round(c, cfg, out);
	if (would_overtake(c, cfg))
		bftm_go_behind(c, cfg);
	c->base.rounds++;
	c->again = 0;
	/* Grants are kept, and so is how long they are good. */
	for (u = 0; u < cfg->n; u++)
		c->server[u].type = BFTM_MSG_NONE;
	bftm_send_try(c, bftm_everyone(cfg), now, out);
	bftm_wait_begun(c, cfg, now);
}
