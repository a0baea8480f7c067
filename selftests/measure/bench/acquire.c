// SPDX-License-Identifier: GPL-2.0
/*
 * A lock that nobody else wants, taken through /dev/bftmutex and given back:
 *
 *	acquire NAME COUNT
 *
 * Prints NAME and NAME_release, the time that each ioctl takes. Between two the
 * machine is idle, so that all servers have heard of the release.
 */
#include "selftests/module/device/handle.h"
#include "bench.h"
#include "mark.h"

#define WARM_UP	20
#define LEASE	(2 * SEC)

int main(int argc, char **argv)
{
	struct bench_times got, gave;
	uint64_t before, between;
	uint32_t count, i;
	char name[128];
	int fd, result;

	if (argc != 3)
		errx(EX_USAGE, "acquire NAME COUNT");
	count = bench_number("COUNT", argv[2], 1, BENCH_COUNT_MAX);
	fd = open_here(0);
	if (fd < 0)
		errx(EX_UNAVAILABLE, "/dev/bftmutex: %s", strerror(-fd));
	bench_alloc(&got, count);
	bench_alloc(&gave, count);
	for (i = 0; i < WARM_UP + count; i++) {
		mark("begin");
		before = bench_now();
		result = acquire(fd, "bench", LEASE, 0, NULL);
		between = bench_now();
		mark("end");
		if (result < 0)
			errx(EX_UNAVAILABLE, "acquire: %s", strerror(-result));
		bench_settle(5 * BENCH_MS);
		if (i >= WARM_UP)
			bench_add(&got, between - before);
		before = bench_now();
		result = release(fd);
		between = bench_now();
		if (result < 0)
			errx(EX_UNAVAILABLE, "release: %s", strerror(-result));
		if (i >= WARM_UP)
			bench_add(&gave, between - before);
		bench_settle(20 * BENCH_MS);
	}
	bench_print(argv[1], &got);
	snprintf(name, sizeof(name), "%s_release", argv[1]);
	bench_print(name, &gave);
	return 0;
}
