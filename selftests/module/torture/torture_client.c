// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that take and give back locks, update counters that these and their tokens guard, and
 * write down their results (history.h). Another process follows a killed one. DIR has these files:
 *
 *	history.NAME.I	what process I wrote, and those that followed it
 *	pid.NAME.I	which that is: "PID WHO"
 *	counter.LOCK	two numbers of 8 bytes: the highest token that came, the value
 *	stop		when it is there all come to their end
 *
 * Locks are l1 … lN. Those with odd numbers are taken with a token, and have a counter;
 * with --plain none are. With --lasting the last one, whose number is even, is held without a lease.
 * Half of the processes at a time share a lock (PR) and read; they and the
 * others, in EX, convert now and then.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "lib/libbftmutex.h"
#include "holder.h"

#define PROCESSES_MAX	64

static struct {
	const char *name;
	const char *dir;
	const char *signal;
	unsigned long processes, locks, lease_ms, seed;
	bool plain, lasting;
} args = { .dir = ".", .processes = 2, .locks = 3, .lease_ms = 400, .seed = 1 };

static const struct argp_option options[] = {
	{ "dir", 'd', "DIR", 0, "Where everything is (.)", 0 },
	{ "lease", 'l', "MS", 0, "Longest lease asked for, 20 to 60000 (400)", 0 },
	{ "lasting", 'e', NULL, 0, "The last lock is held without a lease, if its number is even", 0 },
	{ "locks", 'L', "N", 0, "How many locks there are, 1 to 64 (3)", 0 },
	{ "name", 'n', "NAME", 0, "Of this client; with --signal, NAME.I of a process", 0 },
	{ "plain", 'p', NULL, 0, "Without tokens", 0 },
	{ "processes", 'P', "N", 0, "1 to 64 (2)", 0 },
	{ "seed", 's', "N", 0, "Of what is random (1)", 0 },
	{ "signal", 'k', "KILL|STOP|CONT", 0, "Send it to a process, and write that down", 0 },
	{ 0 },
};

static unsigned long within(struct argp_state *state, const char *what, const char *text,
			    unsigned long min, unsigned long max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < min || value > max)
		argp_error(state, "%s: '%s' is not a number from %lu to %lu", what, text, min, max);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'd':
		args.dir = arg;
		break;
	case 'e':
		args.lasting = true;
		break;
	case 'l':
		args.lease_ms = within(state, "--lease", arg, 20, 60000);
		break;
	case 'L':
		args.locks = within(state, "--locks", arg, 1, 64);
		break;
	case 'n':
		args.name = arg;
		break;
	case 'p':
		args.plain = true;
		break;
	case 'P':
		args.processes = within(state, "--processes", arg, 1, PROCESSES_MAX);
		break;
	case 's':
		args.seed = within(state, "--seed", arg, 0, ~0ul);
		break;
	case 'k':
		args.signal = arg;
		break;
	case ARGP_KEY_END:
		if (!args.name || strlen(args.name) > 8)
			argp_error(state, "--name: 1 to 8 bytes are needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = { .options = options, .parser = parse };

static int open_in_dir(const char *what, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s%s%s", args.dir, what, *name ? "." : "", name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0 && flags & O_CREAT) {
		perror(path);
		exit(EX_CANTCREAT);
	}
	return fd;
}

static bool stopped(void)
{
	int fd = open_in_dir("stop", "", O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static u32 draw_way(struct rng *rng)
{
	static const u32 ways[] = { BFTM_WAY_QUEUE, BFTM_WAY_QUEUE, BFTM_WAY_QUEUE,
				    BFTM_WAY_BACKOFF, BFTM_WAY_NO_BACKOFF };

	return ways[rng_below(rng, sizeof(ways) / sizeof(*ways))];
}

static void once(struct me *me)
{
	u64 number = 1 + rng_below(&me->rng, args.locks);
	struct bftmutex_options want = {
		.lease_ns = rng_between(&me->rng, args.lease_ms / 4, args.lease_ms) * MS,
		.timeout_ns = rng_between(&me->rng, 500, 3000) * MS,
		.way = draw_way(&me->rng),
	};
	struct bftmutex_grant grant;
	bool renews = rng_chance(&me->rng, PPM / 3), fence = number % 2 && !args.plain;
	u64 hold_ns = want.lease_ns * 3 / 4;
	int err;

	if (args.lasting && number == args.locks && number % 2 == 0) {
		want.lease_ns = 0;
		want.flags = BFTM_NO_LEASE;
		renews = false;
	}
	if (renews && rng_chance(&me->rng, PPM / 2))
		want.flags |= BFTM_RENEW;
	if (fence)
		want.flags |= BFTM_FENCE;
	if (rng_chance(&me->rng, PPM / 8))
		want.flags |= BFTM_TRY;
	me->mode = rng_chance(&me->rng, PPM / 2) ? BFTM_LOCK_PR : BFTM_LOCK_EX;
	want.flags |= BFTMUTEX_MODE(me->mode);
	snprintf(me->lock, sizeof(me->lock), "l%u", (unsigned int)number);
	if (fence)
		me->counter = open_in_dir("counter", me->lock, O_RDWR | O_CREAT);
	note(me, now_ns(), "invoke", "%s", "");
	err = bftmutex_acquire(me->fd, me->lock, strlen(me->lock), &want, &grant);
	if (err < 0) {
		note(me, now_ns(), "fail", " %d", -err);
	} else {
		me->token = grant.token;
		note(me, now_ns(), "enter", " %" PRIu64 " %" PRIu64 " %u", (u64)grant.deadline_ns,
		     me->token, me->mode);
		inside(me, rng_below(&me->rng, hold_ns), renews);
		note(me, now_ns(), "leave", "%s", "");
		bftmutex_release(me->fd);
	}
	if (fence)
		close(me->counter);
	stay(rng_below(&me->rng, 20 * MS));
}

/* Process @i of this client, the @turn-th. */
static pid_t begin(unsigned long i, unsigned int turn)
{
	struct me me = { .lease_ms = args.lease_ms,
			 .rng = { args.seed + i * 1000003 + turn * 7919 } };
	char slot[16];
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		exit(EX_OSERR);
	if (pid)
		return pid;
	snprintf(slot, sizeof(slot), "%.8s.%u", args.name, (unsigned int)i);
	snprintf(me.who, sizeof(me.who), "%s.%u", slot, turn);
	me.log = open_in_dir("history", slot, O_WRONLY | O_CREAT | O_APPEND);
	fd = open_in_dir("pid", slot, O_WRONLY | O_CREAT | O_TRUNC);
	dprintf(fd, "%d %s\n", getpid(), me.who);
	close(fd);
	me.fd = bftmutex_open(NULL);
	if (me.fd < 0)
		exit(EX_NOINPUT);
	while (!stopped())
		once(&me);
	exit(0);
}

/* All of them; who was killed is followed by another. */
static int run(void)
{
	unsigned int turn[PROCESSES_MAX + 1] = {};
	pid_t pid[PROCESSES_MAX + 1], gone;
	unsigned long i;
	int status, worst = 0;

	for (i = 1; i <= args.processes; i++)
		pid[i] = begin(i, 0);
	while ((gone = wait(&status)) > 0) {
		for (i = 1; i <= args.processes && pid[i] != gone; i++)
			;
		if (i > args.processes)
			continue;
		pid[i] = 0;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !stopped())
			pid[i] = begin(i, ++turn[i]);
		else if (WIFEXITED(status) && WEXITSTATUS(status))
			worst = WEXITSTATUS(status);
		else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			worst = EX_SOFTWARE;
	}
	return worst;
}

static int send_signal(void)
{
	int signo = !strcmp(args.signal, "KILL") ? SIGKILL : !strcmp(args.signal, "STOP") ?
		    SIGSTOP : SIGCONT;
	struct me me = { .lock = "-" };
	char text[64] = "";
	int fd, pid;

	fd = open_in_dir("pid", args.name, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "%d %23s", &pid, me.who) != 2)
		return EX_NOINPUT;
	if (signo == SIGKILL) {
		me.log = open_in_dir("history", "nemesis", O_WRONLY | O_CREAT | O_APPEND);
		note(&me, now_ns(), "kill", "%s", "");
	}
	return kill(pid, signo) < 0 ? EX_UNAVAILABLE : 0;
}

int main(int argc, char **argv)
{
	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	return args.signal ? send_signal() : run();
}
