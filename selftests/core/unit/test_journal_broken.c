// SPDX-License-Identifier: GPL-2.0
/* Objects in a journal's file that somebody has changed: none is taken for good. */
#include <errno.h>
#include <string.h>

#include <sqlite3.h>

#include "journal/journal.h"
#include "files.h"

static const struct bftm_journal_about about = { .cluster = 9, .server = 3, .id = 5 };

/* One that has both bodies. */
static struct bftm_journal_file fresh(void)
{
	struct bftm_journal_object o = {
		.name_len = 4, .name = "name",
		.committed = { .version = 1, .len = 5, .digest = { 1 } },
		.proposed = { .version = 2, .len = 6, .digest = { 2 } },
	};
	struct bftm_journal_file j;

	bftm_journal_remove(unit_path("journal"));
	assert_int_equal(bftm_journal_create(&j, unit_path("journal"), &about), 0);
	assert_int_equal(bftm_journal_begin(&j), 0);
	assert_int_equal(bftm_journal_put_body(&j, &o, &o.committed, "first"), 0);
	assert_int_equal(bftm_journal_put_body(&j, &o, &o.proposed, "second"), 0);
	assert_int_equal(bftm_journal_put(&j, &o), 0);
	assert_int_equal(bftm_journal_commit(&j), 0);
	return j;
}

static int on_object(const struct bftm_journal_object *o, const void *committed,
		     const void *proposed, void *arg)
{
	u32 *count = arg;

	assert_int_equal(o->name_len, 4);
	assert_memory_equal(committed, "first", 5);
	assert_memory_equal(proposed, "second", 6);
	return ++*count == 2 ? -ECANCELED : 0;
}

static void an_object_that_is_changed(void **state)
{
	static const struct {
		const char *sql, *words;
	} cases[] = {
		{ "UPDATE object SET name = x''", "object '' is broken" },
		{ "UPDATE object SET name = zeroblob(64)", "object '' is broken" },
		{ "UPDATE object SET signature = x'00'", "object '' is broken" },
		{ "UPDATE object SET committed = x'01'", "object 'name' is broken" },
		{ "UPDATE object SET proposed = x'01'", "object 'name' is broken" },
		{ "UPDATE body SET version = 0", "object 'name' is broken" },
		{ "UPDATE body SET data = x''", "object 'name' is broken" },
		{ "UPDATE body SET data = zeroblob(1048577)", "object 'name' is broken" },
		{ "UPDATE body SET digest = x'01' WHERE version = 1;"
		  "UPDATE object SET committed = x'01'", "object 'name' is broken" },
		{ "UPDATE body SET digest = x'02' WHERE version = 2;"
		  "UPDATE object SET proposed = x'02'", "object 'name' is broken" },
		{ "DELETE FROM body", "object 'name' is broken" },
		{ "DROP TABLE body", "no such table: body" },
	};
	struct bftm_journal_file j;
	u32 count;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		j = fresh();
		count = 0;
		assert_int_equal(bftm_journal_each(&j, on_object, &count), 0);
		assert_int_equal(count, 1);
		assert_int_equal(sqlite3_exec(j.db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL), 0);
		assert_int_equal(sqlite3_exec(j.db, cases[i].sql, NULL, NULL, NULL), 0);
		if (bftm_journal_each(&j, on_object, &count) != -EBADMSG)
			fail_msg("taken for good: %s", cases[i].sql);
		assert_string_equal(j.error, cases[i].words);
		assert_int_equal(count, 1);
		bftm_journal_close(&j);
	}
	bftm_journal_remove(unit_path("journal"));
}

/* A caller that is shown objects may have enough of them. */
static void the_first_of_two(void **state)
{
	struct bftm_journal_file j = fresh();
	u32 count = 1;

	(void)state;
	assert_int_equal(sqlite3_exec(j.db, "PRAGMA foreign_keys = OFF; INSERT INTO object SELECT "
				      "x'00010203', trusted, count, client, incarnation, signature, "
				      "prop_count, prop_client, prop_incarnation, NULL, NULL "
				      "FROM object", NULL, NULL, NULL), 0);
	assert_int_equal(bftm_journal_each(&j, on_object, &count), -ECANCELED);
	assert_int_equal(count, 2);
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_that_is_changed),
		cmocka_unit_test(the_first_of_two),
	};

	return cmocka_run_group_tests_name("journal_broken", tests, unit_make_dir, unit_remove_dir);
}
