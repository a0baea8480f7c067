// SPDX-License-Identifier: GPL-2.0
/* Servers that disagree with the others, round by round. */
#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "lock/acquire.h"
#include "lock/rounds.h"

/*
 * Where hosts ask some servers first, an honest server that a holder did not ask says FREE beside
 * the others' LOCKED.
 */
static bool judges_free(const struct bftm_cluster *cl)
{
	return cl->conf.ask == BFTMUTEX_ASK_ALL;
}

/* It said FREE though too many others said that somebody has it. */
static void free_alone(struct bftm_peer *peer)
{
	peer->record.free_alone++;
	peer->record.disagreed++;
}

/* It said that somebody has it, for @gno, though nobody else could have it. */
static void locked_alone(struct bftm_cluster *cl, struct bftm_peer *peer, u32 gno)
{
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
	peer->record.disagreed++;
}

/* Count at most one disagreement of a server in a round. */
static void disagree(struct bftm_cluster *cl, struct bftm_round *round, u32 u)
{
	struct bftm_peer *peer = &cl->peer[u];

	if (round->counted >> u & 1)
		return;
	round->counted |= 1u << u;
	if (round->won)
		locked_alone(cl, peer, peer->locked_gno);
	else
		free_alone(peer);
}

/*
 * Was an earlier round lost to the same holder? More than b servers named the
 * same grant then. Whom he has not asked says FREE as long as he holds.
 */
static bool same_holder(const struct bftm_cluster *cl,
			const struct bftm_round *round)
{
	u32 i, u, same;

	for (i = 0; i < BFTM_ROUNDS; i++) {
		if (&cl->round[i] == round)
			continue;
		for (u = 0, same = 0; u < cl->conf.n; u++)
			same += round->gno[u] && round->gno[u] == cl->round[i].gno[u];
		if (same > cl->conf.b)
			return true;
	}
	return false;
}

static struct bftm_round *new_round(struct bftm_cluster *cl, u64 attempt, u64 begun_ns)
{
	struct bftm_round *round = &cl->round[cl->rounds++ % BFTM_ROUNDS];

	*round = (struct bftm_round){ .attempt = attempt, .begun_ns = begun_ns };
	return round;
}

static struct bftm_round *find_round(struct bftm_cluster *cl, u64 attempt)
{
	u32 i;

	for (i = 0; i < BFTM_ROUNDS; i++)
		if (cl->round[i].attempt == attempt)
			return &cl->round[i];
	return NULL;
}

/* A round of Figure 1, with back-off. */
static void judge_round(struct bftm_cluster *cl, const struct bftm_acquire_op *op,
			const struct bftm_out *out, bool won)
{
	u32 f = bftm_win(&cl->cfg), minority = 0, u;
	struct bftm_round *round = new_round(cl, op->client->attempt,
					     op->client->begun_ns);

	for (u = 0; u < cl->conf.n; u++)
		if (!won && out->said_locked >> u & 1)
			round->gno[u] = cl->peer[u].locked_gno;
	/* A client that asks again at once meets every release half-way round the servers. */
	if (op->client->want.wait == BFTM_WAIT_NO_BACKOFF)
		return;
	/*
	 * With F FREE nobody else can hold the lock; with more than n - F
	 * LOCKED, somebody may. Correct servers end up on the wrong side too,
	 * when several contend at once.
	 */
	if (won) {
		round->won = true;
		minority = out->said_locked;
	} else if (judges_free(cl) && bftm_count(out->said_locked) > cl->conf.n - f &&
		   !same_holder(cl, round)) {
		round->lost = true;
		minority = out->said_free;
	}
	cl->rounds_won += round->won;
	cl->rounds_lost += round->lost;
	for (u = 0; u < cl->conf.n; u++)
		if (minority >> u & 1)
			disagree(cl, round, u);
}

/*
 * In the queue only the first answers are like those of a round: servers hand
 * over one after the other. And a release that is under way is over in two round
 * trips.
 */
static void judge_first(struct bftm_cluster *cl, struct bftm_acquire_op *op, bool won)
{
	u32 f = bftm_win(&cl->cfg), u;
	struct bftm_heard *heard = &op->heard;
	struct bftm_round *round;
	u64 now = bftm_now();

	if (heard->judged || heard->attempt != op->client->attempt)
		return;
	if (won && bftm_count(heard->free) >= f) {
		heard->at_once = true;
		heard->denied |= heard->locked;
		heard->judged = true;
	}
	if (!judges_free(cl) || heard->judged || now - heard->begun_ns < cl->cfg.resend_ns ||
	    bftm_count(heard->locked) <= cl->conf.n - f)
		return;
	heard->judged = true;
	round = new_round(cl, heard->attempt, heard->begun_ns);
	round->queued = true;
	for (u = 0; u < cl->conf.n; u++)
		if (heard->locked >> u & 1)
			round->gno[u] = (u32)heard->claim[u].gno;
	if (same_holder(cl, round))
		return;
	cl->rounds_lost++;
	for (u = 0; u < cl->conf.n; u++)
		if (heard->free >> u & 1)
			free_alone(&cl->peer[u]);
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
	if (!bftm_contender_queues(op->client)) {
		judge_round(cl, op, out, won);
		return;
	}
	judge_first(cl, op, won);
	if (won) {
		op->heard.won_ns = bftm_now();
		op->heard.won_seq = bftm_identity_seq(cl->identity);
	}
}

void bftm_evidence_over(struct bftm_cluster *cl, struct bftm_acquire_op *op)
{
	struct bftm_heard *heard = &op->heard;
	struct bftm_round *round;
	u32 u;

	if (!heard->attempt || heard->attempt != op->client->attempt)
		return;
	/* Late answers to it are still to come. */
	round = find_round(cl, heard->attempt);
	if (!round)
		new_round(cl, heard->attempt, heard->begun_ns)->queued = true;
	heard->attempt = 0;
	/* Two round trips later the winner has it at all servers, whichever client had it before. */
	if (!heard->won_ns || bftm_now() - heard->won_ns < cl->cfg.resend_ns)
		return;
	cl->rounds_won++;
	for (u = 0; u < cl->conf.n; u++)
		if (heard->denied >> u & 1)
			locked_alone(cl, &cl->peer[u], (u32)heard->claim[u].gno);
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
	heard->begun_ns = op->client->begun_ns;
	heard->won_ns = 0;
	heard->free = 0;
	heard->locked = 0;
	heard->denied = 0;
	heard->at_once = false;
	heard->judged = false;
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
	if (!round || round->queued)
		return;
	if ((round->won && msg->type == BFTM_MSG_LOCKED) ||
	    (round->lost && msg->type == BFTM_MSG_FREE))
		disagree(cl, round, u);
}
