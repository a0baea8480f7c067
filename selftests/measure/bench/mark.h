/* SPDX-License-Identifier: GPL-2.0 */
/* Marks in a trace, round what is measured: see rows/where.sh. */
#ifndef BFTM_BENCH_MARK_H
#define BFTM_BENCH_MARK_H

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* To the file that BFTMUTEX_MARK names, if it is set: tracefs's trace_marker. */
static inline void mark(const char *text)
{
	static int fd = -2;
	const char *path = getenv("BFTMUTEX_MARK");

	if (fd == -2)
		fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (path && (fd < 0 || write(fd, text, strlen(text)) < 0))
		err(EX_UNAVAILABLE, "%s", path);
}

#endif /* BFTM_BENCH_MARK_H */
