// SPDX-License-Identifier: GPL-2.0
/* The starts of a server, as a client knows them: CHALLENGE, STALE, SYNC, and what it disowns. */
#include "unit.h"

#include <string.h>

#include "core/peer.h"

#define T0	(50 * BFTM_NS_PER_SEC)
#define RESEND	(10 * BFTM_NS_PER_MS)
#define BOOT	4

enum { FIRST = 71, SECOND, THIRD };

static struct bftm_peer_epochs p;

static int fresh_peer(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	return 0;
}

static struct bftm_msg says(u8 type, u64 epoch, u64 seq)
{
	return (struct bftm_msg){ .type = type, .server_epoch = epoch, .seq = seq,
				  .incarnation = BOOT };
}

/* CHALLENGE for the request @seq, when @last is the last number used. */
static enum bftm_peer_news challenge(u64 epoch, u64 seq, u64 last)
{
	struct bftm_msg msg = says(BFTM_MSG_CHALLENGE, epoch, seq);

	return bftm_peer_challenge(&p, &msg, last);
}

static bool stale(u64 epoch, u64 seq)
{
	struct bftm_msg msg = says(BFTM_MSG_STALE, epoch, seq);

	return bftm_peer_stale(&p, &msg);
}

static void synced(u64 epoch, u32 incarnation)
{
	struct bftm_msg msg = says(BFTM_MSG_SYNCED, epoch, 9);

	msg.incarnation = incarnation;
	bftm_peer_synced(&p, &msg, BOOT);
}

static void an_old_challenge_does_not_turn_the_epoch_back(void **state)
{
	(void)state;
	assert_int_equal(challenge(FIRST, 10, 10), BFTM_PEER_NEW);
	assert_int_equal(challenge(FIRST, 12, 12), BFTM_PEER_SAME);
	assert_int_equal(challenge(SECOND, 14, 14), BFTM_PEER_NEW);
	assert_int_equal(challenge(FIRST, 13, 14), BFTM_PEER_OLD);
	assert_int_equal(challenge(FIRST, 14, 14), BFTM_PEER_OLD);
	assert_int_equal(p.epoch, SECOND);
	assert_int_equal(p.sent_epoch, SECOND);
}

static void no_server_has_epoch_0(void **state)
{
	(void)state;
	assert_int_equal(challenge(0, 10, 10), BFTM_PEER_OLD);
	assert_int_equal(p.challenge_seq, 0);
}

/* A HELLO that was under way may have been answered by the epoch before. */
static void a_new_epoch_voids_all_numbers_used_so_far(void **state)
{
	(void)state;
	assert_int_equal(challenge(SECOND, 10, 20), BFTM_PEER_NEW);
	assert_int_equal(challenge(FIRST, 20, 20), BFTM_PEER_OLD);
	assert_int_equal(challenge(SECOND, 15, 20), BFTM_PEER_OLD);
	assert_int_equal(p.epoch, SECOND);
	assert_int_equal(challenge(SECOND, 21, 30), BFTM_PEER_SAME);
	/* The same epoch voids none. */
	assert_int_equal(challenge(THIRD, 25, 30), BFTM_PEER_NEW);
}

/* Nobody can have asked with it. */
static void a_number_that_was_not_drawn(void **state)
{
	(void)state;
	assert_int_equal(challenge(FIRST, 11, 10), BFTM_PEER_OLD);
	assert_int_equal(p.challenge_seq, 0);
	assert_int_equal(challenge(FIRST, 10, 10), BFTM_PEER_NEW);
}

/* Nobody knows what others have asked, and when. */
static void numbers_of_another(void **state)
{
	(void)state;
	bftm_peer_begin(&p, 20);
	assert_int_equal(challenge(FIRST, 20, 30), BFTM_PEER_OLD);
	assert_int_equal(challenge(SECOND, 21, 30), BFTM_PEER_NEW);
	/* Numbers of no use stay so. */
	bftm_peer_begin(&p, 25);
	assert_int_equal(challenge(FIRST, 30, 35), BFTM_PEER_OLD);
	assert_int_equal(p.epoch, SECOND);
	assert_int_equal(challenge(FIRST, 31, 35), BFTM_PEER_NEW);
}

/* Neither requests nor attempts go back. */
static void lower_numbers(void **state)
{
	(void)state;
	assert_true(bftm_line_follows(10, 20, 10, 20));
	assert_true(bftm_line_follows(11, 21, 10, 20));
	assert_false(bftm_line_follows(9, 21, 10, 20));
	assert_false(bftm_line_follows(11, 19, 10, 20));
}

static void stale_says_where_to_send_and_no_more(void **state)
{
	(void)state;
	challenge(FIRST, 10, 10);
	assert_true(stale(SECOND, 12));
	assert_int_equal(p.sent_epoch, SECOND);
	assert_int_equal(p.epoch, FIRST);
	assert_false(stale(SECOND, 13));
	/* An older one does not turn it back, but calls for a HELLO. */
	assert_true(stale(FIRST, 11));
	assert_int_equal(p.sent_epoch, SECOND);
	assert_int_equal(challenge(SECOND, 14, 20), BFTM_PEER_NEW);
	assert_true(stale(FIRST, 20));
	assert_int_equal(p.sent_epoch, SECOND);
}

static void an_older_challenge_does_not_turn_a_stale_back(void **state)
{
	(void)state;
	challenge(FIRST, 10, 10);
	assert_true(stale(SECOND, 14));
	/* The HELLO was answered before the server restarted. */
	assert_int_equal(challenge(FIRST, 12, 14), BFTM_PEER_SAME);
	assert_int_equal(p.sent_epoch, SECOND);
	assert_false(bftm_peer_sync(&p, true, T0, RESEND));
	assert_int_equal(challenge(SECOND, 15, 15), BFTM_PEER_NEW);
	assert_true(bftm_peer_sync(&p, true, T0, RESEND));
	assert_true(stale(THIRD, 18));
	/* Nor when it is of an epoch in between. */
	assert_int_equal(challenge(FIRST, 17, 18), BFTM_PEER_NEW);
	assert_int_equal(p.sent_epoch, THIRD);
	assert_int_equal(challenge(THIRD, 19, 19), BFTM_PEER_NEW);
	assert_int_equal(p.sent_epoch, THIRD);
}

static void sync_goes_to_the_epoch_that_was_challenged(void **state)
{
	(void)state;
	assert_false(bftm_peer_sync(&p, true, T0, RESEND));
	challenge(FIRST, 10, 10);
	assert_true(bftm_peer_unsynced(&p, T0));
	stale(SECOND, 12);
	assert_false(bftm_peer_sync(&p, true, T0, RESEND));
	challenge(SECOND, 13, 13);
	assert_true(bftm_peer_sync(&p, true, T0, RESEND));
}

static void sync_comes_after_all_was_told(void **state)
{
	(void)state;
	challenge(FIRST, 10, 10);
	assert_false(bftm_peer_sync(&p, false, T0, RESEND));
	assert_true(bftm_peer_sync(&p, true, T0, RESEND));
}

static void sync_is_repeated_until_it_is_heard(void **state)
{
	(void)state;
	challenge(FIRST, 10, 10);
	assert_true(bftm_peer_sync(&p, true, T0, RESEND));
	assert_false(bftm_peer_sync(&p, true, T0 + RESEND - 1, RESEND));
	assert_true(bftm_peer_sync(&p, true, T0 + RESEND, RESEND));
	synced(SECOND, BOOT);
	synced(FIRST, BOOT - 1);
	assert_true(bftm_peer_sync(&p, true, T0 + 2 * RESEND, RESEND));
	synced(FIRST, BOOT);
	assert_false(bftm_peer_unsynced(&p, T0 + 9 * RESEND));
	assert_false(bftm_peer_sync(&p, true, T0 + 9 * RESEND, RESEND));
	/* It forgets again. */
	challenge(SECOND, 20, 20);
	assert_true(bftm_peer_sync(&p, true, T0 + 9 * RESEND, RESEND));
}

static void a_new_epoch_does_not_wait_for_the_pause(void **state)
{
	(void)state;
	challenge(FIRST, 10, 10);
	assert_true(bftm_peer_sync(&p, true, T0, RESEND));
	challenge(SECOND, 11, 11);
	assert_true(bftm_peer_sync(&p, true, T0 + 1, RESEND));
}

static void only_attempts_of_this_boot_are_disowned(void **state)
{
	(void)state;
	assert_true(bftm_disowns((u64)BOOT << 32 | 1, BOOT, true));
	assert_true(bftm_disowns((u64)(BOOT + 3) << 32 | 1, BOOT, true));
	assert_false(bftm_disowns((u64)(BOOT - 1) << 32 | 9, BOOT, true));
	assert_false(bftm_disowns((u64)BOOT << 32 | 1, BOOT, false));
	assert_false(bftm_disowns((u64)BOOT << 32 | 1, 0, true));
}

#define TEST(name) cmocka_unit_test_setup(name, fresh_peer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_old_challenge_does_not_turn_the_epoch_back),
		TEST(no_server_has_epoch_0),
		TEST(a_new_epoch_voids_all_numbers_used_so_far),
		TEST(a_number_that_was_not_drawn),
		TEST(numbers_of_another),
		TEST(lower_numbers),
		TEST(stale_says_where_to_send_and_no_more),
		TEST(an_older_challenge_does_not_turn_a_stale_back),
		TEST(sync_goes_to_the_epoch_that_was_challenged),
		TEST(sync_comes_after_all_was_told),
		TEST(sync_is_repeated_until_it_is_heard),
		TEST(a_new_epoch_does_not_wait_for_the_pause),
		TEST(only_attempts_of_this_boot_are_disowned),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
