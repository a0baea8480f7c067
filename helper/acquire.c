// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../kmod/core/quorum.h"
#include "acquire.h"
#include "cluster.h"
#include "evidence.h"
#include "log.h"
#include "release.h"
#include "upcall.h"

/* For so long an acquire without a time limit puts up with too few servers. */
#define UNREACHABLE_NS (30 * BFTM_NS_PER_SEC)

struct bftm_totals bftm_totals;

static int compare_ids(const struct bftm_acquire_op *a,
		       const struct bftm_acquire_op *b)
{
	return a->ask.id < b->ask.id ? -1 : a->ask.id > b->ask.id;
}

static int compare_names(const struct bftm_name *a, const struct bftm_name *b)
{
	return a->len != b->len ? a->len - b->len : memcmp(a->name, b->name, a->len);
}

RB_HEAD(ops, bftm_acquire_op);
BFTM_TREE(ops, bftm_acquire_op, by_id, compare_ids)
BFTM_TREE(bftm_names, bftm_name, node, compare_names)

static struct ops ops = RB_INITIALIZER(&ops);

static u64 fresh_attempt(struct bftm_cluster *cl)
{
	return ++cl->identity->attempt;
}

static u64 random_bits(void)
{
	u64 bits;

	if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		abort();	/* cannot happen for 8 bytes */
	return bits;
}

static void start(struct bftm_acquire_op *op);
static void stop(struct bftm_acquire_op *op);

static struct bftm_name *name_get(struct bftm_cluster *cl,
				  const struct bftm_ask *ask)
{
	struct bftm_name key = { .len = ask->name_len }, *name;

	memcpy(key.name, ask->name, ask->name_len);
	name = RB_FIND(bftm_names, &cl->acquires.names, &key);
	if (name)
		return name;
	name = malloc(sizeof(*name));
	if (!name)
		return NULL;
	*name = key;
	TAILQ_INIT(&name->waiting);
	RB_INSERT(bftm_names, &cl->acquires.names, name);
	return name;
}

/* Forget a request. Return: its lock, NULL when nobody here names it now. */
static struct bftm_name *detach(struct bftm_acquire_op *op)
{
	struct bftm_name *name = op->name;

	bftm_timer_stop(&op->timer);
	RB_REMOVE(ops, &ops, op);
	if (op->active)
		name->active = NULL;
	else
		TAILQ_REMOVE(&name->waiting, op, waiting);
	op->cluster->acquires.count--;
	if (!name->active && TAILQ_EMPTY(&name->waiting)) {
		RB_REMOVE(bftm_names, &op->cluster->acquires.names, name);
		free(name);
		name = NULL;
	}
	free(op);
	return name;
}

/* This request is over; the next of this host for the lock may contend. */
static void finish(struct bftm_acquire_op *op)
{
	struct bftm_name *name = detach(op);
	struct bftm_acquire_op *next;

	if (!name || name->active)
		return;
	next = TAILQ_FIRST(&name->waiting);
	TAILQ_REMOVE(&name->waiting, next, waiting);
	start(next);
}

static void fail(struct bftm_acquire_op *op, int error)
{
	bftm_totals.busy += error == EWOULDBLOCK;
	bftm_totals.timeouts += error == ETIMEDOUT;
	bftm_totals.unreachable += error == ENETUNREACH;
	bftm_upcall_failed(op->ask.id, error, op->contend.rounds);
	finish(op);
}

static void send_try(struct bftm_acquire_op *op, u32 to)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_TRY,
		.flags = BFTM_FLAG_NOQUEUE,
		.name_len = op->ask.name_len,
		.attempt = op->contend.attempt,
		.k = op->contend.sends,
		.lease_ns = op->contend.want.lease_ns,
		.prio = op->contend.prio,
	};

	memcpy(msg.name, op->ask.name, op->ask.name_len);
	bftm_cluster_send(op->cluster, to, &msg);
}

static int refusal_errno(u32 refusal)
{
	switch (refusal) {
	case BFTM_REFUSED_LEASE:
		return ERANGE;
	case BFTM_REFUSED_LOCKS:
	case BFTM_REFUSED_CLIENTS:
		return ENOSPC;
	case BFTM_REFUSED_ACCESS:
		return EACCES;
	}
	return EPROTONOSUPPORT;
}

/* Only these say that the kernel did not take it. */
static bool not_taken(int err)
{
	return err == -ESTALE || err == -EPERM || err == -EINVAL || err == -ERANGE;
}

/* Tell the kernel. Return: false when the operation is gone. */
static bool won(struct bftm_acquire_op *op)
{
	u64 end = bftm_contend_end(&op->contend, &op->cluster->cfg);
	int err;

	err = bftm_upcall_won(op->ask.id, op->contend.attempt, end,
			      op->contend.rounds);
	if (!not_taken(err)) {
		/* Also when nobody knows: then it may be held. */
		bftm_totals.won += !err;
		return true;
	}
	/* Nobody waits any more, or it is over already: give it back. */
	stop(op);
	return false;
}

static void arm(struct bftm_acquire_op *op)
{
	u64 at = op->contend.wake_ns;

	if (op->contend.phase != BFTM_PHASE_HOLD && op->ask.timeout_at_ns &&
	    op->ask.timeout_at_ns < at)
		at = op->ask.timeout_at_ns;
	bftm_timer_arm(&op->timer, at);
}

/* Do what the core says. The operation may be gone afterwards. */
static void obey(struct bftm_acquire_op *op, const struct bftm_out *out)
{
	struct bftm_cluster *cl = op->cluster;
	u64 now = bftm_now();

	if (out->round_over) {
		bftm_totals.rounds++;
		bftm_evidence_round(cl, op, out);
		if (op->contend.reached)
			op->unreachable_ns = 0;
		else if (!op->unreachable_ns)
			op->unreachable_ns = now;
	}
	if (out->release_to)
		bftm_release_begin(cl, op->ask.name, op->ask.name_len,
				   out->release_attempt, out->release_to);
	if (out->try_to)
		send_try(op, out->try_to);
	switch (out->verdict) {
	case BFTM_PENDING:
		if (op->unreachable_ns && !op->ask.timeout_at_ns &&
		    now - op->unreachable_ns >= UNREACHABLE_NS) {
			fail(op, ENETUNREACH);
			return;
		}
		arm(op);
		return;
	case BFTM_WON:
		if (won(op))
			arm(op);
		return;
	case BFTM_LOST_ROUND:
		fail(op, EWOULDBLOCK);
		return;
	case BFTM_UNREACHABLE:
		fail(op, ENETUNREACH);
		return;
	case BFTM_REFUSED:
		bftm_totals.refused++;
		bftm_log(LOG_WARNING, "cluster %s: refused: %s", cl->conf.name,
			 bftm_refusal_name(out->refusal));
		fail(op, refusal_errno(out->refusal));
		return;
	case BFTM_LAPSED:
		/* The kernel has told the application by itself. */
		bftm_totals.lapsed++;
		finish(op);
		return;
	}
}

/* Stop contending or holding: the servers are told. */
static void give_back(struct bftm_acquire_op *op)
{
	struct bftm_out out;

	if (!op->active)
		return;
	bftm_contend_stop(&op->contend, &op->cluster->cfg, &out);
	if (out.release_to)
		bftm_release_begin(op->cluster, op->ask.name, op->ask.name_len,
				   out.release_attempt, out.release_to);
}

static void time_out(struct bftm_acquire_op *op)
{
	bool unreached = op->active &&
			 !bftm_contend_reached(&op->contend, &op->cluster->cfg);

	give_back(op);
	fail(op, unreached ? ENETUNREACH : ETIMEDOUT);
}

static void fire(struct bftm_timer *timer)
{
	struct bftm_acquire_op *op =
		container_of(timer, struct bftm_acquire_op, timer);
	u64 now = bftm_now(), attempt = 0;
	struct bftm_out out;

	if ((!op->active || op->contend.phase != BFTM_PHASE_HOLD) &&
	    op->ask.timeout_at_ns && now >= op->ask.timeout_at_ns) {
		time_out(op);
		return;
	}
	if (op->contend.phase == BFTM_PHASE_BACKOFF && now >= op->contend.wake_ns)
		attempt = fresh_attempt(op->cluster);
	bftm_contend_wake(&op->contend, &op->cluster->cfg, now, attempt,
			  random_bits(), &out);
	obey(op, &out);
}

static void start(struct bftm_acquire_op *op)
{
	struct bftm_want want = {
		.lease_ns = op->ask.lease_ns,
		.once = op->ask.once,
		.no_backoff = op->ask.no_backoff,
	};
	struct bftm_out out;

	op->active = true;
	op->name->active = op;
	bftm_contend_start(&op->contend, &op->cluster->cfg, &want,
			   fresh_attempt(op->cluster), bftm_now(), &out);
	obey(op, &out);
}

static int check(const struct bftm_cluster *cl, struct bftm_ask *ask)
{
	if (!cl)
		return ENOKEY;
	if (!ask->lease_ns)
		ask->lease_ns = cl->conf.lease_ns;
	if (ask->lease_ns > cl->conf.lease_max_ns)
		return ERANGE;
	return 0;
}

void bftm_acquire_begin(const struct bftm_ask *arg)
{
	struct bftm_ask ask = *arg;
	struct bftm_cluster *cl = bftm_cluster_find(ask.cluster);
	struct bftm_acquire_op *op;
	int error = check(cl, &ask);

	bftm_totals.acquires++;
	if (error) {
		bftm_upcall_failed(ask.id, error, 0);
		return;
	}
	op = calloc(1, sizeof(*op));
	if (!op) {
		bftm_upcall_failed(ask.id, ENOMEM, 0);
		return;
	}
	op->name = name_get(cl, &ask);
	if (!op->name) {
		free(op);
		bftm_upcall_failed(ask.id, ENOMEM, 0);
		return;
	}
	op->cluster = cl;
	op->ask = ask;
	op->timer.fire = fire;
	cl->acquires.count++;
	RB_INSERT(ops, &ops, op);
	if (!op->name->active) {
		start(op);
		return;
	}
	TAILQ_INSERT_TAIL(&op->name->waiting, op, waiting);
	if (ask.once)
		fail(op, EWOULDBLOCK);
	else if (ask.timeout_at_ns)
		bftm_timer_arm(&op->timer, ask.timeout_at_ns);
}

static struct bftm_acquire_op *find(u64 id)
{
	struct bftm_acquire_op key = { .ask.id = id };

	return RB_FIND(ops, &ops, &key);
}

static void stop(struct bftm_acquire_op *op)
{
	give_back(op);
	finish(op);
}

void bftm_acquire_cancel(u64 id)
{
	struct bftm_acquire_op *op = find(id);

	bftm_totals.cancelled++;
	if (op)
		stop(op);
}

void bftm_acquire_release(const struct bftm_ask *ask)
{
	struct bftm_acquire_op *op = find(ask->id);
	struct bftm_cluster *cl;

	bftm_totals.released++;
	if (op) {
		stop(op);
		return;
	}
	/* Won through an earlier daemon, or its lease is over. */
	cl = bftm_cluster_find(ask->cluster);
	if (cl)
		bftm_release_begin(cl, ask->name, ask->name_len, ask->attempt,
				   (u32)((1ull << cl->conf.n) - 1));
}

void bftm_acquire_forget(void)
{
	struct bftm_acquire_op *op;

	while ((op = RB_MIN(ops, &ops))) {
		/* What is held stays held; what is asked for is cancelled. */
		if (op->active && op->contend.phase != BFTM_PHASE_HOLD)
			give_back(op);
		op->cluster->identity->orphan = op->cluster->identity->attempt;
		detach(op);
	}
}

static struct bftm_acquire_op *asked(struct bftm_cluster *cl,
				     const struct bftm_msg *msg)
{
	struct bftm_name key = { .len = msg->name_len }, *name;

	memcpy(key.name, msg->name, msg->name_len);
	name = RB_FIND(bftm_names, &cl->acquires.names, &key);
	return name ? name->active : NULL;
}

/* May this attempt hold, although this cluster does not know it? */
static bool is_elsewhere(const struct bftm_cluster *cl, const struct bftm_msg *msg)
{
	const struct bftm_acquire_op *op;
	struct bftm_cluster *other;

	/* Won through an earlier daemon, perhaps, and still held. */
	if (msg->attempt <= cl->identity->orphan)
		return true;
	/* Or asked for before the configuration was read again. */
	TAILQ_FOREACH(other, &bftm_clusters, list) {
		if (other == cl || other->identity != cl->identity)
			continue;
		op = asked(other, msg);
		if (op && op->contend.attempt == msg->attempt)
			return true;
	}
	return false;
}

void bftm_acquire_answer(struct bftm_cluster *cl, u32 u,
			 const struct bftm_msg *msg)
{
	struct bftm_acquire_op *op = asked(cl, msg);
	struct bftm_out out;

	if (msg->type == BFTM_MSG_RELEASED) {
		bftm_release_answer_from(cl, u, msg->attempt);
		return;
	}
	bftm_evidence_answer(cl, u, op, msg);
	if (is_elsewhere(cl, msg))
		return;
	if (!op) {
		bftm_stray(msg, u, &out);
	} else {
		bftm_contend_answer(&op->contend, &cl->cfg, u, msg, bftm_now(),
				    random_bits(), &out);
		if (out.verdict || out.try_to || out.round_over) {
			obey(op, &out);
			return;
		}
		arm(op);
	}
	if (out.release_to)
		bftm_release_begin(cl, msg->name, msg->name_len,
				   out.release_attempt, out.release_to);
}

void bftm_acquire_epoch(struct bftm_cluster *cl, u32 u,
			const struct bftm_msg *msg)
{
	struct bftm_acquire_op *op = msg->name_len ? asked(cl, msg) : NULL;
	struct bftm_out out;

	if (!op || op->contend.attempt != msg->attempt)
		return;
	bftm_contend_again(&op->contend, u, &out);
	if (out.try_to)
		send_try(op, out.try_to);
}
