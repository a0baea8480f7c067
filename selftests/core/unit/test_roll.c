// SPDX-License-Identifier: GPL-2.0
/* The file of a roll: what it says of each member, and when it is believed. */
#include <limits.h>

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
 * The file could not say it: a server that reads it takes the number for "unknown". The member may
 * have told what it held before the server's start, so the file says just that.
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

/* The start that was undone is not taken for one that has left a roll. */
static void a_first_start_that_failed_leaves_none(void **state)
{
	char path[PATH_MAX];

	(void)state;
	ctl_roll_path(unit_dir, 1, 3, path);
	assert_int_equal(ctl_roll_begin(&roll, unit_dir, 1, 3, 0, 9, true), 0);
	assert_false(roll.unknown);
	assert_int_equal(access(path, F_OK), 0);
	ctl_roll_undo(&roll, unit_dir, 1, 3);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(ctl_roll_begin(&roll, unit_dir, 1, 3, 0, 10, true), 0);
	assert_false(roll.unknown);
	/* One that an earlier state has left, or another start: it may be all that is known. */
	assert_int_equal(ctl_roll_begin(&roll, unit_dir, 1, 3, 0, 11, true), 0);
	assert_true(roll.unknown);
	ctl_roll_undo(&roll, unit_dir, 1, 3);
	assert_int_equal(ctl_roll_begin(&roll, unit_dir, 1, 3, 11, 12, false), 0);
	assert_true(roll.unknown);
	ctl_roll_undo(&roll, unit_dir, 1, 3);
	assert_int_equal(unlink(path), 0);
}

static void one_process_at_a_time(void **state)
{
	int fd, second;

	(void)state;
	assert_int_equal(ctl_roll_lock(unit_dir, 1, 3, &fd), 0);
	assert_int_equal(ctl_roll_lock(unit_dir, 1, 3, &second), -EWOULDBLOCK);
	assert_int_equal(second, -1);
	assert_int_equal(ctl_roll_lock(unit_dir, 1, 4, &second), 0);
	close(second);
	close(fd);
	assert_int_equal(ctl_roll_lock(unit_dir, 1, 3, &fd), 0);
	close(fd);
	assert_int_equal(unlink(unit_path("server-1-3.roll.lock")), 0);
	assert_int_equal(unlink(unit_path("server-1-4.roll.lock")), 0);
}

static void a_lock_behind_a_link_is_said_to_be(void **state)
{
	int fd, r;

	(void)state;
	assert_int_equal(symlink("elsewhere", unit_path("server-1-3.roll.lock")), 0);
	r = ctl_roll_lock(unit_dir, 1, 3, &fd);
	assert_int_equal(r, -ELOOP);
	unit_listen();
	assert_int_equal(ctl_roll_unlocked(unit_dir, 1, 3, r), EX_CANTCREAT);
	assert_string_equal(unit_heard(), CTL_NAME ": server-1-3.roll.lock: it is a symbolic link, and links are refused here; put the file itself there\n");
	assert_int_equal(unlink(unit_path("server-1-3.roll.lock")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_is_named, nobody),
		cmocka_unit_test_setup(the_last_number_that_there_is_is_not_noted, nobody),
		cmocka_unit_test_setup(what_is_written_is_read, nobody),
		cmocka_unit_test_setup(a_first_start_that_failed_leaves_none, nobody),
		cmocka_unit_test_setup(one_process_at_a_time, nobody),
		cmocka_unit_test(a_lock_behind_a_link_is_said_to_be),
	};

	return cmocka_run_group_tests_name("roll", tests, unit_make_dir, unit_remove_dir);
}
