// SPDX-License-Identifier: GPL-2.0
/* The journal's file: what it keeps, what it refuses, and when it is believed. */
#include <errno.h>
#include <string.h>

#include <sqlite3.h>

#include "journal/journal.h"
#include "files.h"

static const struct bftm_journal_about standard = {
	.cluster = 9, .server = 3, .id = 0xfedcba9876543210, .complete = true,
};

static struct bftm_journal_file fresh(const char *name)
{
	struct bftm_journal_file j;

	bftm_journal_remove(unit_path(name));
	assert_int_equal(bftm_journal_open(&j, unit_path(name)), -ENOENT);
	bftm_journal_close(&j);
	assert_int_equal(bftm_journal_create(&j, unit_path(name), &standard), 0);
	return j;
}

static struct bftm_journal_file again(struct bftm_journal_file *j, const char *name)
{
	struct bftm_journal_file next;

	bftm_journal_close(j);
	assert_int_equal(bftm_journal_open(&next, unit_path(name)), 0);
	return next;
}

static struct bftm_body_id state(u64 version, const char *data)
{
	struct bftm_body_id id = { .version = version, .len = (u32)strlen(data) };

	memset(id.digest, (int)version, sizeof(id.digest));
	return id;
}

static struct bftm_journal_object object(const char *name, u64 count)
{
	struct bftm_journal_object o = {
		.name_len = (u8)strlen(name),
		.rank = { .count = count, .client = 0xfffffffe, .incarnation = 0xffffffff },
		.proposer = { .count = count - 1, .client = 7, .incarnation = 1 },
		.trusted = true,
	};

	memcpy(o.name, name, o.name_len);
	memset(o.signature, 0xa5, sizeof(o.signature));
	return o;
}

static void put(struct bftm_journal_file *j, const struct bftm_journal_object *o, const char *data)
{
	assert_int_equal(bftm_journal_begin(j), 0);
	if (data)
		assert_int_equal(bftm_journal_put_body(j, o, &o->proposed, data), 0);
	assert_int_equal(bftm_journal_put(j, o), 0);
	assert_int_equal(bftm_journal_commit(j), 0);
}

/* Objects that bftm_journal_each() shows. */
struct seen {
	u32 count, trusted;
	struct bftm_journal_object o;
	char committed[64], proposed[64];
};

static int on_object(const struct bftm_journal_object *o, const void *committed,
		     const void *proposed, void *arg)
{
	struct seen *s = arg;

	s->count++;
	s->trusted += o->trusted;
	s->o = *o;
	snprintf(s->committed, sizeof(s->committed), "%.*s", (int)o->committed.len,
		 committed ? (const char *)committed : "");
	snprintf(s->proposed, sizeof(s->proposed), "%.*s", (int)o->proposed.len,
		 proposed ? (const char *)proposed : "");
	return 0;
}

static struct seen look(struct bftm_journal_file *j)
{
	struct seen s = {};

	assert_int_equal(bftm_journal_each(j, on_object, &s), 0);
	return s;
}

static u64 bodies(struct bftm_journal_file *j)
{
	sqlite3_stmt *s;
	u64 n;

	assert_int_equal(sqlite3_prepare_v2(j->db, "SELECT count(*) FROM body", -1, &s, NULL), 0);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	n = (u64)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

/* An object's life, looked at after each restart. */
static void keeps_objects(void **arg)
{
	struct bftm_journal_file j = fresh("journal");
	struct bftm_journal_object o = object("name", UINT64_MAX);
	struct seen s;

	(void)arg;
	j = again(&j, "journal");
	assert_memory_equal(&j.about, &standard, sizeof(standard));
	assert_int_equal(look(&j).count, 0);

	put(&j, &o, NULL);
	j = again(&j, "journal");
	s = look(&j);
	assert_int_equal(s.count, 1);
	assert_memory_equal(&s.o, &o, sizeof(o));

	o.proposed = state(1, "first");
	put(&j, &o, "first");
	o.committed = o.proposed;
	put(&j, &o, NULL);
	o.proposed = state(2, "second");
	put(&j, &o, "second");
	j = again(&j, "journal");
	s = look(&j);
	assert_memory_equal(&s.o, &o, sizeof(o));
	assert_string_equal(s.committed, "first");
	assert_string_equal(s.proposed, "second");
	assert_int_equal(bodies(&j), 2);

	o.committed = o.proposed;
	put(&j, &o, NULL);
	assert_int_equal(bodies(&j), 1);
	assert_string_equal(look(&j).committed, "second");
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

/* A state that nobody has sent; nothing of the transaction is kept. */
static void refuses_what_it_lacks(void **arg)
{
	struct bftm_journal_file j = fresh("journal");
	struct bftm_journal_object o = object("good", 1), bad = object("bad", 1);

	(void)arg;
	bad.committed = state(1, "never sent");
	assert_int_equal(bftm_journal_begin(&j), 0);
	assert_int_equal(bftm_journal_put(&j, &o), 0);
	assert_int_equal(bftm_journal_put(&j, &bad), 0);
	assert_int_equal(bftm_journal_commit(&j), -EBADMSG);
	assert_int_equal(look(&j).count, 0);
	put(&j, &o, NULL);
	assert_int_equal(look(&j).count, 1);
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

/* Objects that were not committed when the process died. */
static void forgets_what_was_not_committed(void **arg)
{
	struct bftm_journal_file j = fresh("journal");
	struct bftm_journal_object o = object("name", 1);

	(void)arg;
	assert_int_equal(bftm_journal_begin(&j), 0);
	assert_int_equal(bftm_journal_put(&j, &o), 0);
	j = again(&j, "journal");
	assert_int_equal(look(&j).count, 0);
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

static void refuses_files(void **arg)
{
	static const struct {
		const char *sql, *text;
		int result;
	} cases[] = {
		{ "PRAGMA application_id = 1", "no journal of a server", -EBADMSG },
		{ "PRAGMA user_version = 2", "another version", -EBADMSG },
		{ "DELETE FROM about", "does not name its server", -EBADMSG },
		{ "DROP TABLE about", "no such table", -EBADMSG },
	};
	char text[4096] = "not a journal, but a page of something else";
	struct bftm_journal_file j;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		j = fresh("journal");
		assert_int_equal(sqlite3_exec(j.db, cases[i].sql, NULL, NULL, NULL), 0);
		bftm_journal_close(&j);
		assert_int_equal(bftm_journal_open(&j, unit_path("journal")), cases[i].result);
		assert_non_null(strstr(j.error, cases[i].text));
		bftm_journal_close(&j);
	}
	bftm_journal_remove(unit_path("journal"));
	unit_write("journal", text, sizeof(text), 0600);
	assert_int_equal(bftm_journal_open(&j, unit_path("journal")), -EBADMSG);
	bftm_journal_close(&j);
	unit_write("journal", "", 0, 0600);
	assert_int_equal(bftm_journal_open(&j, unit_path("journal")), -ENOENT);
	assert_string_equal(j.error, "it is empty");
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
	assert_int_equal(bftm_journal_open(&j, unit_path("no/folder")), -ENOENT);
	bftm_journal_close(&j);
	assert_int_equal(bftm_journal_create(&j, unit_path("no/folder"), &standard), -ENOENT);
	bftm_journal_close(&j);
}

/**
 * struct host - a server's host, over its starts
 * @noted:    number of the last start in the state directory
 * @next:     number that was used last
 * @missed:   something was promised that is not in the file
 */
struct host {
	u64 noted, next;
	bool missed;
};

/* As "server start" does it; @crash is the step after which it dies, 3 for none. */
static void start(struct host *h, struct bftm_journal_file *j, u64 crash)
{
	u64 number = ++h->next;

	if (!crash)
		return;
	assert_int_equal(bftm_journal_starting(j, h->noted, false, number), 0);
	if (crash == 1)
		return;
	h->noted = number;
	if (crash == 2)
		return;
	assert_int_equal(bftm_journal_started(j), 0);
}

/*
 * Starts with the journal and without, which die at any step, and changes in
 * between: the file is believed if and only if it missed nothing.
 */
static void is_believed_when_it_missed_nothing(void **arg)
{
	struct bftm_journal_object o = object("name", 1), unseen = object("new", 1);
	u64 seed = unit_seed("journal"), run, step;

	(void)arg;
	for (run = 0; run < 60; run++) {
		struct bftm_journal_file j = fresh("journal");
		struct host h = { .next = 1 };
		bool served = false;
		struct seen s;

		put(&j, &o, NULL);
		for (step = 0; step < 6; step++) {
			j = again(&j, "journal");
			if (unit_between(&seed, 0, 3)) {
				u64 crash = unit_between(&seed, 0, 3);

				start(&h, &j, crash);
				served = crash == 3;
			} else {
				/* Without it: what it did is not in the file. */
				h.noted = ++h.next;
				h.missed = true;
				served = false;
			}
			if (!served)
				continue;
			s = look(&j);
			assert_int_equal(j.about.complete, !h.missed);
			if (!h.missed)
				assert_int_equal(s.trusted, s.count);
			if (h.missed && s.count == 1)
				assert_int_equal(s.trusted, 0);
			/* Changes from now on are kept, and can be believed. */
			if (!h.missed && unit_between(&seed, 0, 1))
				put(&j, &unseen, NULL);
		}
		bftm_journal_close(&j);
	}
	bftm_journal_remove(unit_path("journal"));
}

/* Objects that were kept after a miss are believed, the others are not. */
static void believes_what_came_later(void **arg)
{
	struct bftm_journal_object old = object("old", 1), new = object("new", 1);
	struct bftm_journal_file j = fresh("journal");
	struct seen s;

	(void)arg;
	put(&j, &old, NULL);
	assert_int_equal(bftm_journal_starting(&j, 77, false, 78), 0);
	assert_int_equal(bftm_journal_started(&j), 0);
	put(&j, &new, NULL);
	j = again(&j, "journal");
	assert_int_equal(bftm_journal_starting(&j, 78, false, 79), 0);
	s = look(&j);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.trusted, 1);
	assert_false(j.about.complete);
	/* The administrator knows better. */
	assert_int_equal(bftm_journal_starting(&j, 5, true, 80), 0);
	assert_int_equal(bftm_journal_started(&j), 0);
	j = again(&j, "journal");
	assert_int_equal(look(&j).trusted, 2);
	assert_true(j.about.complete);
	assert_int_equal(j.about.start, 80);
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_objects),
		cmocka_unit_test(refuses_what_it_lacks),
		cmocka_unit_test(forgets_what_was_not_committed),
		cmocka_unit_test(refuses_files),
		cmocka_unit_test(is_believed_when_it_missed_nothing),
		cmocka_unit_test(believes_what_came_later),
	};

	return cmocka_run_group_tests(tests, unit_make_dir, unit_remove_dir);
}
