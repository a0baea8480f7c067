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
	/* The kernel learns later epochs from CHALLENGE, as this daemon does. */
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

/** struct terms - what an older module, or this host, may not have */
struct terms {
	u8 ask;
	bool ingress;
};

static void put_session(struct nl_msg *msg, const struct bftm_cluster *cl,
			const struct terms *terms)
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
	if (terms->ask != BFTMUTEX_ASK_ALL)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_ASK, terms->ask);
	if (terms->ingress)
		nla_put_string(msg, BFTMUTEX_A_SESSION_INGRESS, conf->ingress);
	if (conf->backoff)
		nla_put_flag(msg, BFTMUTEX_A_SESSION_BACKOFF);
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

/* Without peers: what the kernel may have is taken back. Return: 0, or what the kernel says. */
static int revoke(struct bftm_cluster *cl)
{
	struct nl_msg *msg = lend_msg(cl, 0);
	int err = msg ? bftm_upcall_call(msg) : -ENOMEM;

	cl->lent = cl->ingress = false;
	/* The loan is not true any more: by it the kernel must win no further lock. */
	if (err)
		bftm_upcall_again();
	return err;
}

/* Return: what the kernel says, or -ENOMEM; with its words in @ret_words, also when it agrees; "" for none. */
static int lend(const struct bftm_cluster *cl, const struct terms *terms, int *ret_blamed,
		const char **ret_words)
{
	struct nl_msg *msg = lend_msg(cl, cl->conf.n);
	int err;

	*ret_blamed = 0;
	*ret_words = "";
	if (!msg)
		return -ENOMEM;
	put_session(msg, cl, terms);
	err = bftm_upcall_call(msg);
	*ret_blamed = bftm_upcall_blames(ret_words);
	return err;
}

/*
 * Return: are there terms left to which the kernel may agree? A module that knows an attribute
 * refuses a value of it by another error than EINVAL.
 */
static bool give_way(const struct bftm_cluster *cl, int err, int blamed, const char *words,
		     struct terms *terms)
{
	if (err == -EINVAL && blamed == BFTMUTEX_A_SESSION_ASK && terms->ask != BFTMUTEX_ASK_ALL) {
		terms->ask = BFTMUTEX_ASK_ALL;
		return true;
	}
	if (blamed != BFTMUTEX_A_SESSION_INGRESS || !terms->ingress)
		return false;
	bftm_log(LOG_WARNING, "cluster %s: key 'ingress' = '%s': %s; answers of servers come through IP",
		 cl->conf.name, cl->conf.ingress,
		 err == -EINVAL ? "the loaded module does not know it" : words);
	terms->ingress = false;
	return true;
}

void bftm_lend(struct bftm_cluster *cl)
{
	struct terms terms = { .ask = cl->conf.ask, .ingress = *cl->conf.ingress };
	const char *words;
	int err, blamed;

	if (!can_lend(cl)) {
		revoke(cl);	/* an earlier daemon may have lent it */
		return;
	}
	do
		err = lend(cl, &terms, &blamed, &words);
	while (err && give_way(cl, err, blamed, words, &terms));
	if (!err && terms.ask != cl->conf.ask)
		bftm_log(LOG_NOTICE, "cluster %s: the loaded module does not know \"ask = %s\", so "
			 "the kernel asks all servers; load the module of this version",
			 cl->conf.name, bftm_ask_name(cl->conf.ask));
	cl->lent = !err;
	cl->ingress = !err && terms.ingress;
	if (cl->ingress && *words)
		bftm_log(LOG_NOTICE, "cluster %s: key 'ingress' = '%s': %s; answers of servers come "
			 "through IP until it has one", cl->conf.name, cl->conf.ingress, words);
	cl->lend_later = err == -ENOMEM || err == -ENOBUFS;
	if (!err)
		return;
	bftm_log(LOG_WARNING, "cluster %s: the kernel takes no locks by itself: %s%s%s",
		 cl->conf.name, strerror(-err), *words ? ": " : "", words);
	revoke(cl);	/* what was lent before is not true any more */
}

void bftm_lend_again(struct bftm_cluster *cl)
{
	if (!cl->lent && cl->lend_later && can_lend(cl) && bftm_upcall_is_open() &&
	    bftm_due(&cl->lend_ns, AGAIN_NS))
		bftm_lend(cl);
}

/* @cl drains, and no cluster has taken its place. Perhaps its loan could not be taken back. */
static bool is_over(const struct bftm_cluster *cl)
{
	const struct bftm_cluster *other;

	TAILQ_FOREACH(other, &bftm_clusters, list)
		if (!other->draining && !strcmp(other->conf.name, cl->conf.name))
			return false;
	return true;
}

/*
 * By the state file this is the first incarnation of the boot to which the kernel listens. If the
 * kernel holds locks by another one, SYNC would end them. So the loan is taken back: the kernel
 * tells this daemon of these locks, and the daemon tells servers of them before its first SYNC.
 * Return: false when that failed, and is tried again by the next registration.
 */
static bool begin_boot(struct bftm_cluster *cl)
{
	if (cl->identity->lends)
		return true;
	if (revoke(cl))
		return false;
	bftm_identity_lends(cl->identity);
	return true;
}

/*
 * HELLO comes after the loan. Its number is above all that the kernel draws from the counters of an
 * earlier daemon, and a server that has taken it takes no lower one any more. The CHALLENGE that
 * answers HELLO tells the kernel the epoch, too.
 */
void bftm_lend_all(void)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (is_over(cl))
			revoke(cl);
	TAILQ_FOREACH(cl, &bftm_clusters, list) {
		if (cl->draining || !begin_boot(cl))
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
		cl->lent = cl->ingress = false;
}
