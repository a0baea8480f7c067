// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

static bool use_syslog, show_debug;
static const char *program;

void bftm_log_open(const char *name, bool to_syslog, bool debug)
{
	program = name;
	use_syslog = to_syslog;
	show_debug = debug;
	if (to_syslog)
		openlog(name, LOG_PID, LOG_DAEMON);
}

/* A line, or what is left of one. */
static ssize_t write_line(void *cookie, const char *text, size_t size)
{
	ssize_t n = write(STDERR_FILENO, text, size);

	(void)cookie;
	if (n >= 0)
		return n;
	syslog(LOG_DAEMON | LOG_ERR, "%.*s", (int)size, text);
	return (ssize_t)size;
}

void bftm_log_stderr(const char *name)
{
	FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_line });

	openlog(name, LOG_PID, LOG_DAEMON);
	if (!file)
		return;
	setvbuf(file, NULL, _IOLBF, BUFSIZ);
	stderr = file;
}

void bftm_log(int level, const char *format, ...)
{
	va_list args;

	if (level == LOG_DEBUG && !show_debug)
		return;
	va_start(args, format);
	if (use_syslog) {
		vsyslog(level, format, args);
	} else {
		fprintf(stderr, "%s: ", program ? program : program_invocation_short_name);
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
	}
	va_end(args);
}
