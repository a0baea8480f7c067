// SPDX-License-Identifier: GPL-2.0
/* The room of a queue at one server: who is kept out when there is none. */
#include "waiters.h"

/* Room is the caller's, the limit is the rule's. */
static void without_room_refused(void **state)
{
	u32 i;

	(void)state;
	FREE(queue(1000, 1, 1, T0));
	for (i = 1; i <= ROOM; i++)
		WAIT(i, queue(i, 1, 1, T0));
	assert_int_equal(queue(ROOM + 1, 1, 1, T0), BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_WAITERS);
	WAIT(3, queue(3, 1, 2, T0));			/* who is in stays in */
	WAIT(3, queue(3, 2, 1, T0));
	LOCKED(try(ROOM + 1, 1, 2, T0));
	/* The forgotten make room. */
	WAIT(1, queue(ROOM + 1, 1, 3, T0 + WINDOW + 1));
	assert_int_equal(lock.queue->count, 1);
	/* There may be room for others, but not for this one. */
	cfg.waiters_max = 1;
	assert_int_equal(queue(20, 5, 1, T0 + WINDOW + 1), BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_WAITERS);
	cfg.waiters_max = 2;
	WAIT(2, queue(20, 5, 2, T0 + WINDOW + 1));
	lock.queue = NULL;
	assert_int_equal(queue(3, 5, 1, T0 + WINDOW + 1), BFTM_MSG_REFUSED);
}

/* A full queue would keep out who goes first elsewhere: the last gives way. */
static void the_last_gives_way_to_a_better_one(void **state)
{
	u32 i;

	(void)state;
	FREE(queue(1, 1, 1, T0));
	for (i = 1; i <= ROOM; i++)
		WAIT(i, queue(10 + i, 1, 1, T0));
	assert_int_equal(queue_prio(9, 1, 1, 10 + ROOM + 1, T0), BFTM_MSG_REFUSED);
	/* Equal to the last, but for the client. */
	WAIT(ROOM, queue_prio(10, 1, 1, 10 + ROOM, T0));
	assert_int_equal(lock.queue->count, ROOM);
	assert_int_equal(queue(10 + ROOM, 1, 2, T0), BFTM_MSG_REFUSED);
	WAIT(1, queue(2, 1, 1, T0));
	assert_int_equal(queue_prio(10, 1, 2, 10 + ROOM, T0), BFTM_MSG_REFUSED);
	assert_int_equal(lock.queue->count, ROOM);
	release(1, 1, T0);
	PUSHED(FREE, 2);
}

/* When the caller is asked for more room. */
static void room_is_asked_for(void **state)
{
	struct bftm_queue *q = lock.queue;
	struct bftm_msg req = { .type = BFTM_MSG_TRY, .client = BOB, .attempt = 1, .k = 1,
				.lease_ns = L, .mode = BFTM_MODE_EX };

	(void)state;
	lock.queue = NULL;
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));	/* it is free */
	FREE(queue(ALICE, 1, 1, T0));
	assert_true(bftm_lock_lacks_room(&lock, &req, T0));
	assert_false(bftm_lock_lacks_room(&lock, &req, T0 + GUARD + 1));
	req.flags = BFTM_FLAG_NOQUEUE;
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));
	req.flags = 0;
	req.type = BFTM_MSG_YIELD;
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));
	req.type = BFTM_MSG_TRY;
	req.client = ALICE;
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));	/* she owns it */
	req.client = BOB;
	q->room = 1;
	lock.queue = q;
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));
	WAIT(1, queue(BOB, 1, 1, T0));
	assert_false(bftm_lock_lacks_room(&lock, &req, T0));	/* has a place */
	req.client = CAROL;
	assert_true(bftm_lock_lacks_room(&lock, &req, T0));
	/* Over, but who waits is before her. */
	assert_true(bftm_lock_lacks_room(&lock, &req, T0 + GUARD + 1));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_queue)
	const struct CMUnitTest tests[] = {
		TEST(without_room_refused),
		TEST(the_last_gives_way_to_a_better_one),
		TEST(room_is_asked_for),
	};

	return cmocka_run_group_tests_name("server room", tests, NULL, NULL);
}
