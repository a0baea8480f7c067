// SPDX-License-Identifier: GPL-2.0
/* A cluster's socket: it signs requests, and hands on the answers that verify.c lets pass. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/member.h"
#include "cluster/service.h"
#include "cluster/verify.h"
#include "kernel/upcall.h"

#define SOCKET_BUFFER	(4 << 20)
#define BATCH		64
/*
 * Of one turn. 16 timers, see loop.c, send 496 datagrams at most, so their answers are read in one
 * turn; and a flood of strangers' datagrams keeps the timers waiting for a few milliseconds.
 */
#define BATCHES_MOST	16

/* More than a message has, to see what is too long. */
struct datagram {
	u8 raw[BFTM_DATAGRAM_MAX + 8];
};

static u64 next_seq(struct bftm_cluster *cl, struct bftm_peer *peer, u64 now)
{
	peer->sent_seq = bftm_identity_next_seq(cl->identity);
	peer->record.sent++;
	if (!peer->asked_ns)
		peer->asked_ns = now;
	return peer->sent_seq;
}

/*
 * A server that was silent for so long may take none of our numbers, and says so to a HELLO
 * without an epoch. It was asked before then, see probe.c.
 */
#define UNHEARD_NS	(6 * BFTM_NS_PER_SEC)

static u64 epoch_for(const struct bftm_peer *peer, u8 type, u64 now)
{
	return type == BFTM_MSG_HELLO && now - peer->heard_ns >= UNHEARD_NS ? 0 : peer->known.sent_epoch;
}

/* A message for server @u, into @ret. Return: its length; 0: it cannot be signed. */
typedef size_t seal_fn(struct bftm_cluster *cl, u32 u, const void *msg, u64 now,
		       struct datagram *ret);

static size_t seal(struct bftm_cluster *cl, u32 u, const void *msg, u64 now,
		   struct datagram *ret)
{
	struct bftm_peer *peer = &cl->peer[u];
	struct bftm_msg m = *(const struct bftm_msg *)msg;
	size_t len;

	m.proto = cl->conf.proto;
	m.cluster = cl->conf.id;
	m.client = cl->cred.client;
	m.server = peer->conf->id;
	m.server_epoch = epoch_for(peer, m.type, now);
	m.seq = next_seq(cl, peer, now);
	cl->asked[m.seq % BFTM_ASKED] = bftm_asked_of(&m, u, now);
	len = bftm_wire_write(&m, ret->raw);
	return bftm_mac_sign_bytes(peer->request_mac, ret->raw, len) < 0 ? 0 : len;
}

static size_t seal_order(struct bftm_cluster *cl, u32 u, const void *msg, u64 now,
			 struct datagram *ret)
{
	struct bftm_peer *peer = &cl->peer[u];
	struct bftm_order_msg m = *(const struct bftm_order_msg *)msg;
	size_t len;

	m.cluster = cl->conf.id;
	m.client = cl->cred.client;
	m.server = peer->conf->id;
	m.server_epoch = peer->known.sent_epoch;
	m.seq = next_seq(cl, peer, now);
	len = bftm_order_wire_put(&m, ret->raw);
	return bftm_mac_sign_bytes(peer->request_mac, ret->raw, len) < 0 ? 0 : len;
}

static void send_batch(struct bftm_cluster *cl, struct mmsghdr *batch, int n)
{
	int sent = 0, r;

	while (sent < n) {
		r = sendmmsg(cl->socket.fd, batch + sent, (unsigned int)(n - sent), 0);
		/* A datagram that cannot go is one that is lost: go on. */
		sent += r > 0 ? r : 1;
	}
}

static void send_to(struct bftm_cluster *cl, u32 to, seal_fn *seal_for, const void *msg)
{
	static struct datagram data[BFTM_SERVERS_MAX];
	struct iovec part[BFTM_SERVERS_MAX];
	struct mmsghdr batch[BFTM_SERVERS_MAX] = {};
	u64 now = bftm_now();
	int n = 0;
	u32 u;

	for (u = 0; u < cl->conf.n; u++) {
		if (!(to >> u & 1))
			continue;
		part[n].iov_base = &data[n];
		part[n].iov_len = seal_for(cl, u, msg, now, &data[n]);
		if (!part[n].iov_len)
			continue;
		batch[n].msg_hdr.msg_iov = &part[n];
		batch[n].msg_hdr.msg_iovlen = 1;
		batch[n].msg_hdr.msg_name = (void *)&cl->peer[u].conf->addr;
		batch[n].msg_hdr.msg_namelen = sizeof(cl->peer[u].conf->addr);
		n++;
	}
	send_batch(cl, batch, n);
}

void bftm_cluster_send(struct bftm_cluster *cl, u32 to, const struct bftm_msg *msg)
{
	send_to(cl, to, seal, msg);
}

void bftm_cluster_send_order(struct bftm_cluster *cl, u32 to, const struct bftm_order_msg *msg)
{
	send_to(cl, to, seal_order, msg);
}

static void count_answer(struct bftm_record *r, const struct bftm_msg *msg)
{
	r->free += msg->type == BFTM_MSG_FREE;
	r->locked += msg->type == BFTM_MSG_LOCKED;
	r->waited += msg->type == BFTM_MSG_WAIT;
	r->refused += msg->type == BFTM_MSG_REFUSED;
	r->released += msg->type == BFTM_MSG_RELEASED;
}

/* To nothing that was asked: said once more, it says nothing else. */
static bool is_push(const struct bftm_msg *msg)
{
	return !msg->seq && (msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_INQUIRE ||
			     msg->type == BFTM_MSG_PROBE);
}

/* An answer to a request of this cluster's, or a push. */
static void hand_on(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	struct bftm_msg uncounted = *msg;

	if (bftm_epoch_known(msg, cl->peer[u].known.epoch)) {
		bftm_service_of(msg)->answer(cl, u, msg);
		bftm_member_sync(cl, u);
		return;
	}
	bftm_hello_again(cl, u);
	if (bftm_discount(&uncounted))
		bftm_service_of(msg)->answer(cl, u, &uncounted);
}

static void take_evicted(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	bftm_member_refused(cl, u, msg);
	/* Of a lock that is held it says that this server need not be told, and else that it refuses. */
	if (msg->name_len)
		hand_on(cl, u, msg);
}

/* RECOVER, SYNC or HELLO is refused. */
static void take_nameless(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	bftm_member_denied(cl, u, msg);
	bftm_recover_refused(cl, u, msg);
}

static void take_answer(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	if (!bftm_verify_fresh(cl, u, msg->seq))
		return;
	count_answer(&cl->peer[u].record, msg);
	bftm_evidence_heard(cl, u, msg);
	if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_BEHIND) {
		bftm_behind_heard(cl, u, msg);
		return;
	}
	cl->peer[u].taken = true;
	cl->peer[u].ahead = 0;
	if (msg->type == BFTM_MSG_CHALLENGE)
		bftm_challenged(cl, u, msg);
	else if (msg->type == BFTM_MSG_STALE)
		bftm_stale(cl, u, msg);
	else if (msg->type == BFTM_MSG_VERSION)
		bftm_version_heard(cl, u, msg->arg);
	else if (msg->type == BFTM_MSG_SYNCED)
		bftm_member_synced(cl, u, msg);
	else if (msg->type == BFTM_MSG_REFUSED && msg->arg == BFTM_REFUSED_EVICTED)
		take_evicted(cl, u, msg);
	else if (msg->type == BFTM_MSG_REFUSED && !msg->name_len)
		take_nameless(cl, u, msg);
	else
		hand_on(cl, u, msg);
}

static void take_order(struct bftm_cluster *cl, const void *data, size_t len,
		       const struct sockaddr_in6 *from)
{
	struct bftm_order_msg msg;
	int u = bftm_verify_order(cl, data, len, from, &msg);

	if (u < 0)
		return;
	/* A response is the same whenever it is said, asked for or not. */
	if (msg.seq || msg.type != BFTM_ORDER_RESPONSE) {
		if (!bftm_verify_fresh(cl, (u32)u, msg.seq))
			return;
	}
	cl->peer[u].record.ordered++;
	/* How long it was silent before it ordered anything, its CHALLENGE says. */
	if (msg.type != BFTM_ORDER_RESPONSE && msg.server_epoch != cl->peer[u].known.epoch) {
		bftm_hello_again(cl, (u32)u);
		return;
	}
	bftm_services[BFTM_SERVICE_OBJECTS]->order(cl, (u32)u, &msg);
}

static void cluster_take(struct bftm_cluster *cl, const void *data, size_t len,
			 const struct sockaddr_in6 *from)
{
	struct bftm_msg msg;
	int u = bftm_verify(cl, data, len, from, &msg);

	if (u < 0)
		return;
	if (is_push(&msg)) {
		cl->peer[u].record.pushed++;
		hand_on(cl, (u32)u, &msg);
	} else {
		take_answer(cl, (u32)u, &msg);
	}
}

/* Return: may there be more? */
static bool receive_batch(struct bftm_cluster *cl)
{
	static struct datagram data[BATCH];
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
	n = recvmmsg(cl->socket.fd, batch, BATCH, MSG_DONTWAIT, NULL);
	if (n > 0)
		bftm_upcall_look();
	for (i = 0; i < n; i++) {
		if (batch[i].msg_len >= BFTM_ORDER_SHAPE_LEN && bftm_order_shaped(&data[i]))
			take_order(cl, &data[i], batch[i].msg_len, &from[i]);
		else
			cluster_take(cl, &data[i], batch[i].msg_len, &from[i]);
	}
	return n == BATCH;
}

static void cluster_receive(struct bftm_watch *watch)
{
	struct bftm_cluster *cl = container_of(watch, struct bftm_cluster, socket);
	u32 batches = 0;

	while (batches++ < BATCHES_MOST && receive_batch(cl))
		;
}

int bftm_cluster_open(struct bftm_cluster *cl)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	int off = 0, size = SOCKET_BUFFER;
	int err;

	if (fd < 0)
		return -errno;
	/* Addresses of IPv4 are mapped, see struct bftm_conf_server. */
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	cl->socket.fd = fd;
	cl->socket.ready = cluster_receive;
	/* To any port: the kernel takes only a bound socket, and the loan precedes all sends. */
	err = bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ? -errno :
	      bftm_watch_add(&cl->socket);
	if (err < 0) {
		close(fd);
		cl->socket.fd = -1;
	}
	return err;
}

void bftm_cluster_close(struct bftm_cluster *cl)
{
	if (cl->socket.fd < 0)
		return;
	bftm_watch_del(&cl->socket);
	close(cl->socket.fd);
}
