// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rounds of try() with back-off between them: Figure 1(a). */
#include "core/backoff/contend.h"
#include "core/lease.h"
#include "core/quorum.h"

static void round_arm(struct bftm_contend *c)
{
	/* No server is asked twice before the others are asked at all. */
	if (c->hedge_ns && !c->resends && c->poll_ns < c->resend_ns)
		c->poll_ns = c->resend_ns;
	c->base.wake_ns = c->poll_ns;
	if (c->hedge_ns && c->resend_ns < c->base.wake_ns)
		c->base.wake_ns = c->resend_ns;
}

void bftm_round_begun(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now)
{
	bftm_first_begun(c, cfg, now);
	c->poll_ns = bftm_later(now, cfg->resend_ns, c->base.sends - 1);
	round_arm(c);
}

u64 bftm_round_ns(const struct bftm_client_cfg *cfg)
{
	u64 over = 0;
	u32 sends;

	for (sends = 1; sends <= BFTM_ROUND_SENDS; sends++)
		over = bftm_later(over, cfg->resend_ns, sends - 1);
	return over;
}

/* x · y, or the largest number there is. */
static u64 mul_sat(u64 x, u64 y)
{
	u64 rest;

	return x && y > div64_u64_rem(~0ull, x, &rest) ? ~0ull : x * y;
}

/* Figure 1(a): "d ←R [(Δ + 4δ) … 2^s (Δ + 4δ)]", or s^exponent for 2^s. */
static u64 draw_sleep(const struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, u64 rnd)
{
	u64 base = bftm_pace(c->base.want.lease_ns) + 4 * cfg->delta_ns, most = base, rest;
	u32 i;

	if (c->base.want.wait == BFTM_WAIT_NO_BACKOFF)
		return cfg->delta_ns;	/* at once, but not in a tight loop */
	if (cfg->polynomial)
		for (i = 0; i < cfg->exponent; i++)
			most = mul_sat(most, c->retries);
	else
		most = c->retries < 63 ? mul_sat(base, 1ull << c->retries) : ~0ull;
	if (most > cfg->retry_max_ns)
		most = cfg->retry_max_ns;
	/* Without a choice, two that collided once would collide for ever. */
	if (most < mul_sat(base, 2))
		most = mul_sat(base, 2);
	div64_u64_rem(rnd, most - base + 1, &rest);
	return base + rest;
}

/*
 * When so many servers are in quarantine that nobody can win, there is no need
 * to wait longer than they say. The (b + 1)-th smallest time is at least what
 * some correct server says, so liars cannot make the client hurry.
 */
u64 bftm_quarantine_left(const struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u64 most)
{
	u64 wait[BFTM_SERVERS_MAX], least = 4 * cfg->delta_ns;
	u32 waiting = 0, others = 0, u;

	for (u = 0; u < cfg->n; u++) {
		const struct bftm_answer *a = &c->server[u];

		wait[u] = a->type == BFTM_MSG_WAIT ? a->wait_ns : 0;
		waiting += wait[u] != 0;
		others += a->type == BFTM_MSG_LOCKED ||
			  (a->type == BFTM_MSG_WAIT && !a->wait_ns);
	}
	if (waiting <= cfg->b || others > cfg->b)
		return most;
	wait[0] = bftm_kth_largest(wait, cfg->n, waiting - cfg->b);
	if (wait[0] < least)
		wait[0] = least;
	return wait[0] < most ? wait[0] : most;
}

/* F FREE answers cannot come any more, or not in time: cancel and sleep. */
void bftm_lose_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, u64 rnd, struct bftm_out *out)
{
	u32 locked = bftm_count(bftm_said(c, cfg, BFTM_MSG_LOCKED));
	u32 free = bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE));

	bftm_end_round(c, cfg, out);
	/* F grants that came when they were over are as good as silence. */
	if (free >= bftm_win(cfg))
		c->reached = false;
	if (c->base.want.wait == BFTM_WAIT_NOT) {
		if (bftm_first_again(c, cfg, now, out))
			return;
		bftm_die(c, cfg, c->reached ? BFTM_LOST_ROUND : BFTM_UNREACHABLE,
			 out);
		return;
	}
	bftm_release_all(c, cfg, out);
	/*
	 * Only competitors make s grow, not silence or a quarantine: of more than b servers that
	 * say LOCKED a correct one knows a competitor.
	 */
	if (locked > cfg->b || !c->retries)
		c->retries++;
	c->base.phase = BFTM_PHASE_BACKOFF;
	c->base.wake_ns = now + bftm_quarantine_left(c, cfg, draw_sleep(c, cfg, rnd));
}

void bftm_round_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u64 now, u64 rnd, struct bftm_out *out)
{
	u32 f = bftm_win(cfg);
	u32 free = bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE));
	u32 locked = bftm_count(bftm_said(c, cfg, BFTM_MSG_LOCKED));
	u32 answers = cfg->n - bftm_count(bftm_said(c, cfg, BFTM_MSG_NONE));
	bool decided = true;

	if (cfg->literal)
		decided = answers >= bftm_literal_quorum(cfg->n, cfg->b);

	if (decided && free >= f) {
		if (now > bftm_contend_end(c, cfg))
			bftm_lose_round(c, cfg, now, rnd, out);
		else if (bftm_may_begin(c, cfg, now))
			bftm_hold_begin(c, cfg, now, out);
		return;
	}
	/* Figure 1(a): "if |{u : status_u = locked}| ≤ b return", and its else. */
	if (answers - free > cfg->n - f ||
	    (cfg->literal && decided && locked > cfg->b)) {
		bftm_lose_round(c, cfg, now, rnd, out);
		return;
	}
	bftm_first_judge(c, cfg, now, out);
	round_arm(c);
}

void bftm_round_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     u64 now, u64 rnd, struct bftm_out *out)
{
	u32 to = bftm_said(c, cfg, BFTM_MSG_NONE);

	if (now < c->poll_ns) {
		bftm_first_over(c, cfg, now, out);
		round_arm(c);
		return;
	}
	if (c->base.sends >= BFTM_ROUND_SENDS) {
		bftm_lose_round(c, cfg, now, rnd, out);
		return;
	}
	/* F grants of which too little is left: they begin anew. */
	if (bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE)) >= bftm_win(cfg))
		to = bftm_everyone(cfg);
	bftm_send_try(c, to, now, out);
	bftm_round_begun(c, cfg, now);
}
