// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "backoff_client.h"
#include "lease.h"
#include "quorum.h"

static u32 everyone(const struct bftm_client_cfg *cfg)
{
	return (u32)((1ull << cfg->n) - 1);
}

static u32 count(const struct bftm_contend *c,
		 const struct bftm_client_cfg *cfg, u8 type)
{
	u32 u, sum = 0;

	for (u = 0; u < cfg->n; u++)
		sum += c->server[u].type == type;
	return sum;
}

static u32 who(const struct bftm_contend *c,
	       const struct bftm_client_cfg *cfg, u8 type)
{
	u32 u, mask = 0;

	for (u = 0; u < cfg->n; u++)
		if (c->server[u].type == type)
			mask |= 1u << u;
	return mask;
}

u64 bftm_contend_end(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg)
{
	u64 good = bftm_lease_at_client(c->want.lease_ns, cfg->rho_ppm);
	u64 end[BFTM_SERVERS_MAX];
	u32 u;

	for (u = 0; u < cfg->n; u++)
		end[u] = c->server[u].k ? c->server[u].from_ns + good : 0;
	/* The F-th largest: up to it, F grants are still good. */
	return bftm_kth_largest(end, cfg->n, bftm_free_needed(cfg->n, cfg->b));
}

/* Send number k of this attempt. @now was read before anything goes out. */
static void send_try(struct bftm_contend *c, u32 to, u64 now,
		     struct bftm_out *out)
{
	c->sends++;
	c->sent_ns[c->sends % BFTM_SENDS] = now;
	out->try_to |= to;
}

static void arm_resend(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now)
{
	u32 doublings = c->sends < 4 ? c->sends - 1 : 3;

	c->wake_ns = now + (cfg->resend_ns << doublings);
}

static void begin_round(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 attempt, u64 now,
			struct bftm_out *out)
{
	u64 lam[BFTM_SERVERS_MAX], seen;
	u32 u;

	for (u = 0; u < cfg->n; u++) {
		lam[u] = c->server[u].lam;
		c->server[u].type = BFTM_MSG_NONE;
		c->server[u].refusal = 0;
		c->server[u].k = 0;
	}
	/* Some correct server saw this much; b liars cannot inflate it. */
	seen = bftm_kth_largest(lam, cfg->n, cfg->b + 1);
	c->prio = 1 + (seen > c->prio ? seen : c->prio);
	c->attempt = attempt;
	c->phase = BFTM_PHASE_TRY;
	c->sends = 0;
	c->again = 0;
	c->rounds++;
	/* Figure 1(a): "||u ∈ U [ status_u ← u.try() ]". */
	send_try(c, everyone(cfg), now, out);
	arm_resend(c, cfg, now);
}

void bftm_contend_start(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now,
			struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	c->want = *want;
	c->retries = 0;
	c->rounds = 0;
	c->reached = false;
	begin_round(c, cfg, attempt, now, out);
}

static void die(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		enum bftm_verdict verdict, struct bftm_out *out)
{
	out->verdict = verdict;
	out->release_to = everyone(cfg);
	out->release_attempt = c->attempt;
	c->phase = BFTM_PHASE_DEAD;
}

void bftm_contend_stop(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (c->phase == BFTM_PHASE_TRY || c->phase == BFTM_PHASE_HOLD)
		die(c, cfg, BFTM_PENDING, out);
	c->phase = BFTM_PHASE_DEAD;
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
	u64 base = c->want.lease_ns + 4 * cfg->delta_ns, most = base, rest;
	u32 i;

	if (c->want.no_backoff)
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
 * When so many servers are in quarantine that the round is lost, the next one
 * need not wait longer than they say. The (b + 1)-th smallest time is at least
 * what some correct server says, so liars cannot make the client hurry.
 */
static u64 cut_sleep(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg, u64 sleep)
{
	u32 waiting = count(c, cfg, BFTM_MSG_WAIT), u;
	u64 wait[BFTM_SERVERS_MAX], least = 4 * cfg->delta_ns;

	if (waiting <= cfg->b || count(c, cfg, BFTM_MSG_LOCKED) > cfg->b)
		return sleep;
	for (u = 0; u < cfg->n; u++)
		wait[u] = c->server[u].type == BFTM_MSG_WAIT ?
			  c->server[u].wait_ns : 0;
	wait[0] = bftm_kth_largest(wait, cfg->n, waiting - cfg->b);
	if (wait[0] < least)
		wait[0] = least;
	return wait[0] < sleep ? wait[0] : sleep;
}

/*
 * Enough answers to know: F of any kind, or so many that are not FREE that F
 * FREE cannot come any more. Both are more than b.
 */
static bool answered(const struct bftm_contend *c,
		     const struct bftm_client_cfg *cfg)
{
	u32 f = bftm_free_needed(cfg->n, cfg->b);
	u32 answers = cfg->n - count(c, cfg, BFTM_MSG_NONE);

	return answers >= f ||
	       answers - count(c, cfg, BFTM_MSG_FREE) > cfg->n - f;
}

bool bftm_contend_reached(const struct bftm_contend *c,
			  const struct bftm_client_cfg *cfg)
{
	return c->reached || (c->phase == BFTM_PHASE_TRY && answered(c, cfg));
}

static void end_round(struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, struct bftm_out *out)
{
	out->round_over = true;
	out->said_free = who(c, cfg, BFTM_MSG_FREE);
	out->said_locked = who(c, cfg, BFTM_MSG_LOCKED);
	out->silent = who(c, cfg, BFTM_MSG_NONE);
	c->reached = answered(c, cfg);
}

/* F FREE answers cannot come any more, or not in time: cancel and sleep. */
static void lose_round(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		       struct bftm_out *out)
{
	end_round(c, cfg, out);
	/* F grants that came when they were over are as good as silence. */
	if (count(c, cfg, BFTM_MSG_FREE) >= bftm_free_needed(cfg->n, cfg->b))
		c->reached = false;
	if (c->want.once) {
		die(c, cfg, c->reached ? BFTM_LOST_ROUND : BFTM_UNREACHABLE, out);
		return;
	}
	out->release_to = everyone(cfg);
	out->release_attempt = c->attempt;
	/*
	 * Only competitors make s grow, not silence and not a quarantine: one
	 * is named by some correct server when more than b say LOCKED.
	 */
	if (count(c, cfg, BFTM_MSG_LOCKED) > cfg->b || !c->retries)
		c->retries++;
	c->phase = BFTM_PHASE_BACKOFF;
	c->wake_ns = now + cut_sleep(c, cfg, draw_sleep(c, cfg, rnd));
}

/* b + 1 servers with one reason: a correct one is among them. */
static bool refused(const struct bftm_contend *c,
		    const struct bftm_client_cfg *cfg, u32 reason)
{
	u32 u, sum = 0;

	for (u = 0; u < cfg->n; u++)
		sum += c->server[u].type == BFTM_MSG_REFUSED &&
		       c->server[u].refusal == reason;
	return sum > cfg->b;
}

static void judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  u64 now, u64 rnd, struct bftm_out *out)
{
	u32 f = bftm_free_needed(cfg->n, cfg->b);
	u32 free = count(c, cfg, BFTM_MSG_FREE);
	u32 locked = count(c, cfg, BFTM_MSG_LOCKED);
	u32 answers = cfg->n - count(c, cfg, BFTM_MSG_NONE);
	bool decided = true;

	if (cfg->literal)
		decided = answers >= bftm_literal_quorum(cfg->n, cfg->b);

	if (decided && free >= f) {
		if (now > bftm_contend_end(c, cfg)) {
			lose_round(c, cfg, now, rnd, out);
			return;
		}
		end_round(c, cfg, out);
		c->phase = BFTM_PHASE_HOLD;
		c->wake_ns = bftm_contend_end(c, cfg) + 1;
		out->verdict = BFTM_WON;
		return;
	}
	/* Figure 1(a): "if |{u : status_u = locked}| ≤ b return", and its else. */
	if (answers - free > cfg->n - f ||
	    (cfg->literal && decided && locked > cfg->b))
		lose_round(c, cfg, now, rnd, out);
}

static void answer_free(struct bftm_contend *c, u32 u,
			const struct bftm_msg *msg)
{
	struct bftm_answer *a = &c->server[u];

	/* A k that was never sent, or so long ago that its time is forgotten. */
	if (!msg->k || msg->k > c->sends || c->sends - msg->k >= BFTM_SENDS)
		return;
	a->type = BFTM_MSG_FREE;
	if (msg->k > a->k) {
		a->k = msg->k;
		a->from_ns = c->sent_ns[msg->k % BFTM_SENDS];
	}
}

void bftm_contend_answer(struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd,
			 struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	memset(out, 0, sizeof(*out));
	if (msg->prio > a->lam)
		a->lam = msg->prio;
	if (msg->attempt != c->attempt || c->phase == BFTM_PHASE_DEAD ||
	    c->phase == BFTM_PHASE_BACKOFF) {
		bftm_stray(msg, u, out);
		return;
	}
	if (c->phase == BFTM_PHASE_HOLD) {
		/* A late FREE may extend the end, never revive it. */
		if (now > bftm_contend_end(c, cfg)) {
			die(c, cfg, BFTM_LAPSED, out);
		} else if (msg->type == BFTM_MSG_FREE) {
			answer_free(c, u, msg);
			c->wake_ns = bftm_contend_end(c, cfg) + 1;
		}
		return;
	}
	switch (msg->type) {
	case BFTM_MSG_FREE:
		answer_free(c, u, msg);
		break;
	case BFTM_MSG_LOCKED:
	case BFTM_MSG_WAIT:
		if (a->k)
			break;
		a->type = msg->type;
		a->wait_ns = msg->lease_ns;
		break;
	case BFTM_MSG_REFUSED:
		if (a->k)
			break;
		a->type = msg->type;
		a->refusal = (u8)msg->position;
		if (refused(c, cfg, a->refusal)) {
			end_round(c, cfg, out);
			out->refusal = a->refusal;
			die(c, cfg, BFTM_REFUSED, out);
			return;
		}
		break;
	default:
		return;
	}
	judge(c, cfg, now, rnd, out);
}

void bftm_contend_wake(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now, u64 attempt,
		       u64 rnd, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (now < c->wake_ns)
		return;
	switch (c->phase) {
	case BFTM_PHASE_DEAD:
		break;
	case BFTM_PHASE_HOLD:
		if (now > bftm_contend_end(c, cfg))
			die(c, cfg, BFTM_LAPSED, out);
		break;
	case BFTM_PHASE_BACKOFF:
		begin_round(c, cfg, attempt, now, out);
		break;
	case BFTM_PHASE_TRY:
		if (c->sends >= BFTM_ROUND_SENDS) {
			lose_round(c, cfg, now, rnd, out);
			break;
		}
		send_try(c, who(c, cfg, BFTM_MSG_NONE), now, out);
		arm_resend(c, cfg, now);
		break;
	}
}

void bftm_contend_again(struct bftm_contend *c, u32 u, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	/*
	 * The same k, whose lease counts from its first send. Once a round: a
	 * second new epoch is an accident or a liar's game.
	 */
	if (c->phase != BFTM_PHASE_TRY || c->again & 1u << u)
		return;
	c->again |= 1u << u;
	out->try_to = 1u << u;
}

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
	if (now < r->wake_ns || r->sends >= BFTM_RELEASE_SENDS)
		return 0;
	r->wake_ns = now + (cfg->resend_ns << r->sends);
	r->sends++;
	return r->unanswered;
}
