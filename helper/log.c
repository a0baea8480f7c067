// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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
