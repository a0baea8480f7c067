// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "cluster/cluster.h"
#include "cluster/reach.h"
#include "lock/convert.h"
#include "lock/report.h"

static u64 fresh_attempt(struct bftm_cluster *cl)
{
	return bftm_identity_next_attempt(cl->identity);
}

static u64 random_bits(void)
{
	u64 bits;

	if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		abort();	/* cannot happen for 8 bytes */
	return bits;
}

/* Before they are sent: the next daemon must not send them again. Return: false when nobody holds it. */
static bool report_sends(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	bool due = out->extended || op->client->sends - op->told_sends >= BFTM_ADOPT_SENDS / 2;

	return !bftm_attempt_is_held(op) || out->verdict != BFTM_PENDING || !due ||
	       bftm_report_renewed(op);
}

/* Four round trips ago, or less. */
static bool has_just_released(const struct bftm_acquire_op *op, u64 now)
{
	const struct bftm_cluster *cl = op->cluster;
	u32 f = bftm_win(&cl->cfg);
	u64 trip = bftm_speed_of(&cl->speed, f, cl->cfg.delta_ns);

	return op->name->released_ns && now - op->name->released_ns <= 4 * trip;
}

static void attempt_ask(struct bftm_acquire_op *op, u64 now, struct bftm_out *out);

/* It asked once, and the lock was perhaps this host's own at some servers: it asks once more. */
static bool attempt_again(struct bftm_acquire_op *op, struct bftm_out *out)
{
	if (!op->overtakes)
		return false;
	op->overtakes = false;
	attempt_ask(op, bftm_now(), out);
	return true;
}

static int attempt_obey(struct bftm_acquire_op *op, const struct bftm_out *out);

static int attempt_converted(struct bftm_acquire_op *op)
{
	int err = bftm_convert_report(op, 0);
	struct bftm_out rest;

	if (err)
		return bftm_attempt_pending(op, bftm_now());
	if (bftm_convert_shrink(op, &rest))
		return attempt_obey(op, &rest);
	return bftm_attempt_pending(op, bftm_now());
}

/* Do what the core says. */
static int attempt_obey(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	struct bftm_cluster *cl = op->cluster;
	struct bftm_out again;

	if (out->round_over) {
		bftm_totals.rounds++;
		bftm_evidence_round(cl, op, out);
	}
	/*
	 * The kernel asks for the release of a lock that no program holds any more. That request has
	 * the value that the program leaves: without it, the value would be in doubt.
	 */
	if (!report_sends(op, out))
		return bftm_attempt_pending(op, bftm_now());
	bftm_attempt_send(op, out);
	switch (out->verdict) {
	case BFTM_PENDING:
		break;
	case BFTM_CONVERTED:
		return attempt_converted(op);
	case BFTM_KEPT:
		return bftm_convert_kept(op, bftm_kept_errno(out->kept));
	case BFTM_WON:
		if (bftm_report_won(op)) {
			bftm_attempt_arm(op);
			return BFTM_ATTEMPT_GOES_ON;
		}
		/* Nobody waits any more, or it is over: no program has used it. */
		bftm_attempt_leave(op, &(struct bftm_ask_value){});
		return BFTM_ATTEMPT_OVER;
	case BFTM_LOST_ROUND:
		if (attempt_again(op, &again))
			return attempt_obey(op, &again);
		return bftm_hindered_errno(op, EWOULDBLOCK);
	case BFTM_UNREACHABLE:
		return bftm_cluster_outdated(cl) ? EPROTONOSUPPORT :
						   bftm_hindered_errno(op, ENETUNREACH);
	case BFTM_REFUSED:
		bftm_totals.refused++;
		bftm_report_refused(op, out->refusal);
		return bftm_refusal_errno(out->refusal);
	case BFTM_LAPSED:
		/* The kernel has told the application by itself. */
		bftm_report_lost(cl, &op->ask);
		bftm_evidence_over(cl, op);
		return BFTM_ATTEMPT_OVER;
	}
	return bftm_attempt_pending(op, bftm_now());
}

static int time_out(struct bftm_acquire_op *op, u64 now)
{
	const struct bftm_client_cfg *cfg = &op->cluster->cfg;
	u64 since = op->unreachable_ns;
	int error = bftm_limit_errno(since && now - since >= bftm_core_of(op)->round_ns(cfg));

	if (bftm_core_of(op)->lacks_tokens(op->client, cfg))
		error = ENODATA;
	else
		error = bftm_hindered_errno(op, error);
	bftm_attempt_give_back(op);
	return error;
}

static int attempt_keep(struct bftm_acquire_op *op, u64 now)
{
	struct bftm_out out;

	bftm_core_of(op)->keep(op->client, &op->cluster->cfg, now, &out);
	/* Of one that the core has ended already nothing is left. */
	return out.verdict == BFTM_PENDING ? bftm_convert_kept(op, ETIMEDOUT) : attempt_obey(op, &out);
}

int bftm_attempt_wake(struct bftm_acquire_op *op)
{
	u64 now = bftm_now(), attempt = 0;
	struct bftm_out out;

	if (bftm_attempt_is_timed(op) && now >= op->ask.timeout_at_ns)
		return bftm_attempt_is_held(op) ? attempt_keep(op, now) : time_out(op, now);
	if (op->client->phase == BFTM_PHASE_BACKOFF && now >= op->client->wake_ns)
		attempt = fresh_attempt(op->cluster);
	bftm_core_of(op)->wake(op->client, &op->cluster->cfg, now, attempt, random_bits(), &out);
	return attempt_obey(op, &out);
}

static enum bftm_wait wait_of(const struct bftm_acquire_op *op)
{
	if (op->ask.once)
		return BFTM_WAIT_NOT;
	switch (op->ask.way) {
	case BFTM_WAY_BACKOFF:
		return BFTM_WAIT_BACKOFF;
	case BFTM_WAY_NO_BACKOFF:
		return BFTM_WAIT_NO_BACKOFF;
	case BFTM_WAY_QUEUE:
		return BFTM_WAIT_QUEUE;
	}
	return op->cluster->conf.backoff ? BFTM_WAIT_BACKOFF : BFTM_WAIT_QUEUE;
}

static void attempt_ask(struct bftm_acquire_op *op, u64 now, struct bftm_out *out)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.wait = wait_of(op),
		.renew = op->ask.renew,
		.fence = op->ask.fence,
		.mode = bftm_ask_mode(&op->ask),
		.value = op->ask.value.wanted,
		.lock = bftm_ask_lock(op->name->name, op->name->len),
	};

	bftm_core_of(op)->start(op->client, &op->cluster->cfg, &want, fresh_attempt(op->cluster),
				now, out);
}

int bftm_attempt_start(struct bftm_acquire_op *op)
{
	u64 now = bftm_now();
	struct bftm_out out;

	op->client->prio = op->name->prio;
	/* A client that asks some servers first sees to that by itself. */
	op->overtakes = !op->cluster->cfg.ask && has_just_released(op, now);
	attempt_ask(op, now, &out);
	return attempt_obey(op, &out);
}

void bftm_attempt_adopt(struct bftm_acquire_op *op, bool whole)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.renew = op->ask.renew,
		.mode = bftm_ask_mode(&op->ask),
		.value = op->ask.value.wanted,
		.whole = whole,
		.lock = bftm_ask_lock(op->name->name, op->name->len),
	};

	op->client->prio = op->name->prio;
	op->client->token = op->ask.token;
	op->told_token = op->ask.token;
	op->told_sends = op->ask.sends;
	bftm_core_of(op)->adopt(op->client, &op->cluster->cfg, &want, op->ask.attempt,
				op->ask.end_ns, op->ask.sends, op->ask.value.left);
	bftm_attempt_arm(op);
}

int bftm_attempt_renew(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (!bftm_attempt_is_held(op))
		return BFTM_ATTEMPT_GOES_ON;
	bftm_core_of(op)->renew(op->client, &op->cluster->cfg, bftm_now(), &out);
	return attempt_obey(op, &out);
}

int bftm_attempt_convert(struct bftm_acquire_op *op, const struct bftm_ask *ask)
{
	struct bftm_out out;

	if (!bftm_attempt_is_held(op))
		return BFTM_ATTEMPT_GOES_ON;
	if (!bftm_convert_begin(op, ask, &out))
		return bftm_convert_kept(op, EPROTONOSUPPORT);
	return attempt_obey(op, &out);
}

int bftm_attempt_answer(struct bftm_acquire_op *op, u32 u, const struct bftm_msg *msg)
{
	struct bftm_out out;

	if (msg->attempt == op->client->attempt && op->client->phase == BFTM_PHASE_TRY)
		bftm_words_take(&op->words, u, msg);
	bftm_core_of(op)->answer(op->client, &op->cluster->cfg, u, msg, bftm_now(), random_bits(),
				 &out);
	return attempt_obey(op, &out);
}

void bftm_attempt_epoch(struct bftm_acquire_op *op, u32 u)
{
	struct bftm_out out;

	bftm_core_of(op)->epoch(op->client, u, &out);
	bftm_attempt_send(op, &out);
}

void bftm_attempt_restarted(struct bftm_acquire_op *op, u32 u)
{
	struct bftm_out out;

	if (op->place == BFTM_PLACE_WAITING)
		return;
	bftm_core_of(op)->restarted(op->client, &op->cluster->cfg, u, bftm_now(), &out);
	bftm_attempt_send(op, &out);
	bftm_attempt_arm(op);
}

bool bftm_attempt_contended(const struct bftm_acquire_op *op)
{
	const struct bftm_conf_cluster *conf = &op->cluster->conf;

	return op->client->rounds > 1 || op->client->phase == BFTM_PHASE_BACKOFF ||
	       bftm_count(op->heard.locked) > conf->n - bftm_win(&op->cluster->cfg);
}
