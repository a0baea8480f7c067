// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "loop/log.h"
#include "kernel/nl.h"
#include "kernel/upcall.h"

/* The kernel may have had no memory for a loan. */
#define AGAIN_NS	(60 * BFTM_NS_PER_SEC)

/* Room in a message for all but the servers, and for each of them. */
#define ROOM		512
#define PEER_ROOM	128

static void put_peer(struct nl_msg *msg, const struct bftm_cluster *cl, u32 u)
{
	const struct bftm_peer *peer = &cl->peer[u];
	const struct sockaddr_in6 *addr = &peer->conf->addr;
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);

	nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, peer->conf->id);
	/* The kernel learns others from CHALLENGE, as this daemon does. */
	if (peer->known.epoch)
		nla_put_u64(msg, BFTMUTEX_A_PEER_EPOCH, peer->known.epoch);
	nla_put(msg, BFTMUTEX_A_PEER_ADDRESS, sizeof(addr->sin6_addr), &addr->sin6_addr);
	nla_put_u16(msg, BFTMUTEX_A_PEER_PORT, ntohs(addr->sin6_port));
	nla_put_u32(msg, BFTMUTEX_A_PEER_IFINDEX, addr->sin6_scope_id);
	nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(peer->pair->request),
		peer->pair->request);
	nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(peer->pair->reply), peer->pair->reply);
	nla_nest_end(msg, nest);
}

static void put_session(struct nl_msg *msg, const struct bftm_cluster *cl, u8 ask)
{
	const struct bftm_conf_cluster *conf = &cl->conf;
	u32 u;

	if (bftm_cluster_find("") == cl)
		nla_put_flag(msg, BFTMUTEX_A_SESSION_STANDARD);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLUSTER_ID, conf->id);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLIENT_ID, cl->cred.client);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_LIARS, conf->b);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_RHO_PPM, conf->rho_ppm);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_DELTA_NS, conf->delta_ns);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_NS, conf->lease_ns);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_MAX_NS, conf->lease_max_ns);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_COUNTERS, (uintptr_t)cl->identity->counters);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_SOCKET, (u32)cl->socket.fd);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_CONFIGURATION, cl->configuration);
	if (conf->m)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_NEEDED, conf->m);
	if (cl->cfg.forgetful)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_FORGETFUL, cl->cfg.forgetful);
	/* An older module, which asks all servers, would refuse the attribute. */
	if (ask != BFTMUTEX_ASK_ALL)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_ASK, ask);
	for (u = 0; u < conf->n; u++)
		put_peer(msg, cl, u);
}

static bool can_lend(const struct bftm_cluster *cl)
{
	return cl->conf.fast_path && !cl->conf.literal && !cl->draining;
}

/* NULL: no memory, or no kernel. */
static struct nl_msg *lend_msg(const struct bftm_cluster *cl, u32 peers)
{
	struct nl_msg *msg = bftm_upcall_msg(BFTMUTEX_CMD_HELPER_LEND, ROOM + peers * PEER_ROOM);

	if (msg)
		nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, cl->conf.name);
	return msg;
}

/* Without peers: what the kernel may have is taken back. */
static void revoke(struct bftm_cluster *cl)
{
	struct nl_msg *msg = lend_msg(cl, 0);

	cl->lent = false;
	/* The loan is not true any more: by it the kernel must win no further lock. */
	if (!msg || bftm_upcall_call(msg))
		bftm_upcall_again();
}

/* Return: what the kernel says, or -ENOMEM. */
static int lend(const struct bftm_cluster *cl, u8 ask)
{
	struct nl_msg *msg = lend_msg(cl, cl->conf.n);

	if (!msg)
		return -ENOMEM;
	put_session(msg, cl, ask);
	return bftm_upcall_call(msg);
}

void bftm_lend(struct bftm_cluster *cl)
{
	int err;

	if (!can_lend(cl)) {
		revoke(cl);	/* an earlier daemon may have lent it */
		return;
	}
	err = lend(cl, cl->conf.ask);
	if (err == -EINVAL && cl->conf.ask != BFTMUTEX_ASK_ALL) {
		err = lend(cl, BFTMUTEX_ASK_ALL);
		if (!err)
			bftm_log(LOG_NOTICE, "cluster %s: the loaded module does not know \"ask = %s\", so "
				 "the kernel asks all servers; load the module of this version",
				 cl->conf.name, bftm_ask_name(cl->conf.ask));
	}
	cl->lent = !err;
	if (!err)
		return;
	bftm_log(LOG_WARNING, "cluster %s: the kernel takes no locks by itself: %s",
		 cl->conf.name, strerror(-err));
	revoke(cl);	/* what was lent before is not true any more */
}

void bftm_lend_again(struct bftm_cluster *cl)
{
	if (!cl->lent && can_lend(cl) && bftm_upcall_is_open() && bftm_due(&cl->lend_ns, AGAIN_NS))
		bftm_lend(cl);
}

/* It drains, and no other takes its place: to take it back may have failed. */
static bool is_over(const struct bftm_cluster *cl)
{
	const struct bftm_cluster *other;

	TAILQ_FOREACH(other, &bftm_clusters, list)
		if (!other->draining && !strcmp(other->conf.name, cl->conf.name))
			return false;
	return true;
}

/*
 * The first incarnation of a boot, as far as the state file tells: what the kernel holds is of
 * another, which SYNC must not end. So it becomes this daemon's, and is told before the first SYNC.
 */
static bool begins_boot(struct bftm_identity *id)
{
	bool begins = id->boot && id->boot == id->incarnation && !id->lends;

	id->lends = true;
	return begins;
}

/*
 * HELLO comes second: its number is above all that the kernel draws for what an earlier daemon has
 * lent, and servers take none below it any more. Its CHALLENGE tells the kernel of epochs.
 */
void bftm_lend_all(void)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (is_over(cl) || begins_boot(cl->identity))
			revoke(cl);
	TAILQ_FOREACH(cl, &bftm_clusters, list) {
		if (cl->draining)
			continue;
		bftm_lend(cl);
		bftm_hello(cl, bftm_cluster_everyone(cl));
	}
}

void bftm_lend_end(struct bftm_cluster *cl)
{
	if (cl->lent)
		revoke(cl);
}

void bftm_lend_forget(void)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		cl->lent = false;
}
