// SPDX-License-Identifier: GPL-2.0
#include "datagram.h"

struct counted expected;
int failures;

bool check(bool right, const char *format, ...)
{
	va_list args;

	if (right)
		return true;
	failures++;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

u64 fresh(void)
{
	static u64 last;
	u64 now = clock_ns(CLOCK_REALTIME);

	last = now > last ? now : last + 1;
	return last;
}

/* Sends from BFTMUTEX_PORT, if that is set; the port has the same offset in both families. */
static int bind_port(int fd, int family)
{
	const char *port = getenv("BFTMUTEX_PORT");
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} any = { .v6.sin6_family = (sa_family_t)family };

	any.v4.sin_port = htons(port ? (u16)strtoul(port, NULL, 10) : 0);
	return bind(fd, (struct sockaddr *)&any,
		    family == AF_INET ? sizeof(any.v4) : sizeof(any.v6));
}

int open_socket(const char *address)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
	int never = IP_PMTUDISC_DONT, fd;
	struct addrinfo *to;
	char port[8];

	snprintf(port, sizeof(port), "%d", BFTM_PORT_DEFAULT);
	if (getaddrinfo(address, port, &hints, &to))
		return -1;
	fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Fragments where the path needs them. */
	setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof(never));
	if (bind_port(fd, to->ai_family) < 0 || connect(fd, to->ai_addr, to->ai_addrlen) < 0) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(to);
	return fd;
}

void open_peer(struct peer *p, u16 server, const char *address, const char *path)
{
	struct bftm_credentials cred;
	u32 i;

	if (bftm_credentials_load(path, &cred) < 0)
		exit(EX_NOINPUT);
	for (i = 0; i < cred.count && cred.key[i].server != server; i++)
		;
	p->fd = open_socket(address);
	if (i == cred.count || p->fd < 0) {
		fprintf(stderr, "raw: no server %u at %s\n", server, address);
		exit(EX_USAGE);
	}
	p->request = bftm_mac_new(cred.key[i].pair.request);
	p->reply = bftm_mac_new(cred.key[i].pair.reply);
	p->cluster = cred.cluster;
	p->client = cred.client;
	p->server = server;
	p->seq = fresh();
}

void prepare(struct peer *p, struct bftm_msg *m, struct bftm_wire *wire)
{
	m->proto = m->proto ?: BFTM_PROTO_BACKOFF;
	m->cluster = m->cluster ?: p->cluster;
	m->client = m->client ?: p->client;
	m->server = m->server ?: p->server;
	m->server_epoch = m->server_epoch ?: p->epoch;
	m->seq = m->seq ?: ++p->seq;
	bftm_wire_put(m, wire);
	if (bftm_mac_sign(p->request, wire) < 0)
		abort();
}

void say_bytes(struct peer *p, const void *bytes, size_t len)
{
	ssize_t sent = send(p->fd, bytes, len, 0);

	/* A server that does not run yet answered an earlier datagram by ICMP. */
	if (sent < 0 && errno == ECONNREFUSED)
		sent = send(p->fd, bytes, len, 0);
	check(sent == (ssize_t)len, "send of %zu bytes: %s", len, strerror(errno));
	expected.received++;
}

void say_wire(struct peer *p, const struct bftm_wire *wire)
{
	say_bytes(p, wire->data, wire->len);
}

void say_signed(struct peer *p, struct bftm_wire *wire)
{
	if (bftm_mac_sign(p->request, wire) < 0)
		abort();
	say_wire(p, wire);
}

void tell(struct peer *p, struct bftm_msg m)
{
	struct bftm_wire wire;

	prepare(p, &m, &wire);
	say_wire(p, &wire);
}

bool hear(struct peer *p, struct bftm_msg *m, int patience_ms)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	static u8 data[2048];	/* a value of @m is in it */
	ssize_t len;

	if (poll(&fd, 1, patience_ms) <= 0)
		return false;
	len = recv(p->fd, data, sizeof(data), 0);
	if (len < 0 && errno == ECONNREFUSED)
		return false;
	return check(len >= BFTM_VERSION_LEN, "a reply of %zd bytes", len) &&
	       check(bftm_mac_verify_bytes(p->reply, data, (size_t)len), "a reply with a wrong tag") &&
	       check(!bftm_wire_get(data, (size_t)len, m), "a reply with a wrong form") &&
	       check(m->type & BFTM_MSG_REPLY, "a request instead of a reply");
}

struct bftm_msg ask(struct peer *p, struct bftm_msg m, u8 type, const char *why)
{
	struct bftm_wire wire, answer;
	struct bftm_msg r = {};

	prepare(p, &m, &wire);
	say_wire(p, &wire);
	if (!check(hear(p, &r, PATIENCE_MS), "%s: no answer", why))
		return r;
	check(r.type == type, "%s: %s instead of %s", why, bftm_msg_name(r.type),
	      bftm_msg_name(type));
	check(r.seq == m.seq && r.attempt == m.attempt &&
	      (r.type != BFTM_MSG_FREE || (r.k == m.k && r.mode == m.mode)) &&
	      r.client == m.client && r.server == m.server && r.cluster == m.cluster &&
	      r.name_len == m.name_len && !memcmp(r.name, m.name, sizeof(m.name)),
	      "%s: the answer is to something else", why);
	check(!r.flags, "%s: flags in an answer", why);
	bftm_wire_put(&r, &answer);
	check(answer.len <= wire.len, "%s: %zu bytes are answered by %zu", why, wire.len, answer.len);
	return r;
}

struct bftm_msg hello(struct peer *p)
{
	struct bftm_msg r = ask(p, (struct bftm_msg){ .type = BFTM_MSG_HELLO },
				BFTM_MSG_CHALLENGE, "HELLO");

	expected.challenged++;
	p->epoch = r.server_epoch;
	return r;
}

struct bftm_msg request(u8 type, const char *name, u64 attempt)
{
	struct bftm_msg m = {
		.type = type,
		.flags = type == BFTM_MSG_TRY ? BFTM_FLAG_NOQUEUE : 0,
		.name_len = (u8)strlen(name),
		.mode = type == BFTM_MSG_TRY || type == BFTM_MSG_STAMP ? BFTM_MODE_EX : BFTM_MODE_NL,
		.attempt = attempt,
		.k = type == BFTM_MSG_TRY,
		.lease_ns = type == BFTM_MSG_TRY ? LEASE_NS : 0,
		.prio = 1,
		.token = type == BFTM_MSG_STAMP,
	};

	if (bftm_wire_form(type)->named == BFTM_NAMELESS)
		m = (struct bftm_msg){ .type = type };
	if (type == BFTM_MSG_ASK)
		m.attempt = 0;
	/* The word that is repeated where others have the attempt. */
	if (type == BFTM_MSG_SYNC)
		m.attempt = m.incarnation = 7;
	memcpy(m.name, name, m.name_len);
	return m;
}
