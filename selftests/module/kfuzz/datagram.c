// SPDX-License-Identifier: GPL-2.0
/*
 * Four clients with right keys, whose datagrams have a right tag whatever else is in
 * them; and a stranger without.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "crypto/keys.h"
#include "core/ordering/wire.h"
#include "kfuzz.h"

#define LONGEST	2400	/* a datagram, also one that is too long */
#define ASKED	64	/* requests of which the length is known */
#define HEARD_MAX 4096	/* datagrams at once: more than any socket keeps */

static struct client {
	int fd;
	struct bftm_mac *request, *reply;
	u64 seq;
	struct {
		u64 seq;
		size_t len;
	} asked[ASKED];
} client[KFUZZ_CLIENTS];

static int stranger = -1;
static u8 last[LONGEST];	/* what a client said last, with its tag */
static size_t last_len;
static struct client *last_by;

void kfuzz_pair(u32 id, struct bftm_pair *ret)
{
	struct bftm_master master = {
		.cluster = KFUZZ_CLUSTER,
		.server = KFUZZ_SERVER,
		.key = "the key of the one server, kept.",
	};

	if (bftm_derive(&master, id, ret))
		abort();
}

int kfuzz_udp(u16 port, bool v4, bool to_server)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)))
		abort();
	at.sin6_port = htons(BFTM_PORT_DEFAULT);
	if (inet_pton(AF_INET6, v4 ? "::ffff:127.0.0.1" : "::1", &at.sin6_addr) != 1)
		abort();
	if (to_server && connect(fd, (void *)&at, sizeof(at)))
		abort();
	return fd;
}

static void learn(const struct bftm_msg *m)
{
	kfuzz.gno = m->gno;
	kfuzz.token = m->token;
	if (m->type == BFTM_MSG_CHALLENGE)
		kfuzz.epoch = m->server_epoch;
}

/* To a request of a later version, or of a protocol that has no number here. */
static bool is_foreign(const struct bftm_wire_head *head, size_t len)
{
	if (head->version != BFTM_WIRE_VERSION) {
		must(head->version > BFTM_WIRE_VERSION && len == BFTM_VERSION_LEN);
		must(head->type == BFTM_MSG_VERSION && head->arg == BFTM_WIRE_VERSION);
		return true;
	}
	if (head->proto == BFTM_PROTO_BACKOFF || head->proto == BFTM_PROTO_ORDER ||
	    head->proto >= BFTM_PROTO_TEST)
		return false;
	must(head->type == BFTM_MSG_REFUSED);
	return true;
}

/* An answer has a right form and tag, and is no longer than what it answers. */
static void check_answer(struct client *c, const u8 *data, size_t len)
{
	struct bftm_order_msg order = {};
	struct bftm_msg plain = {};
	struct bftm_wire_head head;
	u64 seq;
	int i;

	must(len >= BFTM_VERSION_LEN && bftm_mac_verify_bytes(c->reply, data, len));
	memcpy(&head, data, sizeof(head));
	seq = le64_to_cpu(head.seq);
	if (bftm_order_shaped(data)) {
		must(!bftm_order_wire_get(data, len, &order) && order.type & BFTM_MSG_REPLY);
	} else if (is_foreign(&head, len)) {
		plain.type = head.type;
	} else {
		must(!bftm_wire_get(data, len, &plain) && plain.type & BFTM_MSG_REPLY);
		learn(&plain);
	}
	say("  heard %s\n", plain.type ? bftm_msg_name(plain.type) : bftm_order_name(order.type));
	kfuzz_result(128 + (plain.type | order.type), 0);
	for (i = 0; seq && i < ASKED; i++)
		must(c->asked[i].seq != seq || len <= c->asked[i].len);
}

static void hear(struct client *c)
{
	u8 data[LONGEST];
	ssize_t len;
	int n;

	for (n = 0; n < HEARD_MAX; n++) {
		len = recv(c->fd, data, sizeof(data), MSG_DONTWAIT | MSG_TRUNC);
		/* A server that does not run yet answers by ICMP. */
		if (len < 0 && errno != ECONNREFUSED)
			return;
		must(len <= BFTM_DATAGRAM_MAX);
		if (len >= 0)
			check_answer(c, data, (size_t)len);
	}
	must(n < HEARD_MAX);
}

static void send_again(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, 0) < 0 && errno == ECONNREFUSED)
		send(fd, data, len, 0);
}

static void tell(struct client *c, u64 seq, void *data, size_t len)
{
	if (bftm_mac_sign_bytes(c->request, data, len))
		abort();
	c->asked[seq % ASKED].seq = seq;
	c->asked[seq % ASKED].len = len;
	memcpy(last, data, len);
	last_len = len;
	last_by = c;
	send_again(c->fd, data, len);
	hear(c);
}

/**
 * struct head - what every request has
 * @cluster, @client, @server, @epoch, @seq: as in the datagram
 * @by: whose key and address
 * @odd: more of the datagram is the input's than clients write
 */
struct head {
	u32 cluster, client;
	bool odd;
	u16 server;
	u64 epoch, seq;
	struct client *by;
};

static struct head take_head(void)
{
	u8 bits = kfuzz_byte(), n = bits % KFUZZ_CLIENTS;
	struct head h = {
		.cluster = KFUZZ_CLUSTER,
		.client = n + 1u,
		.server = KFUZZ_SERVER,
		.epoch = kfuzz.epoch,
		.by = &client[n],
		.odd = bits & 128,
	};

	if (bits & 4)
		h.epoch = kfuzz_value();
	if (bits & 8)
		h.cluster = (u32)kfuzz_value();
	if (bits & 16)
		h.server = (u16)kfuzz_value();
	if (bits & 32)
		h.client = (u32)kfuzz_value();
	h.seq = bits & 64 ? kfuzz_value() : ++h.by->seq;
	return h;
}

void kfuzz_put(const struct bftm_msg *m, struct bftm_wire *ret)
{
	struct bftm_msg as = *m;

	as.type = bftm_wire_form(m->type) ? m->type : BFTM_MSG_TRY;
	bftm_wire_put(&as, ret);
	ret->head.type = m->type;
}

/* Another protocol or version, a value, and one byte as it happens to be. */
static void take_odd(struct bftm_msg *m, u8 *ret_version, u8 *ret_at, u8 *ret_byte)
{
	m->proto = kfuzz_byte();
	m->arg = kfuzz_byte();
	m->value_k = (u32)kfuzz_value();
	m->value_len = kfuzz_byte() % (BFTM_VALUE_LEN_MAX + 1);
	m->value_room = (u8)(8 * (kfuzz_byte() % (BFTM_VALUE_LEN_MAX / 8 + 1)));
	memcpy(m->value, "value", 6);
	*ret_version = kfuzz_byte();
	*ret_at = kfuzz_byte();
	*ret_byte = kfuzz_byte();
}

static void plain(void)
{
	struct head h = take_head();
	struct bftm_msg m = {
		.proto = BFTM_PROTO_BACKOFF,
		.cluster = h.cluster,
		.client = h.client,
		.server = h.server,
		.server_epoch = h.epoch,
		.seq = h.seq,
	};
	u8 version = BFTM_WIRE_VERSION, at = 0, byte = 0;
	struct bftm_wire wire;

	m.type = kfuzz_byte();
	m.flags = kfuzz_byte();
	m.mode = m.flags & BFTM_FLAGS_MODE;
	m.flags &= (u16)~BFTM_FLAGS_MODE;
	m.name_len = kfuzz_name(m.name);
	m.attempt = kfuzz_value();
	m.k = (u32)kfuzz_value();
	m.lease_ns = kfuzz_value();
	m.prio = kfuzz_value();
	m.gno = kfuzz_value();
	m.token = kfuzz_value();
	m.incarnation = (u32)m.attempt;
	m.features = m.k;
	if (h.odd)
		take_odd(&m, &version, &at, &byte);
	kfuzz_put(&m, &wire);
	wire.head.version = version;
	wire.data[at % wire.len] ^= byte;
	say("client %u: %s attempt %llu k %u lease %llu\n", m.client, bftm_msg_name(m.type),
	    (unsigned long long)m.attempt, m.k, (unsigned long long)m.lease_ns);
	tell(h.by, h.seq, wire.data, wire.len);
}

/* Data of a message: none, a body or a piece of it, bytes of the input, a signature. */
static void take_data(struct bftm_order_msg *m, const struct kfuzz_body *b, u8 kind)
{
	static const u8 signature[BFTM_SIGNATURE_LEN];
	size_t len;

	switch (kind) {
	case 1:
		if (m->offset >= b->len)
			break;
		m->data = b->data + m->offset;
		m->data_len = (u16)bftm_piece_len(b->len, m->offset);
		break;
	case 2:
		m->data = kfuzz_bytes(kfuzz_byte(), &len);
		m->data_len = (u16)len;
		break;
	case 3:
		m->signature = signature;
		break;
	}
}

static void order(void)
{
	struct head h = take_head();
	struct bftm_order_msg m = {
		.cluster = h.cluster,
		.client = h.client,
		.server = h.server,
		.server_epoch = h.epoch,
		.seq = h.seq,
		.rank = { .incarnation = 1 },
		.then = { .incarnation = 1 },
		.room = 512,
	};
	const struct kfuzz_body *b;
	u8 data[LONGEST], bits, type;
	size_t len;

	m.type = kfuzz_byte();
	if (!bftm_order_form(m.type))
		m.type = BFTM_ORDER_SUBMIT + m.type % 8;
	m.name_len = kfuzz_name(m.name);
	if (m.type == BFTM_ORDER_LIST)
		m.name_len = 0;
	m.rank.count = kfuzz_value();
	m.op = kfuzz_value();
	m.cursor = m.op;
	b = kfuzz_body(kfuzz_byte());
	m.id = (struct bftm_body_id){ .version = b->version, .len = b->len };
	memcpy(m.id.digest, b->digest, sizeof(b->digest));
	bits = kfuzz_byte();
	if (bits & 4)
		m.offset = (u32)kfuzz_value();
	if (bits & 8)
		m.from = (u32)kfuzz_value();
	if (bits & 16)
		m.room = (u16)(kfuzz_value() % BFTM_ORDER_ROOM_MAX);
	m.then.count = bits & 32 ? kfuzz_value() : m.rank.count + 1;
	if (bits & 64)
		m.id.len = (u32)kfuzz_value();
	if (bits & 128)
		m.id.version = kfuzz_value();
	take_data(&m, b, bits & 3);
	m.then = (struct bftm_rank){ .count = m.rank.count + 1, .incarnation = 1 };
	type = m.type;
	m.type = bftm_order_form(type) ? type : BFTM_ORDER_SUBMIT;
	len = bftm_order_wire_put(&m, data);
	((struct bftm_wire_head *)data)->type = type;
	m.type = type;
	if (h.odd)
		data[kfuzz_value() % len] ^= kfuzz_byte();
	say("client %u: %s rank %llu op %llx, %zu bytes\n", m.client, bftm_order_name(m.type),
	    (unsigned long long)m.rank.count, (unsigned long long)m.op, len);
	tell(h.by, h.seq, data, len);
}

/* Never a right tag: nobody hears of it. */
static void strange(void)
{
	u8 how = kfuzz_byte(), data[LONGEST] = {}, byte;
	const u8 *bytes;
	size_t len, at;

	if (how % 3 && last_len) {
		len = last_len;
		memcpy(data, last, len);
		at = (size_t)kfuzz_value();
		if (how % 3 == 1)
			data[at / 8 % len] ^= (u8)(1 << at % 8);
		else
			len = at % len;
	} else {
		bytes = kfuzz_bytes(how, &len);
		if (len)
			memcpy(data, bytes, len);
		byte = kfuzz_byte();
		len = byte & 1 ? BFTM_DATAGRAM_MIN : byte & 2 ? BFTM_WIRE_LEN_MAX : len;
	}
	say("stranger: %zu bytes\n", len);
	send_again(stranger, data, len);
	must(recv(stranger, data, sizeof(data), MSG_DONTWAIT) < 0);
}

void kfuzz_datagram_do(enum kfuzz_op op)
{
	switch (op) {
	case KFUZZ_PLAIN:
		return plain();
	case KFUZZ_ORDER:
		return order();
	case KFUZZ_STRANGER:
		return strange();
	default:
		break;
	}
	if (!last_len)
		return;
	say("again\n");
	send_again(last_by->fd, last, last_len);
	hear(last_by);
}

static void renew_socket(int *fd, bool v4)
{
	if (*fd > 0)
		close(*fd);
	*fd = kfuzz_udp(0, v4, true);
}

void kfuzz_datagram_begin(void)
{
	struct bftm_pair pair;
	struct timespec now;
	u32 i;

	clock_gettime(CLOCK_REALTIME, &now);
	for (i = 0; i < KFUZZ_CLIENTS; i++) {
		struct client *c = &client[i];

		renew_socket(&c->fd, i & 1);
		if (c->request)
			continue;
		kfuzz_pair(i + 1, &pair);
		c->request = bftm_mac_new(pair.request);
		c->reply = bftm_mac_new(pair.reply);
		c->seq = (u64)now.tv_sec << 32;
	}
	renew_socket(&stranger, true);
}

void kfuzz_datagram_end(void)
{
	u32 i;

	for (i = 0; i < KFUZZ_CLIENTS; i++)
		hear(&client[i]);
	last_len = 0;
}
