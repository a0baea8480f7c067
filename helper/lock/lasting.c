// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "core/peer.h"
#include "cluster/cluster.h"
#include "cluster/member.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/lasting.h"

/** struct missed - a lock that the kernel holds and this daemon does not know more of */
struct missed {
	LIST_ENTRY(missed) list;
	const struct bftm_identity *identity;
	u64 id;
	u64 attempt;
	bool lasts;
};

static LIST_HEAD(, missed) all_missed = LIST_HEAD_INITIALIZER(all_missed);
/* There was no memory to remember one: until the kernel tells again, this daemon knows nothing. */
static bool lacks_one;

bool bftm_ask_lasts(const struct bftm_ask *ask)
{
	return ask->lease_ns == BFTM_LEASE_NONE;
}

int bftm_lasting_check(const struct bftm_cluster *cl, const char **ret_why)
{
	*ret_why = "";
	if (!cl->conf.leaseless)
		*ret_why = "this host is no member of the cluster: its configuration does not say \"leaseless = yes\"";
	else if (!cl->identity->boot)
		*ret_why = "this machine was cloned or set back: it takes no lock without a lease before it is booted";
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

/* The kernel has told all that is held, and all of it was taken over. */
static bool knows_all(const struct bftm_identity *identity)
{
	const struct missed *m;

	if (!bftm_upcall_pulled_ns() || lacks_one)
		return false;
	LIST_FOREACH(m, &all_missed, list)
		if (m->identity == identity && m->lasts)
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

	if (!knows_all(cl->identity))
		return false;
	TAILQ_FOREACH(other, &bftm_clusters, list)
		if (other->identity == cl->identity &&
		    !have_told(other, cl->conf.server[u].id, cl->peer[u].known.epoch))
			return false;
	return true;
}

bool bftm_lasting_disowns(const struct bftm_cluster *cl, u64 attempt)
{
	const struct missed *m;

	LIST_FOREACH(m, &all_missed, list)
		if (m->identity == cl->identity && m->attempt == attempt)
			return false;
	return bftm_is_member(cl) &&
	       bftm_disowns(attempt, cl->identity->boot, knows_all(cl->identity));
}

void bftm_lasting_missed(const struct bftm_identity *identity, const struct bftm_ask *ask)
{
	struct missed *m;

	bftm_lasting_gone(ask->id);
	m = malloc(sizeof(*m));
	if (!m) {
		lacks_one = true;
		return;
	}
	*m = (struct missed){
		.identity = identity, .id = ask->id, .attempt = ask->attempt,
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
