// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of the objects of a cluster: which pages are asked for, when the lists of servers may be
 * judged, and what they say of a name together. test_order_listing_any.c has whole clusters.
 */
#include <string.h>

#include "unit.h"

#include "core/ordering/listing.h"

#define RESEND	1000u

static const struct bftm_order_cfg seven = { .n = 7, .b = 1, .resend_ns = RESEND };
static struct bftm_listing l;

static struct bftm_order_msg page(u64 cursor, u64 next, bool recovering)
{
	return (struct bftm_order_msg){
		.type = BFTM_ORDER_LISTED, .server_epoch = 5, .cursor = cursor, .next = next,
		.recovering = recovering,
	};
}

static enum bftm_listing_page hear(u32 u, u64 cursor, u64 next, bool recovering, u64 now)
{
	const struct bftm_order_msg msg = page(cursor, next, recovering);

	return bftm_listing_page(&l, &seven, u, &msg, now);
}

static void tell_all(u32 from, u32 to, bool recovering, u64 now)
{
	for (; from < to; from++)
		assert_int_equal(hear(from, 0, 0, recovering, now), BFTM_PAGE_KEPT);
}

static void assert_verdict(enum bftm_listing_verdict verdict, u64 now)
{
	assert_int_equal(bftm_listing_verdict(&l, &seven, now), verdict);
}

static int begin(void **state)
{
	(void)state;
	bftm_listing_begin(&l, &seven, 100);
	return 0;
}

/* q servers that remember everything are enough, whatever the others would say. */
static void a_quorum_is_enough(void **state)
{
	(void)state;
	tell_all(0, 4, false, 101);
	assert_verdict(BFTM_LISTING_ON, 101);
	assert_int_equal(hear(4, 0, 9, false, 101), BFTM_PAGE_KEPT);
	assert_verdict(BFTM_LISTING_ON, 101);
	assert_int_equal(hear(4, 9, 0, false, 101), BFTM_PAGE_KEPT);
	assert_verdict(BFTM_LISTING_DONE, 101);
	assert_true(bftm_listing_complete(&l, &seven));
}

/* Where one of q lost its memory, the others are waited for, for a while. */
static void lost_memories(void **state)
{
	(void)state;
	tell_all(0, 4, false, 101);
	tell_all(4, 5, true, 200);
	assert_verdict(BFTM_LISTING_ON, 200);
	assert_verdict(BFTM_LISTING_ON, 200 + BFTM_LISTING_GRACE * RESEND - 1);
	assert_verdict(BFTM_LISTING_DONE, 200 + BFTM_LISTING_GRACE * RESEND);
	assert_false(bftm_listing_complete(&l, &seven));
	tell_all(5, 6, true, 201);
	assert_verdict(BFTM_LISTING_ON, 201);
	tell_all(6, 7, true, 202);
	assert_verdict(BFTM_LISTING_DONE, 202);
	assert_true(bftm_listing_complete(&l, &seven));
}

/* A server that does not answer is asked again, ever less often, and then no more. */
static void silent_servers(void **state)
{
	u64 now = 100, due;
	u32 i;

	(void)state;
	tell_all(0, 4, false, 101);
	for (i = 1; i < BFTM_ORDER_SENDS; i++) {
		due = bftm_listing_due(&l, &seven);
		assert_in_range(due - now, RESEND, 8 * RESEND);
		assert_int_equal(bftm_listing_wake(&l, &seven, due - 1), 0);
		assert_int_equal(bftm_listing_wake(&l, &seven, due), 0x70);
		now = due;
		assert_verdict(BFTM_LISTING_ON, now);
	}
	due = bftm_listing_due(&l, &seven);
	assert_int_equal(bftm_listing_wake(&l, &seven, due), 0);
	assert_verdict(BFTM_LISTING_FEW, due);
	assert_int_equal(hear(5, 0, 0, false, due), BFTM_PAGE_IGNORED);
}

/* An answer counts once, and only where the list stands. */
static void pages_in_their_order(void **state)
{
	struct bftm_order_msg msg = page(0, 4, false);

	(void)state;
	assert_int_equal(hear(0, 4, 9, false, 101), BFTM_PAGE_IGNORED);
	assert_int_equal(hear(0, 0, 4, false, 101), BFTM_PAGE_KEPT);
	assert_int_equal(hear(0, 0, 4, false, 101), BFTM_PAGE_IGNORED);
	msg.type = BFTM_ORDER_GOT;
	msg.cursor = 4;
	assert_int_equal(bftm_listing_page(&l, &seven, 0, &msg, 101), BFTM_PAGE_IGNORED);
	assert_int_equal(hear(0, 4, 0, false, 101), BFTM_PAGE_KEPT);
	assert_int_equal(l.told, 1);
	assert_int_equal(hear(0, 4, 0, false, 101), BFTM_PAGE_IGNORED);
}

/* The keys of a server are those of one start: a list goes on only there. */
static void another_start(void **state)
{
	struct bftm_order_msg msg = page(4, 0, false);
	u32 i;

	(void)state;
	hear(0, 0, 4, true, 101);
	msg.server_epoch = 6;
	assert_int_equal(bftm_listing_page(&l, &seven, 0, &msg, 101), BFTM_PAGE_ANEW);
	assert_int_equal(l.server[0].cursor, 0);
	assert_int_equal(l.recovering | l.told, 0);
	assert_int_equal(hear(0, 0, 0, false, 101), BFTM_PAGE_KEPT);
	assert_int_equal(bftm_listing_anew(&l, &seven, 0, 101), BFTM_PAGE_IGNORED);
	/* A liar may be restarted all the time. */
	for (i = 0; i < BFTM_LISTING_STARTS_MAX; i++)
		assert_int_equal(bftm_listing_anew(&l, &seven, 1, 101), BFTM_PAGE_ANEW);
	assert_int_equal(l.silent, 0);
	assert_int_equal(bftm_listing_anew(&l, &seven, 1, 101), BFTM_PAGE_ANEW);
	assert_int_equal(l.silent, 2);
	assert_int_equal(bftm_listing_anew(&l, &seven, 1, 101), BFTM_PAGE_IGNORED);
}

/* Of as many objects as no server has, or of as many pages as none needs. */
static void endless_lists(void **state)
{
	static u8 data[16 * 64];
	const struct bftm_listed listed = { .version = 1, .name_len = 1, .name = (const u8 *)"x" };
	struct bftm_order_msg msg = page(0, 1, false);
	u32 i;

	(void)state;
	for (i = 0; i < BFTM_LISTING_PAGES_MAX; i++)
		assert_int_equal(hear(0, i, i + 1, false, 101), BFTM_PAGE_KEPT);
	assert_int_equal(hear(0, i, 0, false, 101), BFTM_PAGE_IGNORED);
	assert_int_equal(l.silent, 1);
	for (i = 0; i < 64; i++)
		bftm_listed_put(&listed, data + 16 * i);
	msg.data = data;
	msg.data_len = sizeof(data);
	for (i = 0; i < BFTM_OBJECTS_MAX / 64; i++) {
		msg.cursor = i;
		msg.next = i + 1;
		assert_int_equal(bftm_listing_page(&l, &seven, 1, &msg, 101), BFTM_PAGE_KEPT);
	}
	assert_int_equal(l.server[1].objects, BFTM_OBJECTS_MAX);
	msg.cursor = i;
	msg.next = 0;
	assert_int_equal(bftm_listing_page(&l, &seven, 1, &msg, 101), BFTM_PAGE_IGNORED);
	assert_int_equal(l.silent, 3);
}

/* Reports of servers about a name, as "version:type", and what that comes to with one liar. */
static void judge(const char *words, enum bftm_existence exists, const char *type, u64 version)
{
	struct bftm_listed said[8];
	char text[128], *word;
	u64 reached = 0;
	u32 count = 0, i;

	snprintf(text, sizeof(text), "%s", words);
	for (word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		said[count].version = strtoull(word, &word, 10);
		said[count].type = (const u8 *)word + 1;
		said[count].type_len = (u8)strlen(word + 1);
		count++;
	}
	assert_int_equal(bftm_listing_judge(said, count, 1, &reached, &i), exists);
	if (count > 1)
		assert_int_equal(reached, version);
	if (exists == BFTM_EXISTS)
		assert_memory_equal(said[i].type, type, strlen(type) + 1);
}

static void judgements(void **state)
{
	(void)state;
	judge("9:map", BFTM_EXISTS_NOT, NULL, 0);		/* a liar's invention */
	judge("9:map 9:map", BFTM_EXISTS, "map", 9);
	judge("7:map 9:map 3:map 8:map", BFTM_EXISTS, "map", 8);
	judge("900:log 9:map 9:map 9:map", BFTM_EXISTS, "map", 9);
	judge("1:map 9: 9: 9:", BFTM_EXISTS_NOT, NULL, 9);	/* deleted; one missed it */
	judge("1:map 2:map 9: 9:", BFTM_EXISTS_NOT, NULL, 9);	/* … two did */
	judge("900:map 2:map 9: 9:", BFTM_EXISTS_NOT, NULL, 9);	/* … and a liar helps */
	judge("900: 9:map 9:map", BFTM_EXISTS, "map", 9);	/* a liar says so */
	judge("900: 9:map 8:map 7:map", BFTM_EXISTS_UNSURE, NULL, 9);	/* of one that changes */
	judge("9:map 8:", BFTM_EXISTS_UNSURE, NULL, 8);		/* deleted, or made again */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, begin)
	const struct CMUnitTest tests[] = {
		TEST(a_quorum_is_enough),
		TEST(lost_memories),
		TEST(silent_servers),
		TEST(pages_in_their_order),
		TEST(another_start),
		TEST(endless_lists),
		TEST(judgements),
	};

	return cmocka_run_group_tests_name("order_listing", tests, NULL, NULL);
}
