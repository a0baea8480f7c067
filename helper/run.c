// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command under a lock.
 *
 * The command has its own process group, so that one kill() reaches all of it
 * at the loss of the lock and never reaches us. The price is that we stand
 * between it and the terminal, and have to do what a shell does for a job:
 * hand over the terminal, stop when the job stops, pass signals on.
 *
 * One thread, no signal handlers: the signals are blocked and read from a
 * signalfd, beside the handle that shows the end of the lease as POLLHUP.
 */
#include "run.h"
#include "libbftmutex.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC 1000000000ull
/* How often to look whether the rest of a group whose leader ended is gone. */
#define GROUP_POLL_NS (50 * 1000000ull)
#define FOR_EVER UINT64_MAX

/**
 * struct job - the command while it runs
 * @run:       what to run
 * @pid:       process, and number of its group
 * @status:    of waitpid(), when @ended
 * @signals:   signalfd
 * @inherited: the signal mask we were started with
 * @forwarded: bit per signal that was passed on
 * @tty:       controlling terminal, -1 for none
 * @owns_tty:  its group is the foreground group, through us
 * @uses_tty:  it was once, and shall be again after a stop
 * @ended:     the process is gone; others of its group may be left
 * @lost:      the lock was lost or its margin reached, SIGTERM is sent
 * @killed:    SIGKILL is sent too
 * @kill_ns:   when to send it
 */
struct job {
	const struct bftm_run *run;
	pid_t pid;
	int status;
	int signals;
	sigset_t inherited;
	uint64_t forwarded;
	int tty;
	bool owns_tty;
	bool uses_tty;
	bool ended;
	bool lost;
	bool killed;
	uint64_t kill_ns;
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

static uint64_t signal_bit(int signo)
{
	return 1ull << (signo - 1);
}

static bool lease_over(const struct job *job)
{
	struct pollfd device = { .fd = job->run->fd };

	return poll(&device, 1, 0) > 0;
}

static bool group_exists(const struct job *job)
{
	return !kill(-job->pid, 0);
}

/*
 * Terminal
 */

static bool in_foreground(const struct job *job)
{
	return job->tty >= 0 && tcgetpgrp(job->tty) == getpgrp();
}

static bool give_terminal(struct job *job)
{
	if (!in_foreground(job) || tcsetpgrp(job->tty, job->pid))
		return false;
	job->owns_tty = true;
	job->uses_tty = true;
	return true;
}

static void take_terminal(struct job *job)
{
	if (job->owns_tty)
		tcsetpgrp(job->tty, getpgrp());
	job->owns_tty = false;
}

/*
 * What the terminal sent to the command's group alone it would have sent to
 * ours, had there been no second group: the script that runs us wants it too.
 * The signal is blocked here, so our own copy is delivered by the second call.
 */
static void signal_own_group(int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	kill(0, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Start and end
 */

/*
 * A signal that is ignored since before us, like SIGHUP under nohup, has to
 * stay ignored: blocked and in a signalfd it would be seen nevertheless.
 */
static void block_signals(struct job *job)
{
	static const int forward[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT };
	struct sigaction old;
	sigset_t set;
	size_t i;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (i = 0; i < sizeof(forward) / sizeof(forward[0]); i++) {
		sigaction(forward[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaddset(&set, forward[i]);
	}
	job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signals < 0)
		err(EX_OSERR, "signalfd");
	/* For tcsetpgrp() while another group is in the foreground. */
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &job->inherited);
}

_Noreturn static void child(const struct job *job, pid_t parent, bool foreground)
{
	setpgid(0, 0);
	if (foreground)
		tcsetpgrp(job->tty, getpid());
	/* Nobody would watch the lease if we were killed. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EX_OSERR);
	sigprocmask(SIG_SETMASK, &job->inherited, NULL);
	bftm_exec(job->run->argv);
}

static void start(struct job *job)
{
	pid_t parent = getpid();
	bool foreground;

	job->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	/*
	 * In a pipeline somebody else may be reading the terminal: then the
	 * command gets it when it asks for it, see on_stop().
	 */
	foreground = isatty(STDIN_FILENO) && in_foreground(job);
	job->pid = fork();
	if (job->pid < 0)
		err(EX_OSERR, "fork");
	if (!job->pid)
		child(job, parent, foreground);
	/* Both do it, for neither may go on before it is done. */
	setpgid(job->pid, job->pid);
	if (foreground) {
		job->owns_tty = !tcsetpgrp(job->tty, job->pid);
		job->uses_tty = job->owns_tty;
	}
}

static int exit_status(struct job *job)
{
	bool owned_tty = job->owns_tty;
	int signo;

	take_terminal(job);
	if (job->lost)
		return job->run->lost_code;
	if (WIFEXITED(job->status))
		return WEXITSTATUS(job->status);

	signo = WTERMSIG(job->status);
	/* The command's core is enough. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (owned_tty && (signo == SIGINT || signo == SIGQUIT)) {
		signal_own_group(signo);
	} else if (job->forwarded & signal_bit(signo)) {
		sigprocmask(SIG_SETMASK, &job->inherited, NULL);
		raise(signo);
	}
	return 128 + signo;
}

/*
 * Events
 */

static void terminate(struct job *job)
{
	job->lost = true;
	job->kill_ns = bftm_boottime() + job->run->grace_ns;
	if (job->kill_ns < job->run->grace_ns)
		job->kill_ns = FOR_EVER;
	kill(-job->pid, SIGTERM);
	/* What is stopped would not notice. */
	kill(-job->pid, SIGCONT);
}

static void on_lost(struct job *job)
{
	struct bftm_status status;
	bool slept = !bftmutex_status(job->run->fd, &status) &&
		     status.reason == BFTM_LOST_SUSPENDED;

	warnx("lock '%s' lost: %s%s", job->run->name,
	      slept ? "the machine was put to sleep" : "its lease ended before the command",
	      job->ended ? "" : "; sending SIGTERM");
	terminate(job);
}

/* Not lost yet, and not renewed in time: so that the command ends before. */
static void on_margin(struct job *job)
{
	warnx("lock '%s': its lease ends in less than --margin %s%s", job->run->name,
	      job->run->margin, job->ended ? "" : "; sending SIGTERM");
	terminate(job);
}

static void on_grace_over(struct job *job)
{
	job->killed = true;
	if (!group_exists(job))
		return;
	warnx("lock '%s' lost: the command did not end on SIGTERM; sending SIGKILL",
	      job->run->name);
	kill(-job->pid, SIGKILL);
}

static void resume(struct job *job)
{
	if (job->uses_tty)
		give_terminal(job);
	kill(-job->pid, SIGCONT);
}

/*
 * The command stopped. SIGSTOP is somebody's deliberate act and none of our
 * business; the others are job control, and the shell looks at us.
 */
static void on_stop(struct job *job, int signo)
{
	if (job->tty < 0 || signo == SIGSTOP || job->lost)
		return;
	/* It wants the terminal, and the shell has given it to us. */
	if ((signo == SIGTTIN || signo == SIGTTOU) && give_terminal(job)) {
		kill(-job->pid, SIGCONT);
		return;
	}
	take_terminal(job);
	signal_own_group(SIGTSTP);
	/* Perhaps much later. Not a single instruction without the lock. */
	if (lease_over(job))
		on_lost(job);
	else
		resume(job);
}

static void on_child(struct job *job)
{
	int status;

	while (!job->ended && waitpid(job->pid, &status, WNOHANG | WUNTRACED) > 0) {
		if (WIFSTOPPED(status)) {
			on_stop(job, WSTOPSIG(status));
			continue;
		}
		job->ended = true;
		job->status = status;
		/* Whether it ended before the lease did nobody can tell now. */
		if (!job->lost && lease_over(job))
			on_lost(job);
	}
}

static void on_signals(struct job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			on_child(job);
		} else if (job->ended) {
			continue;
		} else if (info.ssi_signo == SIGCONT) {
			resume(job);
		} else {
			job->forwarded |= signal_bit((int)info.ssi_signo);
			kill(-job->pid, (int)info.ssi_signo);
		}
	}
}

/* ns until there is something to do without an event */
static uint64_t time_left(const struct job *job)
{
	uint64_t now;

	if (!job->lost || job->killed)
		return FOR_EVER;
	now = bftm_boottime();
	if (now >= job->kill_ns)
		return 0;
	if (job->ended && job->kill_ns - now > GROUP_POLL_NS)
		return GROUP_POLL_NS;
	return job->kill_ns - now;
}

static void wait_for_event(struct job *job)
{
	/* Once seen, POLLHUP stays. */
	struct pollfd fds[] = {
		{ .fd = job->signals, .events = POLLIN },
		{ .fd = job->lost ? -1 : job->run->fd,
		  .events = job->run->margin ? POLLPRI : 0 },
	};
	uint64_t ns = time_left(job);
	struct timespec left = {
		.tv_sec = (time_t)(ns / NS_PER_SEC),
		.tv_nsec = (long)(ns % NS_PER_SEC),
	};

	if (ppoll(fds, 2, ns == FOR_EVER ? NULL : &left, NULL) < 0) {
		if (errno == EINTR)
			return;
		err(EX_OSERR, "poll");
	}
	if (fds[1].revents & POLLPRI && !(fds[1].revents & POLLHUP))
		on_margin(job);
	else if (fds[1].revents)
		on_lost(job);
	if (job->lost && !job->killed && bftm_boottime() >= job->kill_ns)
		on_grace_over(job);
	on_signals(job);
}

/* After a loss, children of the command that outlive it must go as well. */
static bool finished(const struct job *job)
{
	return job->ended && (!job->lost || job->killed || !group_exists(job));
}

int bftm_run(const struct bftm_run *run)
{
	struct job job = { .run = run };

	block_signals(&job);
	start(&job);
	while (!finished(&job))
		wait_for_event(&job);
	return exit_status(&job);
}
