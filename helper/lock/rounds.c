// SPDX-License-Identifier: GPL-2.0
/* Servers that disagree with the others, round by round. */
#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "lock/acquire.h"
#include "lock/rounds.h"

/* It said that somebody has it, for @gno, though nobody else could have it. */
static void locked_alone(struct bftm_cluster *cl, u32 u, u32 gno)
{
	struct bftm_peer *peer = &cl->peer[u];
	u64 now = bftm_now();

	/*
	 * A grant to a client that crashed stands in the way of many rounds,
	 * but for no longer than a lease.
	 */
	if (gno && gno == peer->counted_gno &&
	    now - peer->counted_ns < cl->conf.lease_max_ns)
		return;
	peer->counted_gno = gno;
	peer->counted_ns = now;
	bftm_evidence_disagreed(cl, u);
}

static struct bftm_round *find_round(struct bftm_cluster *cl, u64 attempt)
{
	u32 i;

	for (i = 0; i < BFTM_ROUNDS; i++)
		if (cl->round[i].attempt == attempt)
			return &cl->round[i];
	return NULL;
}

/* Count at most one disagreement of a server in a round. */
static void disagree(struct bftm_cluster *cl, struct bftm_round *round, u32 u)
{
	if (round->counted >> u & 1)
		return;
	round->counted |= 1u << u;
	locked_alone(cl, u, cl->peer[u].locked_gno);
}

/*
 * A round of Figure 1, with back-off. With F FREE nobody else can hold the lock. The opposite
 * proves nothing: an honest server that the holder did not ask says FREE beside others' LOCKED.
 */
static void judge_round(struct bftm_cluster *cl, const struct bftm_acquire_op *op,
			const struct bftm_out *out)
{
	struct bftm_round *round;
	u32 u;

	/* A client that asks again at once meets every release half-way round the servers. */
	if (op->client->want.wait == BFTM_WAIT_NO_BACKOFF)
		return;
	round = &cl->round[cl->rounds++ % BFTM_ROUNDS];
	*round = (struct bftm_round){ .attempt = op->client->attempt };
	bftm_evidence_judged(cl);
	for (u = 0; u < cl->conf.n; u++)
		if (out->said_locked >> u & 1)
			disagree(cl, round, u);
}

/* In the queue servers hand over one after the other: only the first answers are like a round's. */
static void judge_first(const struct bftm_cluster *cl, struct bftm_heard *heard)
{
	if (heard->at_once || bftm_count(heard->free) < bftm_win(&cl->cfg))
		return;
	heard->at_once = true;
	heard->denied |= heard->locked;
}

void bftm_evidence_round(struct bftm_cluster *cl, struct bftm_acquire_op *op,
			 const struct bftm_out *out)
{
	bool won = op->client->phase == BFTM_PHASE_HOLD ||
		   op->client->phase == BFTM_PHASE_VALUE ||
		   op->client->phase == BFTM_PHASE_FENCE;
	u32 u;

	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_record *r = &cl->peer[u].record;

		r->rounds++;
		/* A round that is decided early says nothing of the slow. */
		r->unanswered += !won && !out->said_locked && out->silent >> u & 1;
	}
	/* Beside holders of its kind come and go others, which servers learn of one after the other. */
	if (op->ask.mode != BFTM_LOCK_EX)
		return;
	if (!won)
		return;
	if (!bftm_contender_queues(op->client)) {
		judge_round(cl, op, out);
		return;
	}
	if (op->heard.attempt == op->client->attempt)
		judge_first(cl, &op->heard);
	op->heard.won_ns = bftm_now();
	op->heard.won_seq = bftm_identity_seq(cl->identity);
}

void bftm_evidence_over(struct bftm_cluster *cl, struct bftm_acquire_op *op)
{
	struct bftm_heard *heard = &op->heard;
	u32 u;

	if (!heard->attempt || heard->attempt != op->client->attempt)
		return;
	heard->attempt = 0;
	/* Two round trips later the winner has it at all servers, whichever client had it before. */
	if (!heard->won_ns || bftm_now() - heard->won_ns < cl->cfg.resend_ns)
		return;
	bftm_evidence_judged(cl);
	for (u = 0; u < cl->conf.n; u++)
		if (heard->denied >> u & 1)
			locked_alone(cl, u, (u32)heard->claim[u].gno);
}

/* An answer to an attempt that waits in the queue, or that was won there. */
static void round_hear(u32 u, struct bftm_acquire_op *op, const struct bftm_msg *msg)
{
	struct bftm_heard *heard = &op->heard;
	u32 bit = 1u << u;
	bool first = msg->seq && !((heard->free | heard->locked) & bit);

	if (msg->type == BFTM_MSG_FREE) {
		heard->denied &= ~bit;
		heard->free |= first ? bit : 0;
	} else if (bftm_says_locked(msg) && msg->seq) {
		heard->locked |= first ? bit : 0;
		if (heard->won_ns && ((heard->at_once && first) || msg->seq > heard->won_seq))
			heard->denied |= bit;
	}
}

/* Another attempt begins: what was said to the one before is over. */
static void round_begin(struct bftm_acquire_op *op)
{
	struct bftm_heard *heard = &op->heard;
	u32 u;

	heard->attempt = op->client->attempt;
	heard->won_ns = 0;
	heard->free = 0;
	heard->locked = 0;
	heard->denied = 0;
	heard->at_once = false;
	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		heard->claim[u].free_seq = 0;
}

static void contradicts(struct bftm_cluster *cl, u32 u, struct bftm_acquire_op *op,
			const struct bftm_msg *msg)
{
	const struct bftm_asked *asked = bftm_cluster_asked(cl, msg->seq);
	enum bftm_lie lie;

	lie = bftm_contradicts(&op->heard.claim[u], op->client, &cl->cfg,
			       cl->protocol->client->granted_ns(op->client, u), msg,
			       asked ? asked->sent_ns : 0, bftm_identity_seq(cl->identity),
			       bftm_now());
	cl->peer[u].record.lies[lie]++;
}

void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  struct bftm_acquire_op *op,
			  const struct bftm_msg *msg)
{
	struct bftm_round *round = find_round(cl, msg->attempt);
	struct bftm_peer *peer = &cl->peer[u];

	if (msg->type == BFTM_MSG_LOCKED)
		peer->locked_gno = (u32)msg->gno;
	/* Of what was adopted, the beginning is not known. */
	if (op && op->place == BFTM_PLACE_ACTIVE) {
		if (op->heard.attempt != msg->attempt)
			round_begin(op);
		/* An answer of an earlier start of the server may be old. */
		if (msg->server_epoch == peer->known.epoch)
			contradicts(cl, u, op, msg);
		if (bftm_contender_queues(op->client))
			round_hear(u, op, msg);
	}
	if (round && msg->type == BFTM_MSG_LOCKED)
		disagree(cl, round, u);
}
