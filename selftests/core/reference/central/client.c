// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.h"
#include "core/lease.h"
#include "core/release.h"

static size_t central_size(u32 n)
{
	(void)n;
	return sizeof(struct bftm_contender);
}

/* When to ask again: an answer may have been lost, and so may the word that it is its turn. */
static u64 again(const struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now)
{
	u64 poll = bftm_poll(c->want.lease_ns);

	return now + (poll < cfg->resend_ns ? poll : cfg->resend_ns);
}

static void send_try(struct bftm_contender *c, struct bftm_out *out)
{
	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_TRY, .to = CENTRAL_SERVER, .k = c->sends,
		.flags = c->want.wait == BFTM_WAIT_NOT ? BFTM_FLAG_NOQUEUE : 0,
		.lease_ns = c->want.lease_ns,
	});
}

static void end_with(struct bftm_contender *c, enum bftm_verdict verdict, struct bftm_out *out)
{
	out->verdict = verdict;
	out->release_to = CENTRAL_SERVER;
	out->release_attempt = c->attempt;
	c->phase = BFTM_PHASE_DEAD;
}

static void central_start(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_want *want, u64 attempt, u64 now,
			  struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	c->phase = BFTM_PHASE_TRY;
	c->want = *want;
	c->attempt = attempt;
	c->begun_ns = now;
	c->wake_ns = again(c, cfg, now);
	c->sends = 1;
	c->rounds = 1;
	send_try(c, out);
}

static void central_adopt(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			  const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends,
			  bool left)
{
	(void)cfg, (void)end_ns, (void)left;
	c->phase = BFTM_PHASE_HOLD;
	c->want = *want;
	c->attempt = attempt;
	c->begun_ns = 0;
	c->wake_ns = ~0ull;
	c->sends = sends + BFTM_ADOPT_SENDS;
}

static void central_answer(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			   const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	(void)rnd;
	memset(out, 0, sizeof(*out));
	if (msg->attempt != c->attempt || !bftm_contender_alive(c)) {
		bftm_stray(msg, u, out);
		return;
	}
	if (c->phase != BFTM_PHASE_TRY || u)
		return;
	switch (msg->type) {
	case BFTM_MSG_FREE:
		c->phase = BFTM_PHASE_HOLD;
		c->wake_ns = ~0ull;
		out->verdict = BFTM_WON;
		out->round_over = true;
		out->said_free = CENTRAL_SERVER;
		return;
	case BFTM_MSG_WAIT:
		c->wake_ns = again(c, cfg, now);
		return;
	case BFTM_MSG_LOCKED:
		out->round_over = true;
		out->said_locked = CENTRAL_SERVER;
		end_with(c, BFTM_LOST_ROUND, out);
		return;
	case BFTM_MSG_REFUSED:
		out->refusal = msg->arg;
		end_with(c, BFTM_REFUSED, out);
		return;
	}
}

static void central_epoch(struct bftm_contender *c, u32 u, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (c->phase == BFTM_PHASE_TRY && !u)
		send_try(c, out);
}

static void central_wake(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			 u64 attempt, u64 rnd, struct bftm_out *out)
{
	(void)attempt;
	(void)rnd;
	memset(out, 0, sizeof(*out));
	if (now < c->wake_ns || c->phase != BFTM_PHASE_TRY)
		return;
	if (c->want.wait == BFTM_WAIT_NOT && c->sends == CENTRAL_SENDS) {
		out->round_over = true;
		out->silent = CENTRAL_SERVER;
		end_with(c, BFTM_UNREACHABLE, out);
		return;
	}
	c->sends++;
	c->wake_ns = again(c, cfg, now);
	send_try(c, out);
}

static void central_renew(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
			  struct bftm_out *out)
{
	(void)c, (void)cfg, (void)now;
	memset(out, 0, sizeof(*out));
}

static void central_stop(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			 struct bftm_out *out)
{
	(void)cfg;
	memset(out, 0, sizeof(*out));
	if (bftm_contender_alive(c))
		end_with(c, BFTM_PENDING, out);
}

static u64 central_end(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)cfg;
	return c->phase == BFTM_PHASE_HOLD ? ~0ull : 0;
}

static u64 central_round_ns(const struct bftm_client_cfg *cfg)
{
	return cfg->resend_ns * CENTRAL_SENDS;
}

static bool central_reached(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)cfg;
	return c->sends < CENTRAL_SENDS;
}

static bool central_lacks_tokens(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)c;
	(void)cfg;
	return false;
}

static u64 central_granted_ns(const struct bftm_contender *c, u32 u)
{
	return c->phase == BFTM_PHASE_HOLD && !u ? c->begun_ns : 0;
}

static u64 central_seen(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)c;
	(void)cfg;
	return 0;
}

const struct bftm_client_ops central_client = {
	.size = central_size,
	.start = central_start,
	.adopt = central_adopt,
	.answer = central_answer,
	.epoch = central_epoch,
	.wake = central_wake,
	.renew = central_renew,
	.stop = central_stop,
	.end = central_end,
	.round_ns = central_round_ns,
	.reached = central_reached,
	.lacks_tokens = central_lacks_tokens,
	.granted_ns = central_granted_ns,
	.seen = central_seen,
};
