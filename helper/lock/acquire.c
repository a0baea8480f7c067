// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/quorum.h"
#include "core/servers.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/lasting.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "cluster/reach.h"
#include "loop/log.h"
#include "lock/release.h"
#include "lock/report.h"
#include "kernel/upcall.h"
#include "text/shown.h"

struct bftm_totals bftm_totals;

static int compare_ids(const struct bftm_acquire_op *a,
		       const struct bftm_acquire_op *b)
{
	return a->ask.id < b->ask.id ? -1 : a->ask.id > b->ask.id;
}

RB_HEAD(ops, bftm_acquire_op);
BFTM_TREE(ops, bftm_acquire_op, by_id, compare_ids)

static struct ops ops = RB_INITIALIZER(&ops);

static struct bftm_acquire_op *acquire_find(u64 id)
{
	struct bftm_acquire_op key = { .ask.id = id };

	return RB_FIND(ops, &ops, &key);
}

static void op_free(struct bftm_acquire_op *op)
{
	free(op->client);
	free(op);
}

static void note_prio(struct bftm_name *name, u64 seen)
{
	if (name->prio < seen)
		name->prio = seen;
}

/* Forget a request. Return: whose turn it is now, or NULL. */
static struct bftm_acquire_op *acquire_detach(struct bftm_acquire_op *op)
{
	const struct bftm_inside *inside = op->ask.inside;
	struct bftm_acquire_op *next;

	/* The lock keeps the priority when this request is gone. */
	note_prio(op->name, op->cluster->protocol->client->seen(op->client, &op->cluster->cfg));
	next = bftm_name_leave(&op->cluster->identity->names, op);
	bftm_timer_stop(&op->timer);
	RB_REMOVE(ops, &ops, op);
	if (bftm_ask_lasts(&op->ask))
		TAILQ_REMOVE(&op->cluster->acquires.lasting, op, lasting);
	op->cluster->acquires.count--;
	op_free(op);
	if (inside && inside->over)
		inside->over(inside->arg);
	return next;
}

static void settle(struct bftm_acquire_op *op, int fate);

/* Forget a request; the next here may contend. */
static void acquire_end(struct bftm_acquire_op *op)
{
	struct bftm_acquire_op *next = acquire_detach(op);

	if (next)
		settle(next, bftm_attempt_start(next));
}

/* Tell the kernel that it failed. */
static void acquire_fail(struct bftm_acquire_op *op, int error)
{
	char text[BFTM_WHY_MAX];

	bftm_totals.unreachable += error == ENETUNREACH;
	if (!op->ask.inside)
		bftm_upcall_failed(op->ask.id, error, op->client->rounds,
				   bftm_report_why(op, error, text));
	acquire_end(op);
}

/* The contender @op has gone on: others here may begin, or fail as it would. */
static void settle_others(struct bftm_acquire_op *op)
{
	struct bftm_acquire_op *other;

	if (op->client->phase == BFTM_PHASE_HOLD) {
		other = bftm_name_won(op);
		if (other)
			settle(other, bftm_attempt_start(other));
	} else if (bftm_attempt_contended(op)) {
		/* They would be told the same. */
		while ((other = bftm_name_once(op->name)))
			acquire_fail(other, EWOULDBLOCK);
	}
}

/* A holder may exclude fewer than it did. */
static void begin_beside(struct bftm_name *name)
{
	struct bftm_acquire_op *next = bftm_name_next(name);

	if (next)
		settle(next, bftm_attempt_start(next));
}

static void settle(struct bftm_acquire_op *op, int fate)
{
	if (fate == BFTM_ATTEMPT_GOES_ON)
		bftm_report_wanted(op);
	if (fate == BFTM_ATTEMPT_OVER)
		acquire_end(op);
	else if (fate != BFTM_ATTEMPT_GOES_ON)
		acquire_fail(op, fate);
	else if (op == op->name->contender)
		settle_others(op);
	else if (op->place != BFTM_PLACE_WAITING)
		begin_beside(op->name);
}

static void acquire_expire(struct bftm_timer *timer)
{
	struct bftm_acquire_op *op = container_of(timer, struct bftm_acquire_op, timer);

	settle(op, bftm_attempt_wake(op));
}

/* Return: NULL without memory. */
static struct bftm_acquire_op *op_new(struct bftm_cluster *cl,
				      const struct bftm_ask *ask, bool adopted)
{
	struct bftm_acquire_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->cluster = cl;
	op->ask = *ask;
	op->timer.fire = acquire_expire;
	op->client = calloc(1, cl->protocol->client->size(cl->conf.n));
	if (!op->client || bftm_name_join(&cl->identity->names, op, adopted) < 0) {
		op_free(op);
		return NULL;
	}
	note_prio(op->name, ask->prio);
	RB_INSERT(ops, &ops, op);
	if (bftm_ask_lasts(ask))
		TAILQ_INSERT_TAIL(&cl->acquires.lasting, op, lasting);
	cl->acquires.count++;
	return op;
}

static int acquire_check(const struct bftm_cluster *cl, struct bftm_ask *ask, const char **ret_why)
{
	if (!cl)
		return ENOKEY;
	if (bftm_ask_lasts(ask))
		return bftm_lasting_check(cl, ret_why);
	if (!ask->lease_ns)
		ask->lease_ns = cl->conf.lease_ns;
	if (ask->lease_ns > cl->conf.lease_max_ns)
		return ERANGE;
	return 0;
}

/* Also one that is not the configuration any more: which servers are asked matters. */
static struct bftm_cluster *won_by(const struct bftm_ask *ask)
{
	struct bftm_cluster *cl = bftm_cluster_configured(ask->configuration);

	if (cl)
		return cl;
	/* An earlier daemon's, with other servers perhaps; of another client it is not ours. */
	cl = bftm_cluster_find(ask->cluster);
	if (cl && ask->configuration && !bftm_cluster_same_client(cl, ask->configuration))
		return NULL;
	return cl;
}

/* It asks once, and has to wait here: for more than the answers to one that it can hold beside? */
static bool has_lost(const struct bftm_acquire_op *op)
{
	const struct bftm_acquire_op *contender = op->name->contender;

	return bftm_name_excludes(op) || !contender || bftm_attempt_contended(contender);
}

static void tell_holders(const struct bftm_name *name)
{
	struct bftm_acquire_op *holder;

	TAILQ_FOREACH(holder, &name->holders, beside)
		bftm_report_wanted(holder);
}

/* Servers do not hear of this request yet, so they do not tell the holders of this host. */
static void wait_here(struct bftm_acquire_op *op)
{
	if (op->ask.timeout_at_ns)
		bftm_timer_arm(&op->timer, op->ask.timeout_at_ns);
	tell_holders(op->name);
}

void bftm_acquire_begin(const struct bftm_ask *arg)
{
	struct bftm_ask ask = *arg;
	struct bftm_cluster *cl = bftm_cluster_find(ask.cluster);
	struct bftm_acquire_op *op;
	const char *why = "";
	int error = acquire_check(cl, &ask, &why);

	if (cl)
		bftm_health_silent(cl, ask.configuration, ask.silent);
	op = error ? NULL : op_new(cl, &ask, false);
	if (!op && ask.inside)
		ask.inside->over(ask.inside->arg);
	else if (!op)
		bftm_upcall_failed(ask.id, error ?: ENOMEM, 0, why);
	if (!op)
		return;
	if (op->place == BFTM_PLACE_ACTIVE)
		settle(op, bftm_attempt_start(op));
	else if (ask.once && has_lost(op))
		acquire_fail(op, EWOULDBLOCK);
	else
		wait_here(op);
}

void bftm_acquire_cancel(u64 id)
{
	struct bftm_acquire_op *op = acquire_find(id);

	if (!op)
		return;
	/* The program never had it, so it wrote nothing. */
	bftm_attempt_leave(op, &(struct bftm_ask_value){});
	acquire_end(op);
}

void bftm_acquire_release(const struct bftm_ask *ask)
{
	struct bftm_acquire_op *op = acquire_find(ask->id);
	struct bftm_cluster *cl;
	struct bftm_name *name;

	bftm_totals.given_back++;
	bftm_lasting_gone(ask->id);
	if (op) {
		bftm_attempt_leave(op, &ask->value);
		acquire_end(op);
		return;
	}
	/* Won through an earlier daemon, or its lease is over. */
	cl = won_by(ask);
	if (!cl)
		return;
	name = bftm_name_find(&cl->identity->names, ask->name, ask->name_len);
	if (name)
		name->released_ns = bftm_now();
	/* This daemon does not know the grants by which the program would leave a value. */
	bftm_release_begin(cl, ask->name, ask->name_len, &(struct bftm_out){
		.release_attempt = ask->attempt, .release_to = bftm_cluster_everyone(cl),
		.release_doubt = ask->value.doubt || ask->value.left || ask->value.leaves.any,
		.release_surely = bftm_ask_lasts(ask),
	});
}

/*
 * An earlier daemon's attempts are not above what its successor began with; the kernel's, by
 * this daemon, are.
 */
static bool is_ours(const struct bftm_cluster *cl, const struct bftm_ask *ask)
{
	return ask->attempt <= cl->identity->orphan ||
	       (ask->attempt & BFTM_ATTEMPT_KERNEL &&
		cl->configuration == ask->configuration);
}

/* The kernel won it by itself, and no daemon has gone on with it: all servers know its mode. */
static bool is_whole(const struct bftm_acquire_op *op)
{
	return op->ask.attempt & BFTM_ATTEMPT_KERNEL &&
	       op->ask.attempt > op->cluster->identity->orphan;
}

/*
 * An earlier daemon won it, or the kernel by itself. @converted: the kernel may have noted that a
 * mode was given up. Return: NULL when it cannot be adopted.
 */
static struct bftm_acquire_op *acquire_adopt(const struct bftm_ask *arg, bool converted)
{
	struct bftm_cluster *cl = won_by(arg);
	struct bftm_ask ask = *arg;
	struct bftm_acquire_op *op = NULL;

	bftm_lasting_held(&ask);
	/* It has been waited for. */
	ask.timeout_at_ns = 0;
	if (cl && ask.lease_ns && ask.end_ns > bftm_now() && is_ours(cl, &ask))
		op = op_new(cl, &ask, true);
	if (!op) {
		/* It is held all the same. */
		bftm_lasting_missed(&ask);
		if (cl && cl->draining && !bftm_ask_lasts(&ask) && ask.end_ns > cl->draining_ns)
			cl->draining_ns = ask.end_ns;
		return NULL;
	}
	bftm_totals.adopted++;
	bftm_lasting_gone(ask.id);
	bftm_attempt_adopt(op, !converted && is_whole(op));
	return op;
}

void bftm_acquire_renew(const struct bftm_ask *ask)
{
	struct bftm_acquire_op *op = acquire_find(ask->id) ?: acquire_adopt(ask, false);
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];

	if (op)
		settle(op, bftm_attempt_renew(op));
	else
		bftm_log(LOG_WARNING,
			 "cluster %s: lock '%s' cannot be renewed by this configuration: it is lost at the end of its lease",
			 ask->cluster, bftm_shown(ask->name, ask->name_len, name, sizeof(name)));
}

void bftm_acquire_convert(const struct bftm_ask *ask)
{
	struct bftm_acquire_op *op = acquire_find(ask->id) ?: acquire_adopt(ask, true);
	const struct bftm_conversion_report failed = {
		.id = ask->id, .number = ask->conversion, .error = ENOKEY,
	};
	int fate;

	if (op) {
		op->told_wanted = BFTM_MODE_NL;
		fate = bftm_attempt_convert(op, ask);
		/*
		 * Servers tell a holder only until its first renewal, which comes at once where
		 * the daemon goes on with a lock of the kernel's.
		 */
		tell_holders(op->name);
		settle(op, fate);
	} else if (ask->conversion) {
		bftm_upcall_converted(&failed);
	}
}

void bftm_acquire_held(const struct bftm_ask *ask)
{
	struct bftm_acquire_op *op = acquire_find(ask->id) ?: acquire_adopt(ask, false);

	/* One that cannot be adopted is an obstacle at the servers only. */
	if (op)
		bftm_report_wanted(op);
}

void bftm_acquire_expired(const struct bftm_ask *ask)
{
	struct bftm_cluster *cl = bftm_cluster_find(ask->cluster);
	char text[BFTM_WHY_MAX] = "";
	int error = ETIMEDOUT;
	u32 answering;

	if (cl) {
		answering = bftm_all(cl->conf.n) &
			    ~bftm_health_silent(cl, ask->configuration, ask->silent);
		error = bftm_limit_errno(bftm_count(answering) < bftm_win(&cl->cfg));
		bftm_report_waited(cl, error, text);
	}
	bftm_totals.unreachable += error == ENETUNREACH;
	bftm_upcall_failed(ask->id, error, 0, text);
}

void bftm_acquire_lost(const struct bftm_ask *ask)
{
	struct bftm_cluster *cl = won_by(ask);

	if (!cl)
		return;
	bftm_health_silent(cl, ask->configuration, ask->silent);
	bftm_report_lost(cl, ask);
}

void bftm_acquire_evicted(struct bftm_cluster *cl, u32 incarnation)
{
	struct bftm_acquire_op key = {}, *op;

	while ((op = RB_NFIND(ops, &ops, &key))) {
		key.ask.id = op->ask.id + 1;
		if (op->cluster != cl || op->place == BFTM_PLACE_WAITING ||
		    op->client->attempt >> 32 > incarnation)
			continue;
		if (op->client->phase != BFTM_PHASE_HOLD) {
			bftm_attempt_give_back(op);
			acquire_fail(op, EACCES);
		} else if (bftm_ask_lasts(&op->ask)) {
			/* The kernel tells the program, and asks for the release. */
			bftm_upcall_evicted(op->ask.id);
		}
	}
}

void bftm_acquire_forget(void)
{
	struct bftm_acquire_op *op;
	struct bftm_cluster *cl;

	while ((op = RB_MIN(ops, &ops))) {
		/* Held locks stay held; requests that wait are cancelled. */
		if (op->client->phase != BFTM_PHASE_HOLD || op->ask.inside)
			bftm_attempt_give_back(op);
		op->cluster->identity->orphan = op->cluster->identity->counters->attempt |
						BFTM_ATTEMPT_KERNEL;
		acquire_detach(op);
	}
	TAILQ_FOREACH(cl, &bftm_clusters, list)
		bftm_identity_skip(cl->identity);
	bftm_lasting_forget();
}

static void say_short(const struct bftm_cluster *cl, const struct bftm_peer *peer, u64 lease_ns)
{
	char asked[24], most[24];

	bftm_log(LOG_WARNING, "cluster %s: server %u refuses a lease of %s; its lease-max is %s, or its "
		 "access rules allow less", cl->conf.name, peer->conf->id,
		 bftm_format_duration(lease_ns, asked, sizeof(asked)),
		 bftm_format_duration(peer->lease_max_ns, most, sizeof(most)));
}

/* Servers may be set up differently, or one lies; where it is needed, no lock can be had. */
static void note_refusal(struct bftm_cluster *cl, u32 u, const struct bftm_acquire_op *op,
			 u32 refusal)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];
	struct bftm_peer *peer = &cl->peer[u];

	if (refusal != BFTM_REFUSED_LEASE && refusal != BFTM_REFUSED_ACCESS &&
	    refusal != BFTM_REFUSED_LOCKS && refusal != BFTM_REFUSED_CLIENTS)
		return;
	peer->refusal = (u8)refusal;
	peer->refused_ns = bftm_now();
	if (!bftm_due(&peer->short_ns, BFTM_SAID_AGAIN_NS))
		return;
	bftm_shown(op->ask.name, op->ask.name_len, name, sizeof(name));
	if (refusal == BFTM_REFUSED_LEASE)
		say_short(cl, peer, op->ask.lease_ns);
	else
		bftm_log(LOG_WARNING, "cluster %s: server %u refuses lock '%s' to client %u: %s",
			 cl->conf.name, peer->conf->id, name, cl->cred.client,
			 bftm_refusal_name(refusal));
}

/* Of a grant, a place in the queue or a denial the roll was asked first. */
static void note_roll(struct bftm_peer *peer, const struct bftm_msg *msg)
{
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_UNNOTED)
		peer->unnoted = true;
	else if (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_WAIT ||
		 msg->type == BFTM_MSG_LOCKED)
		peer->unnoted = false;
}

void bftm_acquire_answer(struct bftm_cluster *cl, u32 u,
			 const struct bftm_msg *msg)
{
	struct bftm_name *name = bftm_name_find(&cl->identity->names, msg->name,
						msg->name_len);
	struct bftm_acquire_op *op = name ? bftm_name_op(name, msg->attempt) : NULL;
	struct bftm_out out;

	if (msg->type == BFTM_MSG_RELEASED) {
		bftm_release_answer_from(cl, u, msg);
		return;
	}
	/* Asked for before the configuration was read again. */
	if (op && op->cluster != cl)
		return;
	bftm_evidence_answer(cl, u, op, msg);
	if (!op || !bftm_contender_alive(op->client))
		bftm_release_late(cl, u, msg);
	if (op) {
		if (msg->type == BFTM_MSG_REFUSED)
			note_refusal(cl, u, op, msg->arg);
		else
			cl->peer[u].refusal = 0;
		if (bftm_ask_lasts(&op->ask))
			note_roll(&cl->peer[u], msg);
		settle(op, bftm_attempt_answer(op, u, msg));
		return;
	}
	/* Won through an earlier daemon, perhaps, or the kernel's, and still held. */
	if (msg->attempt & BFTM_ATTEMPT_KERNEL || !bftm_lasting_disowns(cl, msg->attempt))
		return;
	bftm_stray(msg, u, &out);
	if (out.release_to)
		bftm_release_begin(cl, msg->name, msg->name_len, &out);
}

void bftm_acquire_epoch(struct bftm_cluster *cl, u32 u,
			const struct bftm_msg *msg)
{
	struct bftm_name *name = bftm_name_find(&cl->identity->names, msg->name,
						msg->name_len);
	struct bftm_acquire_op *op = name ? bftm_name_op(name, msg->attempt) : NULL;

	if (op && op->cluster == cl)
		bftm_attempt_epoch(op, u);
}
