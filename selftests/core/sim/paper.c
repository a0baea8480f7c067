// SPDX-License-Identifier: GPL-2.0
/*
 * Figure 1 word by word, as a reference: the winner runs from contend's return
 * T to T + Δ, a server says FREE when the last was more than Δ + 2δ ago, the
 * first quorum of answers decides, nothing is released, nothing is sent twice.
 * Safe when every message arrives within δ (Lemma 1); --async shows what comes
 * of it otherwise. With cfg.literal answers later than 2δ are discarded.
 */
#include "core/backoff/server.h"
#include "core/quorum.h"
#include "protocol.h"

static u32 everyone(const struct bftm_client_cfg *cfg)
{
	return (u32)((1ull << cfg->n) - 1);
}

static void begin_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 attempt,
			u64 now, struct bftm_out *out)
{
	u32 u;

	/* "Q1 ← ∅; ||u ∈ U [ status_u ← u.try() ]" */
	for (u = 0; u < cfg->n; u++)
		c->server[u].type = BFTM_MSG_NONE;
	c->attempt = attempt;
	c->phase = BFTM_PHASE_TRY;
	c->sends = 1;
	c->sent_ns[1] = now;
	c->rounds++;
	/* Figure 1 has no priorities: the field carries the guard's 2δ. */
	c->prio = 2 * cfg->delta_ns;
	c->wake_ns = now + 2 * cfg->delta_ns + 1;
	out->try_to = everyone(cfg);
}

static void paper_start(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	c->want = *want;
	c->retries = 0;		/* "s ← 0" */
	c->rounds = 0;
	begin_round(c, cfg, attempt, now, out);
}

/* "s ← s + 1; d ←R [(Δ + 4δ) … 2^s (Δ + 4δ)]; sleep(d)" */
static void back_off(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		     struct bftm_out *out)
{
	u64 base = c->want.lease_ns + 4 * cfg->delta_ns, most;

	u32 u;

	out->round_over = true;
	for (u = 0; u < cfg->n; u++) {
		out->said_free |= (u32)(c->server[u].type == BFTM_MSG_FREE) << u;
		out->said_locked |= (u32)(c->server[u].type == BFTM_MSG_LOCKED) << u;
	}
	if (c->want.wait == BFTM_WAIT_NOT) {
		c->phase = BFTM_PHASE_DEAD;
		out->verdict = BFTM_LOST_ROUND;
		return;
	}
	c->retries++;
	most = c->retries < 20 ? base << c->retries : base << 20;
	if (most > cfg->retry_max_ns)
		most = cfg->retry_max_ns;
	c->phase = BFTM_PHASE_BACKOFF;
	c->wake_ns = now + base + (most > base ? rnd % (most - base + 1) : 0);
}

static void judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		  struct bftm_out *out)
{
	u32 u, answers = 0, locked = 0;

	for (u = 0; u < cfg->n; u++) {
		answers += c->server[u].type != BFTM_MSG_NONE;
		locked += c->server[u].type == BFTM_MSG_LOCKED;
	}
	/* "until (∃Q ∈ 𝒬 : Q ⊆ Q1)" */
	if (answers < bftm_literal_quorum(cfg->n, cfg->b))
		return;
	/* "if (|{u : status_u = locked}| ≤ b) return" */
	if (locked <= cfg->b) {
		c->phase = BFTM_PHASE_HOLD;
		c->sent_ns[0] = now;
		c->wake_ns = now + c->want.lease_ns + 1;
		out->round_over = true;
		out->verdict = BFTM_WON;
	} else {
		back_off(c, cfg, now, rnd, out);
	}
}

static void paper_answer(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (c->phase != BFTM_PHASE_TRY || msg->attempt != c->attempt || msg->k != 1 ||
	    c->server[u].type != BFTM_MSG_NONE ||
	    (msg->type != BFTM_MSG_FREE && msg->type != BFTM_MSG_LOCKED))
		return;
	if (cfg->literal && now - c->sent_ns[1] > 2 * cfg->delta_ns)
		return;
	c->server[u].type = msg->type;
	judge(c, cfg, now, rnd, out);
}

static u64 paper_end(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	(void)cfg;
	return c->sent_ns[0] + c->want.lease_ns;
}

static void paper_wake(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		       u64 attempt, u64 rnd, struct bftm_out *out)
{
	memset(out, 0, sizeof(*out));
	if (now < c->wake_ns)
		return;
	if (c->phase == BFTM_PHASE_BACKOFF) {
		begin_round(c, cfg, attempt, now, out);
	} else if (c->phase == BFTM_PHASE_HOLD) {
		c->phase = BFTM_PHASE_DEAD;
		out->verdict = BFTM_LAPSED;
	} else if (c->phase == BFTM_PHASE_TRY) {
		/* No quorum within 2δ: the run is not synchronous. Again. */
		back_off(c, cfg, now, rnd, out);
	}
}

static void paper_stop(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		       struct bftm_out *out)
{
	(void)cfg;
	memset(out, 0, sizeof(*out));
	c->phase = BFTM_PHASE_DEAD;
}

static void paper_init(void *lock, u64 grant, u64 token_max)
{
	bftm_lock_init(lock, grant, token_max);
}

static void paper_learn(void *lock, u64 token_max)
{
	(void)lock, (void)token_max;
}

static bool paper_creates(const struct bftm_server_cfg *cfg, const struct bftm_msg *req)
{
	(void)cfg;
	return req->type == BFTM_MSG_TRY;
}

static void paper_step(const struct bftm_server_cfg *cfg, void *state, const struct bftm_msg *req,
		       u64 now, struct bftm_sends *ret)
{
	struct bftm_lock *lock = state;

	memset(&ret->push, 0, sizeof(ret->push));
	ret->reply = *req;
	ret->reply.type = BFTM_MSG_NONE;
	if (!lock || req->type != BFTM_MSG_TRY || now <= cfg->quarantine_until_ns)
		return;
	/* "if (clock() - lastGranted > Δ + 2δ) lastGranted ← clock(); return FREE" */
	if (!lock->attempt || now > lock->until_ns) {
		lock->attempt = req->attempt;
		lock->client = req->client;
		lock->until_ns = now + req->lease_ns + req->prio;
		ret->reply.type = BFTM_MSG_FREE;
	} else {
		ret->reply.type = BFTM_MSG_LOCKED;
	}
}

static u64 paper_deadline(const void *state)
{
	(void)state;
	return 0;
}

static bool paper_expire(const struct bftm_server_cfg *cfg, void *lock, u64 now,
			 struct bftm_msg *push)
{
	return bftm_lock_expire(cfg, lock, now, push);
}

static bool paper_waits(const void *lock, u32 client, u64 attempt)
{
	(void)lock, (void)client, (void)attempt;
	return false;
}

static bool paper_idle(const void *lock, u64 now)
{
	return !bftm_lock_owned(lock, now);
}

static void paper_describe(const void *state, struct bftm_lock_view *ret)
{
	const struct bftm_lock *lock = state;

	*ret = (struct bftm_lock_view){
		.attempt = lock->attempt, .client = lock->client, .until_ns = lock->until_ns,
		.grant = lock->gno, .token_max = lock->hi,
	};
}

static const struct bftm_protocol paper = {
	.number = BFTM_PROTO_BACKOFF,
	.name = "paper",
	.server = {
		.lock_size = sizeof(struct bftm_lock),
		.init = paper_init,
		.learn = paper_learn,
		.creates = paper_creates,
		.step = paper_step,
		.deadline = paper_deadline,
		.expire = paper_expire,
		.waits = paper_waits,
		.idle = paper_idle,
		.describe = paper_describe,
	},
};

const struct protocol protocol_paper = {
	.name = "paper",
	.what = "Figure 1 as printed: leases from the return, q answers; synchronous",
	.needs_sync = true,
	.servers_needed = bftm_servers_needed_literal,
	.start = paper_start,
	.answer = paper_answer,
	.wake = paper_wake,
	.stop = paper_stop,
	.end = paper_end,
	.core = &paper,
};
