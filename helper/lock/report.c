// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "lock/acquire.h"
#include "cluster/cluster.h"
#include "cluster/health.h"
#include "loop/log.h"
#include "lock/lasting.h"
#include "lock/report.h"
#include "kernel/upcall.h"
#include "text/mode.h"
#include "text/shown.h"

#define LOSSES_SAID 10	/* in BFTM_SAID_AGAIN_NS */

static u64 end_of(const struct bftm_acquire_op *op)
{
	return op->cluster->protocol->client->end(op->client, &op->cluster->cfg);
}

/* Return: @ret, or NULL when nobody asked for the value. */
static const struct bftm_value_told *value_of(const struct bftm_acquire_op *op,
					      struct bftm_value_told *ret)
{
	const struct bftm_client_ops *core = op->cluster->protocol->client;

	if (!op->ask.value.wanted || !core->value)
		return NULL;
	core->value(op->client, &op->cluster->cfg, bftm_now(), ret);
	return ret;
}

/* Only these say that the kernel did not take it. */
static bool not_taken(int err)
{
	return err == -ESTALE || err == -EPERM || err == -EINVAL || err == -ERANGE ||
	       err == -ECANCELED;
}

bool bftm_report_won(struct bftm_acquire_op *op)
{
	const struct bftm_contender *c = op->client;
	struct bftm_value_told value;
	const struct bftm_won won = {
		.id = op->ask.id,
		.cluster = op->cluster->conf.name,
		.lease_ns = c->want.lease_ns,
		.attempt = c->attempt,
		.end_ns = end_of(op),
		.attempts = c->rounds,
		.token = c->want.fence ? c->token : 0,
		.configuration = op->cluster->configuration,
		.sends = c->sends,
		.value = value_of(op, &value),
	};
	int err;

	op->told_sends = c->sends;
	op->told_token = won.token;
	if (op->ask.inside) {
		op->ask.inside->won(op->ask.inside->arg);
		return true;
	}
	err = bftm_upcall_won(&won);
	/* When nobody knows whether it arrived, it may be held. */
	return !not_taken(err);
}

bool bftm_report_renewed(struct bftm_acquire_op *op)
{
	int err;

	op->told_sends = op->client->sends;
	if (op->ask.inside)
		return true;
	err = bftm_upcall_renewed(op->ask.id, end_of(op), op->client->sends);
	return err != -ESTALE;
}

int bftm_report_converted(struct bftm_acquire_op *op, int error)
{
	const struct bftm_contender *c = op->client;
	bool stamped = op->ask.convert_fence && c->token != op->told_token;
	struct bftm_value_told value;
	const struct bftm_conversion_report report = {
		.id = op->ask.id,
		.number = op->ask.conversion,
		.error = error,
		.end_ns = end_of(op),
		.token = stamped ? c->token : 0,
		.sends = c->sends,
		.value = value_of(op, &value),
	};

	op->told_sends = c->sends;
	op->told_token = c->token;
	return bftm_upcall_converted(&report);
}

void bftm_report_wanted(struct bftm_acquire_op *op)
{
	enum bftm_mode mode = bftm_ask_mode(&op->ask);
	int err;

	if (op->client->phase != BFTM_PHASE_HOLD || op->ask.inside || op->told_wanted == mode ||
	    !(op->client->wanted || bftm_name_wanted(op)))
		return;
	err = bftm_upcall_wanted(op->ask.id, op->ask.mode);
	/* No report in this mode will do better; after another error, one may. */
	if (!err || err == -ESTALE || err == -EOPNOTSUPP)
		op->told_wanted = mode;
}

const char *bftm_report_why(const struct bftm_acquire_op *op, int error, char text[BFTM_WHY_MAX])
{
	if (op->hindered)
		return bftm_hindered_why(op, text);
	if (error == EPROTONOSUPPORT && op->ask.mode != BFTM_LOCK_EX &&
	    !bftm_cluster_outdated(op->cluster)) {
		snprintf(text, BFTM_WHY_MAX, "%u servers or more grant no mode %s, but EX alone",
			 op->cluster->conf.b + 1, bftm_mode_name(op->ask.mode));
		return text;
	}
	if (error == EACCES && op->cluster->evicted &&
	    op->cluster->evicted >= op->client->attempt >> 32) {
		snprintf(text, BFTM_WHY_MAX,
			 "servers have evicted this host; restart bftmutexd when it may take locks again");
		return text;
	}
	if (error == EACCES && bftm_ask_lasts(&op->ask)) {
		snprintf(text, BFTM_WHY_MAX,
			 "of %u servers or more no access rule says \"leaseless = yes\" for client %u and this lock",
			 op->cluster->conf.b + 1, op->cluster->cred.client);
		return text;
	}
	if (error != EWOULDBLOCK && error != ETIMEDOUT && error != ENETUNREACH)
		return "";
	if (op->place == BFTM_PLACE_ACTIVE) {
		bftm_health_why(op->cluster, text);
		if (!*text && bftm_ask_lasts(&op->ask))
			bftm_health_unnoted(op->cluster, text);
		return *text || error != ETIMEDOUT ? text : bftm_health_awaits(op->cluster, text);
	}
	return error == ETIMEDOUT ? "another program of this host has it, or asked for it before" : "";
}

void bftm_report_waited(const struct bftm_cluster *cl, int error, char text[BFTM_WHY_MAX])
{
	if (!*bftm_health_why(cl, text) && error == ETIMEDOUT)
		bftm_health_awaits(cl, text);
}

void bftm_report_refused(const struct bftm_acquire_op *op, u32 refusal)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)], list[128];
	struct bftm_cluster *cl = op->cluster;

	if (!bftm_due(&cl->refused_ns, BFTM_SAID_AGAIN_NS))
		return;
	bftm_shown(op->ask.name, op->ask.name_len, name, sizeof(name));
	bftm_health_names(cl, bftm_words_refused(&op->words, refusal), list, sizeof(list));
	bftm_log(LOG_WARNING, "cluster %s: lock '%s' is refused to client %u by %s: %s", cl->conf.name,
		 name, cl->cred.client, list, bftm_refusal_name(refusal));
}

void bftm_report_lost(struct bftm_cluster *cl, const struct bftm_ask *ask)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)], health[BFTM_WHY_MAX];

	if (ask->inside)
		return;
	if (bftm_due(&cl->lost_ns, BFTM_SAID_AGAIN_NS))
		cl->losses = 0;
	if (++cl->losses > LOSSES_SAID)
		return;
	bftm_shown(ask->name, ask->name_len, name, sizeof(name));
	if (!ask->renew)
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
