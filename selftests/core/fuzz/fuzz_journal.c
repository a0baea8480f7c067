// SPDX-License-Identifier: GPL-2.0
/*
 * A journal's file whose rows say anything: what is handed out keeps to the limits,
 * and the file is refused otherwise. And files that are any bytes.
 */
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "journal/journal.h"
#include "file.h"
#include "fuzz.h"

/* Cells of "object" and of "body". */
#define OBJECT	11
#define BODY	4

static unsigned char *made;
static sqlite3_int64 made_len;

static int on_object(const struct bftm_journal_object *o, const void *committed,
		     const void *proposed, void *arg)
{
	volatile u8 last;
	u32 i;

	must(o->name_len && o->name_len <= BFTM_OBJECT_NAME_MAX);
	must(!o->committed.version == !committed && !o->proposed.version == !proposed);
	must(o->committed.len <= BFTM_STATE_MAX && o->proposed.len <= BFTM_STATE_MAX);
	must(committed || !o->committed.len);
	/* They are there to their last byte. */
	for (i = 0; i < o->committed.len; i++)
		last = ((const u8 *)committed)[i];
	for (i = 0; i < o->proposed.len; i++)
		last = ((const u8 *)proposed)[i];
	(void)last;
	++*(u32 *)arg;
	return 0;
}

/* A number, none, or bytes; often those that would be right. */
static void bind(struct fuzz_bytes *in, sqlite3_stmt *s, int at, const u8 *digest)
{
	static const u8 zeroes[BFTM_SIGNATURE_LEN];
	u8 kind = (u8)fuzz_take(in, 1);
	size_t len;

	switch (kind & 7) {
	case 0:
		sqlite3_bind_int64(s, at, (sqlite3_int64)fuzz_take(in, kind >> 4));
		break;
	case 1:
		sqlite3_bind_null(s, at);
		break;
	case 2:
	case 3:
		sqlite3_bind_blob(s, at, digest, BFTM_DIGEST_LEN, SQLITE_STATIC);
		break;
	case 4:
		sqlite3_bind_blob(s, at, zeroes, sizeof(zeroes), SQLITE_STATIC);
		break;
	default:
		len = kind >> 3;
		if (len > in->left)
			len = in->left;
		if (kind & 1)
			sqlite3_bind_blob(s, at, in->at, (int)len, SQLITE_STATIC);
		else
			sqlite3_bind_text(s, at, (const char *)in->at, (int)len, SQLITE_STATIC);
		in->at += len;
		in->left -= len;
	}
}

static void insert(struct fuzz_bytes *in, sqlite3 *db, const char *sql, int cells)
{
	static const u8 digest[2][BFTM_DIGEST_LEN] = { { 1 }, { 2 } };
	sqlite3_stmt *s;
	int i;

	must(!sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	for (i = 1; i <= cells; i++)
		bind(in, s, i, digest[in->left & 1]);
	sqlite3_step(s);	/* a cell that may not be NULL is: no row */
	sqlite3_finalize(s);
}

/* The file that bftm_journal_create() makes, as bytes. */
static void make(void)
{
	static const struct bftm_journal_about about = { .cluster = 1, .server = 1, .id = 1 };
	struct bftm_journal_file j;
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/bftmutex-fuzz-journal.%d", getpid());
	must(!bftm_journal_create(&j, path, &about));
	made = sqlite3_serialize(j.db, "main", &made_len, 0);
	must(made);
	bftm_journal_close(&j);
	bftm_journal_remove(path);
	/* In memory there is no log beside the file. */
	made[18] = made[19] = 1;
}

static void read_rows(struct fuzz_bytes *in)
{
	struct bftm_journal_file j = {};
	unsigned char *copy;
	u32 seen = 0;
	int r;

	if (!made)
		make();
	copy = sqlite3_malloc64((sqlite3_uint64)made_len);
	must(copy && !sqlite3_open(":memory:", &j.db));
	memcpy(copy, made, (size_t)made_len);
	must(!sqlite3_deserialize(j.db, "main", copy, made_len, made_len,
				  SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
	while (in->left > 8) {
		if (fuzz_take(in, 1) & 1)
			insert(in, j.db, "INSERT OR REPLACE INTO object VALUES "
			       "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", OBJECT);
		else
			insert(in, j.db, "INSERT OR REPLACE INTO body VALUES (?, ?, ?, ?)", BODY);
	}
	r = bftm_journal_each(&j, on_object, &seen);
	must(r <= 0 && (!r || *j.error));
	if (fuzz_take(in, 1) & 1)
		must(!bftm_journal_starting(&j, fuzz_take(in, 1), false, 7));
	bftm_journal_close(&j);
}

static void read_file(struct fuzz_bytes *in)
{
	struct bftm_journal_file j;
	u32 seen = 0;
	int r;

	r = bftm_journal_open(&j, fuzz_file(in->at, in->left));
	if (r == 0)
		r = bftm_journal_each(&j, on_object, &seen);
	must(r <= 0 && (!r || *j.error));
	bftm_journal_close(&j);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };

	if (fuzz_take(&in, 1) % 16)
		read_rows(&in);
	else
		read_file(&in);
	return 0;
}
