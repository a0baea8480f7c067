// SPDX-License-Identifier: GPL-2.0
/*
 *	bftmutex-races [OPTION...] SCENARIO	see --help
 *
 * Each scenario prints one line; exit status 0: no fault was found. The harness of the VM finds the
 * kernel's complaints.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "races.h"

#define ITERATIONS_MAX	10000000u
#define CHILDREN_MAX	8
/* So many times as often at most, until traffic was answered in a quarter of what was asked for. */
#define PATIENCE	200

static const struct scenario *const all[] = {
	races_modules, races_netns, races_servers, races_ingress, races_members, races_helpers, races_dumps,
	races_journal,
};

static uint64_t state;
static int children[CHILDREN_MAX], count_children;

void races_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
}

uint32_t races_random(uint32_t below)
{
	/* Vigna's splitmix64 */
	uint64_t z = (state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ (z >> 31)) % below);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void races_pause(uint32_t most_us)
{
	uint64_t end = now_ns() + 1000ull * races_random(most_us + 1);

	/* Mostly without a sleep, which would end at a tick. */
	while (now_ns() < end)
		sched_yield();
}

bool races_until(const uint64_t *counter, uint64_t value, uint32_t ms)
{
	uint64_t end = now_ns() + 1000000ull * ms;

	while (races_get(counter) <= value) {
		if (now_ns() >= end)
			return false;
		usleep(50);
	}
	return true;
}

bool races_failed(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("races: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

int races_start(struct races *r, void (*traffic)(struct races *r, unsigned int number),
		unsigned int number)
{
	int pid = fork();

	if (pid < 0)
		err(EX_OSERR, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	races_seed(r->seed + 1000 + number);
	traffic(r, number);
	_exit(EX_SOFTWARE);
}

static void start_order(struct races *r, unsigned int number)
{
	(void)number;
	races_traffic_order(r);
}

static void start_capture(struct races *r, unsigned int number)
{
	(void)number;
	races_capture(r);
}

static void start_traffic(struct races *r, const struct scenario *s)
{
	unsigned int i;

	if (r->capture)
		children[count_children++] = races_start(r, start_capture, 0);
	for (i = 0; i < 2; i++)
		children[count_children++] = races_start(r, races_traffic_locks, i);
	children[count_children++] = races_start(r, start_order, 0);
	for (i = 0; s->device && i < 2; i++)
		children[count_children++] = races_start(r, races_traffic_device, i);
}

/* All that should run until now still does. */
static bool end_traffic(void)
{
	bool good = true;
	int i, status;

	for (i = 0; i < count_children; i++) {
		if (waitpid(children[i], &status, WNOHANG) != 0)
			good = races_failed("traffic %d ended by itself: status %#x", i, status);
		else if (kill(children[i], SIGKILL) || waitpid(children[i], &status, 0) < 0)
			good = races_failed("traffic %d: %s", i, strerror(errno));
	}
	count_children = 0;
	return good;
}

/* A network namespace with nothing but lo. */
static void own_netns(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		err(EX_OSERR, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		err(EX_OSERR, "lo");
	close(fd);
}

static bool raced(const struct races *r)
{
	return r->hot * 4 >= r->iterations;
}

/* Has a program asked for a lock, where some are to? */
static bool asked(const struct races_shared *c, const struct scenario *s)
{
	return !s->device || races_get(&c->acquired) || races_get(&c->pending);
}

static bool run(struct races *r, const struct scenario *s)
{
	struct races_shared *c = r->shared;
	uint64_t begun, took, heard, i = 0;
	bool good = true;

	memset(c, 0, sizeof(*c));
	races_seed(r->seed);
	if (!s->home)
		own_netns();
	if (s->begin && !s->begin(r))
		return false;
	start_traffic(r, s);
	begun = now_ns();
	r->hot = 0;
	for (; good && i < (raced(r) && asked(c, s) ? 1 : PATIENCE) * r->iterations; i++) {
		heard = races_get(&c->heard);
		good = s->once(r, i) && !races_get(&c->wrong);
		r->hot += races_get(&c->heard) > heard;
	}
	took = now_ns() - begun;
	good = end_traffic() && good;
	good = (!s->end || s->end(r)) && good;
	if (c->wrong)
		good = races_failed("%" PRIu64 " times something wrong was heard", c->wrong);
	if (r->capture && !c->captured)
		good = races_failed("the capture has seen nothing");
	if (!asked(c, s))
		good = races_failed("no program asked for a lock");
	/* By the rarest scenario once in thirty times: none in ten times as many is less than 10^-6. */
	if (s->device && i >= 10 * RACES_ENOUGH && !c->converted)
		good = races_failed("no program converted a lock");
	/* Or it was no race. */
	if (!raced(r))
		good = races_failed("traffic was answered in %" PRIu64 " iterations only", r->hot);
	printf("%s%s iterations=%" PRIu64 " hot=%" PRIu64 " seconds=%.1f rate=%.1f/s heard=%" PRIu64
	       " granted=%" PRIu64 " lasting=%" PRIu64 " synced=%" PRIu64 " pushed=%" PRIu64 " ordered=%" PRIu64 " acquired=%" PRIu64
	       " pending=%" PRIu64 " converted=%" PRIu64 " submits=%" PRIu64 " killed=%" PRIu64
	       " captured=%" PRIu64 "\n", s->name, r->capture ? "+capture" : "", i, r->hot, (double)took / 1e9,
	       (double)i * 1e9 / (double)took, c->heard, c->granted, c->lasting,
	       c->synced, c->pushed, c->ordered,
	       c->acquired, c->pending, c->converted, c->submits, c->killed, c->captured);
	return good;
}

static const struct scenario *find(const char *name)
{
	const struct scenario *s;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (s = all[i]; s->name; s++)
			if (!name)
				printf("%-16s %s\n", s->name, s->about);
			else if (!strcmp(name, s->name))
				return s;
	return NULL;
}

static uint64_t number(const char *what, const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		errx(EX_USAGE, "%s '%s': not a number from %" PRIu64 " to %" PRIu64, what, text,
		     min, max);
	return value;
}

static void usage(void)
{
	puts("usage: bftmutex-races [OPTION...] SCENARIO\n"
	     "  --keys DIR        keys of cluster 9: server-1.key, client-50.client …\n"
	     "  --ko FILE         the module, loaded unless the scenario does that itself\n"
	     "  --dyndbg TEXT     its parameter, where the scenario loads it (default +p)\n"
	     "  --iterations N    1 to 10000000 (default 100)\n"
	     "  --seed N          what is random follows from it (default 1)\n"
	     "  --capture         with a packet capture attached\n"
	     "  --list            of scenarios");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "keys", required_argument, NULL, 'k' }, { "ko", required_argument, NULL, 'o' },
		{ "dyndbg", required_argument, NULL, 'd' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "seed", required_argument, NULL, 's' }, { "capture", no_argument, NULL, 'c' },
		{ "list", no_argument, NULL, 'l' }, { "help", no_argument, NULL, 'h' }, {}
	};
	struct races r = {
		.dyndbg = "+p", .iterations = 100, .seed = 1, .address = "127.0.0.1",
	};
	const struct scenario *s;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'k':
			r.dir = optarg;
			break;
		case 'o':
			r.ko = optarg;
			break;
		case 'd':
			r.dyndbg = optarg;
			break;
		case 'i':
			r.iterations = number("--iterations", optarg, 1, ITERATIONS_MAX);
			break;
		case 's':
			r.seed = number("--seed", optarg, 0, UINT64_MAX);
			break;
		case 'c':
			r.capture = true;
			break;
		case 'l':
			find(NULL);
			return 0;
		case 'h':
			usage();
			return 0;
		default:
			return EX_USAGE;
		}
	}
	if (optind != argc - 1 || !r.dir || !r.ko)
		errx(EX_USAGE, "--keys, --ko and one SCENARIO are needed; see --help");
	s = find(argv[optind]);
	if (!s)
		errx(EX_USAGE, "'%s': no such scenario; see --list", argv[optind]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	r.shared = mmap(NULL, sizeof(*r.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.shared == MAP_FAILED)
		err(EX_OSERR, "mmap");
	return run(&r, s) ? 0 : 1;
}
