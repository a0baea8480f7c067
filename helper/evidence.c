// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "../kmod/core/quorum.h"
#include "cluster.h"
#include "evidence.h"

/*
 * So often at least, and so many times as often as some correct server: as no
 * more than b lie, one of the b + 1 that did it most often is correct.
 */
#define LEAST	5
#define FACTOR	4
#define FACTOR_DISAGREED 2	/* there is more to it, see below */

/*
 * And in more than two of five rounds that were won, or lost. A correct server
 * whom another client always reaches first, or we, disagrees whenever both
 * contend at the same moment; a liar does when it likes.
 */
#define OFTEN(count, rounds) ((count) >= LEAST && 5 * (count) > 2 * (rounds))

/* Unheard for so long, a server is called silent. */
#define SILENT_NS (3 * BFTM_NS_PER_SEC)

/* Count at most one disagreement of a server in a round. */
static void disagree(struct bftm_cluster *cl, struct bftm_round *round, u32 u)
{
	struct bftm_peer *peer = &cl->peer[u];
	u64 now = bftm_now();

	if (round->counted >> u & 1)
		return;
	round->counted |= 1u << u;
	if (round->won) {
		/*
		 * A grant to a client that crashed stands in the way of many
		 * rounds, but for no longer than a lease.
		 */
		if (peer->locked_gno && peer->locked_gno == peer->counted_gno &&
		    now - peer->counted_ns < cl->conf.lease_max_ns)
			return;
		peer->counted_gno = peer->locked_gno;
		peer->counted_ns = now;
	} else {
		peer->record.free_alone++;
	}
	peer->record.disagreed++;
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

void bftm_evidence_round(struct bftm_cluster *cl,
			 const struct bftm_acquire_op *op,
			 const struct bftm_out *out)
{
	u32 f = bftm_free_needed(cl->conf.n, cl->conf.b);
	struct bftm_round *round = &cl->round[cl->rounds++ % BFTM_ROUNDS];
	bool won = out->verdict == BFTM_WON;
	u32 minority = 0, u;

	*round = (struct bftm_round){
		.attempt = op->contend.attempt,
		.begun_ns = op->contend.sent_ns[1],
	};
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		peer->record.rounds++;
		/* A round that is decided early says nothing of the slow. */
		peer->record.unanswered += !won && !out->said_locked &&
					   out->silent >> u & 1;
		if (!won && out->said_locked >> u & 1)
			round->gno[u] = peer->locked_gno;
	}
	/* Who asks again at once is half-way round with every release. */
	if (op->contend.want.no_backoff)
		return;
	/*
	 * With F FREE nobody else can hold the lock; with more than n - F
	 * LOCKED, somebody may. Correct servers end up on the wrong side too,
	 * when several contend at once.
	 */
	if (won) {
		round->won = true;
		minority = out->said_locked;
	} else if ((u32)__builtin_popcount(out->said_locked) > cl->conf.n - f &&
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

static struct bftm_round *find_round(struct bftm_cluster *cl, u64 attempt)
{
	u32 i;

	for (i = 0; i < BFTM_ROUNDS; i++)
		if (cl->round[i].attempt == attempt)
			return &cl->round[i];
	return NULL;
}

void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  const struct bftm_acquire_op *op,
			  const struct bftm_msg *msg)
{
	struct bftm_record *r = &cl->peer[u].record;
	struct bftm_round *round = find_round(cl, msg->attempt);
	u64 begun = 0;

	/*
	 * Most rounds are decided before all have answered; late is only who
	 * takes longer than a repetition of the question waits for.
	 */
	if (round)
		begun = round->begun_ns;
	else if (op && op->contend.attempt == msg->attempt)
		begun = op->contend.sent_ns[1];
	if (msg->type == BFTM_MSG_LOCKED)
		cl->peer[u].locked_gno = msg->gno;
	if (msg->k <= 1)
		r->late += bftm_now() - begun > cl->cfg.resend_ns;
	if (!round)
		return;
	if ((round->won && msg->type == BFTM_MSG_LOCKED) ||
	    (round->lost && msg->type == BFTM_MSG_FREE))
		disagree(cl, round, u);
}

/* Does one of many stand out? */
static bool stands_out(const struct bftm_cluster *cl, u32 u, size_t offset,
		       u64 factor)
{
	u32 b = cl->conf.b ? cl->conf.b : 1, i;
	u64 value[BFTM_SERVERS_MAX], correct;

	for (i = 0; i < cl->conf.n; i++)
		value[i] = *(const u64 *)((const char *)&cl->peer[i].record + offset);
	correct = bftm_kth_largest(value, cl->conf.n, b + 1);
	return value[u] >= LEAST && value[u] > factor * (correct + 1);
}

#define STANDS_OUT(cl, u, field, factor) \
	stands_out(cl, u, offsetof(struct bftm_record, field), factor)

static bool disagrees(const struct bftm_cluster *cl, u32 u)
{
	const struct bftm_record *r = &cl->peer[u].record;

	return STANDS_OUT(cl, u, disagreed, FACTOR_DISAGREED) &&
	       (OFTEN(r->free_alone, cl->rounds_lost) ||
		OFTEN(r->disagreed - r->free_alone, cl->rounds_won));
}

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       char text[4][BFTM_EVIDENCE_LEN])
{
	const struct bftm_record *r = &cl->peer[u].record;
	int n = 0;

	if (disagrees(cl, u))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "disagreed with the quorum in %" PRIu64 " of %" PRIu64 " rounds",
			 r->disagreed, r->rounds);
	if (STANDS_OUT(cl, u, late, FACTOR))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "answered too late %" PRIu64 " times", r->late);
	if (STANDS_OUT(cl, u, repeated, FACTOR))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "repeated %" PRIu64 " old answers", r->repeated);
	if (STANDS_OUT(cl, u, bad, FACTOR))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "sent %" PRIu64 " datagrams that are not authentic", r->bad);
	return n;
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now)
{
	const struct bftm_peer *peer = &cl->peer[u];

	if (peer->asked_ns && now - peer->asked_ns > SILENT_NS)
		return "silent";
	if (!peer->heard_ns)
		return "unknown";
	if (now <= peer->quarantine_until_ns)
		return "quarantine";
	return "ok";
}
