// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "core/lease.h"
#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "crypto/digest.h"
#include "crypto/rank_keys.h"
#include "kernel/upcall.h"
#include "loop/log.h"

#define PROBE_NS	(1 * BFTM_NS_PER_SEC)

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

/* Name of the default cluster. */
static char standard[BFTM_CLUSTER_MAX + 1];

static void cluster_free(struct bftm_cluster *cl);

/* Locks that the kernel won by it became the daemon's at once, but have to be pulled. */
static bool is_drained(const struct bftm_cluster *cl)
{
	return cl->draining && !cl->acquires.count && bftm_upcall_pulled_ns() > cl->draining_ns;
}

static bool others_drain(const struct bftm_cluster *cl)
{
	const struct bftm_cluster *other;

	TAILQ_FOREACH(other, &bftm_clusters, list)
		if (other != cl && other->draining && other->conf.id == cl->conf.id)
			return true;
	return false;
}

static void probe(struct bftm_timer *timer)
{
	struct bftm_cluster *cl = container_of(timer, struct bftm_cluster, probe);

	if (is_drained(cl)) {
		/*
		 * An administrator who changes servers waits for this line: it covers all old ones.
		 */
		bftm_log(LOG_INFO, others_drain(cl) ?
			 "cluster %s: an old configuration has ended, an older one is still used" :
			 "cluster %s: its old configuration is not used any more", cl->conf.name);
		TAILQ_REMOVE(&bftm_clusters, cl, list);
		cluster_free(cl);
		return;
	}
	bftm_probe(cl);
	bftm_timer_arm(timer, bftm_now() + PROBE_NS);
}

static int match_keys(struct bftm_cluster *cl)
{
	u32 u, i;

	if (cl->cred.cluster != cl->conf.id) {
		bftm_log(LOG_ERR, "%s: has keys for cluster %u, but cluster %s has id = %u",
			 cl->conf.credentials, cl->cred.cluster, cl->conf.name,
			 cl->conf.id);
		return -EINVAL;
	}
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		peer->conf = &cl->conf.server[u];
		peer->token = BFTM_TOKEN_UNKNOWN;
		for (i = 0; i < cl->cred.count; i++)
			if (cl->cred.key[i].server == peer->conf->id)
				break;
		if (i == cl->cred.count) {
			bftm_log(LOG_ERR, "%s: has no key for server %u of cluster %s",
				 cl->conf.credentials, peer->conf->id, cl->conf.name);
			return -ENOKEY;
		}
		peer->pair = &cl->cred.key[i].pair;
		peer->request_mac = bftm_mac_new(peer->pair->request);
		peer->reply_mac = bftm_mac_new(peer->pair->reply);
		if (!peer->request_mac || !peer->reply_mac)
			return -ENOMEM;
	}
	return 0;
}

/* Addresses of a link are of no use without its interface. */
static int check_zones(const struct bftm_cluster *cl)
{
	const struct bftm_conf_server *server;
	u32 u;

	for (u = 0; u < cl->conf.n; u++) {
		server = &cl->conf.server[u];
		if (!*server->zone || server->addr.sin6_scope_id)
			continue;
		bftm_log(LOG_ERR, "cluster %s: server %u: this network namespace has no interface '%s'",
			 cl->conf.name, server->id, server->zone);
		return -ENODEV;
	}
	return 0;
}

static int load_keys(struct bftm_cluster *cl)
{
	const struct bftm_conf_cluster *conf = &cl->conf;
	int err = bftm_credentials_load(conf->credentials, &cl->cred);

	if (!err)
		err = match_keys(cl);
	if (!err && conf->signed_ranks)
		err = bftm_rank_keys_load(conf->credentials, conf->id, cl->cred.client,
					  &cl->rank_keys);
	return err;
}

static void cluster_free(struct bftm_cluster *cl)
{
	u32 u;

	bftm_timer_stop(&cl->probe);
	bftm_lend_end(cl);
	bftm_cluster_close(cl);
	for (u = 0; u < cl->conf.n; u++) {
		bftm_mac_free(cl->peer[u].request_mac);
		bftm_mac_free(cl->peer[u].reply_mac);
	}
	bftm_rank_keys_free(cl->rank_keys);
	bftm_identity_put(cl->identity);
	explicit_bzero(&cl->cred, sizeof(cl->cred));
	free(cl);
}

static void set_ask(struct bftm_cluster *cl)
{
	u32 u;

	if (cl->conf.ask == BFTMUTEX_ASK_ALL)
		return;
	bftm_ask_start(&cl->ask, cl->conf.ask == BFTMUTEX_ASK_AUTO);
	for (u = 0; u < cl->conf.n; u++)
		bftm_ask_server(&cl->ask, u, cl->conf.id, cl->conf.server[u].id);
	cl->cfg.ask = &cl->ask;
}

static void set_cfg(struct bftm_cluster *cl)
{
	const struct bftm_conf_cluster *conf = &cl->conf;

	cl->protocol = bftm_protocol_of(conf->proto);
	cl->cfg = (struct bftm_client_cfg){
		.n = conf->n,
		.b = conf->b,
		.m = conf->m,
		.rho_ppm = conf->rho_ppm,
		.literal = conf->literal,
		.leaseless = !(cl->protocol->traits & BFTM_LEASED),
		.polynomial = conf->retry == BFTM_RETRY_POLYNOMIAL,
		.exponent = conf->exponent,
		.delta_ns = conf->delta_ns,
		.resend_ns = BFTM_RESEND_DELTAS * conf->delta_ns,
		.retry_max_ns = conf->retry_max_ns,
	};
	set_ask(cl);
	cl->order_cfg = (struct bftm_order_cfg){
		.n = conf->n,
		.b = conf->b,
		.signed_ranks = conf->signed_ranks,
		.resend_ns = cl->cfg.resend_ns,
		/* Over before the silence of a server that was restarted is. */
		.limit_ns = bftm_lease_at_client(conf->lease_max_ns, conf->rho_ppm),
	};
}

/* See bftm_cluster_same_client(). Of the rest all counts, since any of it may matter. */
static int cluster_number(struct bftm_cluster *cl)
{
	const u32 who[2] = { cl->conf.id, cl->cred.client };
	u8 digest[BFTM_DIGEST_LEN];
	u32 half[2];
	int err;

	err = bftm_digest(who, sizeof(who), digest);
	memcpy(&half[1], digest, sizeof(half[1]));
	err = err ?: bftm_digest(&cl->conf, sizeof(cl->conf), digest);
	memcpy(&half[0], digest, sizeof(half[0]));
	cl->configuration = (u64)half[1] << 32 | half[0];
	return err;
}

/* With @state NULL only as far as its keys: to see whether they are right. */
static int cluster_new(const struct bftm_conf_cluster *conf, const char *state,
		       struct bftm_cluster **ret)
{
	struct bftm_cluster *cl = calloc(1, sizeof(*cl));
	int err;

	if (!cl) {
		bftm_log(LOG_ERR, "cluster %s: no memory", conf->name);
		return -ENOMEM;
	}
	/* Byte by byte, so that unchanged() can compare. */
	memcpy(&cl->conf, conf, sizeof(cl->conf));
	cl->socket.fd = -1;
	cl->probe.fire = probe;
	RB_INIT(&cl->acquires.releases);
	TAILQ_INIT(&cl->acquires.lasting);
	set_cfg(cl);
	err = check_zones(cl) ?: load_keys(cl) ?: cluster_number(cl);
	if (!err && state)
		err = bftm_identity_get(state, conf->id, cl->cred.client,
					&cl->identity);
	if (!err && state)
		err = bftm_cluster_open(cl);
	if (err) {
		bftm_log(LOG_ERR, "cluster %s: cannot be used: %s", conf->name,
			 strerror(-err));
		cluster_free(cl);
		return err;
	}
	*ret = cl;
	return 0;
}

static struct bftm_cluster *unchanged(const struct bftm_conf_cluster *conf)
{
	struct bftm_cluster *cl = bftm_cluster_find(conf->name);
	struct bftm_credentials cred = {};
	bool same;

	if (!cl || memcmp(&cl->conf, conf, sizeof(*conf)) ||
	    bftm_credentials_load(conf->credentials, &cred) < 0)
		return NULL;
	same = !CRYPTO_memcmp(&cl->cred, &cred, sizeof(cred));
	explicit_bzero(&cred, sizeof(cred));
	return same ? cl : NULL;
}

static void cluster_start(struct bftm_cluster *cl)
{
	TAILQ_INSERT_TAIL(&bftm_clusters, cl, list);
	cl->first_seq = bftm_identity_seq(cl->identity);
	/* bftm_lend_all() says HELLO after the loan, as soon as the kernel is open. */
	bftm_timer_arm(&cl->probe, bftm_now() + PROBE_NS);
}

int bftm_clusters_check(const struct bftm_conf *conf)
{
	struct bftm_cluster *cl;
	int err = 0, r;
	u32 i;

	for (i = 0; i < conf->count; i++) {
		r = cluster_new(&conf->cluster[i], NULL, &cl);
		if (!r)
			cluster_free(cl);
		err = err ?: r;
	}
	return err;
}

int bftm_clusters_configure(const struct bftm_conf *conf, const char *state)
{
	struct bftm_cluster **now, *cl;
	int err = 0;
	u32 i, made;
	bool was;

	now = calloc(2 * conf->count, sizeof(*now));
	if (!now) {
		bftm_log(LOG_ERR, "no memory for %u clusters", conf->count);
		return -ENOMEM;
	}
	/* Second half: those that are new. Nothing changes until all are made. */
	for (made = 0; made < conf->count && !err; made++) {
		now[made] = unchanged(&conf->cluster[made]);
		if (!now[made])
			err = cluster_new(&conf->cluster[made], state,
					  &now[conf->count + made]);
	}
	if (err) {
		for (i = 0; i < made; i++)
			if (now[conf->count + i])
				cluster_free(now[conf->count + i]);
		free(now);
		return err;
	}
	TAILQ_FOREACH(cl, &bftm_clusters, list) {
		was = cl->draining;
		cl->draining = true;
		for (i = 0; i < conf->count; i++)
			if (now[i] == cl)
				cl->draining = false;
		if (cl->draining && !was) {
			bftm_lend_end(cl);
			cl->draining_ns = bftm_now();
		}
	}
	for (i = 0; i < conf->count; i++)
		if (now[conf->count + i])
			cluster_start(now[conf->count + i]);
	snprintf(standard, sizeof(standard), "%s",
		 conf->cluster[conf->standard].name);
	if (bftm_upcall_is_open())
		bftm_lend_all();
	free(now);
	return 0;
}

void bftm_clusters_stop(void)
{
	struct bftm_cluster *cl;
	u32 i;

	for (i = BFTM_SERVICES; i--;)
		TAILQ_FOREACH(cl, &bftm_clusters, list)
			bftm_services[i]->stop(cl);
	while ((cl = TAILQ_FIRST(&bftm_clusters))) {
		TAILQ_REMOVE(&bftm_clusters, cl, list);
		cluster_free(cl);
	}
}

struct bftm_cluster *bftm_cluster_of(const struct bftm_identity *identity)
{
	struct bftm_cluster *cl;

	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (!cl->draining && cl->identity == identity)
			return cl;
	return NULL;
}

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	struct bftm_cluster *cl;

	if (!*name)
		name = standard;
	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (!cl->draining && !strcmp(cl->conf.name, name))
			return cl;
	return NULL;
}

struct bftm_cluster *bftm_cluster_configured(u64 configuration)
{
	struct bftm_cluster *cl, *ret = NULL;

	/* The newest of them: its keys are. */
	TAILQ_FOREACH(cl, &bftm_clusters, list)
		if (cl->configuration == configuration)
			ret = cl;
	return ret;
}
