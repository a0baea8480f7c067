/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages go to stderr, with the program's name; those of the daemon in the background go to
 * syslog.
 */
#ifndef BFTM_LOG_H
#define BFTM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

/** bftm_log_open() - @debug: also LOG_DEBUG; @to_syslog: not to stderr */
void bftm_log_open(const char *name, bool to_syslog, bool debug);

/**
 * bftm_log_stderr() - make all later output to stderr safe for a terminal
 * @name: for syslog, which gets lines that cannot be written to stderr; NULL: they are lost
 *
 * Control characters in foreign names become '?'. A line is one write().
 */
void bftm_log_stderr(const char *name);

/**
 * bftm_log_printable() - make text safe for a terminal in the same way; newlines and tabs stay
 * @text: changed in place
 * @len:  bytes of @text
 */
void bftm_log_printable(char *text, size_t len);

/** bftm_log() - @level: LOG_ERR, LOG_WARNING, LOG_INFO or LOG_DEBUG */
void bftm_log(int level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* BFTM_LOG_H */
