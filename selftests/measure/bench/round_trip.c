// SPDX-License-Identifier: GPL-2.0
/*
 * Round trips that compute nothing:
 *
 *	round_trip serve ADDRESS                  a UDP server that sends back what it gets
 *	round_trip icmp NAME COUNT ADDRESS        ping
 *	round_trip udp NAME COUNT LEN AWAIT ADDRESS...
 *	                                    LEN bytes to each, done when AWAIT
 *	                                    have answered; strays are left for later
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ping.h"

#define PORT		7007
#define LEN_MAX		1400
#define SERVERS_MAX	64
#define WARM_UP		20

static int serve(const char *address)
{
	struct sockaddr_in here = bench_address(address, PORT), from;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(from);
	char data[LEN_MAX];
	ssize_t len;

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0)
		err(EX_UNAVAILABLE, "%s", address);
	for (;;) {
		len = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &size);
		if (len >= 0)
			sendto(fd, data, (size_t)len, 0, (struct sockaddr *)&from, size);
	}
}

static void icmp(const char *name, uint32_t count, const char *address)
{
	int fd = bench_connect(address, 0, SOCK_DGRAM, IPPROTO_ICMP);
	struct bench_times times;
	uint64_t took;
	uint32_t i;

	bench_alloc(&times, count);
	for (i = 0; i < WARM_UP + count; i++) {
		took = ping_once(fd, (uint16_t)i, address);
		if (i >= WARM_UP)
			bench_add(&times, took);
	}
	bench_print(name, &times);
}

/* One unconnected socket, as a client of many servers has. */
static void udp(const char *name, uint32_t count, uint32_t len, uint32_t await, char **address,
		uint32_t servers)
{
	int fd = bench_connect(address[0], PORT, SOCK_DGRAM, 0);
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct sockaddr_in to[SERVERS_MAX];
	char data[LEN_MAX] = {}, reply[LEN_MAX];
	struct bench_times times;
	uint32_t i, u, got, number;
	uint64_t before;

	if (connect(fd, &nowhere, sizeof(nowhere)) < 0)
		err(EX_OSERR, "disconnect");
	for (u = 0; u < servers; u++)
		to[u] = bench_address(address[u], PORT);
	bench_alloc(&times, count);
	for (i = 0; i < WARM_UP + count; i++) {
		memcpy(data, &i, sizeof(i));
		before = bench_now();
		for (u = 0; u < servers; u++)
			if (sendto(fd, data, len, 0, (struct sockaddr *)&to[u], sizeof(to[u])) < 0)
				err(EX_UNAVAILABLE, "%s", address[u]);
		for (got = 0; got < await; got += number == i) {
			if (recv(fd, reply, sizeof(reply), 0) < (ssize_t)sizeof(number))
				err(EX_UNAVAILABLE, "%u of %u answered", got, await);
			memcpy(&number, reply, sizeof(number));
		}
		if (i >= WARM_UP)
			bench_add(&times, bench_now() - before);
		if (await < servers)
			bench_settle(BENCH_MS);
	}
	bench_print(name, &times);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 3 ? bench_number("COUNT", argv[3], 1, BENCH_COUNT_MAX) : 0;

	if (argc == 3 && !strcmp(argv[1], "serve")) {
		serve(argv[2]);
	} else if (argc == 5 && !strcmp(argv[1], "icmp")) {
		icmp(argv[2], count, argv[4]);
	} else if (argc > 6 && !strcmp(argv[1], "udp")) {
		uint32_t servers = (uint32_t)argc - 6;

		if (servers > SERVERS_MAX)
			errx(EX_USAGE, "%u addresses: 1 to %d are allowed", servers, SERVERS_MAX);
		udp(argv[2], count, bench_number("LEN", argv[4], sizeof(uint32_t), LEN_MAX),
		    bench_number("AWAIT", argv[5], 1, servers), argv + 6, servers);
	} else {
		errx(EX_USAGE, "serve ADDRESS | icmp NAME COUNT ADDRESS | udp NAME COUNT LEN AWAIT ADDRESS...");
	}
	return 0;
}
