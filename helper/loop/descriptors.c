// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "loop/descriptors.h"

int bftm_standard_fds(void)
{
	int fd;

	/* open() returns the lowest free number, so all lower ones are taken. */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
			return -errno;
	return 0;
}

static bool watched;

static void check_output(void)
{
	if (!watched || (!fflush(stdout) && !ferror(stdout)))
		return;
	fprintf(stderr, "%s: cannot write the output\n", program_invocation_short_name);
	_exit(EX_IOERR);
}

void bftm_output_watch(void)
{
	static bool registered;

	watched = true;
	if (!registered)
		registered = !atexit(check_output);
}

void bftm_output_trust(void)
{
	watched = false;
}
