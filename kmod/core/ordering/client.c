// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The client; rank.c chooses its rank, choose.c what it proposes. Line numbers are those of
 * Figure 2; "Ordering" in protocol.rst has the rest.
 */
#include "core/ordering/client.h"
#include "core/ordering/rank.h"
#include "core/quorum.h"
#include "core/resend.h"
#include "core/servers.h"

static void clear(struct bftm_order_out *out)
{
	memset(out, 0, sizeof(*out));
}

u8 bftm_order_message(const struct bftm_order *o)
{
	static const u8 type[] = {
		[BFTM_ORDER_GETTING] = BFTM_ORDER_GET,
		[BFTM_ORDER_PROPOSING] = BFTM_ORDER_PROPOSE,
		[BFTM_ORDER_COMMITTING] = BFTM_ORDER_COMMIT,
		[BFTM_ORDER_INSTALLING] = BFTM_ORDER_INSTALL,
	};

	return o->then ? BFTM_ORDER_COMMIT_GET : type[o->phase];
}

static void send_phase(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 to,
		       u64 now, struct bftm_order_out *out)
{
	out->send = bftm_order_message(o);
	out->to = to;
	o->wake_ns = bftm_later(now, cfg->resend_ns, o->sends);
	o->sends++;
}

static void enter(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		  enum bftm_order_phase phase, u64 now, struct bftm_order_out *out)
{
	o->phase = phase;
	o->answered = 0;
	o->sends = 0;
	/* Recovering servers take nothing but INSTALL. */
	send_phase(o, cfg, phase == BFTM_ORDER_INSTALLING ? o->recovering :
		   bftm_all(cfg->n) & ~o->recovering, now, out);
}

static void client_over(struct bftm_order *o, enum bftm_order_verdict verdict,
			struct bftm_order_out *out)
{
	bftm_rank_spend(o);
	o->phase = BFTM_ORDER_IDLE;
	o->wake_ns = 0;
	out->send = 0;
	out->to = 0;
	out->verdict = verdict;
}

static void note_begun(struct bftm_order *o, u64 count, u64 at)
{
	o->rank.count = count;
	o->excepted = 0;
	o->bodyless = 0;
	memset(o->refusal, 0, sizeof(o->refusal));
	o->begun_ns = at;
}

void bftm_order_begin(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		      bool refresh, u64 now, struct bftm_order_out *out)
{
	clear(out);
	o->refresh = refresh;
	bftm_rank_spend(o);
	o->recovering = 0;
	/* A rank that two iterations share lets the state fork. */
	note_begun(o, bftm_rank_highest(o, cfg) + 1, now);
	enter(o, cfg, BFTM_ORDER_GETTING, now, out);
}

static void timed_out(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		      struct bftm_order_out *out)
{
	if (o->phase == BFTM_ORDER_INSTALLING) {	/* what was asked for is done */
		client_over(o, BFTM_ORDER_ON, out);
		return;
	}
	bftm_rank_timed_out(o, cfg);
	client_over(o, BFTM_ORDER_TIMEOUT, out);
}

/*
 * Over when no quorum can answer any more, not at b + 1 exceptions: a liar with a
 * rank just above, beside the one correct server that a dead client had reached,
 * would end each iteration that a quorum is about to answer. Of 2b + 1, b + 1 are
 * correct, so that each end brings the rank past one of theirs. One signed rank ends
 * it too, but may be an old one that is just above: from a liar who keeps thousands
 * of them, 2^TIMEOUT_RAISE apart, and shows the next one each time.
 */
static void client_except(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
			  const struct bftm_rank *max, bool proven, struct bftm_order_out *out)
{
	bool unreachable;

	if (bftm_rank_cmp(max, &o->rank) <= 0)
		return;
	o->excepted |= 1u << u;
	unreachable = bftm_count(o->excepted) > cfg->n - bftm_order_quorum(cfg->n, cfg->b);
	if (!proven && !unreachable)
		return;
	bftm_rank_outranked(o, cfg, unreachable);
	client_over(o, BFTM_ORDER_OUTRANKED, out);
}

/* The answers of these servers are what the state is made of. */
static void got_all(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 quorum)
{
	u32 i;

	o->quorum = quorum;
	o->waiting = 0;
	for (i = 0; i < cfg->n; i++)
		if (quorum >> i & 1 && o->waiting < o->got[i].pending)
			o->waiting = o->got[i].pending;
	o->phase = BFTM_ORDER_MAKING;
	o->wake_ns = o->begun_ns + cfg->limit_ns;
}

static void got(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
		const struct bftm_order_msg *msg, struct bftm_order_out *out)
{
	o->got[u].sc = msg->id;
	o->got[u].sp = msg->sp;
	o->got[u].prop = msg->prop;
	bftm_order_read_ops(&o->got[u], msg);
	o->answered |= 1u << u;
	if (bftm_count(o->answered) < bftm_order_quorum(cfg->n, cfg->b))
		return;
	got_all(o, cfg, o->answered);
	if (bftm_order_choose(o, cfg))
		out->verdict = BFTM_ORDER_MAKE;
	else
		client_over(o, BFTM_ORDER_UNSURE, out);
}

/* A quorum has committed it, and said so to the get of the next rank. */
static void begin_next(struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	bftm_rank_spend(o);
	note_begun(o, o->rank.count, o->then_ns);
	o->base = o->next;
	o->holders = o->answered;
	o->applies = true;
	got_all(o, cfg, o->answered);
}

static void client_committed(struct bftm_order *o, const struct bftm_order_cfg *cfg, u64 now,
			     struct bftm_order_out *out)
{
	if (o->completed < o->next.version)
		o->completed = o->next.version;
	bftm_rank_forget_raises(o);
	out->verdict = BFTM_ORDER_DONE;
	if (o->then) {
		begin_next(o, cfg);
		out->verdict = BFTM_ORDER_DONE_MAKE;
	} else if (o->recovering) {
		enter(o, cfg, BFTM_ORDER_INSTALLING, now, out);
	} else {
		client_over(o, BFTM_ORDER_DONE, out);
	}
}

static void commit_state(struct bftm_order *o, const struct bftm_order_cfg *cfg, u64 now,
			 struct bftm_order_out *out)
{
	if (o->more && !o->recovering) {
		o->then = bftm_rank_highest(o, cfg) + 1;
		o->then_ns = now;
	}
	enter(o, cfg, BFTM_ORDER_COMMITTING, now, out);
}

/* An answer of the current phase: have enough come? */
static void take_done(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
		      const struct bftm_order_msg *msg, u64 now, struct bftm_order_out *out)
{
	o->answered |= 1u << u;
	o->bodyless &= ~(1u << u);
	if (o->then)
		bftm_order_read_ops(&o->got[u], msg);
	if (o->phase == BFTM_ORDER_INSTALLING) {
		o->recovering &= ~(1u << u);
		if (!o->recovering)
			client_over(o, BFTM_ORDER_ON, out);
		return;
	}
	if (bftm_count(o->answered) < bftm_order_quorum(cfg->n, cfg->b))
		return;
	if (o->phase == BFTM_ORDER_PROPOSING)
		commit_state(o, cfg, now, out);
	else
		client_committed(o, cfg, now, out);
}

static bool abandoned(const struct bftm_order *o, const struct bftm_order_cfg *cfg, u64 now)
{
	return now - o->begun_ns >= cfg->limit_ns;
}

static bool is_then(const struct bftm_order *o, const struct bftm_rank *rank)
{
	struct bftm_rank then = bftm_order_then(o);

	return o->then && !bftm_rank_cmp(rank, &then);
}

/* Is it what the phase has asked for? */
static bool is_expected(const struct bftm_order *o, const struct bftm_order_msg *msg)
{
	static const u8 expected[] = {
		[BFTM_ORDER_GETTING] = BFTM_ORDER_GOT,
		[BFTM_ORDER_MAKING] = BFTM_MSG_NONE,
		[BFTM_ORDER_PROPOSING] = BFTM_ORDER_PROPOSED,
		[BFTM_ORDER_COMMITTING] = BFTM_ORDER_COMMITTED,
		[BFTM_ORDER_INSTALLING] = BFTM_ORDER_INSTALLED,
	};

	if (o->then)
		return msg->type == BFTM_ORDER_COMMITTED_GOT && is_then(o, &msg->then);
	return o->phase != BFTM_ORDER_MAKING && msg->type == expected[o->phase];
}

void bftm_order_answer(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
		       const struct bftm_order_msg *msg, bool genuine, u64 now,
		       struct bftm_order_out *out)
{
	bool proven = genuine && cfg->signed_ranks;
	u32 bit = 1u << u;

	clear(out);
	if (msg->type == BFTM_ORDER_EXCEPTION && !bftm_rank_note(o, u, msg, proven))
		return;
	/* A recovering server answers COMMIT_GET as the get that is in it. */
	if (msg->type == BFTM_ORDER_RECOVERING && is_then(o, &msg->rank))
		o->recovering |= bit & ~o->answered;
	/* An answer counts in the iteration and the phase that asked for it. */
	if (o->phase == BFTM_ORDER_IDLE || bftm_rank_cmp(&msg->rank, &o->rank))
		return;
	if (abandoned(o, cfg, now)) {
		timed_out(o, cfg, out);
		return;
	}
	if (msg->type == BFTM_ORDER_EXCEPTION) {
		if (o->phase != BFTM_ORDER_INSTALLING)
			client_except(o, cfg, u, &msg->max, proven, out);
	} else if (msg->type == BFTM_ORDER_RECOVERING) {
		if (o->phase == BFTM_ORDER_GETTING || o->phase == BFTM_ORDER_MAKING)
			o->recovering |= bit & ~o->answered;
	} else if (msg->type == BFTM_ORDER_NEEDBODY) {
		if (o->phase < BFTM_ORDER_PROPOSING || o->answered & bit ||
		    o->bodyless & bit)
			return;
		o->bodyless |= bit;
		out->send = bftm_order_message(o);
		out->to = bit;
	} else if (!is_expected(o, msg) || o->answered & bit) {
		return;
	} else if (o->phase == BFTM_ORDER_GETTING) {
		got(o, cfg, u, msg, out);
	} else {
		take_done(o, cfg, u, msg, now, out);
	}
}

void bftm_order_refused(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
			u32 reason, u64 now, struct bftm_order_out *out)
{
	clear(out);
	if (o->phase == BFTM_ORDER_IDLE || o->phase == BFTM_ORDER_INSTALLING)
		return;
	if (abandoned(o, cfg, now)) {
		timed_out(o, cfg, out);
		return;
	}
	if (!bftm_vote_refused(o->refusal, cfg, u, reason))
		return;
	client_over(o, BFTM_ORDER_DENIED, out);
	out->refusal = reason;
}

void bftm_order_made(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		     const struct bftm_body_id *id, u64 now, struct bftm_order_out *out)
{
	clear(out);
	if (o->phase != BFTM_ORDER_MAKING)
		return;
	if (abandoned(o, cfg, now)) {
		timed_out(o, cfg, out);
		return;
	}
	/* Not what was made for an iteration before, on another base. Version 0 follows none. */
	if (o->applies ? id->version != o->base.version + 1 || !id->version :
			 !bftm_body_same(id, &o->base)) {
		client_over(o, BFTM_ORDER_UNSURE, out);
		return;
	}
	o->next = *id;
	enter(o, cfg, BFTM_ORDER_PROPOSING, now, out);
}

void bftm_order_unmade(struct bftm_order *o)
{
	struct bftm_order_out out;

	client_over(o, BFTM_ORDER_ON, &out);
}

void bftm_order_wake(struct bftm_order *o, const struct bftm_order_cfg *cfg, u64 now,
		     struct bftm_order_out *out)
{
	bool installing = o->phase == BFTM_ORDER_INSTALLING;

	clear(out);
	if (o->phase == BFTM_ORDER_IDLE || now < o->wake_ns)
		return;
	if (abandoned(o, cfg, now) ||
	    o->sends >= (installing ? BFTM_INSTALL_SENDS : BFTM_ORDER_SENDS))
		timed_out(o, cfg, out);
	else
		send_phase(o, cfg, installing ? o->recovering :
			   bftm_all(cfg->n) & ~o->answered & ~o->recovering, now, out);
}
