/* SPDX-License-Identifier: GPL-2.0 */
/* To stderr, with the program's name; from the daemon in the background to syslog. */
#ifndef BFTM_LOG_H
#define BFTM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

/** bftm_log_open() - @debug: also LOG_DEBUG; @to_syslog: not to stderr */
void bftm_log_open(const char *name, bool to_syslog, bool debug);

/**
 * bftm_log_stderr() - have whatever goes to stderr from here on fit for a terminal
 * @name: for syslog, where what cannot be written goes instead; NULL: nowhere
 *
 * Control characters, of names that came from elsewhere, become '?'. A line is one write().
 */
void bftm_log_stderr(const char *name);

/**
 * bftm_log_printable() - have text fit for a terminal, likewise; new lines and tabs stay
 * @text: @len bytes, changed in place
 */
void bftm_log_printable(char *text, size_t len);

/** bftm_log() - @level: LOG_ERR, LOG_WARNING, LOG_INFO or LOG_DEBUG */
void bftm_log(int level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* BFTM_LOG_H */
