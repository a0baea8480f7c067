// SPDX-License-Identifier: GPL-2.0
/* The journal's file while each statement fails that is prepared or run. */
#include "fail.h"
#include "files.h"

#include <errno.h>

#include "journal/journal.h"

static const struct bftm_journal_about about = { .cluster = 9, .server = 3, .id = 5 };
static const struct bftm_journal_object object = {
	.name_len = 4, .name = "name", .proposed = { .version = 1, .len = 5, .digest = { 1 } },
};

static int put_body(struct bftm_journal_file *j)
{
	return bftm_journal_put_body(j, &object, &object.proposed, "first");
}

static int put(struct bftm_journal_file *j)
{
	return bftm_journal_put(j, &object);
}

static int on_object(const struct bftm_journal_object *o, const void *committed,
		     const void *proposed, void *arg)
{
	u32 *count = arg;

	assert_int_equal(o->name_len, 4);
	assert_null(committed);
	assert_memory_equal(proposed, "first", 5);
	++*count;
	return 0;
}

static int each(struct bftm_journal_file *j)
{
	u32 count = 0;
	int r = bftm_journal_each(j, on_object, &count);

	/* Without an error it was the whole. */
	if (r == 0)
		assert_int_equal(count, 1);
	return r;
}

static const struct {
	const char *what;
	int (*run)(struct bftm_journal_file *j);
	u32 calls;
} cases[] = {
	{ "a body", put_body, 2 },
	{ "an object", put, 4 },
	{ "all objects", each, 3 },
};

static void every_statement_fails(void **state)
{
	struct bftm_journal_file j;
	struct fail failed;
	size_t i;
	u32 nth;
	int r;

	(void)state;
	bftm_journal_remove(unit_path("journal"));
	assert_int_equal(bftm_journal_create(&j, unit_path("journal"), &about), 0);
	assert_int_equal(bftm_journal_begin(&j), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (nth = 1;; nth++) {
			strcpy(j.error, "");
			fail_begin(nth, NULL);
			r = cases[i].run(&j);
			failed = fail_end();
			if (!failed.call)
				break;
			if (r != -failed.error || !*j.error)
				fail_msg("%s: %s fails, which becomes %d (%s)", cases[i].what,
					 failed.call, r, j.error);
		}
		/* None that failed is in the way of the one that does not. */
		assert_int_equal(r, 0);
		assert_int_equal(nth - 1, cases[i].calls);
	}
	assert_int_equal(bftm_journal_commit(&j), 0);
	assert_int_equal(each(&j), 0);
	bftm_journal_close(&j);
	bftm_journal_remove(unit_path("journal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_statement_fails),
	};

	return cmocka_run_group_tests_name("fail_journal", tests, unit_make_dir, unit_remove_dir);
}
