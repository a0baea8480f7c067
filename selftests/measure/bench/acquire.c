// SPDX-License-Identifier: GPL-2.0
/*
 * A lock that nobody else wants, taken through /dev/bftmutex and given back:
 *
 *	acquire NAME COUNT [ADDRESS]
 *
 * Prints NAME and NAME_release, the time that each ioctl takes when the machine was idle before
 * it. With ADDRESS also NAME_pair, both in one go and an ICMP echo of the server at ADDRESS, the last that is asked;
 * and NAME_again, an acquire in one go with the release before it. With one processor, and links
 * that keep the order, the echo comes when all servers know of the release.
 */
#include "selftests/module/device/handle.h"
#include "bench.h"
#include "mark.h"
#include "ping.h"

#define WARM_UP	20
#define LEASE	(2 * SEC)

static void take(int fd)
{
	int result = acquire(fd, "bench", LEASE, 0, NULL);

	if (result < 0)
		errx(EX_UNAVAILABLE, "acquire: %s", strerror(-result));
}

static void give(int fd)
{
	int result = release(fd);

	if (result < 0)
		errx(EX_UNAVAILABLE, "release: %s", strerror(-result));
}

/* struct part - what is timed; it is printed behind NAME */
struct part {
	const char *name;
	struct bench_times times;
};

enum { TAKE, GIVE, PAIR, AGAIN, PARTS };

static void apart(int fd, uint64_t took[])
{
	uint64_t before = bench_now();

	mark("begin");
	take(fd);
	took[TAKE] = bench_now() - before;
	mark("end");
	bench_settle(5 * BENCH_MS);
	before = bench_now();
	give(fd);
	took[GIVE] = bench_now() - before;
	bench_settle(20 * BENCH_MS);
}

static void in_one_go(int fd, int echo, const char *address, uint16_t turn, uint64_t took[])
{
	uint64_t before = bench_now();

	take(fd);
	give(fd);
	ping_once(echo, turn, address);
	took[PAIR] = bench_now() - before;
	bench_settle(20 * BENCH_MS);

	take(fd);
	bench_settle(5 * BENCH_MS);
	give(fd);
	before = bench_now();
	take(fd);
	took[AGAIN] = bench_now() - before;
	bench_settle(5 * BENCH_MS);
	give(fd);
	bench_settle(20 * BENCH_MS);
}

int main(int argc, char **argv)
{
	struct part part[PARTS] = { { .name = "" }, { .name = "_release" }, { .name = "_pair" },
				    { .name = "_again" } };
	uint64_t took[PARTS];
	int fd, echo, k, parts = argc > 3 ? PARTS : PAIR;
	uint32_t count, i;
	char name[128];

	if (argc != 3 && argc != 4)
		errx(EX_USAGE, "acquire NAME COUNT [ADDRESS]");
	count = bench_number("COUNT", argv[2], 1, BENCH_COUNT_MAX);
	echo = argv[3] ? bench_connect(argv[3], 0, SOCK_DGRAM, IPPROTO_ICMP) : -1;
	fd = open_here(0);
	if (fd < 0)
		errx(EX_UNAVAILABLE, "/dev/bftmutex: %s", strerror(-fd));
	for (k = 0; k < parts; k++)
		bench_alloc(&part[k].times, count);
	for (i = 0; i < WARM_UP + count; i++) {
		apart(fd, took);
		if (argv[3])
			in_one_go(fd, echo, argv[3], (uint16_t)i, took);
		for (k = 0; k < parts && i >= WARM_UP; k++)
			bench_add(&part[k].times, took[k]);
	}
	for (k = 0; k < parts; k++) {
		snprintf(name, sizeof(name), "%s%s", argv[1], part[k].name);
		bench_print(name, &part[k].times);
	}
	return 0;
}
