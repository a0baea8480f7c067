// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command under a lock.
 *
 *	caller --- this process --- keeper --- command --- what it starts
 *
 * The caller knows this process: it passes signals on, stops when the command stops, and ends as
 * the command ended. The keeper watches the lease, see keeper.c. When either is killed, the other
 * ends all started processes.
 *
 * The command is in the caller's process group, as if it was started directly: the terminal belongs
 * to it, and signals of the terminal reach it without this process.
 *
 * One thread, no signal handlers: the signals are blocked and read from a signalfd.
 */
#include "run/run.h"
#include "run/family.h"
#include "run/keeper.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC 1000000000ull

/**
 * struct job - the command while it runs
 * @run:       the command and its options
 * @closed:    the handles are closed; until then they are open here, so that the keeper's death does
 *             not close them
 * @keeper:    process
 * @started:   the keeper has started the command
 * @gone:      the keeper has ended
 * @status:    of waitpid() for the keeper, once @gone
 * @peer:      socket to the keeper
 * @signals:   signalfd
 * @inherited: signal mask at our start
 * @seen:      a bit for each signal that we got
 * @stop:      one of these was a signal to stop
 * @dying:     signal to die of when all has ended, 0 for none
 * @news:      last message of the keeper
 */
struct job {
	const struct bftm_run *run;
	bool closed;
	pid_t keeper;
	bool started;
	bool gone;
	int status;
	int peer;
	int signals;
	sigset_t inherited;
	uint64_t seen;
	bool stop;
	int dying;
	struct bftm_news news;
};

uint64_t bftm_boottime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

_Noreturn void bftm_exec(char **argv)
{
	execvp(argv[0], argv);
	warn("failed to execute '%s'", argv[0]);
	_exit(errno == ENOMEM ? EX_OSERR : EX_UNAVAILABLE);
}

/*
 * Signals
 */

static uint64_t signal_bit(int signo)
{
	return 1ull << (signo - 1);
}

static bool is_stop(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* Is it a signal to end? */
static bool is_end(int signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT;
}

/*
 * Blocks all signals that can be blocked, so that none ends this process while the command goes on.
 * A signal that was ignored at our start, like SIGHUP under nohup, has to stay ignored: blocked and
 * in a signalfd it would be read nevertheless.
 */
static void block_signals(struct job *job)
{
	struct sigaction old;
	sigset_t set;
	int signo;

	signal(SIGCHLD, SIG_DFL);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &job->inherited);
	for (signo = 1; signo <= SIGRTMAX; signo++)
		if (!sigaction(signo, NULL, &old) && old.sa_handler == SIG_IGN)
			sigdelset(&set, signo);
	job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signals < 0)
		err(EX_OSERR, "signalfd");
}

/*
 * Signals of a terminal go to all of the foreground group, the command included; only the hang-up
 * of a terminal goes to the leader of the session alone.
 */
static bool group_has_it(const struct signalfd_siginfo *info)
{
	if (info->ssi_code != SI_KERNEL)
		return false;
	switch (info->ssi_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
		return true;
	case SIGHUP:
	case SIGCONT:
		return getsid(0) != getpid();
	default:
		return false;
	}
}

static const char *signal_name(int signo, char *buf, size_t len)
{
	const char *name = sigabbrev_np(signo);

	if (name)
		snprintf(buf, len, "SIG%s", name);
	else
		snprintf(buf, len, "signal %d", signo);
	return buf;
}

/* Passes a signal to the members of the family in our group, as by "kill -- -GROUP". */
static void pass_on(const struct job *job, const struct signalfd_siginfo *from)
{
	int signo = (int)from->ssi_signo;
	struct bftm_found found;
	siginfo_t info = { .si_signo = signo, .si_code = SI_QUEUE };
	char name[32];

	/* The value lies in another member of a union: an initializer of it would clear the sender. */
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)from->ssi_ptr;
	bftm_family_signal(job->keeper, 0, getpgrp(), signo,
			   from->ssi_code == SI_QUEUE ? &info : NULL, &found);
	if (found.refused)
		warnx("%s cannot be passed on to %s: %s", signal_name(signo, name, sizeof(name)),
		      found.names, strerror(found.error));
	else if (found.error)
		warnx("%s cannot be passed on, the command cannot be found in /proc: %s",
		      signal_name(signo, name, sizeof(name)), strerror(found.error));
}

/*
 * Before this process dies of a signal, all started processes have to end: this tells the keeper.
 */
static void die_of(struct job *job, int signo)
{
	if (job->dying)
		return;
	job->dying = signo;
	shutdown(job->peer, SHUT_WR);
}

static void on_signal(struct job *job, const struct signalfd_siginfo *info)
{
	int signo = (int)info->ssi_signo;

	/* A SIGPIPE of our own, for a message whose reader is gone. */
	if (signo == SIGCHLD || (pid_t)info->ssi_pid == getpid())
		return;
	job->seen |= signal_bit(signo);
	job->stop |= is_stop(signo);
	if (!group_has_it(info))
		pass_on(job, info);
	if (job->news.what == BFTM_NEWS_LEFT && is_end(signo))
		die_of(job, signo);
}

static void on_signals(struct job *job)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(job->signals, &info, sizeof(info)) == sizeof(info))
		on_signal(job, &info);
	/* Process 1 gets the orphans of others, too. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != job->keeper)
			continue;
		job->gone = true;
		job->status = status;
	}
}

/*
 * News of the keeper
 */

/*
 * The command is stopped, and this process got such a signal too: it stops as well, so that the
 * shell sees it. If only the command was stopped, somebody did that on purpose, and this process
 * goes on. It waits until the command has stopped, which may restore the terminal first.
 */
static void job_stop(struct job *job, int signo)
{
	sigset_t set;

	if (!job->stop)
		return;
	job->stop = false;
	/*
	 * Some programs stop themselves by SIGSTOP then; but in an orphaned group no shell would
	 * continue us.
	 */
	if (signo == SIGSTOP)
		signo = SIGTSTP;
	sigemptyset(&set);
	sigaddset(&set, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void on_news(struct job *job)
{
	struct bftm_news news;

	while (recv(job->peer, &news, sizeof(news), MSG_DONTWAIT) == sizeof(news)) {
		if (news.what == BFTM_NEWS_STOPPED) {
			job_stop(job, WSTOPSIG(news.status));
			continue;
		}
		if (news.what == BFTM_NEWS_THERE) {
			send(job->peer, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
			continue;
		}
		job->news = news;
		if (news.what != BFTM_NEWS_LEFT)
			continue;
		bftm_close_locks(job->run);
		job->closed = true;
		if (WIFSIGNALED(news.status) && job->seen & signal_bit(WTERMSIG(news.status)))
			die_of(job, WTERMSIG(news.status));
	}
}

/*
 * Start and end
 */

static void job_start(struct job *job)
{
	int peers[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, peers))
		err(EX_OSERR, "socketpair");
	/* If the keeper is killed, this process has to end the descendants. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	job->keeper = fork();
	if (job->keeper < 0)
		err(EX_OSERR, "fork");
	if (!job->keeper) {
		close(peers[0]);
		close(job->signals);
		bftm_keeper(job->run, peers[1], &job->inherited);
	}
	close(peers[1]);
	job->peer = peers[0];
	/* Signals are for the command, so it must have been started. */
	job->started = recv(job->peer, &job->news, sizeof(job->news), 0) > 0;
}

/* If the signal has no effect, as for process 1, the exit status tells. */
static int killed_by(const struct job *job, int signo)
{
	sigset_t set;

	/* The core dump of the command is enough. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_SETMASK, &job->inherited, NULL);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signo;
}

static int exit_status(struct job *job)
{
	enum bftm_run_verdict verdict = job->news.verdict;
	bool orphaned = job->news.what != BFTM_NEWS_OVER;
	int signo;

	if (!job->started && WIFEXITED(job->status))
		return WEXITSTATUS(job->status);
	if (orphaned)
		verdict = bftm_keeper_take_over(job->run, job->closed, job->keeper);
	if (verdict == BFTM_SURVIVED)
		return job->run->survivor_code;
	if (verdict == BFTM_LOST)
		return job->run->lost_code;
	if (verdict == BFTM_NOT_LEFT)
		return EX_DATAERR;
	if (orphaned)
		return EX_OSERR;
	if (job->dying)
		return killed_by(job, job->dying);
	if (WIFEXITED(job->news.status))
		return WEXITSTATUS(job->news.status);
	signo = WTERMSIG(job->news.status);
	return job->seen & signal_bit(signo) ? killed_by(job, signo) : 128 + signo;
}

int bftm_run(const struct bftm_run *run)
{
	struct job job = { .run = run };

	block_signals(&job);
	job_start(&job);
	while (!job.gone) {
		struct pollfd fds[] = {
			{ .fd = job.signals, .events = POLLIN },
			{ .fd = job.peer, .events = POLLIN },
		};

		poll(fds, 2, -1);
		/* Signals first: they may be the cause of the keeper's message. */
		on_signals(&job);
		on_news(&job);
	}
	return exit_status(&job);
}
