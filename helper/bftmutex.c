// SPDX-License-Identifier: GPL-2.0
/* bftmutex: run a command under a cluster lock, in the shape of flock(1). */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "run/cmdline.h"
#include "config/conf.h"
#include "daemon/notify.h"
#include "loop/descriptors.h"
#include "lib/libbftmutex.h"
#include "loop/log.h"
#include "run/descriptor.h"
#include "run/grants.h"
#include "run/refused.h"
#include "run/run.h"
#include "run/several.h"
#include "run/value.h"

static void check_name(const struct options *o, const struct bftm_taken *lock)
{
	size_t len = strlen(lock->name);

	if (!len)
		errx(EX_DATAERR, "the lock name is empty, 1 to %d bytes are allowed",
		     BFTM_NAME_MAX);
	if (len > BFTM_NAME_MAX)
		errx(EX_DATAERR, "lock '%s': the name has %zu bytes, 1 to %d are allowed; --hash-name takes one of any length",
		     lock->shown, len, BFTM_NAME_MAX);
	if (o->and_count && strchr(lock->name, '\n'))
		errx(EX_DATAERR, "lock '%s': the name has a line feed, which --and does not allow: BFTMUTEX_TOKENS has a line for each lock; --hash-name takes one",
		     lock->shown);
}

/* The locks of the command line, NAME first. Returns their number. */
static unsigned int list_locks(const struct options *o, struct bftm_taken ret[BFTM_SEVERAL_MAX])
{
	unsigned int i, count = 1 + o->and_count;

	ret[0] = (struct bftm_taken){ .name = o->name, .shown = o->shown };
	for (i = 1; i < count; i++)
		ret[i] = (struct bftm_taken){ .name = o->and[i - 1].name, .shown = o->and[i - 1].shown };
	for (i = 0; i < count; i++)
		check_name(o, &ret[i]);
	return count;
}

static int open_device(void)
{
	const char *path = getenv("BFTMUTEX_DEVICE");
	int fd;

	if (!path || !*path)
		path = BFTMUTEX_DEVICE;
	fd = bftmutex_open(path);
	switch (-fd) {
	case EACCES:
	case EPERM:
		errx(EX_NOPERM, "%s: you may not open it; are you in its group, bftmutex?", path);
	case ENFILE:
		errx(EX_OSERR, "%s: too many files are open, or %u handles of this network namespace",
		     path, BFTM_HANDLES_MAX);
	case EMFILE:
	case ENOMEM:
		errx(EX_OSERR, "%s: %s", path, bftmutex_strerror(fd));
	}
	if (fd < 0)
		errx(EX_NOINPUT, "%s: %s", path, bftmutex_strerror(fd));
	return fd;
}

static void end_by(int signo)
{
	_exit(128 + signo);
}

/*
 * Process 1 of a PID namespace gets only the signals that it handles, and all orphans. These
 * handlers are for the time while it waits for the lock; run/run.c sets its own, and exec() forgets
 * them.
 */
static void be_process_1(void)
{
	static const int ends[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2,
		SIGPOLL, SIGPROF, SIGVTALRM, SIGXCPU, SIGXFSZ, SIGPWR,
	};
	struct sigaction old, action = { .sa_handler = end_by };
	struct sigaction children = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	sigaction(SIGCHLD, &children, NULL);
}

/*
 * No signal handler returns: a signal either ends this process, and with it the acquire, or it was
 * a stop (Ctrl-Z) and the waiting goes on.
 */
static int acquire_one(const struct options *o, int fd, struct bftmutex_grant *grant)
{
	struct bftmutex_options lock = o->lock;
	u64 start = bftm_boottime();
	u64 waited;
	int r;

	/*
	 * With -F this process becomes the command, and no keeper watches the lease: the kernel
	 * sends the signal. It is set before the lock is held, so that no end of the lease is
	 * missed. Without -F, run/run.c watches the margin by poll().
	 */
	if (o->no_fork || o->margin) {
		r = bftmutex_set_signal(fd, o->no_fork ? SIGTERM : 0, o->margin_ns);
		if (r < 0)
			return r;
	}
	for (;;) {
		r = bftmutex_acquire(fd, o->name, strlen(o->name), &lock, grant);
		if (r != -EINTR)
			return r;
		waited = bftm_boottime() - start;
		if (!lock.timeout_ns)
			continue;
		if (waited >= o->lock.timeout_ns)
			return -ETIMEDOUT;
		lock.timeout_ns = o->lock.timeout_ns - waited;
	}
}

static void tell_waiting(const struct options *o, const struct bftm_taken *lock)
{
	char state[512];	/* a longer name is cut off */

	if (!o->notify)
		return;
	snprintf(state, sizeof(state), "STATUS=waiting for lock '%s'", lock->shown);
	bftm_notify(state, -1, 0);
}

/* False after a message, with the exit status. */
static bool wrapper_acquire(const struct options *o, const struct bftm_taken *locks,
			    unsigned int count, struct bftmutex_grant *grants, int *ret_status)
{
	int r;

	if (count > 1)
		return bftm_several_take(o, locks, count, tell_waiting, grants, ret_status);
	tell_waiting(o, &locks[0]);
	r = acquire_one(o, locks[0].fd, &grants[0]);
	if (r < 0)
		*ret_status = bftm_refused(o, locks[0].fd, r);
	return r == 0;
}

static const char *format_us(u64 ns, char *buf, size_t len)
{
	return bftm_format_duration(ns - ns % BFTM_NS_PER_US, buf, len);
}

static void wrapper_report(const struct options *o, const struct bftm_taken *lock,
			   const struct bftmutex_grant *grant, u64 start)
{
	u64 now = bftm_boottime();
	u64 left = grant->deadline_ns > now ? grant->deadline_ns - now : 0;
	char took[32], rest[32];

	if (bftm_grant_lasts(grant)) {
		warnx("lock '%s': held in mode %s after %s, attempts: %u, until it is given back",
		      lock->shown, o->mode, format_us(now - start, took, sizeof(took)),
		      grant->attempts);
		return;
	}
	warnx("lock '%s': held in mode %s after %s, attempts: %u, for %s, until %llu ns on CLOCK_BOOTTIME",
	      lock->shown, o->mode, format_us(now - start, took, sizeof(took)), grant->attempts,
	      format_us(left, rest, sizeof(rest)), (unsigned long long)grant->deadline_ns);
}

/* Is there time for the command at all? Prints a message when not. */
static bool has_time(const struct options *o, const struct bftm_taken *lock,
		     const struct bftmutex_grant *grant)
{
	u64 now = bftm_boottime();
	u64 left = grant->deadline_ns > now ? grant->deadline_ns - now : 0;
	char rest[32];

	if (!left)
		warnx("lock '%s' lost: its lease was over at once", lock->shown);
	else if (left <= o->margin_ns)
		warnx("lock '%s': its lease ends in %s, which is not more than --margin %s: the command is not started",
		      lock->shown, format_us(left, rest, sizeof(rest)), o->margin);
	/* The cluster's lease, unlike --lease, was not known before. */
	else if (o->margin && left / 2 <= o->margin_ns && o->lock.flags & BFTM_RENEW)
		warnx("lock '%s': --margin %s is not less than half of the lease, which is renewed at its half: the command will be ended before that; give a shorter --margin or a longer --lease",
		      lock->shown, o->margin);
	return left > o->margin_ns;
}

/* Time to wait for a service manager that does not read. */
#define MANAGER_MS 1000

/*
 * With --fdstore the manager keeps the descriptor too: when all processes that were started here
 * are killed at once, the lock is held until the manager is told FDSTOREREMOVE=1.
 */
static bool tell_held(const struct options *o, int fd)
{
	char state[512];	/* a longer name is cut off */
	char more[32] = "";
	int r;

	if (o->and_count)
		snprintf(more, sizeof(more), " and %u more", o->and_count);
	snprintf(state, sizeof(state), "READY=1\n%sSTATUS=holding lock '%s'%s",
		 o->fdstore ? "FDSTORE=1\nFDNAME=bftmutex\n" : "", o->shown, more);
	r = bftm_notify(state, o->fdstore ? fd : -1, MANAGER_MS);
	if (r < 0)
		warnx("lock '%s': the service manager cannot be told that it is held: %s; the command is not started",
		      o->shown, strerror(-r));
	return r == 0;
}

/* No program has used the lock. Were it only closed, it would have no valid value afterwards. */
static void give_unused(const struct options *o, int fd)
{
	if (o->value)
		bftmutex_release(fd);
}

static int wrapper_run(const struct options *o, const struct bftm_taken *locks, unsigned int count,
		       const struct bftmutex_grant *grants)
{
	int fd = locks[0].fd;
	struct bftm_run job = {
		.locks = locks,
		.count = count,
		.argv = o->command,
		.margin = o->margin,
		.value = o->value,
		.room = -1,
		.grace_ns = o->grace_ns,
		.lost_code = o->lost_code,
		.survivor_code = o->survivor_code,
	};
	int r;

	bftm_put_grants(o, locks, count, grants);
	r = o->value ? bftm_offer_value(fd, o->lock.flags / BFTMUTEX_MODE(1), &job.room) : 0;
	if (r < 0) {
		warnx("lock '%s': the command is not started, since the value cannot be had: %s", o->shown,
		      bftmutex_strerror(r));
		give_unused(o, fd);
		return r == -EKEYEXPIRED ? o->lost_code : EX_OSERR;
	}
	if (!o->no_fork)
		return bftm_run(&job);
	if (getpid() == 1)
		warnx("lock '%s': --no-fork as process 1: the kernel drops the SIGTERM of a lost lock "
		      "unless the command handles it; leave out --no-fork, or have an init start "
		      "bftmutex", o->shown);
	bftm_exec(o->command);
}

/* For "eval". When the output cannot be written, the lock is given back. */
static int wrapper_print(const struct options *o, int fd, const struct bftmutex_grant *grant)
{
	int r = bftm_print_grant(o, fd, grant);

	if (r == 0 && !fflush(stdout))
		return EX_OK;
	if (r == 0)
		warn("lock '%s': cannot print; it is given back", o->shown);
	else
		warnx("lock '%s': %s; it is given back", o->shown, bftmutex_strerror(r));
	bftmutex_release(fd);
	return r == -EKEYEXPIRED ? o->lost_code : EX_IOERR;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct bftmutex_grant grants[BFTM_SEVERAL_MAX] = { 0 };
	struct bftm_taken locks[BFTM_SEVERAL_MAX];
	unsigned int i, count;
	u64 start;
	int fd, r;

	setlocale(LC_CTYPE, "");
	bftm_log_stderr(NULL);
	r = bftm_standard_fds();
	if (r < 0)
		errx(EX_OSERR, "cannot take the place of a closed standard stream: %s",
		     strerror(-r));
	cmdline_parse(argc, argv, &o);
	if (getpid() == 1)
		be_process_1();
	if (o.fd >= 0)
		bftm_fd_check(o.fd);
	if (o.held)
		return bftm_fd_held(&o);
	if (o.unlock)
		return bftm_fd_unlock(&o);
	if (o.convert)
		return bftm_fd_convert(&o);
	if (o.set_value)
		return bftm_fd_set_value(&o);
	if (o.value && !o.name)
		return bftm_fd_value(&o);
	count = list_locks(&o, locks);
	for (i = 0; i < count; i++)
		locks[i].fd = o.fd >= 0 ? o.fd : open_device();
	fd = locks[0].fd;
	if (o.notify)
		bftm_notify_begin();
	start = bftm_boottime();
	if (!wrapper_acquire(&o, locks, count, grants, &r))
		return r;
	for (i = 0; i < count; i++) {
		if (o.verbose)
			wrapper_report(&o, &locks[i], &grants[i], start);
		if (!has_time(&o, &locks[i], &grants[i])) {
			give_unused(&o, fd);
			return o.lost_code;
		}
	}
	if (o.notify && !tell_held(&o, fd)) {
		give_unused(&o, fd);
		return EX_OSERR;
	}
	if (o.print)
		return wrapper_print(&o, fd, &grants[0]);
	return o.command ? wrapper_run(&o, locks, count, grants) : EX_OK;
}
