// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that are behind. A server takes those of a client that are above the ones before,
 * and drops all others, so a daemon that begins too low is ignored for good: its state
 * directory was lost while the clock was wrong, or two hosts have one client's keys.
 *
 * Of b + 1 servers that say so one is correct. If these servers have never taken a number of this
 * daemon, it goes on above theirs. If they have, another host has used higher numbers since, and
 * going on would only take the lead from that host: the daemon then logs it, and no more.
 *
 * A virtual machine that was set back has used numbers that it does not remember. Where its
 * host tells it so it goes on in the next incarnation; if the clock was set back as well, that
 * may be used up too, and servers say so.
 */
#include <inttypes.h>

#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "kernel/upcall.h"
#include "loop/log.h"

/* The highest number that a correct server has taken, of those that did (not) take ours. */
static u64 highest(const struct bftm_cluster *cl, bool taken)
{
	u64 ahead[BFTM_SERVERS_MAX];
	u32 u;

	for (u = 0; u < cl->conf.n; u++)
		ahead[u] = cl->peer[u].taken == taken ? cl->peer[u].ahead : 0;
	return bftm_kth_largest(ahead, cl->conf.n, cl->conf.b + 1);
}

static void go_on(struct bftm_cluster *cl, u64 top)
{
	u32 u;

	if (bftm_identity_pass(cl->identity, top) < 0)
		return;
	bftm_log(LOG_WARNING,
		 "cluster %s: servers have taken higher numbers of client %u than this host used: its state directory was lost, its clock was set back, or another host has the same keys; going on with incarnation %u. If another host has the keys, make keys of its own for each host",
		 cl->conf.name, cl->cred.client, cl->identity->incarnation);
	for (u = 0; u < cl->conf.n; u++)
		cl->peer[u].ahead = 0;
	/* The kernel has refused numbers below those of an earlier daemon: lend it the new ones. */
	if (!cl->draining && !cl->lent && bftm_upcall_is_open())
		bftm_lend(cl);
	bftm_hello(cl, bftm_cluster_everyone(cl));
}

int bftm_clusters_restored(void)
{
	struct bftm_cluster *cl;
	int err;
	u32 u;

	TAILQ_FOREACH(cl, &bftm_clusters, list) {
		err = bftm_identity_restored(cl->identity);
		if (err)
			return err;
		for (u = 0; u < BFTM_SERVICES; u++)
			if (bftm_services[u]->restored)
				bftm_services[u]->restored(cl->identity);
		/* Answers to what was sent before say nothing; servers may have taken more. */
		cl->first_seq = bftm_identity_seq(cl->identity);
		for (u = 0; u < cl->conf.n; u++) {
			cl->peer[u].taken = false;
			cl->peer[u].ahead = 0;
		}
		bftm_log(LOG_WARNING,
			 "cluster %s: this virtual machine was cloned or set back; client %u goes on with incarnation %u. A clone needs keys of its own",
			 cl->conf.name, cl->cred.client, cl->identity->incarnation);
		bftm_hello(cl, bftm_cluster_everyone(cl));
	}
	return 0;
}

void bftm_behind_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	u64 own = bftm_identity_seq(cl->identity), top;

	cl->peer[u].ahead = msg->gno;
	if (highest(cl, true) > own) {
		if (bftm_due(&cl->behind_ns, BFTM_SAID_AGAIN_NS))
			bftm_log(LOG_ERR,
				 "cluster %s: another host uses the keys of client %u: servers have taken its numbers, and drop ours, which are behind; make keys of its own for each host. If no other host has them, this machine was set back: restart bftmutexd",
				 cl->conf.name, cl->cred.client);
		return;
	}
	top = highest(cl, false);
	if (top > own)
		go_on(cl, top);
}
