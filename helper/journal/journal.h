/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file in which a server's journal keeps its objects, by SQLite: what was
 * committed to it is there after a crash or a loss of power.
 *
 * A server may start with what the file has only if nothing happened since that is
 * not in it. So each start has a number, which stands in the file and in the
 * server's state directory; after a start without this journal they differ.
 */
#ifndef BFTM_JOURNAL_H
#define BFTM_JOURNAL_H

#include "core/ordering/order.h"

struct sqlite3;

/**
 * struct bftm_journal_about - what a file is of
 * @cluster:  number of the cluster
 * @server:   number of the server
 * @id:       number of the file, never 0
 * @complete: it has every object that the server ever promised anything about
 * @start:    the start that it has all changes of, 0 for none
 * @next:     the start that was about to be noted, or @start
 */
struct bftm_journal_about {
	u32 cluster;
	u16 server;
	u64 id;
	bool complete;
	u64 start;
	u64 next;
};

/**
 * struct bftm_journal_file - an open file
 * @db:    of SQLite
 * @about: as it was when it was opened, and what was changed here
 * @error: what is wrong, after a failure
 */
struct bftm_journal_file {
	struct sqlite3 *db;
	struct bftm_journal_about about;
	char error[512];
};

/**
 * struct bftm_journal_object - what is durable of an object; see struct bftm_object
 * @trusted: nothing happened since that is not here
 */
struct bftm_journal_object {
	u8 name_len;
	u8 name[BFTM_OBJECT_NAME_MAX];
	bool trusted;
	struct bftm_rank rank;
	struct bftm_rank proposer;
	u8 signature[BFTM_SIGNATURE_LEN];
	struct bftm_body_id committed;
	struct bftm_body_id proposed;
};

/* All return 0 or a -errno, with the reason in @j->error. */

/**
 * bftm_journal_open() - open a file
 * @j: to be closed also after a failure
 *
 * -ENOENT: it is not there, or empty; -EBADMSG: it is something else, or broken;
 * -EROFS: it cannot be written.
 */
int bftm_journal_open(struct bftm_journal_file *j, const char *path);

/** bftm_journal_create() - make it, where bftm_journal_open() said -ENOENT; likewise */
int bftm_journal_create(struct bftm_journal_file *j, const char *path,
			const struct bftm_journal_about *about);

void bftm_journal_close(struct bftm_journal_file *j);

/** bftm_journal_remove() - the file, which is closed, with all that SQLite has beside it */
void bftm_journal_remove(const char *path);

/* A transaction: what is in it is kept as a whole, from the commit on. */
int bftm_journal_begin(struct bftm_journal_file *j);
int bftm_journal_commit(struct bftm_journal_file *j);

/** bftm_journal_put_body() - a state of an object, within a transaction */
int bftm_journal_put_body(struct bftm_journal_file *j, const struct bftm_journal_object *o,
			  const struct bftm_body_id *id, const void *data);

/**
 * bftm_journal_put() - an object, within a transaction, after its bodies
 *
 * Bodies that it names no more are dropped. -EBADMSG, here or at the commit: one
 * that it names is not there.
 */
int bftm_journal_put(struct bftm_journal_file *j, const struct bftm_journal_object *o);

/**
 * bftm_journal_each() - every object
 * @each: gets its bodies, NULL for σ0; a result other than 0 ends it
 * Return: as above, or what @each returned.
 */
int bftm_journal_each(struct bftm_journal_file *j,
		      int (*each)(const struct bftm_journal_object *o, const void *committed,
				  const void *proposed, void *arg), void *arg);

/**
 * bftm_journal_distrust() - the server goes on without it, so it misses what comes
 *
 * A transaction that was begun is undone. Return: as above.
 */
int bftm_journal_distrust(struct bftm_journal_file *j);

/**
 * bftm_journal_starting() - a server is about to start with it
 * @last:  the start that the state directory knows of, 0 for none
 * @trust: believe the file, whatever happened since
 * @next:  number of this start
 *
 * What @last shows to have been missed is not trusted any more.
 */
int bftm_journal_starting(struct bftm_journal_file *j, u64 last, bool trust, u64 next);

/** bftm_journal_started() - the state directory knows of that start */
int bftm_journal_started(struct bftm_journal_file *j);

#endif /* BFTM_JOURNAL_H */
