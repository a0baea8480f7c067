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

/** struct paper - contend() of one lock: Q1, s, and when the lock was won */
struct paper {
	struct bftm_contender base;
	u8 said[BFTM_SERVERS_MAX];
	u32 retries;
	u64 won_ns;
};

static size_t paper_size(u32 n)
{
	(void)n;
	return sizeof(struct paper);
}

static void begin_round(struct paper *p, const struct bftm_client_cfg *cfg, u64 attempt,
			u64 now, struct bftm_out *out)
{
	u32 u;

	/* "Q1 ← ∅; ||u ∈ U [ status_u ← u.try() ]" */
	for (u = 0; u < cfg->n; u++)
		p->said[u] = BFTM_MSG_NONE;
	p->base.attempt = attempt;
	p->base.phase = BFTM_PHASE_TRY;
	p->base.sends = 1;
	p->base.begun_ns = now;
	p->base.rounds++;
	/* Figure 1 has no priorities: the field carries the guard's 2δ. */
	p->base.prio = 2 * cfg->delta_ns;
	p->base.wake_ns = now + 2 * cfg->delta_ns + 1;
	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_TRY, .flags = BFTM_FLAG_NOQUEUE, .to = everyone(cfg), .k = 1,
		.lease_ns = p->base.want.lease_ns, .prio = p->base.prio,
	});
}

static void paper_start(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now, struct bftm_out *out)
{
	struct paper *p = (struct paper *)c;

	memset(out, 0, sizeof(*out));
	p->base.want = *want;
	p->retries = 0;		/* "s ← 0" */
	p->base.rounds = 0;
	begin_round(p, cfg, attempt, now, out);
}

/* "s ← s + 1; d ←R [(Δ + 4δ) … 2^s (Δ + 4δ)]; sleep(d)" */
static void back_off(struct paper *p, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		     struct bftm_out *out)
{
	u64 base = p->base.want.lease_ns + 4 * cfg->delta_ns, most;

	u32 u;

	out->round_over = true;
	for (u = 0; u < cfg->n; u++) {
		out->said_free |= (u32)(p->said[u] == BFTM_MSG_FREE) << u;
		out->said_locked |= (u32)(p->said[u] == BFTM_MSG_LOCKED) << u;
	}
	if (p->base.want.wait == BFTM_WAIT_NOT) {
		p->base.phase = BFTM_PHASE_DEAD;
		out->verdict = BFTM_LOST_ROUND;
		return;
	}
	p->retries++;
	most = p->retries < 20 ? base << p->retries : base << 20;
	if (most > cfg->retry_max_ns)
		most = cfg->retry_max_ns;
	p->base.phase = BFTM_PHASE_BACKOFF;
	p->base.wake_ns = now + base + (most > base ? rnd % (most - base + 1) : 0);
}

static void judge(struct paper *p, const struct bftm_client_cfg *cfg, u64 now, u64 rnd,
		  struct bftm_out *out)
{
	u32 u, answers = 0, locked = 0;

	for (u = 0; u < cfg->n; u++) {
		answers += p->said[u] != BFTM_MSG_NONE;
		locked += p->said[u] == BFTM_MSG_LOCKED;
	}
	/* "until (∃Q ∈ 𝒬 : Q ⊆ Q1)" */
	if (answers < bftm_literal_quorum(cfg->n, cfg->b))
		return;
	/* "if (|{u : status_u = locked}| ≤ b) return" */
	if (locked <= cfg->b) {
		p->base.phase = BFTM_PHASE_HOLD;
		p->won_ns = now;
		p->base.wake_ns = now + p->base.want.lease_ns + 1;
		out->round_over = true;
		out->verdict = BFTM_WON;
	} else {
		back_off(p, cfg, now, rnd, out);
	}
}

static void paper_answer(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out)
{
	struct paper *p = (struct paper *)c;

	memset(out, 0, sizeof(*out));
	if (p->base.phase != BFTM_PHASE_TRY || msg->attempt != p->base.attempt || msg->k != 1 ||
	    p->said[u] != BFTM_MSG_NONE ||
	    (msg->type != BFTM_MSG_FREE && msg->type != BFTM_MSG_LOCKED))
		return;
	if (cfg->literal && now - p->base.begun_ns > 2 * cfg->delta_ns)
		return;
	p->said[u] = msg->type;
	judge(p, cfg, now, rnd, out);
}

static u64 paper_end(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	const struct paper *p = (const struct paper *)c;

	(void)cfg;
	return p->won_ns + p->base.want.lease_ns;
}

static void paper_wake(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
		       u64 attempt, u64 rnd, struct bftm_out *out)
{
	struct paper *p = (struct paper *)c;

	memset(out, 0, sizeof(*out));
	if (now < p->base.wake_ns)
		return;
	if (p->base.phase == BFTM_PHASE_BACKOFF) {
		begin_round(p, cfg, attempt, now, out);
	} else if (p->base.phase == BFTM_PHASE_HOLD) {
		p->base.phase = BFTM_PHASE_DEAD;
		out->verdict = BFTM_LAPSED;
	} else if (p->base.phase == BFTM_PHASE_TRY) {
		/* No quorum within 2δ: the run is not synchronous. Again. */
		back_off(p, cfg, now, rnd, out);
	}
}

static void paper_stop(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		       struct bftm_out *out)
{
	struct paper *p = (struct paper *)c;

	(void)cfg;
	memset(out, 0, sizeof(*out));
	p->base.phase = BFTM_PHASE_DEAD;
}

static void paper_epoch(struct bftm_contender *c, u32 u, struct bftm_out *out)
{
	(void)c;
	(void)u;
	memset(out, 0, sizeof(*out));
}

static void paper_init(void *lock, u64 grant, u64 token_max)
{
	bftm_lock_init(lock, grant, token_max);
}

static bool paper_knows(const void *lock)
{
	(void)lock;
	return true;
}

static void paper_learn(void *lock, u64 token_max)
{
	(void)lock;
	(void)token_max;
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
	if (!lock->first.attempt || now > lock->first.time_ns) {
		lock->first.attempt = req->attempt;
		lock->first.client = req->client;
		lock->first.time_ns = now + req->lease_ns + req->prio;
		lock->first.mode = BFTM_MODE_EX;
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
		.attempt = lock->first.attempt, .client = lock->first.client, .until_ns = lock->first.time_ns,
		.grant = lock->gno, .token_max = lock->hi,
	};
}

static bool paper_granted(const void *state, u32 client, u64 attempt, struct bftm_lock_view *ret)
{
	paper_describe(state, ret);
	return attempt && ret->attempt == attempt && ret->client == client;
}

static const struct bftm_server_ops paper_server = {
	.lock_size = sizeof(struct bftm_lock),
	.init = paper_init,
	.knows = paper_knows,
	.learn = paper_learn,
	.creates = paper_creates,
	.step = paper_step,
	.deadline = paper_deadline,
	.expire = paper_expire,
	.waits = paper_waits,
	.granted = paper_granted,
	.idle = paper_idle,
	.describe = paper_describe,
};

static const struct bftm_client_ops paper_client = {
	.size = paper_size,
	.start = paper_start,
	.answer = paper_answer,
	.epoch = paper_epoch,
	.wake = paper_wake,
	.stop = paper_stop,
	.end = paper_end,
};

static const struct bftm_protocol paper = {
	.number = BFTM_PROTO_BACKOFF,
	.name = "paper",
	.traits = BFTM_LEASED,
	.servers_needed = bftm_servers_needed_literal,
	.server = &paper_server,
	.client = &paper_client,
};

const struct protocol protocol_paper = {
	.name = "paper",
	.what = "Figure 1 as printed: leases from the return, q answers; synchronous",
	.needs_sync = true,
	.core = &paper,
};
