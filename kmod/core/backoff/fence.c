// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fencing tokens: a number that grows from holder to holder, so that a resource
 * can refuse a client that lost the lock without noticing. The holder is fenced
 * when q servers have accepted one token while its lease is good. Two sets of q
 * servers share a correct server, which accepts only a higher token than before.
 *
 * A server that restarts forgets the token that it accepted. Others tell it of all tokens that
 * were accepted by q servers before its quarantine was over. So what a server has accepted does
 * not count for longer than a quarantine lasts, even if the lock is held for longer.
 */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

static void send_stamp(const struct bftm_contend *c, u32 to, struct bftm_out *out)
{
	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_STAMP, .to = to, .token = c->base.token,
	});
}

/* Do b + 1 servers say that this mode may share the token @hi? A correct one is among them. */
static bool may_join(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 hi)
{
	u8 conflicts = bftm_mode_conflicts(c->held);
	u32 u, sum = 0;

	for (u = 0; u < cfg->n; u++)
		sum += c->server[u].hi == hi && c->server[u].himask &&
		       !(c->server[u].himask & conflicts);
	return hi && sum > cfg->b && !bftm_modes_conflict(c->held, c->held);
}

/* Pauses are so short that within one lease, even a short one, the silent servers are known. */
static u64 next_offer(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	u64 next = bftm_later(now, cfg->resend_ns, c->restamps);
	u64 most = now + bftm_poll(c->base.want.lease_ns);

	return next < most ? next : most;
}

static void offer(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  u64 now, struct bftm_out *out)
{
	u64 hi[BFTM_SERVERS_MAX], seen;
	u32 u;

	for (u = 0; u < cfg->n; u++)
		hi[u] = c->server[u].hi;
	/* A correct server's token is at least as large, so b liars cannot inflate this. */
	seen = bftm_kth_largest(hi, cfg->n, cfg->b + 1);
	if (seen > c->offered && may_join(c, cfg, seen)) {
		c->offered = seen;
	} else {
		/* A single correct server may be far ahead, since it has recovered. */
		c->offered += c->step;
		if (c->step < BFTM_STEP_MAX)
			c->step *= 2;
		if (c->offered <= seen)
			c->offered = seen + 1;
	}
	c->base.token = c->offered;
	c->offered_ns = now;
	c->accepted = 0;
	c->denied = 0;
	c->restamps = 0;
	c->resend_ns = next_offer(c, cfg, now);
	c->stamps++;
	send_stamp(c, bftm_everyone(cfg), out);
}

/* Servers may have forgotten by now that they accepted what is on offer. */
static bool is_stale(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	return now > c->offered_ns + bftm_lease_at_client(bftm_pace(c->base.want.lease_ns),
							  cfg->rho_ppm);
}

static bool asks_once(const struct bftm_contend *c)
{
	return c->stamps_anew ? c->once : c->base.want.wait == BFTM_WAIT_NOT;
}

/*
 * A client that asks once waits for a token no longer than for another round, and a client that
 * has no lease waits no longer than if it had one.
 */
static bool is_bounded(const struct bftm_contend *c)
{
	return asks_once(c) ||
	       (c->base.want.lease_ns == BFTM_LEASE_NONE && !c->stamps_anew);
}

u64 bftm_fence_due(const struct bftm_contend *c)
{
	return is_bounded(c) && c->fence_ns < c->resend_ns ? c->fence_ns : c->resend_ns;
}

static void fence_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	c->base.wake_ns = bftm_after_end(c, cfg);
	if (bftm_fence_due(c) < c->base.wake_ns)
		c->base.wake_ns = bftm_fence_due(c);
}

static void offer_first(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_out *out)
{
	c->ignorant = 0;
	c->answered = 0;
	c->known = 0;
	c->step = 1;
	c->fence_ns = now + (asks_once(c) ? bftm_round_ns(cfg) : bftm_pace(c->base.want.lease_ns));
	offer(c, cfg, now, out);
}

void bftm_fence_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now, struct bftm_out *out)
{
	c->base.phase = BFTM_PHASE_FENCE;
	offer_first(c, cfg, now, out);
	fence_arm(c, cfg);
}

void bftm_fence_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out)
{
	c->stamps_anew = true;
	c->old_token = c->base.token;
	c->stamps = 0;
	offer_first(c, cfg, now, out);
	bftm_hold_converted(c, cfg, now);
}

void bftm_fence_answer(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u32 u, const struct bftm_msg *msg, u64 now,
		       struct bftm_out *out)
{
	u32 q = bftm_fence_quorum(cfg->n, cfg->b);

	/* A server that grants leases alone may have a quarantine that is too short. */
	if (c->base.want.lease_ns == BFTM_LEASE_NONE && msg->type == BFTM_MSG_SACK &&
	    c->server[u].type == BFTM_MSG_REFUSED)
		return;
	if (msg->type == BFTM_MSG_SACK || msg->type == BFTM_MSG_SNACK)
		c->known |= 1u << u;
	if (c->known >> u & 1 || msg->type == BFTM_MSG_REFUSED)
		c->answered |= 1u << u;
	switch (msg->type) {
	case BFTM_MSG_SACK:
		if (msg->gno != c->base.token)
			return;		/* of an offer that was given up */
		if (is_stale(c, cfg, now)) {
			offer(c, cfg, now, out);
			break;
		}
		c->accepted |= 1u << u;
		c->ignorant &= ~(1u << u);
		/* The caller has compared @now with the end of the lease. */
		if (bftm_count(c->accepted) < q)
			return;
		if (c->stamps_anew)
			bftm_convert_stamped(c, cfg, now, out);
		else
			bftm_hold_told(c, cfg, now, out);
		return;
	case BFTM_MSG_SNACK:
		if (msg->gno != c->base.token)
			return;
		c->denied |= 1u << u;
		c->ignorant &= ~(1u << u);
		if (bftm_count(c->denied) > cfg->n - q)
			offer(c, cfg, now, out);
		break;
	case BFTM_MSG_REFUSED:
		if (msg->arg == BFTM_REFUSED_TOKENS)
			c->ignorant |= 1u << u;
		break;
	default:
		return;
	}
	if (c->stamps_anew)
		bftm_hold_arm(c, cfg);
	else
		fence_arm(c, cfg);
}

bool bftm_fence_lacks(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 able = c->known;

	/*
	 * An honest server denies until a step is larger than its lead. A liar may deny
	 * always, and so does a server with a lead that no step makes up.
	 */
	if (c->stamps >= BFTM_STAMP_DENIED)
		able &= ~c->denied;
	return bftm_fences(c) && bftm_contend_reached(c, cfg) &&
	       bftm_count(able) < bftm_fence_quorum(cfg->n, cfg->b);
}

/*
 * Are q answers out of reach? They are if more than b servers say that they do not know, or if
 * silent ones were asked often. Fewer may be liars, or the client itself was held up.
 */
static bool is_hopeless(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	return bftm_count(c->ignorant) > cfg->b ||
	       (c->stamps >= BFTM_STAMP_SILENT && bftm_fence_lacks(c, cfg));
}

/* The lease is over before q servers have accepted a token: begin anew, or give up. */
static void fence_fail(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       u64 now, struct bftm_out *out)
{
	/* If fewer than F servers answered, no other holder is to blame. */
	c->reached = bftm_contend_reached(c, cfg);
	if (is_hopeless(c, cfg)) {
		out->refusal = BFTM_REFUSED_TOKENS;
		bftm_die(c, cfg, BFTM_REFUSED, out);
	} else {
		bftm_hold_missed(c, cfg, now, out);
	}
}

/* Return: true when no token is to be waited for any longer. */
static bool is_too_late(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	/* A holder that stamps anew gives up once there is no hope, since its lease goes on. */
	return (is_bounded(c) && now >= c->fence_ns) ||
	       ((asks_once(c) || c->stamps_anew) && now >= c->resend_ns && is_hopeless(c, cfg));
}

static void offer_again(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_out *out)
{
	if (now >= c->resend_ns && (c->denied || is_stale(c, cfg, now))) {
		/* Too many servers are silent, and those that deny would deny this token again. */
		offer(c, cfg, now, out);
	} else if (now >= c->resend_ns) {
		/* Servers that did not know the tokens may have learned them by now. */
		send_stamp(c, bftm_everyone(cfg) & ~c->accepted, out);
		c->stamps++;
		c->restamps++;
		c->resend_ns = next_offer(c, cfg, now);
	}
}

void bftm_fence_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out)
{
	if (now > bftm_contend_end(c, cfg) || is_too_late(c, cfg, now)) {
		fence_fail(c, cfg, now, out);
		return;
	}
	offer_again(c, cfg, now, out);
	fence_arm(c, cfg);		/* the end may have moved */
}

void bftm_fence_wake_anew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out)
{
	if (is_too_late(c, cfg, now)) {
		bftm_convert_unstamped(c, cfg, BFTM_KEPT_TOKENS, now, out);
		return;
	}
	offer_again(c, cfg, now, out);
	bftm_hold_arm(c, cfg);
}

bool bftm_recovered_token(const struct bftm_client_cfg *cfg, const u64 *top,
			  u32 known, u64 *ret)
{
	u32 q = bftm_fence_quorum(cfg->n, cfg->b);

	/*
	 * Of the q servers that accepted a token, take away the restarted one, b
	 * liars, and b that are not heard: b + 1 are left only if q is at least 3b + 2.
	 */
	if (known < cfg->n - 1 - cfg->b || q < 3 * cfg->b + 2)
		return false;
	*ret = bftm_kth_largest(top, cfg->n, cfg->b + 1);
	return true;
}
