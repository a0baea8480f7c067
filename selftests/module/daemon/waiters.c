// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of locks that one host waits for, while another host has them. One process plays both
 * hosts, as handover does.
 *
 *	waiters COUNT WAIT_MS [LEASE_S]
 *				host 2 waits so long for COUNT locks that host 1 has, with leases of
 *				10 s or LEASE_S; then host 1 gives all of them back at once, and host
 *				2 gets them
 *
 * Host 2 has a lock of its own meanwhile, with a short lease.
 *
 * prints key=value: last_ms until host 2 waits for none any more; of how many locks it still does
 * (left), which it could not get (failed) and which it lost, its own one among these.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "selftests/module/device/handle.h"

#define LEASE_S		10
#define COUNT_MAX	65000
#define SHORT_LEASE	(2 * SEC)
#define PATIENCE	(40 * SEC + (uint64_t)count * 5 * MS)
#define LOOK		(50 * MS)

static int held[COUNT_MAX], waits[COUNT_MAX];
static int count, lease_s = LEASE_S;

static void ask(int fd, int number, uint64_t lease_ns)
{
	struct bftm_acquire arg;
	char name[16];
	int err;

	snprintf(name, sizeof(name), "many%d", number);
	arg = want(name, lease_ns, 0, BFTM_RENEW);
	arg.way = BFTM_WAY_QUEUE;
	err = call(fd, BFTM_IOC_ACQUIRE, &arg);
	if (err && err != -EINPROGRESS)
		errx(EX_UNAVAILABLE, "lock %d: %s", number, strerror(-err));
}

static void ask_all(int client, int *fd)
{
	int i;

	for (i = 0; i < count; i++) {
		fd[i] = open_client(client, O_NONBLOCK);
		if (fd[i] < 0)
			errx(EX_UNAVAILABLE, "client %d: %s", client, strerror(-fd[i]));
		ask(fd[i], i, (uint64_t)lease_s * SEC);
	}
}

static int in_state(const int *fd, int state)
{
	int i, n = 0;

	for (i = 0; i < count; i++)
		n += state_of(fd[i]) == state;
	return n;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 2 * COUNT_MAX + 100, 2 * COUNT_MAX + 100 };
	uint64_t begun;
	int own, i;

	count = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;
	if (argc == 4)
		lease_s = atoi(argv[3]);
	if (count < 1 || count > COUNT_MAX || lease_s < 1)
		errx(EX_USAGE, "usage: waiters COUNT WAIT_MS [LEASE_S], 1 to %d", COUNT_MAX);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		err(EX_OSERR, "descriptors");
	ask_all(1, held);
	for (begun = now_ns(); in_state(held, BFTM_STATE_HELD) < count; sleep_ns(LOOK))
		if (now_ns() - begun > PATIENCE)
			errx(EX_UNAVAILABLE, "host 1 has %d of %d",
			     in_state(held, BFTM_STATE_HELD), count);
	own = open_client(2, O_NONBLOCK);
	ask(own, COUNT_MAX, SHORT_LEASE);
	for (begun = now_ns(); state_of(own) != BFTM_STATE_HELD; sleep_ns(LOOK))
		if (now_ns() - begun > PATIENCE)
			errx(EX_UNAVAILABLE, "host 2 does not get a lock that nobody has");
	ask_all(2, waits);
	sleep_ns((uint64_t)atoi(argv[2]) * MS);
	if (in_state(waits, BFTM_STATE_PENDING) < count)
		errx(EX_UNAVAILABLE, "host 2 waits for %d of %d, and has %d",
		     in_state(waits, BFTM_STATE_PENDING), count, in_state(waits, BFTM_STATE_HELD));
	if (in_state(held, BFTM_STATE_HELD) < count)
		errx(EX_UNAVAILABLE, "host 1 has lost some of them");
	for (begun = now_ns(), i = 0; i < count; i++)
		close(held[i]);
	while (in_state(waits, BFTM_STATE_PENDING) && now_ns() - begun < PATIENCE)
		sleep_ns(LOOK);
	printf("last_ms=%llu\n", (unsigned long long)((now_ns() - begun) / MS));
	printf("left=%d\nfailed=%d\nlost=%d\n", in_state(waits, BFTM_STATE_PENDING),
	       in_state(waits, BFTM_STATE_FAILED),
	       in_state(waits, BFTM_STATE_LOST) + (state_of(own) != BFTM_STATE_HELD));
	return 0;
}
