// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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
	return op->contend.phase == BFTM_PHASE_HOLD;
}

static void send_to(struct bftm_acquire_op *op, u32 to, struct bftm_msg *msg)
{
	if (!to)
		return;
	msg->attempt = op->contend.attempt;
	msg->name_len = op->ask.name_len;
	memcpy(msg->name, op->ask.name, op->ask.name_len);
	bftm_cluster_send(op->cluster, to, msg);
}

static void send_all(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	const struct bftm_contend *c = &op->contend;
	struct bftm_msg try = {
		.type = BFTM_MSG_TRY,
		.flags = bftm_contend_queues(c) ? 0 : BFTM_FLAG_NOQUEUE,
		.k = c->sends,
		.lease_ns = c->want.lease_ns,
		.prio = c->prio,
	};
	struct bftm_msg yield = { .type = BFTM_MSG_YIELD, .gno = out->yield_gno };
	struct bftm_msg stamp = { .type = BFTM_MSG_STAMP, .token = c->token };

	if (out->release_to)
		bftm_release_begin(op->cluster, op->ask.name, op->ask.name_len,
				   out->release_attempt, out->release_to);
	send_to(op, out->try_to, &try);
	send_to(op, out->yield_to, &yield);
	send_to(op, out->stamp_to, &stamp);
}

static void stop(struct bftm_acquire_op *op)
{
	bftm_attempt_give_back(op);
	bftm_acquire_end(op);
}

static void arm(struct bftm_acquire_op *op)
{
	u64 at = op->contend.wake_ns;

	if (!is_held(op) && op->ask.timeout_at_ns && op->ask.timeout_at_ns < at)
		at = op->ask.timeout_at_ns;
	bftm_timer_arm(&op->timer, at);
}

static void note_reach(struct bftm_acquire_op *op, u64 now)
{
	bool asks = op->contend.phase == BFTM_PHASE_TRY ||
		    op->contend.phase == BFTM_PHASE_BACKOFF;

	if (!asks || bftm_contend_reached(&op->contend, &op->cluster->cfg))
		op->unreachable_ns = 0;
	else if (!op->unreachable_ns)
		op->unreachable_ns = now;
}

static void pending(struct bftm_acquire_op *op, u64 now)
{
	note_reach(op, now);
	if (!op->ask.timeout_at_ns && bftm_unreachable(op->unreachable_ns, now)) {
		bftm_attempt_give_back(op);
		bftm_acquire_fail(op, ENETUNREACH);
		return;
	}
	arm(op);
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

/* Do what the core says. */
static void obey(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	struct bftm_cluster *cl = op->cluster;

	if (out->round_over) {
		bftm_totals.rounds++;
		bftm_evidence_round(cl, op, out);
	}
	/* Before they are sent: the next daemon must not send them again. */
	if (is_held(op) && out->verdict == BFTM_PENDING &&
	    (out->extended ||
	     op->contend.sends - op->told_sends >= BFTM_ADOPT_SENDS / 2) &&
	    !bftm_report_renewed(op)) {
		stop(op);
		return;
	}
	send_all(op, out);
	switch (out->verdict) {
	case BFTM_PENDING:
		pending(op, bftm_now());
		return;
	case BFTM_WON:
		if (bftm_report_won(op))
			arm(op);
		else
			stop(op);	/* nobody waits any more, or it is over */
		return;
	case BFTM_LOST_ROUND:
		bftm_acquire_fail(op, EWOULDBLOCK);
		return;
	case BFTM_UNREACHABLE:
		bftm_acquire_fail(op, ENETUNREACH);
		return;
	case BFTM_REFUSED:
		bftm_totals.refused++;
		if (bftm_due(&cl->refused_ns, BFTM_SAID_AGAIN_NS))
			bftm_log(LOG_WARNING, "cluster %s: refused: %s", cl->conf.name,
				 bftm_refusal_name(out->refusal));
		bftm_acquire_fail(op, bftm_refusal_errno(out->refusal));
		return;
	case BFTM_LAPSED:
		/* The kernel has told the application by itself. */
		say_lost(op);
		bftm_evidence_over(cl, op);
		bftm_acquire_end(op);
		return;
	}
}

void bftm_attempt_give_back(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (op->place == BFTM_PLACE_WAITING)
		return;
	bftm_evidence_over(op->cluster, op);
	bftm_contend_stop(&op->contend, &op->cluster->cfg, &out);
	send_all(op, &out);
}

static void time_out(struct bftm_acquire_op *op, u64 now)
{
	const struct bftm_client_cfg *cfg = &op->cluster->cfg;
	const struct bftm_contend *c = &op->contend;
	u64 since = op->unreachable_ns;
	int error = bftm_limit_errno(since && now - since >= bftm_round_ns(cfg));

	if (bftm_fence_lacks(c, cfg))
		error = ENODATA;
	bftm_attempt_give_back(op);
	bftm_acquire_fail(op, error);
}

static void fire(struct bftm_timer *timer)
{
	struct bftm_acquire_op *op =
		container_of(timer, struct bftm_acquire_op, timer);
	u64 now = bftm_now(), attempt = 0;
	struct bftm_out out;

	if (!is_held(op) && op->ask.timeout_at_ns && now >= op->ask.timeout_at_ns) {
		time_out(op, now);
		return;
	}
	if (op->contend.phase == BFTM_PHASE_BACKOFF && now >= op->contend.wake_ns)
		attempt = fresh_attempt(op->cluster);
	bftm_contend_wake(&op->contend, &op->cluster->cfg, now, attempt,
			  random_bits(), &out);
	obey(op, &out);
}

void bftm_attempt_init(struct bftm_acquire_op *op)
{
	op->timer.fire = fire;
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

void bftm_attempt_start(struct bftm_acquire_op *op)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.wait = wait_of(op),
		.renew = op->ask.renew,
		.fence = op->ask.fence,
	};
	struct bftm_out out;

	op->contend.prio = op->name->prio;
	bftm_contend_start(&op->contend, &op->cluster->cfg, &want,
			   fresh_attempt(op->cluster), bftm_now(), &out);
	obey(op, &out);
}

void bftm_attempt_adopt(struct bftm_acquire_op *op)
{
	struct bftm_want want = { .lease_ns = op->ask.lease_ns, .renew = op->ask.renew };

	op->contend.prio = op->name->prio;
	op->told_sends = op->ask.sends;
	bftm_contend_adopt(&op->contend, &op->cluster->cfg, &want, op->ask.attempt,
			   op->ask.end_ns, op->ask.sends);
	arm(op);
}

void bftm_attempt_renew(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (!is_held(op))
		return;
	bftm_contend_renew(&op->contend, &op->cluster->cfg, bftm_now(), &out);
	obey(op, &out);
}

void bftm_attempt_answer(struct bftm_acquire_op *op, u32 u,
			 const struct bftm_msg *msg)
{
	struct bftm_out out;

	bftm_contend_answer(&op->contend, &op->cluster->cfg, u, msg, bftm_now(),
			    random_bits(), &out);
	obey(op, &out);
}

void bftm_attempt_again(struct bftm_acquire_op *op, u32 u)
{
	struct bftm_out out;

	bftm_contend_again(&op->contend, u, &out);
	send_all(op, &out);
}
