// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "../kmod/core/quorum.h"
#include "cluster.h"
#include "evidence.h"

/* So often at least, and so many times as often as the servers in the middle. */
#define LEAST	5
#define FACTOR	4

/* Unheard for so long, a server is called silent. */
#define SILENT_NS (3 * BFTM_NS_PER_SEC)

void bftm_evidence_round(struct bftm_cluster *cl, const struct bftm_out *out)
{
	u32 f = bftm_free_needed(cl->conf.n, cl->conf.b);
	bool won = out->verdict == BFTM_WON;
	u32 minority, u;

	/*
	 * With F FREE nobody else can hold the lock; with more than n - F
	 * LOCKED, somebody may. Correct servers end up on the wrong side too,
	 * when several contend at once, but all of them alike.
	 */
	minority = won ? out->said_locked : 0;
	if (!won && (u32)__builtin_popcount(out->said_locked) > cl->conf.n - f)
		minority = out->said_free;
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_record *r = &cl->peer[u].record;

		r->rounds++;
		r->disagreed += minority >> u & 1;
		/* A round that is decided early says nothing of the slow. */
		r->unanswered += !won && !out->said_locked && out->silent >> u & 1;
	}
}

void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  const struct bftm_acquire_op *op,
			  const struct bftm_msg *msg)
{
	struct bftm_record *r = &cl->peer[u].record;
	const struct bftm_contend *c = &op->contend;

	if (msg->attempt != c->attempt) {
		r->late += msg->attempt < c->attempt;
		return;
	}
	if (msg->k && msg->k <= c->sends && c->sends - msg->k < BFTM_SENDS)
		r->late += bftm_now() - c->sent_ns[msg->k % BFTM_SENDS] >
			   cl->cfg.resend_ns;
	if (op->contend.phase == BFTM_PHASE_HOLD)
		r->disagreed += msg->type == BFTM_MSG_LOCKED;
	else if (op->contend.phase == BFTM_PHASE_BACKOFF)
		r->disagreed += msg->type == BFTM_MSG_FREE;
}

/* Does one of many stand out? Compared with the median of all. */
static bool stands_out(const struct bftm_cluster *cl, u32 u, size_t offset)
{
	u64 value[BFTM_SERVERS_MAX], mine, median;
	u32 i;

	for (i = 0; i < cl->conf.n; i++)
		value[i] = *(const u64 *)((const char *)&cl->peer[i].record + offset);
	mine = value[u];
	median = bftm_kth_largest(value, cl->conf.n, (cl->conf.n + 1) / 2);
	return mine >= LEAST && mine > FACTOR * (median + 1);
}

#define STANDS_OUT(cl, u, field) \
	stands_out(cl, u, offsetof(struct bftm_record, field))

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       char text[4][BFTM_EVIDENCE_LEN])
{
	const struct bftm_record *r = &cl->peer[u].record;
	int n = 0;

	if (STANDS_OUT(cl, u, disagreed))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "disagreed with the quorum in %" PRIu64 " of %" PRIu64 " rounds",
			 r->disagreed, r->rounds);
	if (STANDS_OUT(cl, u, late))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "answered too late %" PRIu64 " times", r->late);
	if (STANDS_OUT(cl, u, repeated))
		snprintf(text[n++], BFTM_EVIDENCE_LEN,
			 "repeated %" PRIu64 " old answers", r->repeated);
	if (STANDS_OUT(cl, u, bad))
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
