// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

const char *fuzz_file(const void *data, size_t len)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd < 0 || fchmod(fd, 0600) < 0)
			abort();
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) < 0 || pwrite(fd, data, len, 0) != (ssize_t)len)
		abort();
	return path;
}

static ssize_t drop(void *cookie, const char *data, size_t len)
{
	(void)cookie;
	(void)data;
	return (ssize_t)len;
}

void fuzz_quiet(void)
{
	static const cookie_io_functions_t nowhere = { .write = drop };
	static bool quiet;

	if (quiet)
		return;
	quiet = true;
	stdout = fopencookie(NULL, "w", nowhere);
	stderr = fopencookie(NULL, "w", nowhere);
	if (!stdout || !stderr)
		abort();
}
