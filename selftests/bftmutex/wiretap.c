// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody on the wire, without a key:
 *
 *	wiretap record FILE		keep answers that pass by, until SIGTERM
 *	wiretap replay FILE ADDRESS PORT	send them again
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../kmod/core/wire.h"

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

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "record"))
		return record(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "replay"))
		return replay(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: wiretap record FILE | replay FILE ADDRESS PORT\n");
	return 64;
}
