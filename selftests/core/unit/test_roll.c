// SPDX-License-Identifier: GPL-2.0
/* The file of a roll: what it says of each member, and when it is believed. */
#include "files.h"

#include "ctl/roll.h"

static struct ctl_roll roll;

static int nobody(void **state)
{
	(void)state;
	roll = (struct ctl_roll){ .on = true, .start = 7 };
	return 0;
}

static void who_is_named(void **state)
{
	(void)state;
	assert_false(ctl_roll_add(&roll, 1, 0, 0, false));
	assert_int_equal(roll.count, 0);
	assert_true(ctl_roll_add(&roll, 2, 0, 5, false));
	assert_int_equal(roll.incarnation[0], 5);
	assert_false(ctl_roll_add(&roll, 3, 5, 5, false));
	assert_int_equal(roll.incarnation[1], 5);
	/* It may hold what an earlier incarnation was granted, and is heard of. */
	assert_true(ctl_roll_add(&roll, 4, 0, 6, true));
	assert_int_equal(roll.incarnation[2], 0);
	assert_int_equal(roll.count, 3);
}

/*
 * The file could not say it: a server that reads it takes the number for "unknown". What it held
 * before the server's start it may have told, so the file says just that.
 */
static void the_last_number_that_there_is_is_not_noted(void **state)
{
	(void)state;
	assert_false(ctl_roll_add(&roll, 1, 0, ~0u, false));
	assert_false(ctl_roll_add(&roll, 2, 5, ~0u, false));
	assert_false(ctl_roll_add(&roll, 3, 0, ~0u, true));
	assert_int_equal(roll.count, 3);
	assert_int_equal(roll.incarnation[0] | roll.incarnation[1] | roll.incarnation[2], 0);
	assert_true(ctl_roll_add(&roll, 4, 0, 6, false));
}

static void what_is_written_is_read(void **state)
{
	struct ctl_roll got;

	(void)state;
	ctl_roll_add(&roll, 2, 0, 5, false);
	ctl_roll_add(&roll, 4, 0, 6, true);
	assert_int_equal(ctl_roll_write(unit_dir, unit_path("roll"), &roll), 0);
	assert_true(ctl_roll_read(unit_path("roll"), &got));
	assert_memory_equal(&got, &roll, sizeof(roll));
	assert_int_equal(unlink(unit_path("roll")), 0);
	assert_false(ctl_roll_read(unit_path("roll"), &got));
	assert_int_equal(errno, ENOENT);
	assert_true(got.unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_is_named, nobody),
		cmocka_unit_test_setup(the_last_number_that_there_is_is_not_noted, nobody),
		cmocka_unit_test_setup(what_is_written_is_read, nobody),
	};

	return cmocka_run_group_tests_name("roll", tests, unit_make_dir, unit_remove_dir);
}
