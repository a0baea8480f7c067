// SPDX-License-Identifier: GPL-2.0
/*
 * Run a program, and kill it at a step of its work:
 *
 *	kill_at [-t] N PROGRAM ARG...
 *
 * Steps are system calls that send, receive, write, sync or rename, from the first time on
 * that the program was woken out of ppoll(), with -t also by the time; the Nth is not made any
 * more. Exit status: 0 when it was killed so, 1 when it ended otherwise.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

static bool is_step(unsigned long long call)
{
	switch (call) {
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_write:
	case SYS_pwrite64:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_ftruncate:
#ifdef SYS_unlink /* arm64 has the others alone */
	case SYS_unlink:
	case SYS_rename:
#endif
	case SYS_renameat2:
	case SYS_unlinkat:
		return true;
	}
	return false;
}

/* ppoll() has woken the program when it returns more than this. */
static long long asleep;

/* Return: true when it is to be killed before this call. */
static bool count(pid_t pid, long *left)
{
	static unsigned long long call;
	static bool woken;
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		woken |= call == SYS_ppoll && info.exit.rval > asleep;
		return false;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	call = info.entry.nr;
	return woken && is_step(call) && --*left <= 0;
}

int main(int argc, char **argv)
{
	int status, pass;
	pid_t pid;
	long left;

	if (argc > 1 && !strcmp(argv[1], "-t")) {
		asleep = -1;
		argv++;
		argc--;
	}
	left = argc > 2 ? atol(argv[1]) : 0;
	if (left < 1)
		return EX_USAGE;
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(EX_UNAVAILABLE);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (pass = 0;; ) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, pass) < 0 && errno == ESRCH)
			break;
		if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
			return 1;
		pass = WSTOPSIG(status);
		if (pass == (SIGTRAP | 0x80)) {
			pass = 0;
			if (!count(pid, &left))
				continue;
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return 0;
		}
		if (pass == SIGTRAP)	/* of execve() */
			pass = 0;
	}
	return 1;
}
