// SPDX-License-Identifier: GPL-2.0
/* Objects in the journal's file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "journal/journal.h"
#include "journal/sql.h"

/* Bound bytes must live until the statement has run. */
static void bind_digest(struct sqlite3_stmt *s, int at, const struct bftm_body_id *id)
{
	if (id->version)
		sqlite3_bind_blob(s, at, id->digest, sizeof(id->digest), SQLITE_STATIC);
}

static void bind_rank(struct sqlite3_stmt *s, int at, const struct bftm_rank *rank)
{
	sqlite3_bind_int64(s, at, (sqlite3_int64)rank->count);
	sqlite3_bind_int64(s, at + 1, rank->client);
	sqlite3_bind_int64(s, at + 2, rank->incarnation);
}

int bftm_journal_put_body(struct bftm_journal_file *j, const struct bftm_journal_object *o,
			  const struct bftm_body_id *id, const void *data)
{
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, "INSERT OR REPLACE INTO body VALUES (?, ?, ?, ?)", &s);

	if (r < 0)
		return r;
	sqlite3_bind_blob(s, 1, o->name, o->name_len, SQLITE_STATIC);
	bind_digest(s, 2, id);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)id->version);
	sqlite3_bind_blob(s, 4, data, (int)id->len, SQLITE_STATIC);
	return bftm_journal_run(j, s);
}

static int put_row(struct bftm_journal_file *j, const struct bftm_journal_object *o)
{
	sqlite3_stmt *s;
	int r = bftm_journal_query(j, "INSERT OR REPLACE INTO object VALUES "
				   "(?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &s);

	if (r < 0)
		return r;
	sqlite3_bind_blob(s, 1, o->name, o->name_len, SQLITE_STATIC);
	bind_rank(s, 2, &o->rank);
	sqlite3_bind_blob(s, 5, o->signature, sizeof(o->signature), SQLITE_STATIC);
	bind_rank(s, 6, &o->proposer);
	bind_digest(s, 9, &o->committed);
	bind_digest(s, 10, &o->proposed);
	return bftm_journal_run(j, s);
}

int bftm_journal_put(struct bftm_journal_file *j, const struct bftm_journal_object *o)
{
	sqlite3_stmt *s;
	int r = put_row(j, o);

	if (r == 0)
		r = bftm_journal_query(j, "DELETE FROM body WHERE object = ?1 AND "
				       "digest IS NOT ?2 AND digest IS NOT ?3", &s);
	if (r < 0)
		return r;
	/* NOLINTNEXTLINE: @s is not NULL when r is 0 */
	sqlite3_bind_blob(s, 1, o->name, o->name_len, SQLITE_STATIC);
	bind_digest(s, 2, &o->committed);
	bind_digest(s, 3, &o->proposed);
	return bftm_journal_run(j, s);
}

static bool read_bytes(struct sqlite3_stmt *s, int at, void *ret, size_t len)
{
	if (sqlite3_column_bytes(s, at) != (int)len)
		return false;
	memcpy(ret, sqlite3_column_blob(s, at), len);
	return true;
}

static void read_rank(struct sqlite3_stmt *s, int at, struct bftm_rank *ret)
{
	ret->count = (u64)sqlite3_column_int64(s, at);
	ret->client = (u32)sqlite3_column_int64(s, at + 1);
	ret->incarnation = (u32)sqlite3_column_int64(s, at + 2);
}

/* Digest, version and data; σ0 has none of them. */
static bool read_body(struct sqlite3_stmt *s, int at, struct bftm_body_id *ret,
		      const void **ret_data)
{
	memset(ret, 0, sizeof(*ret));
	*ret_data = NULL;
	if (sqlite3_column_type(s, at) == SQLITE_NULL)
		return true;
	ret->version = (u64)sqlite3_column_int64(s, at + 1);
	ret->len = (u32)sqlite3_column_bytes(s, at + 2);
	*ret_data = sqlite3_column_blob(s, at + 2);
	return ret->version && *ret_data && ret->len <= BFTM_STATE_MAX &&
	       read_bytes(s, at, ret->digest, sizeof(ret->digest));
}

static bool read_object(struct sqlite3_stmt *s, struct bftm_journal_object *ret,
			const void *body[2])
{
	int len = sqlite3_column_bytes(s, 0);

	memset(ret, 0, sizeof(*ret));
	if (len < 1 || len > BFTM_OBJECT_NAME_MAX ||
	    !read_bytes(s, 5, ret->signature, sizeof(ret->signature)))
		return false;
	ret->name_len = (u8)len;
	memcpy(ret->name, sqlite3_column_blob(s, 0), (size_t)len);
	ret->trusted = sqlite3_column_int(s, 1);
	read_rank(s, 2, &ret->rank);
	read_rank(s, 6, &ret->proposer);
	return read_body(s, 9, &ret->committed, &body[0]) &&
	       read_body(s, 12, &ret->proposed, &body[1]);
}

int bftm_journal_each(struct bftm_journal_file *j,
		      int (*each)(const struct bftm_journal_object *o, const void *committed,
				  const void *proposed, void *arg), void *arg)
{
	struct bftm_journal_object o;
	const void *body[2];
	sqlite3_stmt *s;
	int r, step;

	r = bftm_journal_query(j, "SELECT name, trusted, count, client, incarnation, signature, "
			       "prop_count, prop_client, prop_incarnation, "
			       "committed, c.version, c.data, proposed, p.version, p.data "
			       "FROM object "
			       "LEFT JOIN body AS c ON c.object = name AND c.digest = committed "
			       "LEFT JOIN body AS p ON p.object = name AND p.digest = proposed",
			       &s);
	if (r < 0)
		return r;
	while (r == 0 && (step = sqlite3_step(s)) != SQLITE_DONE) {
		if (step != SQLITE_ROW) {
			r = bftm_journal_failed(j);
		} else if (!read_object(s, &o, body)) {
			snprintf(j->error, sizeof(j->error), "object '%.*s' is broken",
				 o.name_len, (const char *)o.name);
			r = -EBADMSG;
		} else {
			r = each(&o, body[0], body[1], arg);
		}
	}
	sqlite3_finalize(s);
	return r;
}
