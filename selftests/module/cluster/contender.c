// SPDX-License-Identifier: GPL-2.0
/*
 * A client that enters the critical section again and again and does there what
 * only one may do at a time: read a counter, wait, write it back plus one. With
 * two inside at once, counts are lost. For each entry a line goes to the log:
 *
 *	CLIENT ENTERED_NS LEFT_NS WAITED_NS ROUNDS COUNT TOKEN
 *
 * times on CLOCK_BOOTTIME, so that one process can check all logs for overlap.
 *
 * It behaves as a holder must: it compares the deadline with the clock immediately before the
 * write. If less than half of the lease is left, it writes nothing and enters again, so a slow
 * machine may lose up to half a lease in between. If that was not enough (only fencing tokens would
 * help), it gives up with EX_TEMPFAIL: then the run says nothing about exclusion.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "lib/libbftmutex.h"

static struct {
	const char *client;
	const char *lock;
	const char *counter;
	const char *log;
	unsigned long entries;
	unsigned int processes;
	unsigned int seed;
	double hold_ms;
	double jitter_ms;
	double pause_ms;
	double lease_s;
	double timeout_s;
	uint32_t way;
	uint32_t flags;
	bool patient;
} args = { .client = "-", .lock = "counter", .entries = 5, .processes = 1, .hold_ms = 5,
	   .lease_s = 1 };

static const struct argp_option options[] = {
	{ "client", 'i', "NAME", 0, "Its name in the log", 0 },
	{ "lock", 'N', "NAME", 0, "Lock to take (default counter)", 0 },
	{ "counter", 'c', "FILE", 0, "Shared counter", 0 },
	{ "log", 'o', "FILE", 0, "Log to append to (default stdout)", 0 },
	{ "entries", 'e', "N", 0, "How often to enter (default 5)", 0 },
	{ "processes", 'P', "N", 0, "Number of processes, named NAME.1 to NAME.N (default 1)", 0 },
	{ "hold", 't', "MS", 0, "How long to stay inside (default 5)", 0 },
	{ "jitter", 'j', "MS", 0, "Random time on top, up to this (default 0)", 0 },
	{ "pause", 'p', "MS", 0, "Random time outside before it, up to this (default 0)", 0 },
	{ "seed", 's', "N", 0, "Seed of random choices (default 0)", 0 },
	{ "try", 'n', NULL, 0, "Poll: ask once, and again after the pause", 0 },
	{ "patient", 'a', NULL, 0, "Ask again, too, when there was no memory", 0 },
	{ "lease", 'l', "SEC", 0, "Lease to ask for (default 1)", 0 },
	{ "timeout", 'w', "SEC", 0, "Wait no longer for an entry (default: for ever)", 0 },
	{ "no-backoff", 'B', NULL, 0, "Ask again at once", 0 },
	{ "backoff", 'b', NULL, 0, "Sleep and ask again, outside of the servers' queue", 0 },
	{ "renew", 'r', NULL, 0, "Have the lease renewed", 0 },
	{ "fence", 'f', NULL, 0, "With a fencing token", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'i':
		args.client = arg;
		break;
	case 'N':
		args.lock = arg;
		break;
	case 'c':
		args.counter = arg;
		break;
	case 'o':
		args.log = arg;
		break;
	case 'e':
		args.entries = strtoul(arg, NULL, 10);
		break;
	case 'P':
		args.processes = (unsigned int)strtoul(arg, NULL, 10);
		break;
	case 't':
		args.hold_ms = strtod(arg, NULL);
		break;
	case 'j':
		args.jitter_ms = strtod(arg, NULL);
		break;
	case 'p':
		args.pause_ms = strtod(arg, NULL);
		break;
	case 's':
		args.seed = (unsigned int)strtoul(arg, NULL, 10);
		break;
	case 'l':
		args.lease_s = strtod(arg, NULL);
		break;
	case 'w':
		args.timeout_s = strtod(arg, NULL);
		break;
	case 'n':
		args.flags |= BFTM_TRY;
		break;
	case 'a':
		args.patient = true;
		break;
	case 'r':
		args.flags |= BFTM_RENEW;
		break;
	case 'f':
		args.flags |= BFTM_FENCE;
		break;
	case 'b':
		args.way = BFTM_WAY_BACKOFF;
		break;
	case 'B':
		args.way = BFTM_WAY_NO_BACKOFF;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = { .options = options, .parser = parse };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sleeps @ms, and a random time on top. */
static void stay(double ms, double jitter_ms)
{
	struct timespec pause;

	ms += jitter_ms * rand_r(&args.seed) / RAND_MAX;
	pause.tv_sec = (time_t)(ms / 1e3);
	pause.tv_nsec = (long)(ms * 1e6) % 1000000000;
	nanosleep(&pause, NULL);
}

static unsigned long read_counter(void)
{
	unsigned long value = 0;
	FILE *file;

	file = args.counter ? fopen(args.counter, "r") : NULL;
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

static void write_counter(unsigned long value)
{
	FILE *file;

	if (!args.counter)
		return;
	file = fopen(args.counter, "w");
	if (!file) {
		perror(args.counter);
		exit(EX_CANTCREAT);
	}
	fprintf(file, "%lu\n", value);
	fclose(file);
}

/* Servers whose tables cannot grow answer ENOSPC. */
static bool lacks_memory(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -ENOSPC;
}

/* A contender that polls, or is patient, asks again until the time to wait is over. */
static bool again(int err, uint64_t asked)
{
	bool polls = args.flags & BFTM_TRY && (err == -EWOULDBLOCK || err == -ENETUNREACH);

	if (!polls && !(args.patient && lacks_memory(err)))
		return false;
	if (args.timeout_s && now_ns() - asked > args.timeout_s * 1e9)
		return false;
	stay(0, args.pause_ms);
	return true;
}

/* Enters and leaves once. 1: too slow, and nothing was written. */
static int enter(int fd, int log)
{
	const struct bftmutex_options want = {
		.lease_ns = (uint64_t)(args.lease_s * 1e9),
		.timeout_ns = (uint64_t)(args.timeout_s * 1e9),
		.way = args.way,
		.flags = args.flags,
	};
	struct bftm_status status = { .size = sizeof(status) };
	struct bftmutex_grant grant;
	uint64_t asked, entered, left;
	unsigned long count;
	int err;

	stay(0, args.pause_ms);
	asked = now_ns();
	do {
		err = bftmutex_acquire(fd, args.lock, strlen(args.lock), &want, &grant);
	} while (again(err, asked));
	/* The lease was over before this process could run. */
	if (err == -EKEYEXPIRED)
		return 1;
	if (err < 0) {
		fprintf(stderr, "contender %s: acquire: %s\n", args.client,
			bftmutex_strerror(err));
		return EX_UNAVAILABLE;
	}
	entered = now_ns();
	count = read_counter() + 1;
	stay(args.hold_ms, args.jitter_ms);
	if (bftmutex_status(fd, &status) < 0)
		return EX_OSERR;
	/* The kernel must not report a loss before the deadline. */
	if (status.state != BFTM_STATE_HELD && now_ns() <= grant.deadline_ns) {
		fprintf(stderr, "contender %s: lost before the deadline\n", args.client);
		return EX_SOFTWARE;
	}
	if (status.remaining_ns < want.lease_ns / 2) {
		bftmutex_release(fd);
		return 1;
	}
	write_counter(count);
	left = now_ns();
	/* A renewal has moved the deadline, which the status shows. */
	if (left > status.deadline_ns) {
		fprintf(stderr, "contender %s: written %" PRIu64 " ns late\n",
			args.client, left - (uint64_t)status.deadline_ns);
		return EX_TEMPFAIL;
	}
	/* Logged before the release, so that nothing can be lost by a crash. */
	dprintf(log, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %lu %" PRIu64 "\n",
		args.client, entered, left, entered - asked, grant.attempts, count,
		grant.token);
	bftmutex_release(fd);	/* may come too late, which does no harm */
	return 0;
}

static int run(void)
{
	int fd, log = STDOUT_FILENO, status;
	uint64_t asked = now_ns();
	unsigned long done = 0;

	do {
		fd = bftmutex_open(NULL);
	} while (again(fd, asked));
	if (fd < 0) {
		fprintf(stderr, "contender %s: %s\n", args.client, bftmutex_strerror(fd));
		return EX_NOINPUT;
	}
	if (args.log)
		log = open(args.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log < 0) {
		perror(args.log);
		return EX_CANTCREAT;
	}
	while (done < args.entries) {
		status = enter(fd, log);
		if (status > 1)
			return status;
		done += !status;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char name[64];
	int status, worst = 0;
	unsigned int i;

	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (args.processes <= 1)
		return run();
	for (i = 1; i <= args.processes; i++) {
		snprintf(name, sizeof(name), "%s.%u", args.client, i);
		switch (fork()) {
		case -1:
			perror("fork");
			return EX_OSERR;
		case 0:
			args.client = name;
			args.seed += i;
			return run();
		}
	}
	while (wait(&status) > 0)
		if (status)
			worst = WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
	return worst;
}
