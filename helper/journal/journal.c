// SPDX-License-Identifier: GPL-2.0
/* The file itself: how it is opened and made, and its notes of starts. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "journal/journal.h"
#include "journal/sql.h"

/* The file's head: "BFTJ", and the version of its content. */
#define APPLICATION	0x4246544a
#define VERSION		1
#define WORD(x)		#x
#define TEXT(x)		WORD(x)

/* Another bftmutexctl may use the file for a moment. */
#define PATIENCE_MS	5000

static const char schema[] =
	"PRAGMA application_id = " TEXT(APPLICATION) ";"
	"PRAGMA user_version = " TEXT(VERSION) ";"
	"CREATE TABLE about (cluster INTEGER NOT NULL, server INTEGER NOT NULL,"
	"	id INTEGER NOT NULL, complete INTEGER NOT NULL, start INTEGER NOT NULL,"
	"	next INTEGER NOT NULL);"
	"CREATE TABLE body (object BLOB NOT NULL, digest BLOB NOT NULL,"
	"	version INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (object, digest));"
	"CREATE TABLE object (name BLOB PRIMARY KEY, trusted INTEGER NOT NULL,"
	"	count INTEGER NOT NULL, client INTEGER NOT NULL, incarnation INTEGER NOT NULL,"
	"	signature BLOB NOT NULL, prop_count INTEGER NOT NULL,"
	"	prop_client INTEGER NOT NULL, prop_incarnation INTEGER NOT NULL,"
	"	committed BLOB, proposed BLOB,"
	"	FOREIGN KEY (name, committed) REFERENCES body (object, digest)"
	"		DEFERRABLE INITIALLY DEFERRED,"
	"	FOREIGN KEY (name, proposed) REFERENCES body (object, digest)"
	"		DEFERRABLE INITIALLY DEFERRED);";

/* Each commit is on the disk before it returns. */
static const char settings[] =
	"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

int bftm_journal_failed(struct bftm_journal_file *j)
{
	int code = j->db ? sqlite3_errcode(j->db) : SQLITE_NOMEM;

	snprintf(j->error, sizeof(j->error), "%s",
		 j->db ? sqlite3_errmsg(j->db) : "no memory");
	switch (code) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_ERROR:	/* a table is missing, or different */
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	default:
		return -EIO;
	}
}

static int file_say(struct bftm_journal_file *j, int result, const char *text)
{
	snprintf(j->error, sizeof(j->error), "%s", text);
	return result;
}

int bftm_journal_exec(struct bftm_journal_file *j, const char *sql)
{
	return sqlite3_exec(j->db, sql, NULL, NULL, NULL) ? bftm_journal_failed(j) : 0;
}

int bftm_journal_query(struct bftm_journal_file *j, const char *sql, struct sqlite3_stmt **ret)
{
	return sqlite3_prepare_v2(j->db, sql, -1, ret, NULL) ? bftm_journal_failed(j) : 0;
}

int bftm_journal_run(struct bftm_journal_file *j, struct sqlite3_stmt *s)
{
	int r = sqlite3_step(s) == SQLITE_DONE ? 0 : bftm_journal_failed(j);

	sqlite3_finalize(s);
	return r;
}

/* Reads one number. */
static int file_ask(struct bftm_journal_file *j, const char *sql, u64 *ret)
{
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, sql, &s);

	if (r < 0)
		return r;
	if (sqlite3_step(s) == SQLITE_ROW)
		*ret = (u64)sqlite3_column_int64(s, 0);
	else
		r = bftm_journal_failed(j);
	sqlite3_finalize(s);
	return r;
}

static int read_about(struct bftm_journal_file *j)
{
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, "SELECT cluster, server, id, complete, start, next "
				   "FROM about", &s);

	if (r < 0)
		return r;
	if (sqlite3_step(s) == SQLITE_ROW) {
		j->about.cluster = (u32)sqlite3_column_int64(s, 0);
		j->about.server = (u16)sqlite3_column_int(s, 1);
		j->about.id = (u64)sqlite3_column_int64(s, 2);
		j->about.complete = sqlite3_column_int(s, 3);
		j->about.start = (u64)sqlite3_column_int64(s, 4);
		j->about.next = (u64)sqlite3_column_int64(s, 5);
	} else {
		r = file_say(j, -EBADMSG, "it does not name its server");
	}
	sqlite3_finalize(s);
	return r;
}

static int open_file(struct bftm_journal_file *j, const char *path)
{
	int r;

	if (sqlite3_open_v2(path, &j->db, SQLITE_OPEN_READWRITE, NULL))
		return bftm_journal_failed(j);
	sqlite3_busy_timeout(j->db, PATIENCE_MS);
	r = bftm_journal_exec(j, settings);
	/* SQLite opens a file that it may not write for reading only, and reports that later. */
	if (r == 0 && sqlite3_db_readonly(j->db, "main"))
		r = file_say(j, -EROFS, "it cannot be written");
	return r;
}

int bftm_journal_open(struct bftm_journal_file *j, const char *path)
{
	u64 application = 0, version = 0, tables = 0;
	int r;

	memset(j, 0, sizeof(*j));
	if (access(path, F_OK) < 0)
		return file_say(j, -errno, strerror(errno));
	r = open_file(j, path);
	if (r == 0)
		r = file_ask(j, "PRAGMA application_id", &application);
	if (r == 0)
		r = file_ask(j, "PRAGMA user_version", &version);
	if (r == 0)
		r = file_ask(j, "SELECT count(*) FROM sqlite_schema", &tables);
	if (r < 0)
		return r;
	if (!tables && !application)
		return file_say(j, -ENOENT, "it is empty");
	if (application != APPLICATION)
		return file_say(j, -EBADMSG, "it is no journal of a server");
	if (version != VERSION)
		return file_say(j, -EBADMSG, "it was made by another version");
	return read_about(j);
}

/* The file's name in the folder must survive a loss of power as well. */
static int sync_folder(struct bftm_journal_file *j, const char *path)
{
	char copy[PATH_MAX];
	int fd, r = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		r = file_say(j, -errno, strerror(errno));
	if (fd >= 0)
		close(fd);
	return r;
}

static int write_about(struct bftm_journal_file *j)
{
	const struct bftm_journal_about *a = &j->about;
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, "INSERT INTO about VALUES (?, ?, ?, ?, ?, ?)", &s);

	if (r < 0)
		return r;
	sqlite3_bind_int64(s, 1, a->cluster);
	sqlite3_bind_int64(s, 2, a->server);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)a->id);
	sqlite3_bind_int(s, 4, a->complete);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)a->start);
	sqlite3_bind_int64(s, 6, (sqlite3_int64)a->next);
	return bftm_journal_run(j, s);
}

int bftm_journal_create(struct bftm_journal_file *j, const char *path,
			const struct bftm_journal_about *about)
{
	int fd, r;

	memset(j, 0, sizeof(*j));
	/* The content of objects is only for their clients. */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return file_say(j, -errno, strerror(errno));
	close(fd);
	r = open_file(j, path);
	if (r < 0)
		return r;
	j->about = *about;
	r = bftm_journal_begin(j);
	if (r == 0)
		r = bftm_journal_exec(j, schema);
	if (r == 0)
		r = write_about(j);
	if (r == 0)
		r = bftm_journal_commit(j);
	return r < 0 ? r : sync_folder(j, path);
}

void bftm_journal_close(struct bftm_journal_file *j)
{
	/* This undoes changes that are not committed. */
	sqlite3_close_v2(j->db);
	j->db = NULL;
}

void bftm_journal_remove(const char *path)
{
	static const char *const tail[] = { "", "-wal", "-shm" };
	char name[PATH_MAX + 8];
	size_t i;

	for (i = 0; i < sizeof(tail) / sizeof(tail[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tail[i]);
		unlink(name);
	}
}

int bftm_journal_begin(struct bftm_journal_file *j)
{
	return bftm_journal_exec(j, "BEGIN IMMEDIATE");
}

int bftm_journal_commit(struct bftm_journal_file *j)
{
	int r = bftm_journal_exec(j, "COMMIT");

	/* The earlier steps are undone, so that the file is as it was. */
	if (r < 0)
		sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static int note_start(struct bftm_journal_file *j)
{
	const struct bftm_journal_about *a = &j->about;
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, "UPDATE about SET complete = ?, start = ?, next = ?", &s);

	if (r < 0)
		return r;
	sqlite3_bind_int(s, 1, a->complete);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)a->start);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)a->next);
	return bftm_journal_run(j, s);
}

int bftm_journal_starting(struct bftm_journal_file *j, u64 last, bool trust, u64 next)
{
	struct bftm_journal_about *a = &j->about;
	/* A file that was never used by a start misses no changes. */
	bool missed = (a->start || last) && last != a->start && last != a->next;
	int r = bftm_journal_begin(j);

	if (r < 0)
		return r;
	if (trust)
		a->complete = true;
	else if (missed)
		a->complete = false;
	/* The state directory may have the last start under either number. */
	a->start = last;
	a->next = next;
	if (trust)
		r = bftm_journal_exec(j, "UPDATE object SET trusted = 1");
	else if (missed)
		r = bftm_journal_exec(j, "UPDATE object SET trusted = 0");
	if (r == 0)
		r = note_start(j);
	return r < 0 ? r : bftm_journal_commit(j);
}

int bftm_journal_distrust(struct bftm_journal_file *j)
{
	int r;

	/* Give up a transaction that was begun. */
	sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
	r = bftm_journal_begin(j);
	if (r == 0)
		r = bftm_journal_exec(j, "UPDATE object SET trusted = 0");
	j->about.complete = false;
	if (r == 0)
		r = note_start(j);
	return r < 0 ? r : bftm_journal_commit(j);
}

int bftm_journal_started(struct bftm_journal_file *j)
{
	j->about.start = j->about.next;
	return note_start(j);
}
