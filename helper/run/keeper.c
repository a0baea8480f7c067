// SPDX-License-Identifier: GPL-2.0
/*
 * The keeper: parent of the command, and subreaper for all that comes of it.
 *
 * It has a session of its own, so that what concerns the caller's process group, such as
 * Ctrl-Z, "kill -9 -PGID" or the end of a terminal, leaves it alone: somebody watches the
 * lease as long as there is one. The caller knows its parent only, see run.c.
 *
 * The handle is watched by epoll(7), which forgets a file when the last descriptor of it
 * is closed, whoever had that: when the command has ended, the keeper closes its own, and
 * /proc/self/fdinfo tells whether others keep the lock.
 */
#include "run/keeper.h"
#include "run/family.h"
#include "lib/libbftmutex.h"
#include "run/run.h"
#include "run/speech.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define NS_PER_SEC 1000000000ull
#define FOR_EVER UINT64_MAX
/* Looks at what makes no event come so soon, and then more and more seldom. */
#define LOOK_MIN_NS (10 * NS_PER_MS)
#define LOOK_MAX_NS NS_PER_SEC
/* What has not ended so long after SIGKILL sleeps in the kernel, perhaps for ever. */
#define PATIENCE_NS (10 * NS_PER_SEC)

enum stage {
	RUNNING,	/* the command runs */
	LEFT,		/* it has ended; what it left has the handle */
	ENDING,		/* SIGTERM is sent to all */
	KILLING,	/* SIGKILL is sent to all, again and again */
	GIVEN_UP,	/* some cannot be ended */
};

/**
 * struct keeper - what the keeper knows
 * @fd:       the handle, -1 when it is closed
 * @epoll:    watches it; -1 when nobody can
 * @peer:     socket, -1 without one
 * @asked:    its other end is shut down
 * @parent:   process at its other end
 * @signals:  signalfd for SIGCHLD
 * @command:  process, 0 when it was waited for
 * @status:   of waitpid() then
 * @stage:    see there
 * @lost:     the lock is lost
 * @margin:   or not, but its margin was reached
 * @told:     it was said that some cannot be ended
 * @next_ns:  when to look or kill
 * @pause_ns: until the time after that
 * @reaped_ns: when something ended, or was killed first
 * @speech:   messages that could not be written yet
 */
struct keeper {
	const struct bftm_run *run;
	int fd;
	int epoll;
	int peer;
	bool asked;
	pid_t parent;
	int signals;
	pid_t command;
	int status;
	enum stage stage;
	bool lost;
	bool margin;
	bool told;
	uint64_t next_ns;
	uint64_t pause_ns;
	uint64_t reaped_ns;
	struct bftm_speech speech;
};

#define say(k, ...) bftm_speech_add(&(k)->speech, (k)->run->name, __VA_ARGS__)

/*
 * News
 */

static void tell(struct keeper *k, int what, enum bftm_verdict verdict)
{
	struct bftm_news news = { .what = what, .status = k->status, .verdict = verdict };

	/* The one who listens may be stopped, and would not hear. */
	if (what >= BFTM_NEWS_LEFT && getppid() == k->parent)
		kill(k->parent, SIGCONT);
	send(k->peer, &news, sizeof(news),
	     MSG_NOSIGNAL | (what < BFTM_NEWS_LEFT ? MSG_DONTWAIT : 0));
}

/*
 * The end of all
 */

static uint64_t later(uint64_t ns)
{
	uint64_t now = bftm_boottime();

	return now + ns < now ? FOR_EVER : now + ns;
}

static void signal_all(const struct keeper *k, int signo, struct bftm_found *ret)
{
	bftm_family_signal(getpid(), k->command, 0, signo, NULL, ret);
}

static const char *lost_word(const struct keeper *k)
{
	return k->lost ? " lost" : "";
}

static void say_refused(struct keeper *k, const struct bftm_found *found, const char *signal)
{
	if (found->refused)
		say(k, "%s: %s cannot be sent to %s: %s", lost_word(k), signal, found->names,
		    strerror(found->error));
	else if (found->error)
		say(k, "%s: what the command started cannot be found in /proc: %s",
		    lost_word(k), strerror(found->error));
}

/*
 * Nobody forks, or runs what comes next in a script, while others are still to be told.
 * Signals first, words later.
 */
static void terminate(struct keeper *k, const char *why)
{
	struct bftm_found found, ignored;

	k->stage = ENDING;
	k->pause_ns = LOOK_MIN_NS;
	signal_all(k, SIGSTOP, &ignored);
	signal_all(k, SIGTERM, &found);
	/* What is stopped would not notice. */
	signal_all(k, SIGCONT, &ignored);
	k->next_ns = later(k->run->grace_ns);
	/* That all have ended by the signal that ended bftmutex is no news. */
	if (found.alive || !k->asked)
		say(k, "%s%s", why, found.alive ? "; sending SIGTERM" : "");
	say_refused(k, &found, "SIGTERM");
}

static void give_up(struct keeper *k, const struct bftm_found *found)
{
	/* As long as it is not lost, the lock must not look free. */
	if (k->lost || k->epoll < 0)
		k->stage = GIVEN_UP;
	if (k->told && k->stage != GIVEN_UP)
		return;
	k->told = true;
	if (k->stage == GIVEN_UP)
		say(k, "%s: %s could not be ended: without the lock it goes on", lost_word(k),
		    *found->names ? found->names : "what the command started");
	else
		say(k, ": %s could not be ended: the lock is held as long as it goes on",
		    *found->names ? found->names : "what the command started");
}

static void kill_all(struct keeper *k)
{
	struct bftm_found found;
	bool first = k->stage != KILLING;

	if (first) {
		k->stage = KILLING;
		k->reaped_ns = bftm_boottime();
	}
	signal_all(k, SIGKILL, &found);
	if (first && found.alive > found.refused)
		say(k, "%s: the command did not end on SIGTERM; sending SIGKILL", lost_word(k));
	if (first)
		say_refused(k, &found, "SIGKILL");
	if ((found.refused && found.refused == found.alive) ||
	    bftm_boottime() - k->reaped_ns > PATIENCE_NS)
		give_up(k, &found);
	k->next_ns = later(k->pause_ns);
	if (k->pause_ns < LOOK_MAX_NS)
		k->pause_ns += k->pause_ns / 2;
}

/*
 * The handle
 */

static const char *lost_reason(const struct keeper *k, uint32_t reason)
{
	switch (reason) {
	case BFTM_LOST_NOT_RENEWED:
		return " lost: its lease ended before enough servers had renewed it";
	case BFTM_LOST_NO_HELPER:
		return " lost: its lease ended, and bftmutexd, which renews it, is not running";
	case BFTM_LOST_SUSPENDED:
		return " lost: the machine was put to sleep";
	case BFTM_LOST_RESTORED:
		return " lost: this virtual machine was cloned, or set back to an earlier state";
	}
	return k->stage == LEFT ? " lost: its lease ended before what the command had left behind" :
				  " lost: its lease ended before the command";
}

static void on_lost(struct keeper *k)
{
	struct bftm_status status = {};
	const char *why;

	if (k->fd >= 0 && bftmutex_status(k->fd, &status))
		status.reason = BFTM_LOST_NOT;
	why = lost_reason(k, status.reason);
	k->lost = true;
	if (k->stage < ENDING)
		terminate(k, why);
	else
		say(k, "%s", why);
}

/* Not lost yet, and not renewed in time: so that the command ends before. */
static void on_margin(struct keeper *k)
{
	char why[128];

	if (k->margin)
		return;
	k->margin = true;
	if (k->stage >= ENDING)
		return;
	snprintf(why, sizeof(why), ": its lease ends in less than --margin %s", k->run->margin);
	terminate(k, why);
}

static void look_at_handle(struct keeper *k)
{
	struct epoll_event event;

	if (k->epoll < 0 || k->lost || epoll_wait(k->epoll, &event, 1, 0) <= 0)
		return;
	if (event.events & ~(uint32_t)EPOLLPRI)
		on_lost(k);
	else
		on_margin(k);
}

/* Does anybody have the handle, us included? */
static bool is_held(const struct keeper *k)
{
	char path[64], line[128];
	bool held = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", k->epoll);
	file = fopen(path, "re");
	/* Without /proc: as long as there is a descendant. */
	if (!file)
		return true;
	while (!held && fgets(line, sizeof(line), file))
		held = !strncmp(line, "tfd:", 4);
	fclose(file);
	return held;
}

static void watch(struct keeper *k)
{
	/* By edges: the margin stays reached, and the end of the lease must be seen then. */
	struct epoll_event event = {
		.events = EPOLLET | (k->run->margin ? EPOLLPRI : 0),
	};

	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0 || epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->fd, &event))
		err(EX_OSERR, "epoll");
}

/*
 * The command
 */

static void on_end(struct keeper *k, int status)
{
	struct pollfd handle = { .fd = k->fd };

	k->command = 0;
	k->status = status;
	/* Whether it ended before the lease did nobody can tell now. */
	if (!k->lost && poll(&handle, 1, 0) > 0)
		on_lost(k);
	if (k->stage != RUNNING)
		return;
	k->stage = LEFT;
	k->next_ns = 0;
	k->pause_ns = LOOK_MIN_NS;
	/* With --close nobody else has it. */
	if (fcntl(k->fd, F_GETFD) & FD_CLOEXEC)
		return;
	tell(k, BFTM_NEWS_LEFT, BFTM_KEPT);
	close(k->fd);
	k->fd = -1;
}

static void on_children(struct keeper *k)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(k->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (WIFSTOPPED(status)) {
			if (pid != k->command || k->stage != RUNNING)
				continue;
			k->status = status;
			tell(k, BFTM_NEWS_STOPPED, BFTM_KEPT);
			continue;
		}
		k->reaped_ns = bftm_boottime();
		k->pause_ns = LOOK_MIN_NS;
		/* Perhaps the last one who had the handle. */
		if (k->stage == LEFT)
			k->next_ns = 0;
		if (pid == k->command)
			on_end(k, status);
	}
}

/* The parent asks for the end of all, or has ended itself. */
static void on_peer(struct keeper *k)
{
	k->asked = true;
	if (k->stage < ENDING)
		terminate(k, ": bftmutex was ended by a signal");
}

_Noreturn static void child(const struct bftm_run *run, pid_t parent, const sigset_t *mask)
{
	/* When both our parents are killed there is nobody else. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EX_OSERR);
	sigprocmask(SIG_SETMASK, mask, NULL);
	bftm_exec(run->argv);
}

/*
 * Events
 */

static bool is_over(struct keeper *k)
{
	if (k->stage == GIVEN_UP)
		return true;
	if (k->stage == LEFT && (k->fd >= 0 || (bftm_boottime() >= k->next_ns && !is_held(k))))
		return true;
	return !k->command && bftm_family_is_gone();
}

static void on_time(struct keeper *k)
{
	if (k->stage == RUNNING || bftm_boottime() < k->next_ns)
		return;
	if (k->stage != LEFT) {
		kill_all(k);
		return;
	}
	k->next_ns = later(k->pause_ns);
	if (k->pause_ns < LOOK_MAX_NS)
		k->pause_ns += k->pause_ns / 2;
}

static void wait_for_event(struct keeper *k)
{
	struct pollfd fds[] = {
		{ .fd = k->signals, .events = POLLIN },
		{ .fd = k->lost ? -1 : k->epoll, .events = POLLIN },
		{ .fd = k->asked ? -1 : k->peer, .events = POLLIN },
	};
	uint64_t now = bftm_boottime(), ns = FOR_EVER;
	struct timespec left;

	if (k->stage != RUNNING)
		ns = k->next_ns > now ? k->next_ns - now : 0;
	if (*k->speech.text && ns > LOOK_MAX_NS)
		ns = LOOK_MAX_NS;
	left.tv_sec = (time_t)(ns / NS_PER_SEC);
	left.tv_nsec = (long)(ns % NS_PER_SEC);
	if (ppoll(fds, 3, ns == FOR_EVER ? NULL : &left, NULL) < 0 && errno != EINTR)
		err(EX_OSERR, "poll");
	look_at_handle(k);
	on_children(k);
	if (fds[2].revents)
		on_peer(k);
	bftm_speech_flush(&k->speech, 0);
}

static enum bftm_verdict keep(struct keeper *k)
{
	while (!is_over(k)) {
		on_time(k);
		wait_for_event(k);
	}
	/* What is said may wait for a reader; the next holder must not. */
	close(k->fd);
	if (k->stage == GIVEN_UP)
		return BFTM_SURVIVED;
	return k->lost || k->margin ? BFTM_LOST : BFTM_KEPT;
}

static int child_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		err(EX_OSERR, "signalfd");
	return fd;
}

_Noreturn void bftm_keeper(const struct bftm_run *run, int peer, const sigset_t *mask)
{
	struct keeper k = {
		.run = run,
		.fd = run->fd,
		.peer = peer,
		.parent = getppid(),
		.signals = child_signals(),
	};
	pid_t self = getpid();
	enum bftm_verdict verdict;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "bftmutex-keeper");
	watch(&k);
	k.command = fork();
	if (k.command < 0)
		err(EX_OSERR, "fork");
	if (!k.command)
		child(run, self, mask);
	/* After the fork: the command stays in the caller's session and group. */
	setsid();
	tell(&k, BFTM_NEWS_STARTED, BFTM_KEPT);
	verdict = keep(&k);
	tell(&k, BFTM_NEWS_OVER, verdict);
	bftm_speech_flush(&k.speech, getppid() == k.parent ? -1 : 0);
	_exit(EX_OK);
}

enum bftm_verdict bftm_keeper_take_over(const struct bftm_run *run, int fd, pid_t dead)
{
	struct keeper k = {
		.run = run,
		.fd = fd,
		.epoll = -1,
		.peer = -1,
		.signals = child_signals(),
	};
	enum bftm_verdict verdict;
	char why[96];

	if (fd >= 0)
		watch(&k);
	snprintf(why, sizeof(why), ": process %d, which watched the lease, was killed", dead);
	terminate(&k, why);
	verdict = keep(&k);
	bftm_speech_flush(&k.speech, -1);
	return verdict;
}
