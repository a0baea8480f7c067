// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A lock that is held without a lease, and a server that restarts. No quarantine outlasts such a
 * grant, so a server that has forgotten its grants makes no new ones until each client that may
 * hold a lock so has told of all that it holds (Kim and Manabe's model, which has no clocks). The
 * client goes on counting the forgotten grant meanwhile: the server grants to nobody who conflicts
 * with it.
 */
#include "core/backoff/contend.h"
#include "core/lease.h"

void bftm_reassert(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out)
{
	u64 next = bftm_later(now, cfg->resend_ns, c->retold);
	u64 most = now + bftm_poll(c->base.want.lease_ns);

	c->reassert_ns = next < most ? next : most;
	c->retold++;
	c->base.sends++;
	c->sent_ns[c->base.sends % BFTM_SENDS] = now;
	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_TRY, .to = c->reasserts, .arg = c->held,
		.writes = c->owed && c->base.written.any,
		.flags = BFTM_FLAG_REASSERT | (c->base.want.value ? BFTM_FLAG_VALUE : 0),
		.k = c->base.sends, .lease_ns = BFTM_LEASE_NONE, .prio = c->base.prio,
	});
	if (c->base.phase == BFTM_PHASE_HOLD)
		bftm_hold_arm(c, cfg);
}

void bftm_reassert_heard(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u)
{
	if (!(c->reasserts >> u & 1))
		return;
	c->reasserts &= ~(1u << u);
	if (c->base.phase == BFTM_PHASE_HOLD)
		bftm_hold_arm(c, cfg);
}

void bftm_contend_restarted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			    u64 now, struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	memset(out, 0, sizeof(*out));
	if (c->base.want.lease_ns != BFTM_LEASE_NONE || !bftm_contender_alive(&c->base))
		return;
	/* Of a conversion only what is held goes on to count. */
	a->more_ns = 0;
	if (bftm_contend_held(c) == BFTM_MODE_NL) {
		a->k = 0;
		a->type = BFTM_MSG_NONE;
		return;
	}
	/* The client does not know by which servers it holds what an earlier helper won. */
	if (!a->k && !c->known_end_ns)
		return;
	/* A liar that has a new epoch all the time is told no more often for that. */
	if (!c->reasserts) {
		c->retold = 0;
		c->reassert_ns = now;
	}
	c->reasserts |= 1u << u;
	if (now >= c->reassert_ns)
		bftm_reassert(c, cfg, now, out);
}

bool bftm_contend_retold(const struct bftm_contend *c, u32 u)
{
	return !(c->reasserts >> u & 1) || !bftm_contender_alive(&c->base);
}
