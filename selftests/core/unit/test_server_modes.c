// SPDX-License-Identifier: GPL-2.0
/* Modes at one server: who holds beside whom, conversions, and who is asked to yield. */
#include "waiters.h"

/* A request and its client: @k is the send, @held what the client has by other servers. */
static u8 ask(u32 client, u64 attempt, u32 k, enum bftm_mode mode, enum bftm_mode held)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = attempt,
				       .k = k, .lease_ns = L, .prio = client, .mode = mode,
				       .arg = held }, T0);
}

static u8 want(u32 client, enum bftm_mode mode)
{
	return ask(client, 1, 1, mode, BFTM_MODE_NL);
}

static u8 once(u32 client, enum bftm_mode mode)
{
	return step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = client, .attempt = 1, .k = 1,
				       .lease_ns = L, .prio = client, .mode = mode,
				       .flags = BFTM_FLAG_NOQUEUE }, T0);
}

/* The next step of the server by itself, as its timer would have it. */
static void go_on(void)
{
	assert_int_equal(bftm_lock_deadline(&lock), 1);
	assert_false(bftm_lock_expire(&cfg, &lock, T0, &push));
}

static void nothing_is_left(void)
{
	assert_int_not_equal(bftm_lock_deadline(&lock), 1);
}

/* The table of the DLM, by hand: modes that exclude each other. */
static void modes_exclude_each_other(void **state)
{
	static const char *const table[BFTM_MODES] = {
		/*        NL CR CW PR PW EX */
		[BFTM_MODE_NL] = "......", [BFTM_MODE_CR] = ".....X", [BFTM_MODE_CW] = "...XXX",
		[BFTM_MODE_PR] = "..X.XX", [BFTM_MODE_PW] = "..XXXX", [BFTM_MODE_EX] = ".XXXXX",
	};
	enum bftm_mode a, b;

	(void)state;
	for (a = 0; a < BFTM_MODES; a++)
		for (b = 0; b < BFTM_MODES; b++) {
			assert_int_equal(bftm_modes_conflict(a, b), table[a][b] == 'X');
			assert_true(bftm_mode_covers(bftm_mode_join(a, b), a));
			assert_true(bftm_mode_covers(bftm_mode_join(a, b), b));
			assert_int_equal(bftm_mode_conflicts(bftm_mode_join(a, b)),
					 bftm_mode_conflicts(a) | bftm_mode_conflicts(b));
			if (!a || !b)
				continue;
			fresh_queue(state);
			FREE(want(ALICE, a));
			assert_int_equal(reply.mode, a);
			assert_int_equal(want(BOB, b), table[a][b] == 'X' ? BFTM_MSG_WAIT :
									    BFTM_MSG_FREE);
			fresh_queue(state);
			FREE(once(ALICE, a));
			assert_int_equal(once(BOB, b), table[a][b] == 'X' ? BFTM_MSG_LOCKED :
									    BFTM_MSG_FREE);
		}
}

/* Each has a number, a lease and a tomb of its own. */
static void readers_come_and_go(void **state)
{
	u64 gno;

	(void)state;
	FREE(want(BOB, BFTM_MODE_PR));
	gno = reply.gno;
	FREE(want(ALICE, BFTM_MODE_PR));
	assert_int_equal(reply.gno, gno + 1);
	FREE(ask(BOB, 1, 2, BFTM_MODE_PR, BFTM_MODE_PR));
	assert_int_equal(reply.gno, gno);		/* the same grant */
	WAIT(1, want(CAROL, BFTM_MODE_EX));
	NOT_PUSHED;					/* Bob holds, and she is no better than Alice */
	RELEASED(release(BOB, 1, T0));
	NOT_PUSHED;
	RELEASED(release(ALICE, 1, T0));
	PUSHED(FREE, CAROL);
	nothing_is_left();
}

/* Readers that come after a writer wait for it, or writers would starve; all get in after it. */
static void a_writer_is_not_overtaken(void **state)
{
	(void)state;
	FREE(ask(DAVE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	WAIT(1, want(ALICE, BFTM_MODE_PW));
	WAIT(2, want(BOB, BFTM_MODE_PR));
	FREE(want(CAROL, BFTM_MODE_CR));		/* it excludes none of them */
	LOCKED(once(20, BFTM_MODE_PR));
	release(DAVE, 1, T0);
	PUSHED(FREE, ALICE);
	nothing_is_left();
	release(ALICE, 1, T0);
	PUSHED(FREE, BOB);
	nothing_is_left();
}

static void a_batch_of_readers(void **state)
{
	u32 i;

	(void)state;
	FREE(want(ALICE, BFTM_MODE_EX));
	for (i = 0; i < ROOM - 1; i++)
		assert_int_equal(want(20 + i, BFTM_MODE_PR), BFTM_MSG_WAIT);
	release(ALICE, 1, T0);
	PUSHED(FREE, 20);
	for (i = 1; i < ROOM - 1; i++) {
		go_on();
		PUSHED(FREE, 20 + i);
	}
	nothing_is_left();
	/* Each by its own name. */
	for (i = 0; i < ROOM - 1; i++) {
		FREE(ask(20 + i, 1, 2, BFTM_MODE_PR, BFTM_MODE_PR));
		assert_int_equal(reply.gno, 102 + i);
	}
}

/* Down at once, and others get what fits. */
static void a_holder_shrinks(void **state)
{
	(void)state;
	FREE(ask(ALICE, 1, 3, BFTM_MODE_EX, BFTM_MODE_NL));
	WAIT(1, want(BOB, BFTM_MODE_PR));
	FREE(ask(ALICE, 1, 2, BFTM_MODE_PR, BFTM_MODE_PR));	/* an old send */
	assert_int_equal(reply.mode, BFTM_MODE_EX);
	NOT_PUSHED;
	FREE(ask(ALICE, 1, 4, BFTM_MODE_PR, BFTM_MODE_PR));
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	PUSHED(FREE, BOB);
	FREE(ask(ALICE, 1, 3, BFTM_MODE_EX, BFTM_MODE_NL));	/* late: it would have been lost */
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	nothing_is_left();
}

/* Up, when the other readers have gone; the old mode is kept meanwhile. */
static void a_holder_converts(void **state)
{
	u64 gno;

	(void)state;
	FREE(ask(ALICE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	gno = reply.gno;
	FREE(ask(BOB, 1, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	assert_int_equal(reply.gno, gno);
	assert_int_equal(reply.flags, 0);
	WAIT(1, want(CAROL, BFTM_MODE_PR));			/* not before the conversion */
	release(ALICE, 1, T0);
	PUSHED(FREE, BOB);
	assert_int_equal(push.mode, BFTM_MODE_EX);
	assert_int_equal(push.k, 2);
	assert_int_equal(push.gno, gno + 1);
	nothing_is_left();
	/* At once, where nobody is in the way. */
	fresh_queue(state);
	FREE(ask(ALICE, 1, 1, BFTM_MODE_CR, BFTM_MODE_CR));
	FREE(ask(ALICE, 1, 2, BFTM_MODE_EX, BFTM_MODE_CR));
	assert_int_equal(reply.mode, BFTM_MODE_EX);
	assert_int_equal(reply.gno, 102);
	NOT_PUSHED;
}

/* Each waits for the other to give up what it holds: the worse one hears of it. */
static void two_convert(void **state)
{
	(void)state;
	FREE(ask(ALICE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 1, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.flags, 0);
	FREE(ask(ALICE, 1, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.flags, 0);			/* the better one */
	FREE(ask(BOB, 1, 3, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.flags, BFTM_FLAG_DEADLOCK);
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	/* It keeps what it had, and the other waits for its release. */
	FREE(ask(BOB, 1, 4, BFTM_MODE_PR, BFTM_MODE_PR));
	NOT_PUSHED;
	release(BOB, 1, T0);
	PUSHED(FREE, ALICE);
	assert_int_equal(push.mode, BFTM_MODE_EX);
}

/* Two handles of one host: of equal bids, the attempts decide. */
static void a_deadlock_within_one_client(void **state)
{
	(void)state;
	FREE(ask(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 2, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 1, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	FREE(ask(BOB, 2, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.flags, BFTM_FLAG_DEADLOCK);
	FREE(ask(BOB, 1, 3, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.flags, 0);
	release(BOB, 2, T0);
	PUSHED(FREE, BOB);
	assert_int_equal(push.attempt, 1);
	assert_int_equal(push.mode, BFTM_MODE_EX);
}

/* A mode that is held elsewhere is granted beside the other grants, whatever the priorities. */
static void held_goes_before_bids(void **state)
{
	(void)state;
	FREE(want(BOB, BFTM_MODE_EX));
	WAIT(1, ask(DAVE, 1, 5, BFTM_MODE_PR, BFTM_MODE_PR));
	PUSHED(INQUIRE, BOB);
	SILENT(yield(BOB, 1, lock.gno, T0));
	PUSHED(FREE, DAVE);
	assert_int_equal(push.mode, BFTM_MODE_PR);
	nothing_is_left();
	/* Also what is held of a conversion, of which the rest waits. */
	fresh_queue(state);
	FREE(ask(ALICE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(DAVE, 1, 5, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.mode, BFTM_MODE_PR);
	release(ALICE, 1, T0);
	PUSHED(FREE, DAVE);
	assert_int_equal(push.mode, BFTM_MODE_EX);
}

/* All that do not hold yet are asked, one message a step. */
static void readers_that_do_not_hold_yield_to_a_better_writer(void **state)
{
	(void)state;
	FREE(want(BOB, BFTM_MODE_PR));
	FREE(want(CAROL, BFTM_MODE_PR));
	FREE(ask(DAVE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));	/* this one would not yield */
	WAIT(1, want(ALICE, BFTM_MODE_PW));
	assert_int_equal(push.type, BFTM_MSG_INQUIRE);
	assert_int_not_equal(push.client, DAVE);
	go_on();
	assert_int_equal(push.type, BFTM_MSG_INQUIRE);
	assert_int_not_equal(push.client, DAVE);
	nothing_is_left();
	SILENT(yield(CAROL, 1, 102, T0));
	NOT_PUSHED;						/* back in the queue, behind Alice */
	SILENT(yield(BOB, 1, 101, T0));
	NOT_PUSHED;
	assert_int_equal(bftm_lock_waiters(&lock), 3);
	release(DAVE, 1, T0);
	PUSHED(FREE, ALICE);
}

/* One that is still to be asked has yielded by itself: of a grant that is gone nobody is asked. */
static void one_that_yielded_is_not_asked(void **state)
{
	u32 asked;

	(void)state;
	FREE(want(BOB, BFTM_MODE_PR));
	FREE(want(CAROL, BFTM_MODE_PR));
	FREE(ask(DAVE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	WAIT(1, want(ALICE, BFTM_MODE_PW));
	assert_int_equal(push.type, BFTM_MSG_INQUIRE);
	asked = push.client;
	SILENT(yield(asked == BOB ? CAROL : BOB, 1, asked == BOB ? 102 : 101, T0));
	NOT_PUSHED;
	nothing_is_left();
	assert_int_equal(bftm_lock_waiters(&lock), 2);
}

/* A converter yields what it does not hold, and keeps what it does. */
static void a_converter_yields_the_rest(void **state)
{
	u64 gno;

	(void)state;
	FREE(ask(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	FREE(ask(BOB, 1, 2, BFTM_MODE_EX, BFTM_MODE_PR));
	assert_int_equal(reply.mode, BFTM_MODE_EX);
	gno = reply.gno;
	/* Alice holds PR by other servers: her fact goes before his bid. */
	WAIT(1, ask(ALICE, 1, 1, BFTM_MODE_PR, BFTM_MODE_PR));
	PUSHED(INQUIRE, BOB);
	SILENT(step((struct bftm_msg){ .type = BFTM_MSG_YIELD, .client = BOB, .attempt = 1,
				       .gno = gno, .arg = BFTM_MODE_PR }, T0));
	PUSHED(FREE, BOB);
	assert_int_equal(push.mode, BFTM_MODE_PR);
	assert_int_equal(push.gno, gno + 1);
	go_on();
	PUSHED(FREE, ALICE);
	release(ALICE, 1, T0);
	PUSHED(FREE, BOB);
	assert_int_equal(push.mode, BFTM_MODE_EX);
	/* More than the grant has cannot be kept. */
	fresh_queue(state);
	FREE(want(BOB, BFTM_MODE_PR));
	SILENT(step((struct bftm_msg){ .type = BFTM_MSG_YIELD, .client = BOB, .attempt = 1,
				       .gno = lock.gno, .arg = BFTM_MODE_EX }, T0));
	NOT_PUSHED;
	assert_int_equal(lock.first.held, BFTM_MODE_NL);
}

/* By the server's setting: 0 is its default. */
static void so_many_hold_it_at_once(void **state)
{
	u32 client;

	(void)state;
	cfg.holders_max = 2;
	FREE(want(ALICE, BFTM_MODE_PR));
	FREE(want(BOB, BFTM_MODE_PR));
	WAIT(1, want(CAROL, BFTM_MODE_PR));
	NOT_PUSHED;
	assert_int_equal(once(DAVE, BFTM_MODE_CR), BFTM_MSG_LOCKED);
	release(BOB, 1, T0);
	PUSHED(FREE, CAROL);
	assert_int_equal(bftm_lock_holders(&lock), 2);
	/* Without room beside them, those that bid less are asked to yield. */
	fresh_queue(state);
	cfg.holders_max = 2;
	FREE(want(CAROL, BFTM_MODE_PR));
	FREE(want(DAVE, BFTM_MODE_PR));
	WAIT(1, want(ALICE, BFTM_MODE_PR));
	PUSHED(INQUIRE, DAVE);
	go_on();
	PUSHED(INQUIRE, CAROL);
	nothing_is_left();
	fresh_queue(state);
	for (client = 1; client <= ROOM; client++)
		FREE(want(client, BFTM_MODE_PR));
}

/* One token for a tenure of a mode that excludes itself; others share. */
static void tokens_are_shared_by_those_that_may(void **state)
{
	static const struct {
		u32 client;
		u64 token;
		enum bftm_mode mode;
		u8 reply, himask;
	} row[] = {
		{ ALICE, 5, BFTM_MODE_EX, BFTM_MSG_SACK, 1 << BFTM_MODE_EX },
		{ BOB, 5, BFTM_MODE_PR, BFTM_MSG_SNACK, 1 << BFTM_MODE_EX },
		{ ALICE, 5, BFTM_MODE_EX, BFTM_MSG_SACK, 1 << BFTM_MODE_EX },
		{ BOB, 6, BFTM_MODE_PR, BFTM_MSG_SACK, 1 << BFTM_MODE_PR },
		{ CAROL, 6, BFTM_MODE_PR, BFTM_MSG_SACK, 1 << BFTM_MODE_PR },
		{ ALICE, 6, BFTM_MODE_EX, BFTM_MSG_SNACK, 1 << BFTM_MODE_PR },
		{ DAVE, 6, BFTM_MODE_CW, BFTM_MSG_SNACK, 1 << BFTM_MODE_PR },
		{ DAVE, 6, BFTM_MODE_CR, BFTM_MSG_SACK, 1 << BFTM_MODE_PR | 1 << BFTM_MODE_CR },
		{ BOB, 5, BFTM_MODE_CR, BFTM_MSG_SNACK, 1 << BFTM_MODE_PR | 1 << BFTM_MODE_CR },
		{ BOB, 7, BFTM_MODE_PW, BFTM_MSG_SACK, 1 << BFTM_MODE_PW },
		{ CAROL, 7, BFTM_MODE_PW, BFTM_MSG_SNACK, 1 << BFTM_MODE_PW },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		assert_int_equal(step((struct bftm_msg){ .type = BFTM_MSG_STAMP, .attempt = 1,
							 .client = row[i].client, .mode = row[i].mode,
							 .token = row[i].token }, T0), row[i].reply);
		assert_int_equal(reply.arg, row[i].himask);
		assert_int_equal(reply.token, lock.hi);
	}
}

/* A grant that ends by itself takes none of the others with it. */
static void each_grant_has_its_own_end(void **state)
{
	(void)state;
	FREE(want(ALICE, BFTM_MODE_PR));
	FREE(step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = BOB, .attempt = 1, .k = 1,
				     .lease_ns = L / 2, .mode = BFTM_MODE_PR }, T0));
	assert_true(bftm_lock_deadline(&lock) < T0 + L);
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + L, &push));
	assert_true(bftm_lock_owned(&lock, T0 + L));
	assert_int_equal(bftm_lock_deadline(&lock), T0 + GUARD + 1);
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	assert_false(bftm_lock_owned(&lock, T0 + GUARD + 1));
	assert_int_equal(bftm_lock_deadline(&lock), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(modes_exclude_each_other),
		TEST(readers_come_and_go),
		TEST(a_writer_is_not_overtaken),
		TEST(a_batch_of_readers),
		TEST(a_holder_shrinks),
		TEST(a_holder_converts),
		TEST(two_convert),
		TEST(a_deadlock_within_one_client),
		TEST(held_goes_before_bids),
		TEST(readers_that_do_not_hold_yield_to_a_better_writer),
		TEST(one_that_yielded_is_not_asked),
		TEST(a_converter_yields_the_rest),
		TEST(so_many_hold_it_at_once),
		TEST(tokens_are_shared_by_those_that_may),
		TEST(each_grant_has_its_own_end),
	};

	return cmocka_run_group_tests_name("server modes", tests, NULL, NULL);
}
