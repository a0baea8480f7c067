// SPDX-License-Identifier: GPL-2.0
/*
 * A host holds locks that this daemon did not win, or does not have any more: those of the kernel, of
 * an earlier daemon, of a cluster that was renamed, of an evicted host.
 */
#include "beside.h"

static void lasts(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.lease_ns = BFTM_LEASE_NONE;
	bftm_acquire_begin(&ask);
}

/* Its requests fail, its locks without a lease are lost; leases end by themselves. */
static void an_evicted_host(void **state)
{
	(void)state;
	lasts(1, BFTM_LOCK_CR);
	free_for(1);
	waits(2, BFTM_LOCK_CR);
	free_for(2);
	lasts(3, BFTM_LOCK_PR);
	/* It has waited for its turn here, and is refused when that comes. */
	lasts(4, BFTM_LOCK_EX);
	bftm_acquire_evicted(&cl, 0);
	assert_string_equal(story, "asks 1, holds 1, asks 2, holds 2, asks 3, evicted 1, "
			    "gives back 3, failed 3");
	*story = '\0';
	bftm_acquire_evicted(&cl, 0);
	assert_string_equal(story, "evicted 1");
	releases(1);
	releases(2);
	assert_string_equal(story, "evicted 1, gives back 1, gives back 2, asks 4");
}

static void no_member_asks_for_it(void **state)
{
	(void)state;
	cl.conf.leaseless = false;
	lasts(1, BFTM_LOCK_EX);
	assert_string_equal(story, "failed 1");
}

/* It says how fast its server is, and whether that may be suspected. */
static void an_answer_after_the_end_is_looked_at(void **state)
{
	(void)state;
	late = 0;
	free_for(9);
	assert_int_equal(late, 1);
	answer(9, BFTM_MSG_RELEASED);
	assert_int_equal(late, 1);
}

static void told_by(void (*how)(const struct bftm_ask *), u64 attempt, u64 configuration)
{
	struct bftm_ask ask = ask_of(attempt, BFTM_LOCK_EX);

	ask.attempt = attempt;
	ask.end_ns = T0 + 1;
	ask.configuration = configuration;
	how(&ask);
}

/* A SYNC that names a later boot would end a lease, too. */
static void all_that_is_held_is_of_this_boot(void **state)
{
	(void)state;
	told_by(bftm_acquire_held, 1, cl.configuration);
	assert_int_equal(told_held, 1);
	told_by(bftm_acquire_renew, 2, cl.configuration);
	assert_int_equal(told_held, 2);
	told_by(bftm_acquire_convert, 3, cl.configuration);
	assert_int_equal(told_held, 3);
	told_by(bftm_acquire_held, 4, 0);
	assert_int_equal(told_held, 4);
	/* It cannot be taken over. */
	unknown = true;
	told_by(bftm_acquire_held, 5, cl.configuration + 1);
	assert_int_equal(told_held, 5);
	/* Of another client. */
	told_by(bftm_acquire_held, 6, 8ull << 32);
	assert_int_equal(told_held, 5);
}

/* Servers know the mode of what the kernel won by itself, unless it has been given up. */
static void what_the_kernel_won_is_whole(void **state)
{
	(void)state;
	told_by(bftm_acquire_held, 1003, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_renew, 1005, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_convert, 1007, cl.configuration);
	assert_false(whole);
	/* An earlier daemon has gone on with these. */
	told_by(bftm_acquire_renew, 1009, cl.configuration);
	assert_true(whole);
	told_by(bftm_acquire_renew, 999, cl.configuration);
	assert_false(whole);
	told_by(bftm_acquire_renew, 1011, cl.configuration);
	told_by(bftm_acquire_renew, 998, cl.configuration);
	assert_false(whole);
}

static void what_a_renamed_cluster_holds_is_not_given_back(void **state)
{
	const u64 boot = 1ull << 32;

	(void)state;
	identity.orphan = counters.attempt = boot | 1000;
	unknown = true;
	told_by(bftm_acquire_held, boot | 2, cl.configuration + 1);
	told_by(bftm_acquire_held, boot | 4, 8ull << 32);
	unknown = false;
	pulled = true;
	free_for(boot | 2);
	free_for(boot | 4);
	/* That one is another client's. */
	assert_int_equal(released, 1);
	free_for(boot | 6);
	assert_int_equal(released, 2);
}

/* State directory and clock were set back, so an earlier daemon drew higher numbers. */
static void what_is_held_by_a_higher_number_is_not_given_back(void **state)
{
	const u64 low = 5ull << 32, high = 9ull << 32;

	(void)state;
	identity.orphan = low | 1;
	counters.attempt = low | 8;
	told_by(bftm_acquire_held, high | 2, cl.configuration);
	free_for(high | 2);
	free_for(high | 4);		/* the kernel has more to tell */
	assert_int_equal(released, 0);
	pulled = true;
	free_for(high | 2);
	assert_int_equal(released, 0);
	free_for(high | 4);
	assert_int_equal(released, 1);
	/* Servers have made this daemon go on above. */
	counters.attempt = 10ull << 32;
	pulled = false;
	free_for(high | 2);
	free_for(high | 4);
	assert_int_equal(released, 1);
	/* This daemon drew that one, and does not have it any more: it is over. */
	counters.attempt = 10ull << 32 | 8;
	free_for(10ull << 32 | 6);
	assert_int_equal(released, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, one_cluster, forgotten)
	const struct CMUnitTest tests[] = {
		TEST(an_evicted_host),
		TEST(no_member_asks_for_it),
		TEST(an_answer_after_the_end_is_looked_at),
		TEST(all_that_is_held_is_of_this_boot),
		TEST(what_the_kernel_won_is_whole),
		TEST(what_a_renamed_cluster_holds_is_not_given_back),
		TEST(what_is_held_by_a_higher_number_is_not_given_back),
	};

	return cmocka_run_group_tests_name("beside held", tests, NULL, NULL);
}
