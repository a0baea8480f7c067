// SPDX-License-Identifier: GPL-2.0
/*
 * Many locks of one server, all held:
 *
 *	locks SERVER ADDRESS CREDENTIALS NETNS FILLER COUNT...
 *
 * Those that are not timed are taken by the client with credentials FILLER, from the
 * network namespace NETNS: the server's own is the shortest way to it.
 * At each COUNT, in growing order, prints locks_COUNT, the round trip of a TRY for
 * one of the last TIMED new ones, and locks_COUNT.slab, the memory in the kernel's
 * slabs in bytes. All leases end at the same time: then prints locks_end, the round
 * trip of one TRY after the other while they do, and they are forgotten.
 */
#include <fcntl.h>
#include <sched.h>

#include "selftests/lib/datagram.h"
#include "bench.h"

#define TIMED	500u
#define BURST	64u
#define LONG_NS	(100 * BFTM_NS_PER_SEC)	/* for all to be taken in */
#define ENDING	20000u

static struct bftm_wire in;
static u64 attempt, end_ns;

static u64 slab_bytes(void)
{
	unsigned long long kb = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	if (!f)
		err(EX_OSFILE, "/proc/meminfo");
	while (fgets(line, sizeof(line), f) && sscanf(line, "Slab: %llu", &kb) != 1)
		;
	fclose(f);
	return kb * 1024;
}

/* Names of up to 15 bytes are short ones. */
static void say_try(struct peer *p, u32 number)
{
	struct bftm_wire wire;
	struct bftm_msg m;
	char name[16];

	snprintf(name, sizeof(name), "lock.%u", number);
	m = request(BFTM_MSG_TRY, name, ++attempt);
	m.lease_ns = end_ns - bench_now();
	prepare(p, &m, &wire);
	if (send(p->fd, wire.data, wire.len, 0) != (ssize_t)wire.len)
		err(EX_UNAVAILABLE, "send");
}

static void hear_free(struct peer *p, u32 number, bool verified)
{
	ssize_t len = recv(p->fd, in.data, sizeof(in.data), 0);

	if (len < BFTM_DATAGRAM_MIN)
		errx(EX_UNAVAILABLE, "lock %u: %s", number, strerror(errno));
	in.len = (size_t)len;
	if (in.head.type != BFTM_MSG_FREE || (verified && !bftm_mac_verify(p->reply, &in)))
		errx(EX_UNAVAILABLE, "lock %u: %s", number, bftm_msg_name(in.head.type));
}

/* Locks @from to @to - 1, many at once. */
static void fill(struct peer *p, u32 from, u32 to)
{
	u32 i, n;

	for (; from < to; from += n) {
		n = to - from < BURST ? to - from : BURST;
		for (i = 0; i < n; i++)
			say_try(p, from + i);
		for (i = 0; i < n; i++)
			hear_free(p, from + i, false);
	}
}

static void time_try(struct peer *p, u32 number, struct bench_times *t)
{
	u64 before = bench_now();

	say_try(p, number);
	hear_free(p, number, true);
	bench_add(t, bench_now() - before);
}

/* From a little before they end, locks from @number on. */
static void time_end(struct peer *p, u32 number)
{
	struct bench_times t;
	u64 most = 0;
	u32 i;

	bench_alloc(&t, ENDING);
	bench_settle(end_ns - BFTM_NS_PER_MS - bench_now());
	end_ns += LONG_NS;
	for (i = 0; i < ENDING; i++)
		time_try(p, number + i, &t);
	for (i = 0; i < t.count; i++)
		most = t.ns[i] > most ? t.ns[i] : most;
	bench_print("locks_end", &t);
	printf("locks_end.max %llu ns\n", (unsigned long long)most);
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		err(EX_UNAVAILABLE, "%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct timeval patience = { .tv_sec = 5 };
	u32 had = 0, count, i;
	struct bench_times t;
	struct peer p = {}, filler = {};
	char name[32];
	u16 server;

	if (argc < 7)
		errx(EX_USAGE, "locks SERVER ADDRESS CREDENTIALS NETNS FILLER COUNT...");
	server = (u16)bench_number("SERVER", argv[1], 1, 65535);
	open_peer(&p, server, argv[2], argv[3]);
	enter(argv[4]);
	open_peer(&filler, server, argv[2], argv[5]);
	setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(filler.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	hello(&filler);
	bench_settle(hello(&p).gno);	/* its quarantine */
	attempt = fresh();
	bench_alloc(&t, TIMED);
	end_ns = bench_now() + LONG_NS;
	for (argv += 6; *argv; argv++) {
		count = bench_number("COUNT", *argv, had + TIMED, BFTM_LOCKS_MAX);
		fill(&filler, had, count - TIMED);
		for (i = count - TIMED; i < count; i++)
			time_try(&p, i, &t);
		had = count;
		snprintf(name, sizeof(name), "locks_%u", count);
		bench_print(name, &t);
		printf("%s.slab %llu bytes\n", name, (unsigned long long)slab_bytes());
		fflush(stdout);
	}
	time_end(&p, had);
	return failures != 0;
}
