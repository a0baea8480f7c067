// SPDX-License-Identifier: GPL-2.0
/*
 * Locks by Redis: "SET NAME VALUE NX PX 10000".
 *
 *	redis_lock NAME COUNT AWAIT ADDRESS...
 *
 * With several servers it is Redlock, pipelined: the command goes to all at once;
 * done when AWAIT have said OK. NAME_pair is until all have given it back, too.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "mark.h"

#define PORT		6379
#define SERVERS_MAX	16
#define WARM_UP		20
/* The value is of the length that Redlock's is: 20 random bytes in hex. */
#define TAKE	"*6\r\n$3\r\nSET\r\n$4\r\nlock\r\n$40\r\n" \
		"0123456789abcdef0123456789abcdef01234567\r\n" \
		"$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n"
#define TAKEN	"+OK\r\n"
#define GIVE	"*2\r\n$3\r\nDEL\r\n$4\r\nlock\r\n"
#define GIVEN	":1\r\n"

static struct pollfd server[SERVERS_MAX];
static uint32_t servers;

static void say(const char *text)
{
	uint32_t u;

	for (u = 0; u < servers; u++)
		if (send(server[u].fd, text, strlen(text), 0) != (ssize_t)strlen(text))
			err(EX_UNAVAILABLE, "send");
}

/* One of them has answered; a short line comes in one piece. */
static void hear(uint32_t u, const char *want)
{
	char line[64] = "";
	ssize_t len = recv(server[u].fd, line, sizeof(line) - 1, 0);

	if (len != (ssize_t)strlen(want) || memcmp(line, want, strlen(want)))
		errx(EX_PROTOCOL, "server %u said '%s'", u + 1, line);
	server[u].events = 0;
}

static void hear_from(uint32_t await, const char *want)
{
	uint32_t u, got = 0;

	if (servers == 1) {
		hear(0, want);
		return;
	}
	while (got < await) {
		if (poll(server, servers, 5000) <= 0)
			errx(EX_UNAVAILABLE, "%u of %u answered", got, await);
		for (u = 0; u < servers; u++)
			if (server[u].events && server[u].revents) {
				hear(u, want);
				got++;
			}
	}
}

static void expect_all(void)
{
	uint32_t u;

	for (u = 0; u < servers; u++)
		server[u].events = POLLIN;
}

static uint32_t still_silent(void)
{
	uint32_t u, count = 0;

	for (u = 0; u < servers; u++)
		count += server[u].events != 0;
	return count;
}

int main(int argc, char **argv)
{
	struct bench_times times, pairs;
	uint32_t count, await, i;
	uint64_t before, took;
	char pair[128];
	int on = 1;

	if (argc < 5 || argc - 4 > SERVERS_MAX)
		errx(EX_USAGE, "redis_lock NAME COUNT AWAIT ADDRESS... (at most %d)", SERVERS_MAX);
	count = bench_number("COUNT", argv[2], 1, BENCH_COUNT_MAX);
	for (servers = 0; argv[4 + servers]; servers++) {
		server[servers].fd = bench_connect(argv[4 + servers], PORT, SOCK_STREAM, 0);
		setsockopt(server[servers].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	}
	await = bench_number("AWAIT", argv[3], 1, servers);
	bench_alloc(&times, count);
	bench_alloc(&pairs, count);
	for (i = 0; i < WARM_UP + count; i++) {
		expect_all();
		mark("begin");
		before = bench_now();
		say(TAKE);
		hear_from(await, TAKEN);
		took = bench_now() - before;
		mark("end");
		if (i >= WARM_UP)
			bench_add(&times, took);
		if (servers > 1)
			hear_from(still_silent(), TAKEN);
		expect_all();
		say(GIVE);
		hear_from(servers, GIVEN);
		if (i >= WARM_UP)
			bench_add(&pairs, bench_now() - before);
		bench_settle(BENCH_MS);
	}
	bench_print(argv[1], &times);
	snprintf(pair, sizeof(pair), "%s_pair", argv[1]);
	bench_print(pair, &pairs);
	return 0;
}
