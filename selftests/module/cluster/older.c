// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts of other versions of the wire format beside a cluster:
 *
 *	older server KEY		answers in version 1 whatever it is asked
 *	older client SERVER ADDRESS CREDENTIALS LOCK	asks in version 1 for the lock, over and over
 *	older later KEY VERSION		a server that answers: I speak this version
 *
 * until SIGTERM; then says "said=N heard=N".
 */
#include <signal.h>

#include "selftests/lib/datagram.h"
#include "selftests/lib/version1.h"

static volatile sig_atomic_t ended;
static unsigned long said, heard;

static void on_term(int signal)
{
	(void)signal;
	ended = 1;
}

/* The key of a client's answers. */
static struct bftm_mac *reply_mac(const struct bftm_master *master, u32 client)
{
	static struct bftm_mac *mac;
	static u32 of;
	struct bftm_pair pair;

	if (mac && of == client)
		return mac;
	bftm_mac_free(mac);
	if (bftm_derive(master, client, &pair) < 0)
		exit(EX_SOFTWARE);
	mac = bftm_mac_new(pair.reply);
	of = client;
	return mac;
}

static int listen_here(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(BFTM_PORT_DEFAULT) };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0) {
		perror("older");
		exit(EX_UNAVAILABLE);
	}
	return fd;
}

static void answer(int fd, const struct sockaddr_in6 *to, const void *data, size_t len)
{
	said += sendto(fd, data, len, 0, (const struct sockaddr *)to, sizeof(*to)) == (ssize_t)len;
}

/* All that a client could want to hear, in version 1. */
static void answer_older(int fd, const struct sockaddr_in6 *to, struct bftm_msg m,
			 struct bftm_mac *mac)
{
	static const u8 types[] = { BFTM_MSG_CHALLENGE, BFTM_MSG_FREE, BFTM_MSG_SACK };
	struct version1 data;
	size_t i;

	m.server_epoch = 12345;
	m.gno = 0;
	m.lease_ns = BFTM_LEASE_MAX_DEFAULT_NS;
	for (i = 0; i < sizeof(types); i++) {
		m.type = types[i];
		version1_put(&m, mac, &data);
		answer(fd, to, &data, sizeof(data));
	}
}

static void answer_later(int fd, const struct sockaddr_in6 *to, struct bftm_msg m,
			 struct bftm_mac *mac, u8 version)
{
	struct bftm_wire wire;

	m.type = BFTM_MSG_VERSION;
	m.arg = version;
	bftm_wire_put(&m, &wire);
	if (bftm_mac_sign(mac, &wire) < 0)
		abort();
	answer(fd, to, wire.data, wire.len);
}

/* @version: that it speaks */
static void serve(const char *key, u8 version)
{
	struct bftm_master master;
	int fd = listen_here();

	if (bftm_master_load(key, &master) < 0)
		exit(EX_NOINPUT);
	puts("ready");
	fflush(stdout);
	while (!ended) {
		struct pollfd in = { .fd = fd, .events = POLLIN };
		struct sockaddr_in6 from;
		socklen_t from_len = sizeof(from);
		u8 data[BFTM_DATAGRAM_MAX];
		struct bftm_msg m;
		ssize_t len;

		if (poll(&in, 1, -1) <= 0)
			continue;
		len = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &from_len);
		if (len < 0 || bftm_wire_get(data, (size_t)len, &m))
			continue;
		heard++;
		if (version == 1)
			answer_older(fd, &from, m, reply_mac(&master, m.client));
		else
			answer_later(fd, &from, m, reply_mac(&master, m.client), version);
	}
}

static void ask_older(struct peer *p, const char *lock)
{
	struct bftm_msg hello = { .type = BFTM_MSG_HELLO }, try = request(BFTM_MSG_TRY, lock, fresh());
	struct bftm_msg *m[] = { &hello, &try };
	struct version1 data;
	int i;

	for (i = 0; i < 2; i++) {
		m[i]->cluster = p->cluster;
		m[i]->client = p->client;
		m[i]->server = p->server;
		m[i]->seq = ++p->seq;
		version1_put(m[i], p->request, &data);
		said += send(p->fd, &data, sizeof(data), 0) == sizeof(data);
	}
}

static void be_client(char **argv)
{
	u8 data[2048];
	struct peer p = {};

	open_peer(&p, (u16)atoi(argv[0]), argv[1], argv[2]);
	while (!ended) {
		struct pollfd in = { .fd = p.fd, .events = POLLIN };

		ask_older(&p, argv[3]);
		if (poll(&in, 1, 20) > 0)
			heard += recv(p.fd, data, sizeof(data), 0) > 0;
	}
}

int main(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = on_term };	/* poll() is interrupted */

	sigaction(SIGTERM, &act, NULL);
	if (argc == 3 && !strcmp(argv[1], "server")) {
		serve(argv[2], 1);
	} else if (argc == 4 && !strcmp(argv[1], "later")) {
		serve(argv[2], (u8)atoi(argv[3]));
	} else if (argc == 6 && !strcmp(argv[1], "client")) {
		be_client(argv + 2);
	} else {
		fputs("usage: older server KEY | client SERVER ADDRESS CREDENTIALS LOCK | later KEY VERSION\n",
		      stderr);
		return EX_USAGE;
	}
	printf("said=%lu heard=%lu\n", said, heard);
	return failures != 0;
}
