// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "core/quorum.h"
#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "loop/log.h"
#include "kernel/upcall.h"

/*
 * So often at least, and so many times as often as some correct server: as no
 * more than b lie, one of the b + 1 that did it most often is correct.
 */
#define LEAST	5
#define FACTOR_DISAGREED 2	/* there is more to it, see below */

/*
 * At this count the numbers of rounds and of disagreements are halved, so rounds of long ago do not
 * count. It is large, since an honest server may come near to two of five for a time.
 */
#define LAST_ROUNDS 2048

/*
 * And in more than two of five of the last rounds that were won. Suppose that another client always
 * reaches a correct server first: then this server disagrees whenever both clients contend at one
 * moment. A liar disagrees when it likes.
 */
#define OFTEN(count, rounds) ((count) >= LEAST && 5 * (count) > 2 * (rounds))

/* Unheard for so long, a server is called silent. */
#define SILENT_NS (3 * BFTM_NS_PER_SEC)

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

/* The word is for people: what takes longer is asked for twice. */
static bool is_slow(const struct bftm_cluster *cl, u32 u)
{
	return bftm_speed_slow(&cl->speed, u, cl->cfg.resend_ns);
}

static bool disagrees(const struct bftm_cluster *cl, u32 u)
{
	const struct bftm_record *r = &cl->peer[u].record;

	/* A slow server hears of each change later than the others, by more than was waited. */
	return !is_slow(cl, u) &&
	       STANDS_OUT(cl, u, lately, FACTOR_DISAGREED) && OFTEN(r->lately, cl->last_rounds);
}

void bftm_evidence_disagreed(struct bftm_cluster *cl, u32 u)
{
	cl->peer[u].record.disagreed++;
	cl->peer[u].record.lately++;
}

void bftm_evidence_judged(struct bftm_cluster *cl)
{
	u32 u;

	if (++cl->last_rounds < LAST_ROUNDS)
		return;
	cl->last_rounds /= 2;
	for (u = 0; u < cl->conf.n; u++)
		cl->peer[u].record.lately /= 2;
}

void bftm_evidence_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	const struct bftm_asked *asked = bftm_cluster_asked(cl, msg->seq);
	struct bftm_record *r = &cl->peer[u].record;
	u64 now = bftm_now();

	/* The kernel has sent it, or so many others were sent since. */
	if (!asked)
		return;
	r->lies[bftm_answer_lies(asked, u, msg)]++;
	if (asked->u != u)
		return;
	bftm_speed_answered(&cl->speed, u, asked->sent_ns, now);
	r->late += now - asked->sent_ns > cl->cfg.resend_ns;
}

static void evidence_add(struct bftm_evidence *list, int *n, u64 count, const char *what)
{
	struct bftm_evidence *e = &list[(*n)++];

	e->what = what;
	e->count = count;
	snprintf(e->text, sizeof(e->text), "%s %" PRIu64 " times", what, count);
}

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS])
{
	const struct bftm_record *r = &cl->peer[u].record;
	int n = 0, lie;

	for (lie = BFTM_LIE_NONE + 1; lie < BFTM_LIES; lie++)
		if (r->lies[lie])
			evidence_add(list, &n, r->lies[lie], bftm_lie_name(lie));
	if (r->false_bodies)
		evidence_add(list, &n, r->false_bodies, "sent a false state");
	if (r->false_responses)
		evidence_add(list, &n, r->false_responses, "sent a false response");
	if (r->false_signatures)
		evidence_add(list, &n, r->false_signatures, "sent a false signature");
	if (disagrees(cl, u)) {
		evidence_add(list, &n, r->disagreed, "disagreed with the quorum");
		/* Late answers are about rounds that may have gone out already. */
		snprintf(list[n - 1].text, BFTM_EVIDENCE_LEN,
			 "disagreed with the quorum in %" PRIu64 " of the last %" PRIu64 " rounds",
			 r->lately < cl->last_rounds ? r->lately : cl->last_rounds, cl->last_rounds);
	}
	return n;
}

void bftm_evidence_report(struct bftm_cluster *cl)
{
	struct bftm_evidence list[BFTM_EVIDENCE_KINDS];
	u32 u;
	int n;

	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		n = bftm_evidence_list(cl, u, list);
		if (n && !peer->suspect && bftm_due(&peer->reported_ns, BFTM_SAID_AGAIN_NS)) {
			peer->suspect = true;
			bftm_log(LOG_WARNING, "cluster %s: server %u %s", cl->conf.name,
				 peer->conf->id, list[0].text);
			bftm_upcall_suspect(cl->conf.name, peer->conf->id,
					    list[0].what, list[0].count);
		} else if (!n) {
			peer->suspect = false;
		}
	}
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now)
{
	const struct bftm_peer *peer = &cl->peer[u];

	if (peer->asked_ns && now - peer->asked_ns > SILENT_NS)
		return "silent";
	if (!peer->heard_ns)
		return "unknown";
	if (cl->cfg.forgetful >> u & 1)
		return "forgetful";
	if (now <= peer->quarantine_until_ns && !peer->spared)
		return "quarantine";
	return is_slow(cl, u) ? "slow" : "ok";
}
