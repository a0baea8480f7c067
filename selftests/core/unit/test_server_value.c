// SPDX-License-Identifier: GPL-2.0
/* The value of a lock at one server: by whom it is written, what makes it doubtful, who hears it. */
#include "core/backoff/protocol.h"
#include "core/backoff/value.h"

#include "waiters.h"

#define ALL_ROOM BFTM_VALUE_LEN_MAX

static struct bftm_msg try_msg(u32 client, u64 attempt, u32 k, enum bftm_mode mode,
			       enum bftm_mode held)
{
	return (struct bftm_msg){
		.type = BFTM_MSG_TRY, .client = client, .attempt = attempt, .k = k, .lease_ns = L,
		.prio = client, .mode = mode, .arg = held, .flags = BFTM_FLAG_VALUE,
		.value_room = ALL_ROOM,
	};
}

static u8 ask(u32 client, u64 attempt, u32 k, enum bftm_mode mode, enum bftm_mode held)
{
	return step(try_msg(client, attempt, k, mode, held), T0);
}

static struct bftm_msg writes(struct bftm_msg msg, u64 gno, const char *value)
{
	msg.flags |= BFTM_FLAG_VALUE;
	msg.value_room = ALL_ROOM;
	msg.value_k = (u32)gno;
	msg.value_len = (u8)strlen(value);
	memcpy(msg.value, value, msg.value_len);
	return msg;
}

static struct bftm_msg ending(u32 client, u64 attempt)
{
	return (struct bftm_msg){ .type = BFTM_MSG_RELEASE, .client = client, .attempt = attempt };
}

/* That client holds the lock in EX, and leaves a value with it. */
static void leave(u32 client, u64 attempt, const char *value)
{
	FREE(ask(client, attempt, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	step(writes(ending(client, attempt), reply.gno, value), T0);
}

/* This FREE has the value; NULL: it is in doubt. */
static void tells(const struct bftm_msg *free, const char *value)
{
	assert_int_equal(free->type, BFTM_MSG_FREE);
	assert_true(free->flags & BFTM_FLAG_VALUE);
	assert_int_equal(free->value_k, 0);
	assert_int_equal(!(free->flags & BFTM_FLAG_DOUBT), value != NULL);
	if (!value)
		return;
	assert_int_equal(free->value_len, strlen(value));
	assert_int_equal(free->value_room, bftm_pad8(strlen(value)));
	assert_memory_equal(free->value, value, strlen(value));
}

static void finds(const char *value)
{
	FREE(ask(CAROL, 99, 1, BFTM_MODE_PR, BFTM_MODE_NL));
	tells(&reply, value);
	step(ending(CAROL, 99), T0);
	lock.tomb[0].client = NOBODY;	/* so that it may ask again */
}

static void left_to_the_next(void **state)
{
	(void)state;
	finds(NULL);
	leave(ALICE, 1, "one");
	finds("one");
	leave(BOB, 1, "two, and longer than a word");
	finds("two, and longer than a word");
	leave(BOB, 2, "");
	finds("");
	/* A holder that leaves none leaves the one that it found. */
	leave(ALICE, 2, "three");
	FREE(ask(BOB, 3, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	step(ending(BOB, 3), T0);
	finds("three");
}

static void told_to_whoever_asks(void **state)
{
	struct bftm_msg msg;

	(void)state;
	leave(ALICE, 1, "nine byte");
	msg = try_msg(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_NL);
	msg.flags = 0;
	msg.value_room = 0;
	FREE(step(msg, T0));
	assert_int_equal(reply.flags, 0);
	msg = try_msg(BOB, 1, 2, BFTM_MODE_PR, BFTM_MODE_NL);
	msg.value_room = 16;
	FREE(step(msg, T0));
	tells(&reply, "nine byte");
	/* Too little room: it hears how long the value is. */
	msg.k = 3;
	msg.value_room = 8;
	FREE(step(msg, T0));
	assert_int_equal(reply.flags, BFTM_FLAG_VALUE);
	assert_int_equal(reply.value_len, 9);
	assert_int_equal(reply.value_room, 0);
	/* An earlier send comes late, and has less room: no answer is longer than its request. */
	msg.k = 1;
	FREE(step(msg, T0));
	assert_int_equal(reply.value_room, 0);
	msg.flags = 0;
	FREE(step(msg, T0));
	assert_int_equal(reply.flags, 0);
	/* A FREE that comes unasked has it as well. */
	assert_int_equal(ask(CAROL, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL), BFTM_MSG_WAIT);
	step(ending(BOB, 1), T0);
	assert_int_equal(push.client, CAROL);
	tells(&push, "nine byte");
}

static void written_by_the_grant_it_names(void **state)
{
	u64 gno;

	(void)state;
	leave(ALICE, 1, "one");
	FREE(ask(BOB, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	gno = reply.gno;
	step(writes(ending(BOB, 1), gno - 1, "two"), T0);
	finds(NULL);
	leave(ALICE, 2, "three");
	finds("three");
	/* Of a reader no value is taken, and no doubt. */
	FREE(ask(BOB, 2, 1, BFTM_MODE_PR, BFTM_MODE_NL));
	step(writes(ending(BOB, 2), reply.gno, "four"), T0);
	finds("three");
	FREE(ask(BOB, 3, 1, BFTM_MODE_CW, BFTM_MODE_NL));
	step(writes(ending(BOB, 3), reply.gno + 1, "four"), T0);
	finds("three");
	/* Of an attempt that has nothing here neither. */
	step(writes(ending(BOB, 4), gno, "four"), T0);
	finds("three");
}

/*
 * ALICE has left a value, and two others have since: her attempt is forgotten. Her earlier requests
 * come only now, and the lock is free: she gets another grant, of which she knows nothing.
 */
static void late_requests_write_nothing(void **state)
{
	u64 gno;

	(void)state;
	FREE(ask(ALICE, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	gno = reply.gno;
	step(writes(ending(ALICE, 1), gno, "old"), T0);
	leave(BOB, 1, "newer");
	leave(DAVE, 1, "newest");
	leave(CAROL, 1, "newest");
	FREE(ask(ALICE, 1, 2, BFTM_MODE_EX, BFTM_MODE_EX));
	assert_int_not_equal(reply.gno, gno);
	tells(&reply, "newest");
	FREE(step(writes(try_msg(ALICE, 1, 3, BFTM_MODE_PR, BFTM_MODE_EX), gno, "old"), T0));
	tells(&reply, NULL);
}

static void doubted(void **state)
{
	struct bftm_msg msg;

	(void)state;
	leave(ALICE, 1, "one");
	FREE(ask(BOB, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	msg = ending(BOB, 1);
	msg.flags = BFTM_FLAG_DOUBT;
	step(msg, T0);
	finds(NULL);
	leave(ALICE, 2, "two");
	/* A reader has nothing to be doubted. */
	FREE(ask(BOB, 2, 1, BFTM_MODE_PR, BFTM_MODE_NL));
	msg.attempt = 2;
	step(msg, T0);
	finds("two");
	FREE(ask(BOB, 3, 1, BFTM_MODE_PR, BFTM_MODE_NL));
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	finds("two");
	FREE(ask(BOB, 4, 1, BFTM_MODE_PW, BFTM_MODE_NL));
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	finds(NULL);
}

static void left_with_a_mode(void **state)
{
	u64 gno;

	(void)state;
	FREE(ask(ALICE, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	gno = reply.gno;
	assert_int_equal(ask(BOB, 1, 1, BFTM_MODE_PR, BFTM_MODE_NL), BFTM_MSG_WAIT);
	FREE(step(writes(try_msg(ALICE, 1, 2, BFTM_MODE_PR, BFTM_MODE_PR), gno, "one"), T0));
	tells(&reply, "one");
	assert_int_equal(push.client, BOB);
	tells(&push, "one");
	/* Again, as the answer may be lost: nothing is written in PR. */
	FREE(step(writes(try_msg(ALICE, 1, 3, BFTM_MODE_PR, BFTM_MODE_PR), gno, "two"), T0));
	tells(&reply, "one");
}

/* A send that a later one has overtaken. */
static void old_send_writes_nothing(void **state)
{
	u64 gno;

	(void)state;
	FREE(ask(ALICE, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	gno = reply.gno;
	FREE(step(writes(try_msg(ALICE, 1, 3, BFTM_MODE_PW, BFTM_MODE_PW), gno, "new"), T0));
	FREE(step(writes(try_msg(ALICE, 1, 2, BFTM_MODE_PW, BFTM_MODE_PW), gno, "old"), T0));
	tells(&reply, "new");
}

static void without_room(void **state)
{
	struct bftm_queue *q = lock.queue;

	(void)state;
	q->room = 1;
	leave(ALICE, 1, "one");
	finds(NULL);
	/* A waiter gets the room first. */
	q->room = 2;
	FREE(step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = DAVE, .attempt = 1, .k = 1,
				     .lease_ns = L, .mode = BFTM_MODE_EX }, T0));
	assert_int_equal(ask(ALICE, 2, 1, BFTM_MODE_EX, BFTM_MODE_NL), BFTM_MSG_WAIT);
	assert_null(bftm_value_of(&lock));
	assert_int_equal(q->count, 1);
}

static void kept_in_the_block(void **state)
{
	const struct bftm_server_ops *ops = bftm_backoff.server;
	struct bftm_msg msg = try_msg(ALICE, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL);
	struct bftm_lock_view view;
	u32 room;

	(void)state;
	lock.queue = NULL;
	assert_int_equal(ops->wants_room(&cfg, &lock, &msg, T0), 4);
	msg.mode = BFTM_MODE_PR;
	assert_int_equal(ops->wants_room(&cfg, &lock, &msg, T0), 0);
	assert_null(ops->move_room(&lock, malloc(ops->room_size(4)), 4));
	leave(ALICE, 1, "kept");
	assert_int_equal(ops->room(&lock), 4);
	for (room = 8; room <= 16; room *= 2) {
		free(ops->move_room(&lock, malloc(ops->room_size(room)), room));
		assert_int_equal(ops->room(&lock), room);
		ops->describe(&lock, &view);
		assert_int_equal(view.places, BFTM_VALUE_PLACES);
		finds("kept");
	}
	assert_true(ops->idle(&lock, T0));
	assert_true(ops->keeps(&lock));
	/* In doubt it is worth nothing, but for who may write the next. */
	FREE(ask(BOB, 1, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push);
	assert_false(ops->keeps(&lock));
	ops->describe(&lock, &view);
	assert_int_equal(view.places, 0);
	FREE(ask(BOB, 2, 1, BFTM_MODE_EX, BFTM_MODE_NL));
	ops->describe(&lock, &view);
	assert_int_equal(view.places, BFTM_VALUE_PLACES);
	free(ops->move_room(&lock, NULL, 0));
	step(ending(BOB, 2), T0);
	finds(NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(left_to_the_next),
		TEST(told_to_whoever_asks),
		TEST(written_by_the_grant_it_names),
		TEST(late_requests_write_nothing),
		TEST(doubted),
		TEST(left_with_a_mode),
		TEST(old_send_writes_nothing),
		TEST(without_room),
		TEST(kept_in_the_block),
	};

	return cmocka_run_group_tests_name("server value", tests, NULL, NULL);
}
