// SPDX-License-Identifier: GPL-2.0
/* Other programs, run without a shell. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"

#define ARGS_MAX	32

/* Output of a program; the end is cut off when it is too long. */
struct output {
	char text[2048];
	size_t len;
};

static void program_collect(const char *program, va_list args, const char *ret[ARGS_MAX])
{
	size_t n = 0;

	ret[n] = program;
	while (ret[n] && n + 1 < ARGS_MAX)
		ret[++n] = va_arg(args, const char *);
	ret[n] = NULL;
}

static void print_command(const char *const *argv)
{
	for (; *argv; argv++)
		fprintf(stderr, "%s%s", *argv, argv[1] ? " " : "");
}

static int command_failed(const char *const *argv, const char *why)
{
	fputs(CTL_NAME ": '", stderr);
	print_command(argv);
	fprintf(stderr, "' failed: %s\n", why);
	return EX_OSERR;
}

/* Starts @argv with no input, and standard output and error to @out. */
static int spawn(const char *const *argv, int out, bool session, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	if (session)
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	/* NOLINTNEXTLINE: a command has a name */
	r = posix_spawnp(ret, argv[0], &actions, &attr, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static void read_output(int fd, struct output *ret)
{
	char drop[512];
	ssize_t n;

	for (;;) {
		bool full = ret->len >= sizeof(ret->text) - 1;

		n = full ? read(fd, drop, sizeof(drop)) :
			   read(fd, ret->text + ret->len, sizeof(ret->text) - 1 - ret->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (!full)
			ret->len += n;
	}
	while (ret->len && ret->text[ret->len - 1] == '\n')
		ret->len--;
	ret->text[ret->len] = '\0';
}

static int program_run(const char *const *argv)
{
	struct output output = {};
	int pipe_fd[2], status, r;
	char why[64];
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return command_failed(argv, strerror(errno));
	r = spawn(argv, pipe_fd[1], false, &pid);
	close(pipe_fd[1]);
	if (r < 0) {
		close(pipe_fd[0]);
		return command_failed(argv, strerror(-r));
	}
	read_output(pipe_fd[0], &output);
	close(pipe_fd[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	snprintf(why, sizeof(why), WIFEXITED(status) ? "exit code %d" : "signal %d",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return command_failed(argv, output.len ? output.text : why);
}

int ctl_run(const char *program, ...)
{
	const char *argv[ARGS_MAX];
	va_list args;

	va_start(args, program);
	program_collect(program, args, argv);
	va_end(args);
	return program_run(argv);
}

int ctl_spawn(const char *log, pid_t *ret, const char *program, ...)
{
	const char *argv[ARGS_MAX];
	va_list args;
	int fd, r;

	va_start(args, program);
	program_collect(program, args, argv);
	va_end(args);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", log, strerror(errno));
	r = spawn(argv, fd, true, ret);
	close(fd);
	return r < 0 ? command_failed(argv, strerror(-r)) : 0;
}
