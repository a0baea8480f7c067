// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loop/log.h"

static bool use_syslog, show_debug;
static const char *program;
static const char *fallback;	/* name for syslog */

void bftm_log_open(const char *name, bool to_syslog, bool debug)
{
	program = name;
	use_syslog = to_syslog;
	show_debug = debug;
	if (to_syslog)
		openlog(name, LOG_PID, LOG_DAEMON);
}

static bool is_control(unsigned char c)
{
	return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

/*
 * Names in messages come from anywhere, and a terminal obeys control characters: U+0000 to U+001F,
 * and U+0080 to U+009F in UTF-8 (0xc2 and one byte).
 */
void bftm_log_printable(char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		bool high = i && text[i - 1] == '\xc2' && ((unsigned char)text[i] & 0xe0) == 0x80;

		if (high || is_control((unsigned char)text[i]))
			text[i] = '?';
		if (high)
			text[i - 1] = '?';
	}
}

/* Writes a line, or the rest of one. */
static ssize_t write_line(void *cookie, const char *text, size_t size)
{
	char line[BUFSIZ];
	size_t len = size < sizeof(line) ? size : sizeof(line);
	ssize_t n;

	(void)cookie;
	memcpy(line, text, len);
	bftm_log_printable(line, len);
	n = write(STDERR_FILENO, line, len);
	if (n >= 0)
		return n;
	if (!fallback)
		return 0;
	syslog(LOG_DAEMON | LOG_ERR, "%.*s", (int)len, line);
	return (ssize_t)len;
}

void bftm_log_stderr(const char *name)
{
	static FILE *file;

	fallback = name;
	if (name)
		openlog(name, LOG_PID, LOG_DAEMON);
	if (file)
		return;
	file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_line });
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
