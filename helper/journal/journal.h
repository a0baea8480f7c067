/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file in which a server's journal keeps its objects, by SQLite: committed changes survive a
 * crash or a loss of power.
 *
 * A server may start with the content of the file only if the file has all changes until then. So
 * each start has a number, which is in the file and in the server's state directory; after a start
 * without this journal the two differ.
 */
#ifndef BFTM_JOURNAL_H
#define BFTM_JOURNAL_H

#include "core/ordering/order.h"

struct sqlite3;

/**
 * struct bftm_journal_about - the server of a file, and its starts
 * @cluster:  number of the cluster
 * @server:   number of the server
 * @id:       number of the file, never 0
 * @complete: the file has every object of which the server ever promised anything
 * @start:    the start whose changes it has, 0 for none
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
 * @about: the notes in the file, with the changes made here
 * @error: the reason, after a failure
 */
struct bftm_journal_file {
	struct sqlite3 *db;
	struct bftm_journal_about about;
	char error[512];
};

/**
 * struct bftm_journal_object - the durable part of an object; see struct bftm_object
 * @name_len:  bytes of @name, 1 to BFTM_OBJECT_NAME_MAX
 * @name:      of the object
 * @trusted:   the file has all changes of the object
 * @rank:      highest rank promised
 * @proposer:  rank that @proposed was proposed or committed with
 * @signature: of @rank, all zero when it came without one
 * @committed: state committed last; all zero for σ0
 * @proposed:  state proposed or committed last; likewise
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
 * @j:    has to be closed also after a failure
 * @path: of the file
 *
 * -ENOENT: the file does not exist, or is empty; -EBADMSG: it is no journal, or broken; -EROFS: it
 * cannot be written.
 */
int bftm_journal_open(struct bftm_journal_file *j, const char *path);

/** bftm_journal_create() - make a file, after bftm_journal_open() has returned -ENOENT */
int bftm_journal_create(struct bftm_journal_file *j, const char *path,
			const struct bftm_journal_about *about);

void bftm_journal_close(struct bftm_journal_file *j);

/** bftm_journal_remove() - remove the closed file, and SQLite's files beside it */
void bftm_journal_remove(const char *path);

/* A transaction: its changes are stored as a whole by the commit. */
int bftm_journal_begin(struct bftm_journal_file *j);
int bftm_journal_commit(struct bftm_journal_file *j);

/** bftm_journal_put_body() - store a state of an object, within a transaction */
int bftm_journal_put_body(struct bftm_journal_file *j, const struct bftm_journal_object *o,
			  const struct bftm_body_id *id, const void *data);

/**
 * bftm_journal_put() - store an object, within a transaction, after its bodies
 * @j: the journal, open
 * @o: the object
 *
 * Bodies that the object names no more are dropped. -EBADMSG, here or at the commit: a body that it
 * names is missing.
 */
int bftm_journal_put(struct bftm_journal_file *j, const struct bftm_journal_object *o);

/**
 * bftm_journal_each() - read every object
 * @j:    the journal, open
 * @each: gets each object and its bodies, NULL for σ0; a result other than 0 ends the walk
 * @arg:  for @each
 * Return: as above, or what @each returned.
 */
int bftm_journal_each(struct bftm_journal_file *j,
		      int (*each)(const struct bftm_journal_object *o, const void *committed,
				  const void *proposed, void *arg), void *arg);

/**
 * bftm_journal_distrust() - the server goes on without the file, which misses later changes
 * @j: the journal, open
 *
 * A transaction that was begun is undone. Return: as above.
 */
int bftm_journal_distrust(struct bftm_journal_file *j);

/**
 * bftm_journal_starting() - a server is about to start with the file
 * @j:     the journal, open
 * @last:  the last start in the state directory, 0 for none
 * @trust: believe the file, whatever happened since
 * @next:  number of this start
 *
 * If @last shows that the file missed a start, its objects are not trusted any more.
 */
int bftm_journal_starting(struct bftm_journal_file *j, u64 last, bool trust, u64 next);

/** bftm_journal_started() - the state directory has noted that start */
int bftm_journal_started(struct bftm_journal_file *j);

#endif /* BFTM_JOURNAL_H */
