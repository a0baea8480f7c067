// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "loop/log.h"
#include "cluster/reach.h"
#include "lock/release.h"
#include "lock/report.h"
#include "text/shown.h"

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

static bool is_held(const struct bftm_acquire_op *op)
{
	return op->client->phase == BFTM_PHASE_HOLD;
}

static const struct bftm_client_ops *core(const struct bftm_acquire_op *op)
{
	return op->cluster->protocol->client;
}

static void send_all(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	struct bftm_msg msg;
	u32 i;

	if (out->release_to) {
		op->name->released_ns = bftm_now();
		bftm_release_begin(op->cluster, op->ask.name, op->ask.name_len,
				   out->release_attempt, out->release_to);
	}
	for (i = 0; i < out->count; i++) {
		bftm_contender_message(op->client, &out->send[i], &msg);
		msg.name_len = op->ask.name_len;
		memcpy(msg.name, op->ask.name, op->ask.name_len);
		bftm_cluster_send(op->cluster, out->send[i].to, &msg);
	}
}

/* Has what is under way a time limit? */
static bool is_timed(const struct bftm_acquire_op *op)
{
	return op->ask.timeout_at_ns && (!is_held(op) || op->ask.conversion);
}

static void attempt_arm(struct bftm_acquire_op *op)
{
	u64 at = op->client->wake_ns;

	if (is_timed(op) && op->ask.timeout_at_ns < at)
		at = op->ask.timeout_at_ns;
	bftm_timer_arm(&op->timer, at);
}

static void note_reach(struct bftm_acquire_op *op, u64 now)
{
	bool asks = op->client->phase == BFTM_PHASE_TRY ||
		    op->client->phase == BFTM_PHASE_BACKOFF;

	if (!asks || core(op)->reached(op->client, &op->cluster->cfg))
		op->unreachable_ns = 0;
	else if (!op->unreachable_ns)
		op->unreachable_ns = now;
}

static int pending(struct bftm_acquire_op *op, u64 now)
{
	note_reach(op, now);
	if (bftm_cluster_outdated(op->cluster)) {
		bftm_attempt_give_back(op);
		return EPROTONOSUPPORT;
	}
	if (!op->ask.timeout_at_ns && bftm_unreachable(op->unreachable_ns, now)) {
		bftm_attempt_give_back(op);
		return ENETUNREACH;
	}
	attempt_arm(op);
	return BFTM_ATTEMPT_GOES_ON;
}

#define LOSSES_SAID 10	/* in BFTM_SAID_AGAIN_NS */

/* A program may not say it, and one that is stopped cannot. */
static void say_lost(const struct bftm_acquire_op *op)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)], health[BFTM_WHY_MAX];
	struct bftm_cluster *cl = op->cluster;

	if (op->ask.inside)
		return;
	if (bftm_due(&cl->lost_ns, BFTM_SAID_AGAIN_NS))
		cl->losses = 0;
	if (++cl->losses > LOSSES_SAID)
		return;
	bftm_shown(op->ask.name, op->ask.name_len, name, sizeof(name));
	if (!op->ask.renew)
		bftm_log(LOG_INFO, "cluster %s: lock '%s' is lost: its lease has ended, and was not to be renewed",
			 cl->conf.name, name);
	else if (*bftm_health_why(cl, health))
		bftm_log(LOG_WARNING, "cluster %s: lock '%s' is lost: its lease could not be renewed: %s",
			 cl->conf.name, name, health);
	else
		bftm_log(LOG_WARNING, "cluster %s: lock '%s' is lost: its lease ended before enough servers had renewed it",
			 cl->conf.name, name);
	if (cl->losses == LOSSES_SAID)
		bftm_log(LOG_WARNING, "cluster %s: further losses are not logged for a minute",
			 cl->conf.name);
}

static void say_refused(struct bftm_cluster *cl, u32 refusal)
{
	bftm_totals.refused++;
	if (bftm_due(&cl->refused_ns, BFTM_SAID_AGAIN_NS))
		bftm_log(LOG_WARNING, "cluster %s: refused: %s", cl->conf.name,
			 bftm_refusal_name(refusal));
}

/* Before they are sent: the next daemon must not send them again. Return: false when nobody holds it. */
static bool report_sends(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	bool due = out->extended || op->client->sends - op->told_sends >= BFTM_ADOPT_SENDS / 2;

	return !is_held(op) || out->verdict != BFTM_PENDING || !due || bftm_report_renewed(op);
}

/* Four round trips ago, or less. */
static bool has_just_released(const struct bftm_acquire_op *op, u64 now)
{
	const struct bftm_cluster *cl = op->cluster;
	u32 f = bftm_free_needed(cl->conf.n, cl->conf.b);
	u64 trip = bftm_speed_of(&cl->speed, f, cl->cfg.delta_ns);

	return op->name->released_ns && now - op->name->released_ns <= 4 * trip;
}

static void attempt_send(struct bftm_acquire_op *op, u64 now, struct bftm_out *out);

/* It asked once, and the lock was perhaps this host's own at some servers: it asks once more. */
static bool attempt_again(struct bftm_acquire_op *op, struct bftm_out *out)
{
	if (!op->overtakes)
		return false;
	op->overtakes = false;
	attempt_send(op, bftm_now(), out);
	return true;
}

static int attempt_obey(struct bftm_acquire_op *op, const struct bftm_out *out);

static int kept_errno(enum bftm_kept why)
{
	switch (why) {
	case BFTM_KEPT_BLOCKED:
		return EWOULDBLOCK;
	case BFTM_KEPT_DEADLOCK:
		return EDEADLK;
	case BFTM_KEPT_TOKENS:
		return ENODATA;
	case BFTM_KEPT_ASKED:
		break;
	}
	return ETIMEDOUT;
}

/* Tell the kernel, once. Return: 0 if it has taken the report, or negative errno. */
static int report_conversion(struct bftm_acquire_op *op, int error)
{
	int err = op->ask.conversion ? bftm_report_converted(op, error) : -ECANCELED;

	op->ask.conversion = 0;
	return err;
}

/* @err: of the report. The lock is held as before, if a program holds it at all. */
static int conversion_over(struct bftm_acquire_op *op, int err)
{
	if (err != -ESTALE)
		return pending(op, bftm_now());
	bftm_attempt_give_back(op);
	return BFTM_ATTEMPT_OVER;
}

static int conversion_kept(struct bftm_acquire_op *op, int error)
{
	return conversion_over(op, report_conversion(op, error));
}

static int attempt_shrink(struct bftm_acquire_op *op)
{
	const struct bftm_conversion to = { .mode = bftm_ask_mode(&op->ask) };
	struct bftm_out out;

	core(op)->convert(op->client, &op->cluster->cfg, &to, bftm_now(), &out);
	return attempt_obey(op, &out);
}

/*
 * The program has the mode wanted as soon as the kernel has taken the report, and gives the one
 * before up. Where the kernel does not, a request that says which mode is held comes next.
 */
static int converted(struct bftm_acquire_op *op)
{
	int err = report_conversion(op, 0);

	if (err)
		return conversion_over(op, err);
	op->ask.mode = op->ask.goal;
	/* Of CW and PR neither covers the other: there is PW in between. */
	if (core(op)->held(op->client) != bftm_ask_mode(&op->ask))
		return attempt_shrink(op);
	return pending(op, bftm_now());
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
	if (!report_sends(op, out)) {
		bftm_attempt_give_back(op);
		return BFTM_ATTEMPT_OVER;
	}
	send_all(op, out);
	switch (out->verdict) {
	case BFTM_PENDING:
		break;
	case BFTM_CONVERTED:
		return converted(op);
	case BFTM_KEPT:
		return conversion_kept(op, kept_errno(out->kept));
	case BFTM_WON:
		if (bftm_report_won(op)) {
			attempt_arm(op);
			return BFTM_ATTEMPT_GOES_ON;
		}
		/* Nobody waits any more, or it is over. */
		bftm_attempt_give_back(op);
		return BFTM_ATTEMPT_OVER;
	case BFTM_LOST_ROUND:
		if (attempt_again(op, &again))
			return attempt_obey(op, &again);
		return EWOULDBLOCK;
	case BFTM_UNREACHABLE:
		return bftm_cluster_outdated(cl) ? EPROTONOSUPPORT : ENETUNREACH;
	case BFTM_REFUSED:
		say_refused(cl, out->refusal);
		return bftm_refusal_errno(out->refusal);
	case BFTM_LAPSED:
		/* The kernel has told the application by itself. */
		say_lost(op);
		bftm_evidence_over(cl, op);
		return BFTM_ATTEMPT_OVER;
	}
	return pending(op, bftm_now());
}

void bftm_attempt_give_back(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (op->place == BFTM_PLACE_WAITING)
		return;
	bftm_evidence_over(op->cluster, op);
	core(op)->stop(op->client, &op->cluster->cfg, &out);
	send_all(op, &out);
}

static int time_out(struct bftm_acquire_op *op, u64 now)
{
	const struct bftm_client_cfg *cfg = &op->cluster->cfg;
	u64 since = op->unreachable_ns;
	int error = bftm_limit_errno(since && now - since >= core(op)->round_ns(cfg));

	if (core(op)->lacks_tokens(op->client, cfg))
		error = ENODATA;
	bftm_attempt_give_back(op);
	return error;
}

static int attempt_keep(struct bftm_acquire_op *op, u64 now)
{
	struct bftm_out out;

	core(op)->keep(op->client, &op->cluster->cfg, now, &out);
	/* Of one that the core has ended already nothing is left. */
	return out.verdict == BFTM_PENDING ? conversion_kept(op, ETIMEDOUT) : attempt_obey(op, &out);
}

int bftm_attempt_wake(struct bftm_acquire_op *op)
{
	u64 now = bftm_now(), attempt = 0;
	struct bftm_out out;

	if (is_timed(op) && now >= op->ask.timeout_at_ns)
		return is_held(op) ? attempt_keep(op, now) : time_out(op, now);
	if (op->client->phase == BFTM_PHASE_BACKOFF && now >= op->client->wake_ns)
		attempt = fresh_attempt(op->cluster);
	core(op)->wake(op->client, &op->cluster->cfg, now, attempt, random_bits(), &out);
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

static void attempt_send(struct bftm_acquire_op *op, u64 now, struct bftm_out *out)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.wait = wait_of(op),
		.renew = op->ask.renew,
		.fence = op->ask.fence,
		.mode = bftm_ask_mode(&op->ask),
	};

	core(op)->start(op->client, &op->cluster->cfg, &want, fresh_attempt(op->cluster), now, out);
}

int bftm_attempt_start(struct bftm_acquire_op *op)
{
	u64 now = bftm_now();
	struct bftm_out out;

	op->client->prio = op->name->prio;
	op->overtakes = has_just_released(op, now);
	attempt_send(op, now, &out);
	return attempt_obey(op, &out);
}

void bftm_attempt_adopt(struct bftm_acquire_op *op)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.renew = op->ask.renew,
		.mode = bftm_ask_mode(&op->ask),
	};

	op->client->prio = op->name->prio;
	op->told_sends = op->ask.sends;
	core(op)->adopt(op->client, &op->cluster->cfg, &want, op->ask.attempt, op->ask.end_ns,
			op->ask.sends);
	attempt_arm(op);
}

int bftm_attempt_renew(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (!is_held(op))
		return BFTM_ATTEMPT_GOES_ON;
	core(op)->renew(op->client, &op->cluster->cfg, bftm_now(), &out);
	return attempt_obey(op, &out);
}

int bftm_attempt_convert(struct bftm_acquire_op *op, const struct bftm_ask *ask)
{
	const struct bftm_conversion to = {
		.mode = bftm_mode_of(ask->goal), .once = ask->convert_once,
		.fence = ask->convert_fence,
	};
	struct bftm_out out;

	if (!is_held(op))
		return BFTM_ATTEMPT_GOES_ON;
	op->ask.mode = ask->mode;
	op->ask.goal = ask->goal;
	op->ask.conversion = ask->conversion;
	op->ask.convert_fence = ask->convert_fence;
	op->ask.timeout_at_ns = ask->timeout_at_ns;
	if (!core(op)->convert)
		return conversion_kept(op, EPROTONOSUPPORT);
	core(op)->convert(op->client, &op->cluster->cfg, &to, bftm_now(), &out);
	return attempt_obey(op, &out);
}

int bftm_attempt_answer(struct bftm_acquire_op *op, u32 u, const struct bftm_msg *msg)
{
	struct bftm_out out;

	core(op)->answer(op->client, &op->cluster->cfg, u, msg, bftm_now(), random_bits(), &out);
	return attempt_obey(op, &out);
}

void bftm_attempt_epoch(struct bftm_acquire_op *op, u32 u)
{
	struct bftm_out out;

	core(op)->epoch(op->client, u, &out);
	send_all(op, &out);
}

bool bftm_attempt_contended(const struct bftm_acquire_op *op)
{
	const struct bftm_conf_cluster *conf = &op->cluster->conf;

	return op->client->rounds > 1 || op->client->phase == BFTM_PHASE_BACKOFF ||
	       bftm_count(op->heard.locked) > conf->n - bftm_free_needed(conf->n, conf->b);
}
