// SPDX-License-Identifier: GPL-2.0
/*
 * The keeper: parent of the command, and subreaper for its descendants.
 *
 * It has a session of its own, so that signals to the caller's process group, such as by Ctrl-Z,
 * "kill -9 -PGID" or the end of a terminal, do not reach it: it watches the lease as long as there
 * is one. The caller knows only its parent, see run.c.
 */
#include "run/keeping.h"
#include "run/family.h"
#include "run/run.h"
#include "run/value.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

/*
 * News
 */

static void lease_tell(struct bftm_keeping *k, int what, enum bftm_run_verdict verdict)
{
	struct bftm_news news = { .what = what, .status = k->status, .verdict = verdict };

	/* The parent may be stopped, and would not read the message. */
	if (what >= BFTM_NEWS_LEFT && getppid() == k->parent)
		kill(k->parent, SIGCONT);
	send(k->peer, &news, sizeof(news),
	     MSG_NOSIGNAL | (what < BFTM_NEWS_LEFT ? MSG_DONTWAIT : 0));
}

/*
 * The command
 */

static void on_peer(struct bftm_keeping *k);

/*
 * "kill -9 -PGID" ends the parent and the command at once, and the parent's socket is closed later.
 */
static bool is_parent_there(struct bftm_keeping *k)
{
	char byte;

	lease_tell(k, BFTM_NEWS_THERE, BFTM_KEPT);
	return recv(k->peer, &byte, 1, 0) == 1;
}

/* With --close no other process has the handles. */
static bool is_closed_for_others(const struct bftm_keeping *k)
{
	return fcntl(k->run->locks[0].fd, F_GETFD) & FD_CLOEXEC;
}

void bftm_close_locks(const struct bftm_run *run)
{
	unsigned int i;

	for (i = 0; i < run->count; i++)
		close(run->locks[i].fd);
}

static void on_end(struct bftm_keeping *k, int status)
{
	unsigned int i;

	k->command = 0;
	k->status = status;
	/* It cannot be told any more whether the command ended before the lease did. */
	for (i = 0; !k->closed && !k->lost && i < k->run->count; i++) {
		struct pollfd handle = { .fd = k->run->locks[i].fd };

		if (poll(&handle, 1, 0) > 0)
			bftm_keeper_lost(k, &k->run->locks[i]);
	}
	if (k->stage != RUNNING)
		return;
	k->stage = LEFT;
	k->next_ns = 0;
	k->pause_ns = LOOK_MIN_NS;
	if (is_closed_for_others(k)) {
		if (WIFSIGNALED(status) && k->peer >= 0 && !is_parent_there(k))
			on_peer(k);
		return;
	}
	lease_tell(k, BFTM_NEWS_LEFT, BFTM_KEPT);
	/* The keeper gives it back when all have ended. */
	if (k->run->value)
		return;
	bftm_close_locks(k->run);
	k->closed = true;
}

static void on_children(struct bftm_keeping *k)
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
			lease_tell(k, BFTM_NEWS_STOPPED, BFTM_KEPT);
			continue;
		}
		k->reaped_ns = bftm_boottime();
		k->pause_ns = LOOK_MIN_NS;
		/* Perhaps it was the last process that had the handle. */
		if (k->stage == LEFT)
			k->next_ns = 0;
		if (pid == k->command)
			on_end(k, status);
	}
}

/* The parent asks to end all processes, or has ended itself. */
static void on_peer(struct bftm_keeping *k)
{
	k->asked = true;
	if (k->stage < ENDING)
		bftm_keeper_terminate(k, ": bftmutex was ended by a signal");
}

/* @start: a pipe; end of file when the keeper has left the caller's group, or has ended. */
_Noreturn static void child(const struct bftm_run *run, pid_t parent, const sigset_t *mask,
			    const int start[2])
{
	char byte;

	/* When bftmutex and the keeper are both killed, only the kernel can end the command. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(start[1]);
	/*
	 * Before that, "kill -9 -PGID", which the command may call itself, would end its keeper,
	 * too.
	 */
	if (read(start[0], &byte, 1) || getppid() != parent)
		_exit(EX_OSERR);
	sigprocmask(SIG_SETMASK, mask, NULL);
	bftm_exec(run->argv);
}

/*
 * Events
 */

static bool is_over(struct bftm_keeping *k)
{
	if (k->stage == GIVEN_UP)
		return true;
	if (k->stage == LEFT && !k->closed && is_closed_for_others(k))
		return true;
	if (k->stage == LEFT && k->closed && bftm_boottime() >= k->next_ns && !bftm_keeper_is_held(k))
		return true;
	return !k->command && bftm_family_is_gone();
}

static void on_time(struct bftm_keeping *k)
{
	if (k->stage == RUNNING || bftm_boottime() < k->next_ns)
		return;
	if (k->stage != LEFT) {
		bftm_keeper_kill(k);
		return;
	}
	k->next_ns = bftm_keeper_later(k->pause_ns);
	if (k->pause_ns < LOOK_MAX_NS)
		k->pause_ns += k->pause_ns / 2;
}

static void wait_for_event(struct bftm_keeping *k)
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
	bftm_keeper_look(k);
	on_children(k);
	if (fds[2].revents)
		on_peer(k);
	bftm_speech_flush(&k->speech, 0);
}

/*
 * The lock is given back with the value that the command left. Nobody knows what a command that was
 * killed, or failed to leave its value, has changed: then the handle is only closed, and the next
 * holder is told no value.
 */
static bool leave_value(struct bftm_keeping *k)
{
	const struct bftm_taken *lock = k->run->locks;
	int r;

	if (!k->run->value || k->stage != LEFT || !WIFEXITED(k->status))
		return true;
	r = k->run->room >= 0 && WEXITSTATUS(k->status) == 0 ?
	    bftm_leave_value(lock->fd, k->run->room) : 0;
	if (r == -EMSGSIZE)
		say(k, ": the command wrote more than %d bytes to BFTMUTEX_VALUE_FD: no value is left with the lock",
		    BFTM_VALUE_MAX);
	else if (r < 0 && r != -EKEYEXPIRED)
		say(k, ": the value that the command wrote to BFTMUTEX_VALUE_FD is not left with the lock: %s",
		    bftmutex_strerror(r));
	else if (r == -EKEYEXPIRED || bftmutex_release(lock->fd) == -EKEYEXPIRED)
		bftm_keeper_lost(k, lock);
	return r == 0 || k->lost;
}

static enum bftm_run_verdict lease_keep(struct bftm_keeping *k)
{
	bool left;

	while (!is_over(k)) {
		on_time(k);
		wait_for_event(k);
	}
	left = leave_value(k);
	/* Messages may wait for a reader; the next holder must not. */
	if (!k->closed)
		bftm_close_locks(k->run);
	if (k->stage == GIVEN_UP)
		return BFTM_SURVIVED;
	if (k->lost || k->margin)
		return BFTM_LOST;
	return left ? BFTM_KEPT : BFTM_NOT_LEFT;
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
	struct bftm_keeping k = {
		.run = run,
		.name = run->locks[0].shown,
		.peer = peer,
		.parent = getppid(),
		.signals = child_signals(),
	};
	pid_t self = getpid();
	enum bftm_run_verdict verdict;
	int start[2];

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "bftmutex-keeper");
	bftm_keeper_watch(&k);
	if (pipe2(start, O_CLOEXEC) < 0)
		err(EX_OSERR, "pipe");
	k.command = fork();
	if (k.command < 0)
		err(EX_OSERR, "fork");
	if (!k.command)
		child(run, self, mask, start);
	/* After the fork: the command stays in the caller's session and group. */
	setsid();
	close(start[0]);
	close(start[1]);
	lease_tell(&k, BFTM_NEWS_STARTED, BFTM_KEPT);
	verdict = lease_keep(&k);
	lease_tell(&k, BFTM_NEWS_OVER, verdict);
	bftm_speech_flush(&k.speech, getppid() == k.parent ? -1 : 0);
	_exit(EX_OK);
}

enum bftm_run_verdict bftm_keeper_take_over(const struct bftm_run *run, bool closed, pid_t dead)
{
	struct bftm_keeping k = {
		.run = run,
		.name = run->locks[0].shown,
		.closed = closed,
		.epoll = -1,
		.peer = -1,
		.signals = child_signals(),
	};
	enum bftm_run_verdict verdict;
	char why[96];

	if (!closed)
		bftm_keeper_watch(&k);
	snprintf(why, sizeof(why), ": process %d, which watched the lease, was killed", dead);
	bftm_keeper_terminate(&k, why);
	verdict = lease_keep(&k);
	bftm_speech_flush(&k.speech, -1);
	return verdict;
}
