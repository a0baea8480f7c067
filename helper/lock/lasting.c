// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "core/peer.h"
#include "cluster/cluster.h"
#include "cluster/member.h"
#include "kernel/upcall.h"
#include "loop/log.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/lasting.h"
#include "text/shown.h"

/** struct missed - a lock that the kernel holds and this daemon does not know more of */
struct missed {
	LIST_ENTRY(missed) list;
	u64 configuration;
	u64 id;
	u64 attempt;
	bool lasts;
};

static LIST_HEAD(, missed) all_missed = LIST_HEAD_INITIALIZER(all_missed);
/* There was no memory to remember one: until the kernel tells again, this daemon knows nothing. */
static bool lacks_one;

int bftm_lasting_check(const struct bftm_cluster *cl, const char **ret_why)
{
	*ret_why = "";
	if (!cl->conf.leaseless)
		*ret_why = "this host is no member of the cluster: its configuration does not say \"leaseless = yes\"";
	else if (!cl->identity->boot)
		*ret_why = "this machine was cloned or set back, or bftmutexd ran in another network namespace: it takes no lock without a lease before it is booted";
	if (**ret_why)
		return EACCES;
	return cl->protocol->client->restarted ? 0 : EPROTONOSUPPORT;
}

void bftm_lasting_epoch(struct bftm_cluster *cl, u32 u)
{
	struct bftm_acquire_op *op;

	TAILQ_FOREACH(op, &cl->acquires.lasting, lasting)
		bftm_attempt_restarted(op, u);
}

/* The sections of a client may have been renamed or removed since. Of an unknown one all may be. */
static bool is_of(u64 configuration, const struct bftm_cluster *cl)
{
	return !configuration || bftm_cluster_same_client(cl, configuration);
}

/* SYNC ends a lease of what it takes for an earlier boot, too. */
static bool blocks(const struct missed *m, const struct bftm_cluster *cl)
{
	return is_of(m->configuration, cl) &&
	       (m->lasts || m->attempt >> 32 < cl->identity->boot);
}

/* The kernel has told all that is held, and all of it was taken over. */
static bool knows_all(const struct bftm_cluster *cl)
{
	const struct missed *m;

	if (!bftm_upcall_pulled_ns() || lacks_one)
		return false;
	LIST_FOREACH(m, &all_missed, list)
		if (blocks(m, cl))
			return false;
	return true;
}

/* Have the locks of this configuration been told to the server @id, in that epoch? */
static bool have_told(const struct bftm_cluster *cl, u16 id, u64 epoch)
{
	const struct bftm_acquire_op *op;
	u32 u;

	for (u = 0; u < cl->conf.n && cl->conf.server[u].id != id; u++)
		;
	if (u == cl->conf.n)
		return true;
	TAILQ_FOREACH(op, &cl->acquires.lasting, lasting)
		if (cl->peer[u].known.epoch != epoch ||
		    !cl->protocol->client->retold(op->client, u))
			return false;
	return true;
}

bool bftm_lasting_told(struct bftm_cluster *cl, u32 u)
{
	const struct bftm_cluster *other;

	if (!knows_all(cl))
		return false;
	TAILQ_FOREACH(other, &bftm_clusters, list)
		if (other->identity == cl->identity &&
		    !have_told(other, cl->conf.server[u].id, cl->peer[u].known.epoch))
			return false;
	return true;
}

static bool is_missed(const struct bftm_cluster *cl, u64 attempt)
{
	const struct missed *m;

	LIST_FOREACH(m, &all_missed, list)
		if (m->attempt == attempt && is_of(m->configuration, cl))
			return true;
	return false;
}

/*
 * This daemon has not drawn it. Its own numbers do not always begin above those of an earlier one:
 * the state directory and the clock may have been set back.
 */
static bool is_earlier(const struct bftm_identity *identity, u64 attempt)
{
	u64 last = identity->counters->attempt;

	return attempt <= identity->orphan || attempt >> 32 < last >> 32 || attempt > last;
}

bool bftm_lasting_disowns(const struct bftm_cluster *cl, u64 attempt)
{
	if (is_missed(cl, attempt))
		return false;
	if (!is_earlier(cl->identity, attempt))
		return true;
	return bftm_is_member(cl) && bftm_disowns(attempt, cl->identity->boot, knows_all(cl));
}

void bftm_lasting_held(const struct bftm_ask *ask)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (is_of(ask->configuration, cl))
			bftm_identity_holds(cl->identity, ask->attempt);
}

static void say_missed(const struct bftm_ask *ask)
{
	char name[BFTM_SHOWN_ROOM(BFTM_NAME_LEN_MAX)];

	if (bftm_ask_lasts(ask))
		bftm_log(LOG_WARNING,
			 "cluster %s: lock '%s' is held without a lease, and this configuration cannot take it over: until it is released, servers that restart wait for this host",
			 ask->cluster, bftm_shown(ask->name, ask->name_len, name, sizeof(name)));
}

void bftm_lasting_missed(const struct bftm_ask *ask)
{
	struct missed *m;

	LIST_FOREACH(m, &all_missed, list)
		if (m->id == ask->id)
			return;
	say_missed(ask);
	m = malloc(sizeof(*m));
	if (!m) {
		lacks_one = true;
		return;
	}
	*m = (struct missed){
		.configuration = ask->configuration, .id = ask->id, .attempt = ask->attempt,
		.lasts = bftm_ask_lasts(ask),
	};
	LIST_INSERT_HEAD(&all_missed, m, list);
}

void bftm_lasting_gone(u64 id)
{
	struct missed *m, *next;

	for (m = LIST_FIRST(&all_missed); m; m = next) {
		next = LIST_NEXT(m, list);
		if (m->id != id)
			continue;
		LIST_REMOVE(m, list);
		free(m);
	}
}

void bftm_lasting_forget(void)
{
	struct missed *m;

	while ((m = LIST_FIRST(&all_missed))) {
		LIST_REMOVE(m, list);
		free(m);
	}
	lacks_one = false;
}
