// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that are behind. A server takes those of a client that are above the ones before,
 * and drops all others, so a daemon that begins too low is ignored for good: its state
 * directory was lost while the clock was wrong, or two hosts have one client's keys.
 *
 * What b + 1 servers say is true of a correct one. If they have never taken a number of this
 * daemon, it goes on above theirs. If they have, somebody has used higher ones since, and
 * going on would only take the lead from him: then it is said, and no more.
 */
#include <inttypes.h>

#include "cluster.h"
#include "log.h"

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
		 "cluster %s: servers have taken higher numbers of client %u than this host used: its state directory was lost, its clock was set back, or another host has the same keys; going on with incarnation %u. If another host has them, make keys of its own for each",
		 cl->conf.name, cl->cred.client, cl->identity->incarnation);
	for (u = 0; u < cl->conf.n; u++)
		cl->peer[u].ahead = 0;
	bftm_hello(cl, bftm_cluster_everyone(cl));
}

void bftm_behind_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	u64 own = bftm_identity_seq(cl->identity), top;

	cl->peer[u].ahead = msg->gno;
	if (highest(cl, true) > own) {
		if (bftm_due(&cl->behind_ns, BFTM_SAID_AGAIN_NS))
			bftm_log(LOG_ERR,
				 "cluster %s: another host uses the keys of client %u: servers have taken its numbers, and drop ours, which are behind; make keys of its own for each host. If there is none, this machine was set back: restart bftmutexd",
				 cl->conf.name, cl->cred.client);
		return;
	}
	top = highest(cl, false);
	if (top > own)
		go_on(cl, top);
}
