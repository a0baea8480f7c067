// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody on the wire, without a key:
 *
 *	wiretap record FILE		keep answers that pass by, until SIGTERM
 *	wiretap replay FILE ADDRESS PORT	send them again
 *	wiretap late INTERFACE|any	look at nothing before SIGTERM; then say how many
 *					came in, went out, and are not what goes that way
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/wire.h"

/* A datagram about a lock in a packet of either family that has no more than its usual header. */
static bool datagram_in(const u8 *packet, size_t len, struct bftm_wire *ret)
{
	const struct ip6_hdr *ip6 = (const void *)packet;
	const struct iphdr *ip = (const void *)packet;
	const bool is6 = ip->version == 6;
	const size_t head = (is6 ? sizeof(*ip6) : sizeof(*ip)) + sizeof(struct udphdr);

	if (len < head + BFTM_DATAGRAM_MIN || len > head + BFTM_WIRE_LEN_MAX ||
	    (is6 ? ip6->ip6_nxt : ip->protocol) != IPPROTO_UDP)
		return false;
	ret->len = len - head;
	memcpy(ret->data, packet + head, ret->len);
	return ret->head.version == BFTM_WIRE_VERSION;
}

static int record(const char *path)
{
	int in = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	u8 packet[2048];
	ssize_t len;

	if (in < 0 || out < 0) {
		perror("wiretap");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	while ((len = recv(in, packet, sizeof(packet), 0)) > 0) {
		struct bftm_wire wire;

		if (!datagram_in(packet, (size_t)len, &wire) || !(wire.head.type & BFTM_MSG_REPLY))
			continue;
		if (write(out, &wire, sizeof(wire)) != sizeof(wire))
			return 1;
	}
	return 1;
}

static int replay(const char *path, const char *address, const char *port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((u16)atoi(port)),
	};
	int in = open(path, O_RDONLY), out = socket(AF_INET, SOCK_DGRAM, 0);
	struct bftm_wire wire;
	int count = 0;

	if (in < 0 || out < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1) {
		perror("wiretap");
		return 1;
	}
	while (read(in, &wire, sizeof(wire)) == sizeof(wire))
		count += sendto(out, wire.data, wire.len, 0, (struct sockaddr *)&to,
				sizeof(to)) == (ssize_t)wire.len;
	printf("%d\n", count);
	return !count;
}

/* Captured packets stay in the kernel, as with a slow program. */
static int late(const char *interface)
{
	int in = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)), size = 16 << 20, term;
	struct sockaddr_ll any = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	unsigned int requests = 0, replies = 0, wrong = 0;
	u8 packet[2048];
	sigset_t set;
	ssize_t len;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (in < 0 || setsockopt(in, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0 ||
	    (any.sll_ifindex && bind(in, (struct sockaddr *)&any, sizeof(any)) < 0)) {
		perror("wiretap");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	sigwait(&set, &term);
	for (;;) {
		struct sockaddr_ll from;
		socklen_t from_len = sizeof(from);
		struct bftm_wire wire;
		bool out;

		len = recvfrom(in, packet, sizeof(packet), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_len);
		if (len < 0)
			break;
		if (!datagram_in(packet, (size_t)len, &wire))
			continue;
		out = from.sll_pkttype == PACKET_OUTGOING;
		requests += !out;
		replies += out;
		wrong += out != !!(wire.head.type & BFTM_MSG_REPLY);
	}
	printf("in=%u out=%u wrong=%u\n", requests, replies, wrong);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "record"))
		return record(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "replay"))
		return replay(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "late"))
		return late(argv[2]);
	fprintf(stderr, "usage: wiretap record FILE | replay FILE ADDRESS PORT | late INTERFACE|any\n");
	return 64;
}
