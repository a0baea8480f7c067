// SPDX-License-Identifier: GPL-2.0
/* A server that disagrees with the quorums is found as it is now, however long it was honest before. */
#include "unit.h"

#include "cluster/cluster.h"
#include "cluster/evidence.h"

static struct bftm_cluster cl;
static struct bftm_evidence list[BFTM_EVIDENCE_KINDS];

static int begin(void **state)
{
	(void)state;
	cl = (struct bftm_cluster){ .conf = { .name = "storage", .n = 7, .b = 1 },
				    .cfg = { .n = 7, .b = 1, .resend_ns = BFTM_NS_PER_SEC } };
	return 0;
}

/* That many rounds, in @often of each 10 of which server @u disagrees. */
static void rounds(u32 count, u32 u, u32 often)
{
	u32 i;

	for (i = 0; i < count; i++) {
		bftm_evidence_judged(&cl);
		if (i % 10 < often)
			bftm_evidence_disagreed(&cl, u);
	}
}

static bool is_suspect(u32 u)
{
	return bftm_evidence_list(&cl, u, list) != 0;
}

static void at_the_beginning(void **state)
{
	(void)state;
	rounds(4, 3, 10);
	assert_false(is_suspect(3));
	rounds(1, 3, 10);
	assert_true(is_suspect(3));
	assert_string_equal(list[0].text, "disagreed with the quorum in 5 of the last 5 rounds");
	assert_int_equal(list[0].count, 5);
	assert_false(is_suspect(2));
}

/* Of a million honest rounds 2,047 at most speak for it. */
static void after_a_long_time(void **state)
{
	u32 late = 0;

	(void)state;
	rounds(1000000, 3, 0);
	while (!is_suspect(3)) {
		rounds(1, 3, 10);
		late++;
	}
	assert_in_range(late, 683, 1366);	/* two thirds of 1,024 to 2,047 rounds, and one */
	assert_int_equal(cl.peer[3].record.disagreed, late);
	/* A server that is honest again is suspect no more. */
	rounds(2048, 3, 0);
	assert_false(is_suspect(3));
	assert_int_equal(cl.peer[3].record.disagreed, late);
}

/* The share counts, in each window. */
static void as_often_as_an_honest_one(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		rounds(10, 3, 4);
		assert_false(is_suspect(3));
	}
	rounds(4096, 3, 5);
	assert_true(is_suspect(3));
}

/* For a while another client is always nearer to an honest server. */
static void a_burst_is_no_lie(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		rounds(20, 3, i % 20 == 0);
	for (i = 0; i < 40; i++) {
		rounds(10, 3, 9);
		assert_false(is_suspect(3));
	}
}

/* b servers more than others: one that another disagrees as often as may be honest. */
static void another_does_too(void **state)
{
	u32 i;

	(void)state;
	rounds(100, 3, 10);
	for (i = 0; i < 60; i++)
		bftm_evidence_disagreed(&cl, 4);
	assert_false(is_suspect(3));
	assert_false(is_suspect(4));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, begin)
	const struct CMUnitTest tests[] = {
		TEST(at_the_beginning),
		TEST(after_a_long_time),
		TEST(as_often_as_an_honest_one),
		TEST(a_burst_is_no_lie),
		TEST(another_does_too),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
