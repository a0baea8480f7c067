/* SPDX-License-Identifier: GPL-2.0 */
/* SQLite calls that the files of the journal share. */
#ifndef BFTM_JOURNAL_SQL_H
#define BFTM_JOURNAL_SQL_H

#include "journal/journal.h"

struct sqlite3_stmt;

/** bftm_journal_failed() - copy SQLite's last error to @j->error; returns it as a -errno */
int bftm_journal_failed(struct bftm_journal_file *j);

/** bftm_journal_exec() - run commands without results. 0 or -errno. */
int bftm_journal_exec(struct bftm_journal_file *j, const char *sql);

/** bftm_journal_query() - prepare a command with parameters or results. 0 or -errno. */
int bftm_journal_query(struct bftm_journal_file *j, const char *sql, struct sqlite3_stmt **ret);

/** bftm_journal_run() - run a prepared command without results, and free it. 0 or -errno. */
int bftm_journal_run(struct bftm_journal_file *j, struct sqlite3_stmt *s);

#endif /* BFTM_JOURNAL_SQL_H */
