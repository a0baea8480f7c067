// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how fast and how fairly a lock goes from host to host. One process plays all hosts: a
 * handle belongs to the network namespace in which it was opened.
 *
 *	handover alone COUNT [shared]   acquires of a lock that nobody wants
 *	handover pair COUNT             release on one host to return on the other
 *	handover crowd T ROUNDS HOLD_US [WAY]
 *	                                T hosts, each ROUNDS times
 *	handover readers T ROUNDS       T hosts, one after the other, until all hold it shared;
 *	                                and release by the last of these to return on the host
 *	                                that was the first to release it, and waits for it alone
 *
 * prints key=value, times in ns; WAY is queue (the default), backoff or
 * no-backoff. Meant for a clock that counts instructions.
 */
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <sysexits.h>

#include "selftests/measure/bench/mark.h"
#include "selftests/module/device/handle.h"

#define LEASE		(5 * SEC)
#define HOSTS_MAX	64
#define GRANTS_MAX	65536

static struct {
	pthread_mutex_t lock;
	pthread_cond_t go;
	int ready;
	bool start;
	uint32_t way;
	int rounds;
	uint64_t hold_ns;
	int grants;
	int order[GRANTS_MAX];		/* holder of each grant */
	uint64_t rounds_asked;
} crowd = { .lock = PTHREAD_MUTEX_INITIALIZER, .go = PTHREAD_COND_INITIALIZER };

static int open_or_die(int client)
{
	int fd = open_client(client, 0);

	if (fd < 0)
		errx(EX_UNAVAILABLE, "client %d: %s", client, strerror(-fd));
	return fd;
}

static void must(int result, const char *what)
{
	if (result < 0)
		errx(EX_UNAVAILABLE, "%s: %s", what, strerror(-result));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_times(const char *name, uint64_t *ns, int count)
{
	qsort(ns, (size_t)count, sizeof(*ns), compare);
	printf("%s_p50=%" PRIu64 "\n%s_p99=%" PRIu64 "\n", name, ns[count / 2], name,
	       ns[count * 99 / 100]);
}

static int acquire_in(int fd, const char *name, uint32_t mode)
{
	struct bftm_acquire arg = want(name, LEASE, 0, 0);

	arg.mode = mode;
	return call(fd, BFTM_IOC_ACQUIRE, &arg);
}

static void alone(int count, uint32_t mode)
{
	uint64_t *ns = calloc((size_t)count, sizeof(*ns)), before;
	int fd = open_or_die(1), i;

	if (!ns)
		err(EX_OSERR, "memory");
	/* The first acquire fills caches. */
	for (i = -1; i < count; i++) {
		before = now_ns();
		must(acquire_in(fd, "alone", mode), "acquire");
		if (i >= 0)
			ns[i] = now_ns() - before;
		must(call(fd, BFTM_IOC_RELEASE, NULL), "release");
		sleep_ns(20 * MS);	/* all servers get the release */
	}
	print_times("acquire", ns, count);
	free(ns);
}

struct waiter {
	const char *name;
	int fd;
	uint64_t had_ns;
};

static void *wait_for_lock(void *arg)
{
	struct waiter *w = arg;

	must(acquire(w->fd, w->name, LEASE, 0, NULL), "acquire");
	w->had_ns = now_ns();
	mark("end");
	return NULL;
}

static void pair(int count)
{
	uint64_t *ns = calloc((size_t)count, sizeof(*ns)), released;
	struct waiter w[2] = { { .name = "pair", .fd = open_or_die(1) },
			       { .name = "pair", .fd = open_or_die(2) } };
	pthread_t thread;
	int i;

	if (!ns)
		err(EX_OSERR, "memory");
	must(acquire(w[0].fd, "pair", LEASE, 0, NULL), "acquire");
	for (i = -1; i < count; i++) {
		struct waiter *next = &w[(i + 2) & 1];

		if (pthread_create(&thread, NULL, wait_for_lock, next))
			errx(EX_OSERR, "thread");
		sleep_ns(50 * MS);	/* the request is in the servers' queue */
		mark("begin");
		released = now_ns();
		must(call(w[(i + 1) & 1].fd, BFTM_IOC_RELEASE, NULL), "release");
		pthread_join(thread, NULL);
		if (i >= 0)
			ns[i] = next->had_ns - released;
	}
	print_times("handover", ns, count);
	free(ns);
}

static void readers(int hosts, int rounds)
{
	uint64_t *read_ns = calloc((size_t)(hosts * rounds), sizeof(*read_ns)), before = 0;
	uint64_t *write_ns = calloc((size_t)rounds, sizeof(*write_ns));
	struct waiter writer = { .name = "readers", .fd = open_or_die(hosts) };
	int fd[HOSTS_MAX], i, round, count = 0;
	pthread_t thread;

	if (!read_ns || !write_ns)
		err(EX_OSERR, "memory");
	for (i = 0; i < hosts; i++)
		fd[i] = open_or_die(i + 1);
	/* The first round fills caches. */
	for (round = -1; round < rounds; round++) {
		for (i = 0; i < hosts; i++) {
			before = now_ns();
			must(acquire_in(fd[i], "readers", BFTM_LOCK_PR), "acquire");
			if (round >= 0)
				read_ns[count++] = now_ns() - before;
			sleep_ns(20 * MS);
		}
		if (pthread_create(&thread, NULL, wait_for_lock, &writer))
			errx(EX_OSERR, "thread");
		/* The writer's host asks the servers when its own reader, the first, has left. */
		for (i = hosts; i-- > 0; ) {
			sleep_ns(5 * MS);	/* all servers get the release before */
			before = now_ns();
			must(call(fd[i], BFTM_IOC_RELEASE, NULL), "release");
		}
		pthread_join(thread, NULL);
		if (round >= 0)
			write_ns[round] = writer.had_ns - before;
		must(call(writer.fd, BFTM_IOC_RELEASE, NULL), "release");
		sleep_ns(20 * MS);
	}
	print_times("reader", read_ns, count);
	print_times("writer", write_ns, rounds);
	free(read_ns);
	free(write_ns);
}

static void *contend(void *arg)
{
	int number = (int)(intptr_t)arg, fd, i, result;
	struct bftm_acquire a;

	/* Namespaces belong to threads. */
	must(enter_client(number + 1), "namespace");
	fd = open_here(0);
	must(fd, "open");
	pthread_mutex_lock(&crowd.lock);
	crowd.ready++;
	pthread_cond_broadcast(&crowd.go);
	while (!crowd.start)
		pthread_cond_wait(&crowd.go, &crowd.lock);
	pthread_mutex_unlock(&crowd.lock);
	for (i = 0; i < crowd.rounds; i++) {
		a = want("crowd", LEASE, 0, 0);
		a.way = crowd.way;
		result = call(fd, BFTM_IOC_ACQUIRE, &a);
		must(result, "acquire");
		/* Guarded only by the lock itself. */
		crowd.order[crowd.grants++] = number;
		crowd.rounds_asked += a.attempts;
		sleep_ns(crowd.hold_ns);
		must(call(fd, BFTM_IOC_RELEASE, NULL), "release");
	}
	close(fd);
	return NULL;
}

/* The longest wait, in grants of others. */
static int worst_wait(int hosts)
{
	int last[HOSTS_MAX], worst = 0, i;

	for (i = 0; i < hosts; i++)
		last[i] = -1;
	for (i = 0; i < crowd.grants; i++) {
		int who = crowd.order[i];

		if (i - last[who] - 1 > worst)
			worst = i - last[who] - 1;
		last[who] = i;
	}
	return worst;
}

/* Jain's index of the grants that each contender had when the first one had finished. */
static double jain(int hosts)
{
	double sum = 0, squares = 0;
	int had[HOSTS_MAX] = {}, i;

	for (i = 0; i < crowd.grants; i++)
		if (++had[crowd.order[i]] == crowd.rounds)
			break;
	for (i = 0; i < hosts; i++) {
		sum += had[i];
		squares += (double)had[i] * had[i];
	}
	return sum * sum / (hosts * squares);
}

static void run_crowd(int hosts)
{
	pthread_t thread[HOSTS_MAX];
	uint64_t before, took;
	int i;

	for (i = 0; i < hosts; i++)
		if (pthread_create(&thread[i], NULL, contend, (void *)(intptr_t)i))
			errx(EX_OSERR, "thread");
	pthread_mutex_lock(&crowd.lock);
	while (crowd.ready < hosts)
		pthread_cond_wait(&crowd.go, &crowd.lock);
	crowd.start = true;
	before = now_ns();
	pthread_cond_broadcast(&crowd.go);
	pthread_mutex_unlock(&crowd.lock);
	for (i = 0; i < hosts; i++)
		pthread_join(thread[i], NULL);
	took = now_ns() - before;
	printf("total=%" PRIu64 "\ngrants=%d\nper_grant=%" PRIu64 "\n", took, crowd.grants,
	       took / (uint64_t)crowd.grants);
	printf("attempts=%" PRIu64 "\njain=%.4f\nworst_wait=%d\n", crowd.rounds_asked,
	       jain(hosts), worst_wait(hosts));
}

static int number(const char *text, int most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		errx(EX_USAGE, "'%s' is not a number from 1 to %d", text, most);
	return (int)value;
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "", "backoff", "no-backoff", "queue" };

	if ((argc == 3 || (argc == 4 && !strcmp(argv[3], "shared"))) && !strcmp(argv[1], "alone")) {
		alone(number(argv[2], 10000), argc == 4 ? BFTM_LOCK_PR : BFTM_LOCK_EX);
	} else if (argc == 4 && !strcmp(argv[1], "readers")) {
		readers(number(argv[2], HOSTS_MAX), number(argv[3], 1000));
	} else if (argc == 3 && !strcmp(argv[1], "pair")) {
		pair(number(argv[2], 10000));
	} else if ((argc == 5 || argc == 6) && !strcmp(argv[1], "crowd")) {
		int hosts = number(argv[2], HOSTS_MAX);

		crowd.rounds = number(argv[3], GRANTS_MAX / hosts);
		crowd.hold_ns = 1000ull * (uint64_t)number(argv[4], 1000000);
		crowd.way = BFTM_WAY_QUEUE;
		while (argc == 6 && crowd.way && strcmp(ways[crowd.way], argv[5]))
			crowd.way--;
		run_crowd(hosts);
	} else {
		errx(EX_USAGE, "alone COUNT [shared] | pair COUNT | crowd T ROUNDS HOLD_US [WAY] | "
		     "readers T ROUNDS");
	}
	return 0;
}
