// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
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
