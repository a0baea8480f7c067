// SPDX-License-Identifier: GPL-2.0
/*
 * A reader that does not read, such as a terminal after Ctrl-S, must not stop the keeper's work:
 * the message is then written later, at the latest when all work is done.
 */
#include "run/speech.h"
#include "loop/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void bftm_speech_flush(struct bftm_speech *speech, int timeout_ms)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	size_t len = strlen(speech->text);
	ssize_t n;

	while (len && poll(&out, 1, timeout_ms) > 0) {
		n = write(STDERR_FILENO, speech->text, len);
		/* No process will ever read it. */
		if (n <= 0)
			n = (ssize_t)len;
		len -= (size_t)n;
		memmove(speech->text, speech->text + n, len + 1);
	}
}

void bftm_speech_add(struct bftm_speech *speech, const char *lock, const char *format, ...)
{
	size_t len = strlen(speech->text);
	size_t room = sizeof(speech->text) - len;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Keep the whole message or nothing. */
	if ((size_t)snprintf(speech->text + len, room, "%s: lock '%s'%s\n",
			     program_invocation_short_name, lock, text) >= room)
		speech->text[len] = '\0';
	bftm_log_printable(speech->text + len, strlen(speech->text + len));
	bftm_speech_flush(speech, 0);
}
