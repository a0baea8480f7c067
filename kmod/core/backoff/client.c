// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/contend.h"
#include "core/quorum.h"
#include "core/release.h"

u32 bftm_said(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      u8 type)
{
	u32 u, mask = 0;

	for (u = 0; u < cfg->n; u++)
		if (c->server[u].type == type)
			mask |= 1u << u;
	return mask;
}

enum bftm_mode bftm_contend_held(const struct bftm_contend *c)
{
	return c->base.phase == BFTM_PHASE_HOLD || c->base.phase == BFTM_PHASE_VALUE ||
	       c->base.phase == BFTM_PHASE_FENCE ? c->held : BFTM_MODE_NL;
}

/* The mode of a grant that counts: what is held, or what is to be. */
static u8 mode_needed(const struct bftm_contend *c)
{
	return bftm_contend_held(c) ?: c->base.want.mode;
}

void bftm_repeat_try(const struct bftm_contend *c, u32 to, struct bftm_out *out)
{
	u8 held = bftm_contend_held(c);
	u16 value = c->base.want.value ? BFTM_FLAG_VALUE : 0;

	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_TRY, .to = to, .arg = held,
		.writes = c->owed && c->base.written.any,
		/* A holder wants the first place in the queue of a server that it lacks. */
		.flags = value | (held || bftm_contender_queues(&c->base) ? 0 : BFTM_FLAG_NOQUEUE),
		.k = c->base.sends, .lease_ns = c->base.want.lease_ns, .prio = c->base.prio,
	});
}

void bftm_send_try(struct bftm_contend *c, u32 to, u64 now,
		   struct bftm_out *out)
{
	c->base.sends++;
	c->sent_ns[c->base.sends % BFTM_SENDS] = now;
	bftm_ask_more(&c->base.asking, to, now);
	bftm_repeat_try(c, to, out);
}

/* Forget what servers said to an earlier attempt, but not what they have seen. */
static void reset(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  u64 attempt)
{
	u32 u;

	for (u = 0; u < cfg->n; u++) {
		struct bftm_answer *a = &c->server[u];

		*a = (struct bftm_answer){ .lam = a->lam, .hi = a->hi, .himask = a->himask };
	}
	c->cut_k = 0;
	c->owed = 0;
	c->owed_k = 0;
	c->announced = false;
	c->base.asking = (struct bftm_asking){ .asked = bftm_everyone(cfg) };
	c->base.attempt = attempt;
	c->base.begun_ns = 0;
	c->base.sends = 0;
	c->sends_base = 0;
	c->again = 0;
	c->known_end_ns = 0;
	c->reasserts = 0;
	c->stamps_anew = false;
	c->reads_anew = false;
	c->base.written.any = false;
	bftm_hold_unwanted(c);
	c->resends = 0;
}

u64 bftm_contend_seen(const struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	u64 lam[BFTM_SERVERS_MAX], seen;
	u32 u;

	for (u = 0; u < cfg->n; u++)
		lam[u] = c->server[u].lam;
	/* Some correct server saw this much; b liars cannot inflate it. */
	seen = bftm_kth_largest(lam, cfg->n, cfg->b + 1);
	return seen > c->base.prio ? seen : c->base.prio;
}

void bftm_go_behind(struct bftm_contend *c, const struct bftm_client_cfg *cfg)
{
	c->base.prio = bftm_contend_seen(c, cfg);
	if (c->base.prio < ~0ull)
		c->base.prio++;
}

void bftm_begin_attempt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u64 attempt, u64 now,
			struct bftm_out *out)
{
	bftm_go_behind(c, cfg);
	reset(c, cfg, attempt);
	c->base.phase = BFTM_PHASE_TRY;
	c->base.begun_ns = now;
	c->heard_ns = now;
	c->base.rounds++;
	/* Figure 1(a): "||u ∈ U [ status_u ← u.try() ]"; to some as if it were lost. */
	bftm_ask_begin(cfg, &c->base.want, now, &c->base.asking);
	bftm_send_try(c, c->base.asking.asked, now, out);
	if (bftm_contender_queues(&c->base))
		bftm_wait_begun(c, cfg, now);
	else
		bftm_round_begun(c, cfg, now);
}

void bftm_contend_start(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 now,
			struct bftm_out *out)
{
	bftm_out_clear(out);
	c->base.want = *want;
	c->retries = 0;
	c->base.rounds = 0;
	c->reached = false;
	c->base.token = 0;
	c->offered = 0;
	c->stamps = 0;
	bftm_begin_attempt(c, cfg, attempt, now, out);
}

void bftm_contend_adopt(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg,
			const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends,
			bool left)
{
	c->base.want = *want;
	reset(c, cfg, attempt);
	c->base.phase = BFTM_PHASE_HOLD;
	c->held = want->mode;
	/* The next token is another, though no server has told yet which is its highest. */
	c->offered = c->base.token;
	c->known_end_ns = end_ns;
	/* An answer to an earlier helper's send must not look like one to ours. */
	c->sends_base = sends + BFTM_ADOPT_SENDS;
	c->base.sends = c->sends_base;
	c->poll_ns = 0;
	/* Servers may have restarted while no helper heard of it: they are told from now on. */
	if (want->lease_ns == BFTM_LEASE_NONE) {
		c->reasserts = bftm_everyone(cfg);
		c->retold = 0;
		c->reassert_ns = 0;
	} else if (want->mode != BFTM_MODE_EX && !want->whole) {
		/* The earlier helper may have ended before they heard that a mode was given up. */
		c->owed = bftm_everyone(cfg);
		c->owed_k = c->base.sends + 1;
		c->poll_ns = 1;
	}
	bftm_hold_arm(c, cfg);
	if (left && want->value)
		bftm_value_forgotten(c, cfg);
}

void bftm_release_all(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      struct bftm_out *out)
{
	out->release_to = bftm_everyone(cfg) & c->base.asking.asked;
	out->release_attempt = c->base.attempt;
	out->release_lock = c->base.want.lock;
	out->late = (struct bftm_late){
		.asking = c->base.asking, .mode = mode_needed(c), .sends = c->base.sends,
	};
	/*
	 * A grant that ends by nothing else would stand in the way of others until PROBE finds that
	 * the attempt is over. Attempts that fail are many, and leave it at that.
	 */
	out->release_surely = c->base.want.lease_ns == BFTM_LEASE_NONE &&
			      c->base.phase == BFTM_PHASE_HOLD;
}

void bftm_die(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
	      enum bftm_verdict verdict, struct bftm_out *out)
{
	out->verdict = verdict;
	bftm_release_all(c, cfg, out);
	out->release_doubt = bftm_contend_writes(c);
	if (!out->release_doubt)
		out->written = c->base.written;
	c->base.phase = BFTM_PHASE_DEAD;
}

void bftm_contend_stop(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, struct bftm_out *out)
{
	bftm_out_clear(out);
	if (bftm_contender_alive(&c->base))
		bftm_die(c, cfg, BFTM_PENDING, out);
	c->base.phase = BFTM_PHASE_DEAD;
}

/*
 * Enough answers to know: F of any kind, or so many that are not FREE that F
 * FREE cannot come any more. Both are more than b.
 */
bool bftm_answered(const struct bftm_contend *c,
		   const struct bftm_client_cfg *cfg)
{
	u32 f = bftm_win(cfg);
	u32 answers = cfg->n - bftm_count(bftm_said(c, cfg, BFTM_MSG_NONE));
	u32 free = bftm_count(bftm_said(c, cfg, BFTM_MSG_FREE));

	return answers >= f || answers - free > cfg->n - f;
}

bool bftm_contend_reached(const struct bftm_contend *c,
			  const struct bftm_client_cfg *cfg)
{
	/* Some time has passed since the lock was granted. */
	if (bftm_fences(c))
		return bftm_count(c->answered) >= bftm_win(cfg);
	return c->reached ||
	       (c->base.phase == BFTM_PHASE_TRY && bftm_answered(c, cfg));
}

void bftm_end_round(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		    struct bftm_out *out)
{
	out->round_over = true;
	out->said_free = bftm_said(c, cfg, BFTM_MSG_FREE);
	out->said_locked = bftm_said(c, cfg, BFTM_MSG_LOCKED);
	if (bftm_contender_queues(&c->base))
		out->said_locked |= bftm_said(c, cfg, BFTM_MSG_WAIT);
	out->silent = bftm_said(c, cfg, BFTM_MSG_NONE) & c->base.asking.asked;
	c->reached = bftm_answered(c, cfg);
}

/* b + 1 servers with one reason: a correct one is among them. */
static bool is_refused(const struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u32 reason)
{
	u32 u, sum = 0;

	for (u = 0; u < cfg->n; u++)
		sum += c->server[u].type == BFTM_MSG_REFUSED &&
		       c->server[u].refusal == reason;
	return sum > cfg->b;
}

static void contend_judge(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			  u64 now, u64 rnd, struct bftm_out *out)
{
	if (bftm_contender_queues(&c->base))
		bftm_wait_judge(c, cfg, now, out);
	else
		bftm_round_judge(c, cfg, now, rnd, out);
}

/* A waiter gives the whole grant back; a holder keeps the mode that it holds by F servers. */
void bftm_yield(const struct bftm_contend *c, u32 u, u64 gno, struct bftm_out *out)
{
	bftm_out_add(out, &(struct bftm_send){
		.type = BFTM_MSG_YIELD, .to = 1u << u, .gno = gno, .arg = bftm_contend_held(c),
	});
}

/* Return: true when it counts, as it does while its lease may still be good. */
static bool take_free(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      u32 u, const struct bftm_msg *msg, u64 now,
		      struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	/* A grant that was given back; the server may not have heard. Another number counts. */
	if (a->yielded && msg->gno <= a->yielded) {
		bftm_yield(c, u, msg->gno, out);
		return false;
	}
	if (!bftm_grants(msg, mode_needed(c), c->sends_base, c->base.sends))
		return false;
	/* Of a mode that was given up since. */
	if (msg->k < c->cut_k)
		return false;
	if (msg->k >= c->owed_k)
		bftm_value_heard(c, u);
	bftm_reassert_heard(c, cfg, u);
	if (cfg->forgetful >> u & 1) {
		a->type = BFTM_MSG_WAIT;
		a->wait_ns = 0;
		a->queue_ns = 0;
		return false;
	}
	a->type = BFTM_MSG_FREE;
	if (msg->k > a->k) {
		a->k = msg->k;
		a->from_ns = c->sent_ns[msg->k % BFTM_SENDS];
	}
	if (!bftm_converts(c) || bftm_mode_covers(msg->mode, c->base.want.mode))
		bftm_value_take_told(a, msg);
	if (msg->gno > a->granted) {
		a->granted = msg->gno;
		if (c->base.phase == BFTM_PHASE_TRY && bftm_contender_queues(&c->base))
			bftm_wait_granted(c, cfg, now);
	}
	return true;
}

/* Section 5, "breaking ties": give way to one with a better priority. */
static void take_inquire(struct bftm_contend *c, u32 u,
			 const struct bftm_msg *msg, struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	if (msg->gno > a->yielded)
		a->yielded = msg->gno;
	if (a->granted <= msg->gno) {
		a->k = 0;
		a->type = bftm_contender_queues(&c->base) ? BFTM_MSG_WAIT :
						   BFTM_MSG_LOCKED;
		a->wait_ns = 0;
		a->queue_ns = 0;
	}
	bftm_yield(c, u, msg->gno, out);
}

static void answer_try(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, u64 rnd,
		       struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];
	bool free = msg->type == BFTM_MSG_FREE && take_free(c, cfg, u, msg, now, out);

	bftm_first_heard(c, cfg, u, msg, free, now);
	switch (msg->type) {
	case BFTM_MSG_FREE:
		break;
	case BFTM_MSG_INQUIRE:
		take_inquire(c, u, msg, out);
		break;
	case BFTM_MSG_LOCKED:
	case BFTM_MSG_WAIT:
		/* In a round, FREE is the last word of a server. */
		if (a->k && !bftm_contender_queues(&c->base))
			break;
		if (bftm_first_stale(c, u))
			break;
		a->type = msg->type;
		a->wait_ns = msg->position ? 0 : msg->lease_ns;
		a->queue_ns = msg->position ? msg->lease_ns : 0;
		break;
	case BFTM_MSG_REFUSED:
		if (a->k)
			break;
		a->type = msg->type;
		a->refusal = msg->arg;
		if (is_refused(c, cfg, a->refusal)) {
			bftm_end_round(c, cfg, out);
			out->refusal = a->refusal;
			bftm_die(c, cfg, BFTM_REFUSED, out);
			return;
		}
		break;
	default:
		return;
	}
	contend_judge(c, cfg, now, rnd, out);
}

/*
 * The server that says WAIT or LOCKED has no grant for this client that could be too much, unless
 * the message is older than the grant: it has the low half of the newest grant's number.
 */
static bool has_no_grant(const struct bftm_answer *a, const struct bftm_msg *msg)
{
	return !a->granted || (u32)msg->gno - (u32)a->granted < 1u << 31;
}

static void answer_hold(struct bftm_contend *c,
			const struct bftm_client_cfg *cfg, u32 u,
			const struct bftm_msg *msg, u64 now,
			struct bftm_out *out)
{
	u64 before = bftm_contend_end(c, cfg);
	bool reads = c->base.phase == BFTM_PHASE_VALUE || c->reads_anew, free;
	const u32 owed = c->owed;

	/* A late FREE may extend the end, never revive it. */
	if (now > before) {
		bftm_hold_wake(c, cfg, now, out);
		return;
	}
	free = msg->type == BFTM_MSG_FREE && take_free(c, cfg, u, msg, now, out);
	bftm_first_heard(c, cfg, u, msg, free, now);
	if ((msg->type == BFTM_MSG_WAIT || msg->type == BFTM_MSG_LOCKED) &&
	    has_no_grant(&c->server[u], msg))
		c->owed &= ~(1u << u);
	/* All have heard: of a lock that is not renewed nothing more is said. */
	if (owed && !c->owed && c->base.phase == BFTM_PHASE_HOLD)
		bftm_hold_converted(c, cfg, now);
	/* A server that has evicted an incarnation waits for no word of what that one had won. */
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_EVICTED)
		bftm_reassert_heard(c, cfg, u);
	if (msg->type == BFTM_MSG_INQUIRE || msg->type == BFTM_MSG_PROBE)
		bftm_hold_inquired(c, cfg, u, msg, now, out);
	if (msg->type == BFTM_MSG_FREE) {
		if (!free)
			return;
		bftm_hold_grew(c, cfg, u, before, now, out);
		if (bftm_converts(c))
			bftm_convert_free(c, cfg, u, msg, now, out);
		else if (reads && bftm_value_read(c, cfg, now))
			bftm_hold_read(c, cfg, now, out);
	} else if (bftm_converts(c) && msg->type == BFTM_MSG_INQUIRE) {
		bftm_convert_inquire(c, u, msg, out);
	} else if (bftm_converts(c)) {
		bftm_convert_wait(c, cfg, u, msg, now, out);
	} else if (bftm_fences(c)) {
		bftm_fence_answer(c, cfg, u, msg, now, out);
	}
}

/* The highest token that the server knows of, and who shares it, as far as it said. */
static void note_token(struct bftm_answer *a, const struct bftm_msg *msg)
{
	bool says = msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_SACK ||
		    msg->type == BFTM_MSG_SNACK;

	if (msg->token == BFTM_TOKEN_UNKNOWN || msg->token < a->hi)
		return;
	if (msg->token > a->hi || says)
		a->himask = says ? msg->arg : 0;
	a->hi = msg->token;
}

void bftm_contend_answer(struct bftm_contend *c,
			 const struct bftm_client_cfg *cfg, u32 u,
			 const struct bftm_msg *msg, u64 now, u64 rnd,
			 struct bftm_out *out)
{
	struct bftm_answer *a = &c->server[u];

	bftm_out_clear(out);
	bftm_hold_uncount(c, cfg);
	if (msg->prio > a->lam)
		a->lam = msg->prio;
	note_token(a, msg);
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_UNNOTED)
		return;		/* Not yet: the client asks again, as if the server were silent. */
	if (msg->attempt != c->base.attempt || !bftm_contender_alive(&c->base))
		bftm_stray(msg, u, out);
	else if (c->base.phase == BFTM_PHASE_TRY)
		answer_try(c, cfg, u, msg, now, rnd, out);
	else
		answer_hold(c, cfg, u, msg, now, out);
}

void bftm_contend_wake(struct bftm_contend *c,
		       const struct bftm_client_cfg *cfg, u64 now, u64 attempt,
		       u64 rnd, struct bftm_out *out)
{
	bftm_out_clear(out);
	if (now < c->base.wake_ns)
		return;
	bftm_hold_uncount(c, cfg);
	switch (c->base.phase) {
	case BFTM_PHASE_DEAD:
		break;
	case BFTM_PHASE_TRY:
		if (bftm_contender_queues(&c->base))
			bftm_wait_wake(c, cfg, now, rnd, out);
		else
			bftm_round_wake(c, cfg, now, rnd, out);
		break;
	case BFTM_PHASE_BACKOFF:
		bftm_begin_attempt(c, cfg, attempt, now, out);
		break;
	case BFTM_PHASE_VALUE:
	case BFTM_PHASE_FENCE:
	case BFTM_PHASE_HOLD:
		bftm_hold_wake(c, cfg, now, out);
		break;
	}
}

void bftm_contend_again(struct bftm_contend *c, u32 u, struct bftm_out *out)
{
	bftm_out_clear(out);
	/*
	 * The same k, whose lease counts from its first send. Once a round: a
	 * second new epoch is an accident or a liar's game.
	 */
	if ((c->base.phase != BFTM_PHASE_TRY && c->base.phase != BFTM_PHASE_HOLD) ||
	    c->again & 1u << u)
		return;
	c->again |= 1u << u;
	c->base.asking.asked |= 1u << u;
	bftm_repeat_try(c, 1u << u, out);
}
