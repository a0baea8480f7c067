// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The lease of a lock that is held: until when, and how it is renewed. */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

u64 bftm_kth_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, bool more)
{
	u64 __uninitialized from[BFTM_SERVERS_MAX];
	const u32 needed = bftm_win(cfg);
	u32 grants = 0, u;
	u64 fth;

	for (u = 0; u < cfg->n; u++) {
		const struct bftm_answer *a = &c->server[u];
		u64 ns = !a->k ? 0 : more ? a->more_ns : a->from_ns;

		from[u] = ns;
		grants += ns != 0;
	}
	/* As at most answers to an attempt that asks. */
	if (grants < needed)
		return 0;
	/*
	 * The F-th largest: up to its end, F grants are still good. All of them have one length, so
	 * their ends have the order of the times that they count from.
	 */
	fth = bftm_kth_largest(from, cfg->n, needed);
	return bftm_grant_end(fth, c->base.want.lease_ns, cfg->rho_ppm);
}

u64 bftm_contend_end(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg)
{
	u64 end = bftm_kth_end(c, cfg, false);

	return end > c->known_end_ns ? end : c->known_end_ns;
}

u64 bftm_after_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u64 end = bftm_contend_end(c, cfg);

	return end == BFTM_LEASE_NONE ? end : end + 1;
}

bool bftm_may_begin(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	/* The end is 0 while there are fewer grants than F. */
	return now + bftm_lease_least(c->base.want.lease_ns) <= bftm_contend_end(c, cfg);
}

static void uncount(struct bftm_contend *c, u32 u)
{
	struct bftm_answer *a = &c->server[u];

	/* During a conversion the grants of the held mode go on counting. */
	a->more_ns = 0;
	if (c->base.phase == BFTM_PHASE_HOLD)
		return;
	a->k = 0;
	if (a->type != BFTM_MSG_FREE)
		return;
	a->type = BFTM_MSG_WAIT;
	a->wait_ns = 0;
	a->queue_ns = 0;
}

void bftm_hold_uncount(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u;

	for (u = 0; u < cfg->n && cfg->forgetful; u++)
		if (cfg->forgetful >> u & 1)
			uncount(c, u);
}

/* Eight renewals are left before the end even when the lease is short. */
static u64 soon(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		u64 now)
{
	u64 next = bftm_later(now, cfg->resend_ns, c->resends);
	u64 most = now + bftm_poll(c->base.want.lease_ns) / 2;

	return next < most ? next : most;
}

void bftm_hold_arm(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	c->base.wake_ns = bftm_after_end(c, cfg);
	if (c->reasserts && c->reassert_ns < c->base.wake_ns)
		c->base.wake_ns = c->reassert_ns;
	if (c->poll_ns && c->poll_ns < c->base.wake_ns)
		c->base.wake_ns = c->poll_ns;
	if (c->stamps_anew && bftm_fence_due(c) < c->base.wake_ns)
		c->base.wake_ns = bftm_fence_due(c);
	if (c->reads_anew && c->value_ns < c->base.wake_ns)
		c->base.wake_ns = c->value_ns;
}

/*
 * Must all servers still hear that the lock is held? A client that did not ask all for the lock
 * renews it first at all. Otherwise a host that goes down may take two servers from the holder: a
 * server on that host that grants and, by the grants of a waiter on that host, a server that has
 * never heard of the holder.
 */
static bool is_unannounced(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	return cfg->ask && !c->announced;
}

static bool is_renewed(const struct bftm_contend *c)
{
	return c->base.want.renew && c->base.want.lease_ns != BFTM_LEASE_NONE;
}

/*
 * From the send that the lease counts from to the renewal: half a lease; where some servers are
 * asked first, an eighth before all have heard, and nothing when somebody waits already.
 */
static u64 renewal_pause(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	if (!cfg->ask || c->announced)
		return c->base.want.lease_ns / 2;
	return c->inquired ? 0 : bftm_poll(c->base.want.lease_ns);
}

/*
 * How often servers are told of a mode that was given up, in about a lease: by then a server that
 * has heard nothing has ended the grant. Without this bound, a server that is down would keep a
 * lock being renewed that its program lets end.
 */
#define OWED_SENDS 16

/* The next renewal, counted from the send that the lease counts from. */
static void plan_renewal(struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u64 now)
{
	u64 from;

	/* A holder that waits for another mode polls as all waiting clients do. */
	if (bftm_converts(c))
		return;
	if (c->resends >= OWED_SENDS && c->base.want.lease_ns != BFTM_LEASE_NONE)
		c->owed = 0;
	if (c->owed) {
		c->poll_ns = soon(c, cfg, now);
		return;
	}
	c->resends = 0;
	c->poll_ns = 0;
	if (!is_renewed(c))
		return;
	from = bftm_contend_end(c, cfg) -
	       bftm_lease_at_client(c->base.want.lease_ns, cfg->rho_ppm);
	c->poll_ns = from + renewal_pause(c, cfg);
	/* Grants of several sends may come one by one; answers are under way. */
	if (c->poll_ns < soon(c, cfg, now))
		c->poll_ns = soon(c, cfg, now);
}

void bftm_hold_told(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out)
{
	c->base.phase = BFTM_PHASE_HOLD;
	out->verdict = BFTM_WON;
	plan_renewal(c, cfg, now);
	bftm_hold_arm(c, cfg);
}

void bftm_hold_missed(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out)
{
	if (c->base.want.wait == BFTM_WAIT_NOT) {
		bftm_die(c, cfg, BFTM_UNREACHABLE, out);
		return;
	}
	bftm_release_all(c, cfg, out);
	c->base.phase = BFTM_PHASE_BACKOFF;
	c->base.wake_ns = now + cfg->delta_ns;
}

static u32 granted(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 u, servers = 0;

	for (u = 0; u < cfg->n; u++)
		if (c->server[u].k)
			servers |= 1u << u;
	return servers;
}

void bftm_hold_begin(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, struct bftm_out *out)
{
	bftm_end_round(c, cfg, out);
	bftm_ask_won(cfg, &c->base.asking, granted(c, cfg));
	c->held = c->base.want.mode;
	c->base.phase = BFTM_PHASE_VALUE;
	if (bftm_value_read(c, cfg, now)) {
		bftm_hold_read(c, cfg, now, out);
		return;
	}
	/* More servers know the value: a lie, or one more silent server, would make it doubtful. */
	bftm_first_rest(c, cfg, now, out);
	bftm_value_await(c, cfg, now);
	c->base.wake_ns = c->value_ns;
}

void bftm_hold_read(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out)
{
	if (c->reads_anew)
		bftm_convert_read(c, cfg, now, out);
	else if (c->base.want.fence)
		bftm_fence_begin(c, cfg, now, out);
	else
		bftm_hold_told(c, cfg, now, out);
}

void bftm_hold_grew(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		    u64 before, u64 now, struct bftm_out *out)
{
	if (c->base.phase != BFTM_PHASE_HOLD)
		return;
	/* Most grants reach no further than the lock is held without them. */
	if (bftm_grant_end(c->server[u].from_ns, c->base.want.lease_ns, cfg->rho_ppm) <= before ||
	    bftm_contend_end(c, cfg) == before)
		return;
	out->extended = true;
	plan_renewal(c, cfg, now);
	bftm_hold_arm(c, cfg);
}

void bftm_hold_converted(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now)
{
	plan_renewal(c, cfg, now);
	bftm_hold_arm(c, cfg);
}

/* The servers by whose grants the lock is held; all servers, if the known ones are too few. */
static u32 holds_by(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u32 servers = granted(c, cfg);

	return bftm_count(servers) < bftm_win(cfg) ? bftm_everyone(cfg) : servers;
}

/*
 * A renewal asks the servers that have granted. If F of them have not answered by the next time, it
 * asks all: the others give the holder their first place, and a waiting client yields to it.
 */
static void renew(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  u64 now, struct bftm_out *out)
{
	bool all = c->resends || is_unannounced(c, cfg);
	u32 to = (all ? bftm_everyone(cfg) : holds_by(c, cfg)) | c->owed;

	c->announced = c->announced || all;
	c->poll_ns = bftm_converts(c) && c->resends ? now + bftm_poll(c->base.want.lease_ns) :
						      soon(c, cfg, now);
	c->resends++;
	c->again = 0;
	bftm_ask_due(cfg, &c->base.asking, now);
	bftm_send_try(c, to, now, out);
	bftm_hold_arm(c, cfg);
}

void bftm_hold_ask(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		   struct bftm_out *out)
{
	c->resends = 0;
	renew(c, cfg, now, out);
}

/*
 * F servers have yet to answer. An answer counts for some sends only (BFTM_SENDS), so a program
 * that asks faster than servers answer would not have its lock renewed.
 */
static bool is_asking(const struct bftm_contend *c, u64 now)
{
	return c->resends && !bftm_converts(c) && now < c->poll_ns;
}

void bftm_contend_renew(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 now,
			struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (c->base.phase != BFTM_PHASE_HOLD)
		return;
	if (now > bftm_contend_end(c, cfg)) {
		bftm_die(c, cfg, BFTM_LAPSED, out);
		return;
	}
	if (c->reasserts)
		bftm_reassert(c, cfg, now, out);
	else if (!is_asking(c, now))
		bftm_hold_ask(c, cfg, now, out);
}

/*
 * A holder yields nothing, but its program may want to know. An INQUIRE for more than what is held
 * is about a mode that was given up, or about a grant on the way to another mode.
 *
 * A server that asks has a waiter, which other servers may have granted the lock already: all hear
 * of the holder soon, since a server may be down by its next renewal. Then no server asks any more,
 * so b + 1 of them have their time to ask first.
 */
void bftm_hold_inquired(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now, struct bftm_out *out)
{
	if (!bftm_mode_covers(c->held, msg->mode))
		return;
	c->inquired |= 1u << u;
	if (bftm_is_wanted(cfg, c->inquired))
		c->base.wanted = true;
	if (!is_unannounced(c, cfg) || !is_renewed(c) || c->base.phase != BFTM_PHASE_HOLD ||
	    bftm_converts(c))
		return;
	if (c->base.wanted) {
		bftm_hold_ask(c, cfg, now, out);
	} else if (now + cfg->resend_ns < c->poll_ns) {
		c->poll_ns = now + cfg->resend_ns;
		bftm_hold_arm(c, cfg);
	}
}

void bftm_hold_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    u64 now, struct bftm_out *out)
{
	if (c->base.phase == BFTM_PHASE_VALUE) {
		if (now > bftm_contend_end(c, cfg))
			bftm_hold_missed(c, cfg, now, out);
		else
			bftm_hold_read(c, cfg, now, out);
		return;
	}
	if (c->base.phase == BFTM_PHASE_FENCE) {
		bftm_fence_wake(c, cfg, now, out);
		return;
	}
	if (now > bftm_contend_end(c, cfg)) {
		bftm_die(c, cfg, BFTM_LAPSED, out);
		return;
	}
	if (c->reasserts && now >= c->reassert_ns)
		bftm_reassert(c, cfg, now, out);
	if (c->reads_anew && now >= c->value_ns)
		bftm_hold_read(c, cfg, now, out);
	else if (c->stamps_anew && now >= bftm_fence_due(c))
		bftm_fence_wake_anew(c, cfg, now, out);
	/* A client that just gave a mode up has asked already: its next renewal comes later. */
	if (c->poll_ns && now >= c->poll_ns)
		renew(c, cfg, now, out);
}
