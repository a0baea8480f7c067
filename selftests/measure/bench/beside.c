// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of several makers in turn, so that whatever the machine does beside meets all
 * of them:
 *
 *	beside COUNT ADDRESS SPACE LOCK CLUSTER...
 *
 * Each of COUNT turns sends an ICMP echo to ADDRESS, takes LOCK of the DLM's lockspace
 * SPACE in mode EX and gives it back, and does so with a lock of each CLUSTER. Prints
 * link_icmp; link_dlm and link_CLUSTER, how long it took to get it, and the same with
 * _release and _pair behind it: to give it back, which the DLM waits for, and both.
 */
#include "selftests/module/device/handle.h"
#include <stdbool.h>

#include "dlm.h"
#include "ping.h"

#define WARM_UP		50
#define LEASE		(5 * SEC)
#define MAKERS_MAX	8
#define SETTLE		(2 * BENCH_MS)

static const char *const part[] = { "", "_release", "_pair" };

/** struct maker - whose lock it is: of the DLM if there is no cluster */
struct maker {
	const char *cluster, *name;
	int fd;
	uint32_t id;		/* of the DLM */
	struct bench_times times[3];
};

static void open_maker(struct maker *m, const char *cluster, const char *space, uint32_t count)
{
	int i;

	m->cluster = cluster;
	m->fd = cluster ? open_here(0) : dlm_open(space);
	if (m->fd < 0)
		errx(EX_UNAVAILABLE, "/dev/bftmutex: %s", strerror(-m->fd));
	for (i = 0; i < 3; i++)
		bench_alloc(&m->times[i], count);
}

static void take(struct maker *m)
{
	struct bftm_acquire arg;
	int result;

	if (!m->cluster) {
		m->id = dlm_lock(m->fd, m->name, DLM_LOCK_EX);
		return;
	}
	arg = want(m->name, LEASE, 0, 0);
	set_cluster(&arg, m->cluster);
	result = call(m->fd, BFTM_IOC_ACQUIRE, &arg);
	if (result < 0)
		errx(EX_UNAVAILABLE, "cluster %s: acquire: %s", m->cluster, strerror(-result));
}

static void give(struct maker *m)
{
	int result;

	if (!m->cluster) {
		dlm_unlock(m->fd, m->id);
		return;
	}
	result = release(m->fd);
	if (result < 0)
		errx(EX_UNAVAILABLE, "cluster %s: release: %s", m->cluster, strerror(-result));
}

static void turn(struct maker *m, bool counts)
{
	uint64_t begin = bench_now(), held, giving, end;

	take(m);
	held = bench_now();
	bench_settle(SETTLE);
	giving = bench_now();
	give(m);
	end = bench_now();
	bench_settle(SETTLE);
	if (!counts)
		return;
	bench_add(&m->times[0], held - begin);
	bench_add(&m->times[1], end - giving);
	bench_add(&m->times[2], held - begin + end - giving);
}

int main(int argc, char **argv)
{
	struct maker makers[MAKERS_MAX] = {};
	struct bench_times pings;
	uint32_t count, n = 0, i, k;
	char name[128];
	uint64_t took;
	int fd;

	if (argc < 5 || argc > 4 + MAKERS_MAX)
		errx(EX_USAGE, "beside COUNT ADDRESS SPACE LOCK CLUSTER... (at most %d)",
		     MAKERS_MAX - 1);
	count = bench_number("COUNT", argv[1], 1, BENCH_COUNT_MAX);
	fd = bench_connect(argv[2], 0, SOCK_DGRAM, IPPROTO_ICMP);
	bench_alloc(&pings, count);
	open_maker(&makers[n++], NULL, argv[3], count);
	for (i = 5; i < (uint32_t)argc; i++)
		open_maker(&makers[n++], argv[i], NULL, count);
	for (i = 0; i < n; i++)
		makers[i].name = argv[4];
	for (i = 0; i < WARM_UP + count; i++) {
		took = ping_once(fd, (uint16_t)i, argv[2]);
		if (i >= WARM_UP)
			bench_add(&pings, took);
		bench_settle(SETTLE);
		for (k = 0; k < n; k++)
			turn(&makers[k], i >= WARM_UP);
	}
	bench_print("link_icmp", &pings);
	for (k = 0; k < n; k++)
		for (i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "link_%s%s",
				 makers[k].cluster ? makers[k].cluster : "dlm", part[i]);
			bench_print(name, &makers[k].times[i]);
		}
	return 0;
}
