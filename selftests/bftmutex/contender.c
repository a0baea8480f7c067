// SPDX-License-Identifier: GPL-2.0
/*
 * A client that enters the critical section again and again and does there what
 * only one may do at a time: read a counter, wait, write it back plus one. With
 * two inside at once, counts are lost. For each entry a line goes to the log:
 *
 *	CLIENT ENTERED_NS LEFT_NS WAITED_NS ROUNDS COUNT
 *
 * times on CLOCK_BOOTTIME, so that one process can check all logs for overlap.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "../../helper/libbftmutex.h"

static struct {
	const char *client;
	const char *lock;
	const char *counter;
	const char *log;
	unsigned long entries;
	double hold_ms;
	double lease_s;
	double timeout_s;
} args = { .client = "-", .lock = "counter", .entries = 5, .hold_ms = 5, .lease_s = 1 };

static const struct argp_option options[] = {
	{ "client", 'i', "NAME", 0, "Its name in the log", 0 },
	{ "lock", 'n', "NAME", 0, "Lock to take (default counter)", 0 },
	{ "counter", 'c', "FILE", 0, "Shared counter", 0 },
	{ "log", 'o', "FILE", 0, "Log to append to (default stdout)", 0 },
	{ "entries", 'e', "N", 0, "How often to enter (default 5)", 0 },
	{ "hold", 't', "MS", 0, "How long to stay inside (default 5)", 0 },
	{ "lease", 'l', "SEC", 0, "Lease to ask for (default 1)", 0 },
	{ "timeout", 'w', "SEC", 0, "Wait no longer for an entry (default: for ever)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'i':
		args.client = arg;
		break;
	case 'n':
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
	case 't':
		args.hold_ms = strtod(arg, NULL);
		break;
	case 'l':
		args.lease_s = strtod(arg, NULL);
		break;
	case 'w':
		args.timeout_s = strtod(arg, NULL);
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

static void stay(void)
{
	struct timespec pause = {
		.tv_sec = (time_t)(args.hold_ms / 1e3),
		.tv_nsec = (long)(args.hold_ms * 1e6) % 1000000000,
	};

	nanosleep(&pause, NULL);
}

static unsigned long count_up(void)
{
	unsigned long value = 0;
	FILE *file;

	if (!args.counter) {
		stay();
		return 0;
	}
	file = fopen(args.counter, "r");
	if (file) {
		if (fscanf(file, "%lu", &value) != 1)
			value = 0;
		fclose(file);
	}
	stay();
	file = fopen(args.counter, "w");
	if (!file) {
		perror(args.counter);
		exit(EX_CANTCREAT);
	}
	fprintf(file, "%lu\n", ++value);
	fclose(file);
	return value;
}

/* Is it still held? Asked last, as every holder must. */
static int still_held(int fd)
{
	struct bftm_status status = { .size = sizeof(status) };

	return !bftmutex_status(fd, &status) && status.state == BFTM_STATE_HELD;
}

static int enter(int fd, int log)
{
	struct bftm_acquire acquire = {
		.size = sizeof(acquire),
		.name_len = (uint32_t)strlen(args.lock),
		.lease_ns = (uint64_t)(args.lease_s * 1e9),
		.timeout_ns = (uint64_t)(args.timeout_s * 1e9),
	};
	uint64_t asked, entered, left;
	unsigned long count;

	memcpy(acquire.name, args.lock, acquire.name_len);
	asked = now_ns();
	if (ioctl(fd, BFTM_IOC_ACQUIRE, &acquire) < 0) {
		fprintf(stderr, "contender %s: acquire: %s\n", args.client,
			strerror(errno));
		return -errno;
	}
	entered = now_ns();
	count = count_up();
	left = now_ns();
	if (!still_held(fd)) {
		fprintf(stderr, "contender %s: lost the lock while inside\n",
			args.client);
		return -EKEYEXPIRED;
	}
	/* Logged while it is held, so that nothing can be lost by a crash. */
	dprintf(log, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %lu\n",
		args.client, entered, left, entered - asked, acquire.attempts,
		count);
	return ioctl(fd, BFTM_IOC_RELEASE) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	unsigned long i;
	int fd, log = STDOUT_FILENO, err;

	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	fd = open("/dev/bftmutex", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror("/dev/bftmutex");
		return EX_NOINPUT;
	}
	if (args.log)
		log = open(args.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log < 0) {
		perror(args.log);
		return EX_CANTCREAT;
	}
	for (i = 0; i < args.entries; i++) {
		err = enter(fd, log);
		if (err)
			return EX_UNAVAILABLE;
	}
	return 0;
}
