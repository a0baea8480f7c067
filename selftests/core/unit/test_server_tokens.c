// SPDX-License-Identifier: GPL-2.0
/* Fencing tokens at a server: what is stamped, and what a restart costs. */
#include "waiters.h"

static u8 stamp(u32 client, u64 attempt, u64 token)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_STAMP, .client = client,
				       .attempt = attempt, .token = token }, T0);
}

/* Each line is the next request; hi is what the server holds after it. */
static const struct {
	const char *what;
	u32 client;
	u64 attempt, token;
	u8 type;
	u64 hi;
} offers[] = {
	{ "the first", ALICE, 1, 5, BFTM_MSG_SACK, 5 },
	{ "the same again: the answer was lost", ALICE, 1, 5, BFTM_MSG_SACK, 5 },
	{ "of another", BOB, 1, 5, BFTM_MSG_SNACK, 5 },
	{ "of another attempt of hers", ALICE, 2, 5, BFTM_MSG_SNACK, 5 },
	{ "lower", BOB, 1, 4, BFTM_MSG_SNACK, 5 },
	{ "her own, lower", ALICE, 1, 4, BFTM_MSG_SNACK, 5 },
	{ "none at all", ALICE, 1, 0, BFTM_MSG_SNACK, 5 },
	{ "higher", BOB, 1, 6, BFTM_MSG_SACK, 6 },
	{ "hers of before", ALICE, 1, 5, BFTM_MSG_SNACK, 6 },
	{ "her own, higher", ALICE, 1, 100, BFTM_MSG_SACK, 100 },
	{ "the highest", BOB, 9, ~0ull - 1, BFTM_MSG_SACK, ~0ull - 1 },
	{ "the highest, of another", CAROL, 9, ~0ull - 1, BFTM_MSG_SNACK, ~0ull - 1 },
};

static void only_higher_ones(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(offers); i++) {
		if (stamp(offers[i].client, offers[i].attempt, offers[i].token) != offers[i].type ||
		    lock.hi != offers[i].hi)
			fail_msg("%s: %s, %llu", offers[i].what, bftm_msg_name(reply.type),
				 (unsigned long long)lock.hi);
		assert_int_equal(reply.gno, offers[i].token);	/* which offer is meant */
		assert_int_equal(reply.token, offers[i].hi);
		NOT_PUSHED;
	}
	/* The word for "unknown" is no token. */
	assert_int_equal(stamp(DAVE, 1, BFTM_TOKEN_UNKNOWN), BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_PROTO);
	assert_int_equal(lock.hi, ~0ull - 1);
}

/* Every other answer says which was the highest. */
static void answers_report_the_highest(void **state)
{
	(void)state;
	assert_int_equal(stamp(ALICE, 1, 12), BFTM_MSG_SACK);
	FREE(queue(BOB, 1, 1, T0));
	assert_int_equal(reply.token, 12);
	LOCKED(try(CAROL, 1, 1, T0));
	assert_int_equal(reply.token, 12);
	WAIT(1, queue(CAROL, 1, 1, T0));
	assert_int_equal(reply.token, 12);
	RELEASED(release(BOB, 1, T0));
	assert_int_equal(reply.token, 12);
	PUSHED(FREE, CAROL);
	assert_int_equal(push.token, 12);
}

/* Whichever client has the lock, tokens are ordered among themselves. */
static void a_token_needs_no_lock(void **state)
{
	(void)state;
	FREE(queue(BOB, 1, 1, T0));
	assert_int_equal(stamp(ALICE, 1, 3), BFTM_MSG_SACK);
	assert_int_equal(lock.first.client, BOB);
	assert_int_equal(stamp(BOB, 1, 4), BFTM_MSG_SACK);
}

static void what_is_not_known_is_not_stamped(void **state)
{
	(void)state;
	bftm_lock_init(&lock, 0, BFTM_TOKEN_UNKNOWN);
	assert_int_equal(stamp(ALICE, 1, 1000), BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_TOKENS);
	assert_int_equal(lock.hi, BFTM_TOKEN_UNKNOWN);
	FREE(try(ALICE, 1, 1, T0));		/* locks are granted all the same */
	assert_int_equal(reply.token, BFTM_TOKEN_UNKNOWN);
	bftm_lock_learn(&lock, BFTM_TOKEN_UNKNOWN);
	assert_int_equal(stamp(ALICE, 1, 1000), BFTM_MSG_REFUSED);
	bftm_lock_learn(&lock, 7);
	assert_int_equal(stamp(ALICE, 1, 7), BFTM_MSG_SNACK);
	assert_int_equal(stamp(ALICE, 1, 8), BFTM_MSG_SACK);
	bftm_lock_learn(&lock, 7);		/* it knows better by now */
	bftm_lock_learn(&lock, 1000);
	assert_int_equal(lock.hi, 8);
}

/* A client that stamps any token leaves tokens for those that stamp the next ones. */
static void tokens_that_may_be(void **state)
{
	struct bftm_tokens t = { .floor = 0 };
	const u64 wall = 1800000000ull * BFTM_NS_PER_SEC, up = 20;

	(void)state;
	assert_true(bftm_tokens_may_be(&t, 1, wall, up));
	assert_true(bftm_tokens_may_be(&t, wall, wall, up));
	assert_false(bftm_tokens_may_be(&t, wall + 1, wall, up));
	assert_false(bftm_tokens_may_be(&t, BFTM_TOKEN_UNKNOWN - 1, wall, up));
	/* A clock that is wrong: as many as there can have been since the start. */
	assert_true(bftm_tokens_may_be(&t, 20, 0, up));
	assert_false(bftm_tokens_may_be(&t, 21, 0, up));
	t.floor = BFTM_TOKEN_FLOOR_MAX;
	assert_true(bftm_tokens_may_be(&t, BFTM_TOKEN_FLOOR_MAX + 20, wall, up));
	assert_false(bftm_tokens_may_be(&t, BFTM_TOKEN_FLOOR_MAX + 21, wall, up));
	t.floor = BFTM_TOKEN_UNKNOWN;
	assert_true(bftm_tokens_may_be(&t, wall, wall, up));
	assert_false(bftm_tokens_may_be(&t, wall + 1, wall, up));
}

/* A token stamped since a start may be below what was told of the time before it. */
static void the_highest_of_all(void **state)
{
	struct bftm_tokens t = { .floor = 100 };

	(void)state;
	assert_int_equal(bftm_tokens_top(&t), 100);
	bftm_tokens_stamped(&t, 7);
	assert_int_equal(bftm_tokens_top(&t), 100);
	bftm_tokens_stamped(&t, 101);
	assert_int_equal(bftm_tokens_top(&t), 101);
	t.floor = BFTM_TOKEN_UNKNOWN;
	assert_int_equal(bftm_tokens_top(&t), BFTM_TOKEN_UNKNOWN);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(only_higher_ones),
		TEST(answers_report_the_highest),
		TEST(a_token_needs_no_lock),
		TEST(what_is_not_known_is_not_stamped),
		TEST(tokens_that_may_be),
		TEST(the_highest_of_all),
	};

	return cmocka_run_group_tests_name("server tokens", tests, NULL, NULL);
}
