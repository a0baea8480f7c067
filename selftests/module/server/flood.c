// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic for a server that is started and stopped: datagrams that are too short, too long or not
 * authentic, and authentic requests of one client, in turn, until killed. It goes on without
 * answers, since the server does not run most of the time.
 *
 *	flood MASTER-KEY-FILE ADDRESS [CLIENT]
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "crypto/keys.h"

#define BURST	16
#define LOCKS	8

static int fd;
static struct bftm_mac *request;
static struct bftm_msg msg = { .proto = BFTM_PROTO_BACKOFF };

static void open_socket(const char *address)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(BFTM_PORT_DEFAULT),
	};

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		errx(EX_USAGE, "%s: no such address", address);
}

static void load_key(const char *path, u32 client)
{
	struct bftm_master master;
	struct bftm_pair pair;
	struct timespec now;

	if (bftm_master_load(path, &master) < 0 || bftm_derive(&master, client, &pair) < 0)
		exit(EX_NOINPUT);
	request = bftm_mac_new(pair.request);
	msg.cluster = master.cluster;
	msg.server = master.server;
	msg.client = client;
	clock_gettime(CLOCK_REALTIME, &now);
	msg.seq = (u64)now.tv_sec << 32;
}

/* With the epoch from the server's answers, the next requests are valid. */
static void hear(void)
{
	struct bftm_msg reply;
	u8 buf[256];
	ssize_t len;

	while ((len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		if (bftm_wire_get(buf, (size_t)len, &reply) == BFTM_WIRE_OK)
			msg.server_epoch = reply.server_epoch;
}

static void say(unsigned int turn)
{
	static const u8 types[] = { BFTM_MSG_HELLO, BFTM_MSG_TRY, BFTM_MSG_TRY, BFTM_MSG_RELEASE };
	struct bftm_wire wire = {};

	msg.type = types[turn / 4 % 4];
	msg.seq++;
	msg.attempt = msg.type == BFTM_MSG_HELLO ? 0 : msg.seq;
	msg.k = msg.type == BFTM_MSG_TRY;
	msg.mode = msg.type == BFTM_MSG_TRY ? BFTM_MODE_EX : BFTM_MODE_NL;
	msg.flags = msg.type == BFTM_MSG_TRY ? BFTM_FLAG_NOQUEUE : 0;
	/* Leases that end at once. */
	msg.lease_ns = msg.type == BFTM_MSG_TRY ? BFTM_LEASE_MIN_NS : 0;
	msg.name_len = msg.type == BFTM_MSG_HELLO ? 0 : 1;
	msg.name[0] = msg.name_len ? (u8)('a' + turn / 16 % LOCKS) : 0;
	bftm_wire_put(&msg, &wire);
	if (bftm_mac_sign(request, &wire) < 0)
		abort();
	switch (turn % 4) {
	case 0:
		wire.len = turn / 4 % (sizeof(wire.data) + 1);
		break;
	case 1:
		wire.data[wire.len - 1 - turn / 4 % BFTM_TAG_LEN] ^= 1;
		break;
	}
	/* Refused while no server is there: the datagram is lost, no more. */
	if (send(fd, wire.data, wire.len, 0) < 0)
		return;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	unsigned int turn;

	if (argc < 3)
		errx(EX_USAGE, "flood MASTER-KEY-FILE ADDRESS [CLIENT]");
	load_key(argv[1], argc > 3 ? (u32)strtoul(argv[3], NULL, 10) : 1);
	open_socket(argv[2]);
	for (turn = 0;; turn++) {
		say(turn);
		if (turn % BURST)
			continue;
		hear();
		nanosleep(&pause, NULL);
	}
}
