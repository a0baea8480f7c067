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
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/wire.h"

static int record(const char *path)
{
	int in = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	const size_t head = sizeof(struct iphdr) + sizeof(struct udphdr);
	u8 packet[2048];
	ssize_t len;

	if (in < 0 || out < 0) {
		perror("wiretap");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	while ((len = recv(in, packet, sizeof(packet), 0)) > 0) {
		const struct iphdr *ip = (const void *)packet;
		const u8 *data = packet + head;

		if ((size_t)len != head + BFTM_WIRE_LEN || ip->protocol != IPPROTO_UDP ||
		    !(data[1] & BFTM_MSG_REPLY))
			continue;
		if (write(out, data, BFTM_WIRE_LEN) != BFTM_WIRE_LEN)
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
	u8 data[BFTM_WIRE_LEN];
	int count = 0;

	if (in < 0 || out < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1) {
		perror("wiretap");
		return 1;
	}
	while (read(in, data, sizeof(data)) == sizeof(data))
		count += sendto(out, data, sizeof(data), 0, (struct sockaddr *)&to,
				sizeof(to)) == sizeof(data);
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
		bool out;

		len = recvfrom(in, packet, sizeof(packet), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_len);
		if (len < 0)
			break;
		/* Of both families, each with no more than its usual header. */
		if (len < BFTM_WIRE_LEN + (ssize_t)sizeof(struct udphdr) ||
		    packet[len - BFTM_WIRE_LEN] != BFTM_WIRE_VERSION)
			continue;
		out = from.sll_pkttype == PACKET_OUTGOING;
		requests += !out;
		replies += out;
		wrong += out != !!(packet[len - BFTM_WIRE_LEN + 1] & BFTM_MSG_REPLY);
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
