// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster.h"
#include "log.h"
#include "release.h"

#define PROBE_NS	(1 * BFTM_NS_PER_SEC)
#define SOCKET_BUFFER	(4 << 20)
#define BATCH		64

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

/* Name of the default cluster. */
static char standard[BFTM_CLUSTER_MAX + 1];

static void cluster_free(struct bftm_cluster *cl);

static void send_batch(struct bftm_cluster *cl, struct mmsghdr *batch, int n)
{
	int sent = 0, r;

	while (sent < n) {
		r = sendmmsg(cl->socket.fd, batch + sent, (unsigned int)(n - sent), 0);
		/* A datagram that cannot go is one that is lost: go on. */
		sent += r > 0 ? r : 1;
	}
}

void bftm_cluster_send(struct bftm_cluster *cl, u32 to,
		       const struct bftm_msg *msg)
{
	struct bftm_wire wire[BFTM_SERVERS_MAX];
	struct iovec part[BFTM_SERVERS_MAX];
	struct mmsghdr batch[BFTM_SERVERS_MAX] = {};
	struct bftm_msg m = *msg;
	u64 now = bftm_now();
	int n = 0;
	u32 u;

	m.proto = cl->conf.proto;
	m.cluster = cl->conf.id;
	m.client = cl->cred.client;
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		if (!(to & 1u << u))
			continue;
		m.server = peer->conf->id;
		m.server_epoch = peer->epoch;
		m.seq = ++cl->identity->seq;
		bftm_wire_put(&m, &wire[n]);
		if (bftm_mac_sign(peer->request_mac, &wire[n]) < 0)
			continue;
		part[n].iov_base = &wire[n];
		part[n].iov_len = sizeof(wire[n]);
		batch[n].msg_hdr.msg_iov = &part[n];
		batch[n].msg_hdr.msg_iovlen = 1;
		batch[n].msg_hdr.msg_name = (void *)&peer->conf->addr;
		batch[n].msg_hdr.msg_namelen = sizeof(peer->conf->addr);
		n++;
		peer->record.sent++;
		if (!peer->asked_ns)
			peer->asked_ns = now;
	}
	send_batch(cl, batch, n);
}

static void hello(struct bftm_cluster *cl, u32 to)
{
	struct bftm_msg msg = { .type = BFTM_MSG_HELLO };
	u64 now = bftm_now();
	u32 u;

	for (u = 0; u < cl->conf.n; u++)
		if (to & 1u << u)
			cl->peer[u].hello_ns = now;
	bftm_cluster_send(cl, to, &msg);
}

/* Whom nobody asked anything for a while is asked how it is. */
static void probe(struct bftm_timer *timer)
{
	struct bftm_cluster *cl = container_of(timer, struct bftm_cluster, probe);
	u64 now = bftm_now();
	u32 u, to = 0;

	if (cl->draining && !cl->acquires.count) {
		bftm_log(LOG_INFO, "cluster %s: its old configuration is not used any more",
			 cl->conf.name);
		TAILQ_REMOVE(&bftm_clusters, cl, list);
		cluster_free(cl);
		return;
	}
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];
		u64 pause = peer->heard_ns ? 5 * PROBE_NS : PROBE_NS;

		if (now - peer->heard_ns >= pause && now - peer->hello_ns >= PROBE_NS)
			to |= 1u << u;
	}
	if (to)
		hello(cl, to);
	bftm_timer_arm(timer, now + PROBE_NS);
}

static int index_of(const struct bftm_cluster *cl, u16 server)
{
	u32 u;

	for (u = 0; u < cl->conf.n; u++)
		if (cl->conf.server[u].id == server)
			return (int)u;
	return -1;
}

static void take_challenge(struct bftm_cluster *cl, u32 u,
			   const struct bftm_msg *msg, u64 now)
{
	struct bftm_peer *peer = &cl->peer[u];
	u64 before = peer->epoch;

	/* An old one, kept by somebody, must not turn the epoch back. */
	if (msg->seq > peer->challenge_seq) {
		peer->challenge_seq = msg->seq;
		peer->epoch = msg->server_epoch;
		peer->lease_max_ns = msg->lease_ns;
		peer->quarantine_until_ns = msg->gno ? now + msg->gno : 0;
		if (peer->hello_ns && !msg->attempt)
			peer->rtt_ns = now - peer->hello_ns;
		if (before && before != peer->epoch)
			bftm_log(LOG_WARNING, "cluster %s: server %u has restarted",
				 cl->conf.name, peer->conf->id);
	}
	if (msg->attempt)
		bftm_acquire_epoch(cl, u, msg);
}

static void count_answer(struct bftm_record *r, const struct bftm_msg *msg)
{
	r->received++;
	r->free += msg->type == BFTM_MSG_FREE;
	r->locked += msg->type == BFTM_MSG_LOCKED;
	r->waited += msg->type == BFTM_MSG_WAIT;
	r->refused += msg->type == BFTM_MSG_REFUSED;
	r->released += msg->type == BFTM_MSG_RELEASED;
}

static void take(struct bftm_cluster *cl, const void *data, size_t len,
		 const struct sockaddr_in6 *from)
{
	const struct bftm_wire *wire = data;
	u64 now = bftm_now();
	struct bftm_peer *peer;
	struct bftm_msg msg;
	int u;

	if (bftm_wire_get(data, len, &msg) || !(msg.type & BFTM_MSG_REPLY) ||
	    msg.cluster != cl->conf.id || msg.client != cl->cred.client)
		msg.server = 0;
	u = index_of(cl, msg.server);
	if (u < 0 || !bftm_mac_verify(cl->peer[u].reply_mac, wire)) {
		/* Only the address says who it was; it proves nothing. */
		for (u = 0; u < (int)cl->conf.n; u++)
			if (!memcmp(&cl->conf.server[u].addr, from, sizeof(*from)))
				cl->peer[u].record.bad++;
		return;
	}
	peer = &cl->peer[u];
	/*
	 * Only to what was asked through this socket: an answer kept from
	 * before would name attempts that are not known here but may hold.
	 */
	if (msg.seq <= cl->first_seq || msg.seq > cl->identity->seq) {
		peer->record.bad++;
		return;
	}
	if (!bftm_window_take(&peer->answers, msg.seq)) {
		peer->record.repeated++;
		return;
	}
	peer->heard_ns = now;
	peer->asked_ns = 0;
	count_answer(&peer->record, &msg);
	if (msg.type == BFTM_MSG_CHALLENGE)
		take_challenge(cl, (u32)u, &msg, now);
	else
		bftm_acquire_answer(cl, (u32)u, &msg);
}

static void receive(struct bftm_watch *watch)
{
	struct bftm_cluster *cl = container_of(watch, struct bftm_cluster, socket);
	/* One byte more than a message, to see what is too long. */
	union {
		struct bftm_wire wire;
		u8 raw[BFTM_WIRE_LEN + 8];
	} data[BATCH];
	struct sockaddr_in6 from[BATCH] = {};
	struct mmsghdr batch[BATCH] = {};
	struct iovec part[BATCH];
	int i, n;

	for (i = 0; i < BATCH; i++) {
		part[i].iov_base = &data[i];
		part[i].iov_len = sizeof(data[i]);
		batch[i].msg_hdr.msg_iov = &part[i];
		batch[i].msg_hdr.msg_iovlen = 1;
		batch[i].msg_hdr.msg_name = &from[i];
		batch[i].msg_hdr.msg_namelen = sizeof(from[i]);
	}
	n = recvmmsg(watch->fd, batch, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++)
		take(cl, &data[i], batch[i].msg_len, &from[i]);
}

static int open_socket(struct bftm_cluster *cl)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int off = 0, size = SOCKET_BUFFER;
	int err;

	if (fd < 0)
		return -errno;
	/* Addresses of IPv4 are mapped, see struct bftm_conf_server. */
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	cl->socket.fd = fd;
	cl->socket.ready = receive;
	err = bftm_watch_add(&cl->socket);
	if (err < 0) {
		close(fd);
		cl->socket.fd = -1;
	}
	return err;
}

static int load_keys(struct bftm_cluster *cl)
{
	u32 u, i;

	if (cl->cred.cluster != cl->conf.id) {
		bftm_log(LOG_ERR, "%s: is for cluster %u, cluster %s is number %u",
			 cl->conf.credentials, cl->cred.cluster, cl->conf.name,
			 cl->conf.id);
		return -EINVAL;
	}
	for (u = 0; u < cl->conf.n; u++) {
		struct bftm_peer *peer = &cl->peer[u];

		peer->conf = &cl->conf.server[u];
		for (i = 0; i < cl->cred.count; i++)
			if (cl->cred.key[i].server == peer->conf->id)
				break;
		if (i == cl->cred.count) {
			bftm_log(LOG_ERR, "%s: has no key for server %u of cluster %s",
				 cl->conf.credentials, peer->conf->id, cl->conf.name);
			return -ENOKEY;
		}
		peer->request_mac = bftm_mac_new(cl->cred.key[i].pair.request);
		peer->reply_mac = bftm_mac_new(cl->cred.key[i].pair.reply);
		if (!peer->request_mac || !peer->reply_mac)
			return -ENOMEM;
	}
	return 0;
}

static void cluster_free(struct bftm_cluster *cl)
{
	u32 u;

	bftm_timer_stop(&cl->probe);
	if (cl->socket.fd >= 0) {
		bftm_watch_del(&cl->socket);
		close(cl->socket.fd);
	}
	for (u = 0; u < cl->conf.n; u++) {
		bftm_mac_free(cl->peer[u].request_mac);
		bftm_mac_free(cl->peer[u].reply_mac);
	}
	bftm_identity_put(cl->identity);
	explicit_bzero(&cl->cred, sizeof(cl->cred));
	free(cl);
}

static void set_cfg(struct bftm_cluster *cl)
{
	const struct bftm_conf_cluster *conf = &cl->conf;

	cl->cfg = (struct bftm_client_cfg){
		.n = conf->n,
		.b = conf->b,
		.rho_ppm = conf->rho_ppm,
		.literal = conf->literal,
		.polynomial = conf->retry == BFTM_RETRY_POLYNOMIAL,
		.exponent = conf->exponent,
		.delta_ns = conf->delta_ns,
		/* Two round trips: what takes longer is taken for lost. */
		.resend_ns = 4 * conf->delta_ns,
		.retry_max_ns = conf->retry_max_ns,
	};
}

static int cluster_new(const struct bftm_conf_cluster *conf, const char *state,
		       struct bftm_cluster **ret)
{
	struct bftm_cluster *cl = calloc(1, sizeof(*cl));
	int err;

	if (!cl)
		return -ENOMEM;
	/* Byte by byte, so that unchanged() can compare. */
	memcpy(&cl->conf, conf, sizeof(cl->conf));
	cl->socket.fd = -1;
	cl->probe.fire = probe;
	RB_INIT(&cl->acquires.names);
	RB_INIT(&cl->acquires.releases);
	set_cfg(cl);
	err = bftm_credentials_load(conf->credentials, &cl->cred);
	if (!err)
		err = load_keys(cl);
	if (!err)
		err = bftm_identity_get(state, conf->id, cl->cred.client,
					&cl->identity);
	if (!err)
		err = open_socket(cl);
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
	same = !memcmp(&cl->cred, &cred, sizeof(cred));
	explicit_bzero(&cred, sizeof(cred));
	return same ? cl : NULL;
}

static void cluster_start(struct bftm_cluster *cl)
{
	TAILQ_INSERT_TAIL(&bftm_clusters, cl, list);
	cl->first_seq = cl->identity->seq;
	hello(cl, (u32)((1ull << cl->conf.n) - 1));
	bftm_timer_arm(&cl->probe, bftm_now() + PROBE_NS);
}

int bftm_clusters_configure(const struct bftm_conf *conf, const char *state)
{
	struct bftm_cluster **now, *cl;
	int err = 0;
	u32 i, made;

	now = calloc(2 * conf->count, sizeof(*now));
	if (!now)
		return -ENOMEM;
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
		cl->draining = true;
		for (i = 0; i < conf->count; i++)
			if (now[i] == cl)
				cl->draining = false;
	}
	for (i = 0; i < conf->count; i++)
		if (now[conf->count + i])
			cluster_start(now[conf->count + i]);
	snprintf(standard, sizeof(standard), "%s",
		 conf->cluster[conf->standard].name);
	free(now);
	return 0;
}

void bftm_clusters_stop(void)
{
	struct bftm_cluster *cl;

	bftm_acquire_forget();
	while ((cl = TAILQ_FIRST(&bftm_clusters))) {
		bftm_release_forget(cl);
		TAILQ_REMOVE(&bftm_clusters, cl, list);
		cluster_free(cl);
	}
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
