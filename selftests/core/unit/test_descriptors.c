// SPDX-License-Identifier: GPL-2.0
/* Programs that are started without standard input, output or error, all eight combinations. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop/descriptors.h"
#include "lib/libbftmutex.h"
#include "loop/log.h"

#define ALL		3	/* standard streams */
#define COMBINATIONS	(1 << ALL)

/* Standard streams that are open are /dev/null. */
static void close_some(int closed)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	for (fd = 0; fd < ALL; fd++)
		if (null < ALL || dup2(null, fd) < 0)
			_exit(99);
	for (fd = 0; fd < ALL; fd++)
		if (closed & 1 << fd)
			close(fd);
	close(null);
}

/* The child's exit status: which check failed, or 0. */
static int run(int (*check)(int closed), int closed)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		close_some(closed);
		_exit(check(closed));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int takes_all(int closed)
{
	char byte = 0;
	int fd;

	if (bftm_standard_fds())
		return 1;
	for (fd = 0; fd < ALL; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0)
			return 2;
		if (!(closed & 1 << fd)) {
			if (flags & FD_CLOEXEC || write(fd, &byte, 1) != 1)
				return 3;
			continue;
		}
		/* It is of no use to anybody, and what is executed has it closed as before. */
		if (!(flags & FD_CLOEXEC))
			return 4;
		if (write(fd, &byte, 1) != -1 || errno != EBADF)
			return 5;
		if (read(fd, &byte, 1) != -1 || errno != EBADF)
			return 6;
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC) >= ALL ? 0 : 7;
}

static void standard_streams_are_taken(void **state)
{
	int closed;

	(void)state;
	for (closed = 0; closed < COMBINATIONS; closed++)
		assert_int_equal(run(takes_all, closed), 0);
}

static int opens(int closed)
{
	int fd = bftmutex_open("/dev/null"), low;

	if (fd < ALL)
		return 1;
	if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return 2;
	/* Nothing is left of it below, and a failure leaves nothing either. */
	for (low = 0; low < ALL; low++)
		if (!(fcntl(low, F_GETFD) < 0) != !(closed & 1 << low))
			return 3;
	if (bftmutex_open("/none") != -ENOENT)
		return 4;
	close(fd);
	return 0;
}

static void the_library_takes_none_of_them(void **state)
{
	int closed;

	(void)state;
	for (closed = 0; closed < COMBINATIONS; closed++)
		assert_int_equal(run(opens, closed), 0);
}

/* For a daemon that was started without standard error, or whose disk is full. */
static int says_so_elsewhere(int closed)
{
	(void)closed;
	bftm_log_stderr("test");
	if (!(closed & 1 << STDERR_FILENO) &&
	    dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDERR_FILENO) < 0)
		return 1;
	bftm_log(LOG_ERR, "not for standard error");
	return ferror(stderr) ? 2 : 0;
}

static void what_cannot_be_said_there_is_no_error(void **state)
{
	int closed;

	(void)state;
	for (closed = 0; closed < COMBINATIONS; closed++)
		assert_int_equal(run(says_so_elsewhere, closed), 0);
}

/* As argp does for --help. */
static int prints_and_ends(int closed)
{
	if (bftm_standard_fds())
		return 1;
	if (!(closed & 1 << STDOUT_FILENO) &&
	    dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0)
		return 2;
	bftm_output_watch();
	puts("help");
	exit(0);
}

static void a_help_that_cannot_be_written_is_an_error(void **state)
{
	int closed;

	(void)state;
	for (closed = 0; closed < COMBINATIONS; closed++)
		assert_int_equal(run(prints_and_ends, closed), 74);
}

/* The part of a message that comes out of standard error. */
static int is_clean(int closed)
{
	static const char said[] = "test: a\xc3\xa4 ?[31m ??31m ? \t?\n";
	char got[64] = "";
	int ends[2];

	(void)closed;
	if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
		return 1;
	bftm_log_stderr(NULL);
	bftm_log_open("test", false, false);
	bftm_log(LOG_ERR, "a\xc3\xa4 \x1b[31m \xc2\x9b\x33\x31m \r \t\x7f");
	if (read(ends[0], got, sizeof(got) - 1) != sizeof(said) - 1)
		return 2;
	return strcmp(got, said) ? 3 : 0;
}

static void control_characters_do_not_reach_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(run(is_clean, 0), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_streams_are_taken),
		cmocka_unit_test(the_library_takes_none_of_them),
		cmocka_unit_test(what_cannot_be_said_there_is_no_error),
		cmocka_unit_test(a_help_that_cannot_be_written_is_an_error),
		cmocka_unit_test(control_characters_do_not_reach_a_terminal),
	};

	return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
