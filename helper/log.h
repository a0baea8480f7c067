/* SPDX-License-Identifier: GPL-2.0 */
/* To stderr, with the program's name; from the daemon in the background to syslog. */
#ifndef BFTM_LOG_H
#define BFTM_LOG_H

#include <stdbool.h>
#include <syslog.h>

/** bftm_log_open() - @debug: also LOG_DEBUG; @to_syslog: not to stderr */
void bftm_log_open(const char *name, bool to_syslog, bool debug);

/** bftm_log_stderr() - what cannot be written to standard error goes to syslog instead. */
void bftm_log_stderr(const char *name);

/** bftm_log() - @level: LOG_ERR, LOG_WARNING, LOG_INFO or LOG_DEBUG */
void bftm_log(int level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* BFTM_LOG_H */
