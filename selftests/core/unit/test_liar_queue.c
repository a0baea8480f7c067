// SPDX-License-Identifier: GPL-2.0
/* bftmutex-liar as a server with a queue and tokens, honest and not. */
#include "liar_peer.h"

#define QUEUED(c, attempt, k) do { \
	peer_queue(c, attempt, k); \
	assert_int_equal(peer_answer(c).type, BFTM_MSG_WAIT); \
} while (0)

#define GRANTED(c, attempt, k) do { \
	peer_queue(c, attempt, k); \
	assert_int_equal(peer_answer(c).type, BFTM_MSG_FREE); \
} while (0)

static void begin(const char *strategy)
{
	liar_start(strategy, "--token-floor=0", "--no-quarantine");
	peer_hello(1);
}

static void release(u32 c, u64 attempt)
{
	peer_say(c, BFTM_MSG_RELEASE, attempt, (struct bftm_msg){});
}

/* Pushes to client @c. */
static struct bftm_msg pushed(u32 c, u8 type, u64 attempt)
{
	struct bftm_msg msg = peer_answer(c);

	assert_int_equal(msg.type, type);
	assert_int_equal(msg.seq, 0);
	assert_int_equal(msg.attempt, attempt);
	assert_int_equal(msg.server_epoch, epoch);
	assert_int_equal(msg.name_len, 1);
	assert_int_equal(msg.name[0], 'x');
	return msg;
}

static void hand_over(void **state)
{
	(void)state;
	begin("honest");
	GRANTED(1, 1, 1);
	QUEUED(2, 5, 3);
	assert_silence(2);
	release(1, 1);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_RELEASED);
	assert_int_equal(pushed(2, BFTM_MSG_FREE, 5).k, 3);
	liar_stop("honest");
	assert_int_equal(pushes, 1);
	assert_int_equal(lies, 0);
}

/* Client 2 polls until it is told FREE. Return: the first FREE; @ret_k: the last poll. */
static struct bftm_msg poll_until_free(u64 attempt, u32 *ret_k)
{
	struct bftm_msg msg = {};

	for (*ret_k = 0; msg.type != BFTM_MSG_FREE; poll(NULL, 0, 20)) {
		peer_queue(2, attempt, ++*ret_k);
		do
			msg = peer_answer(2);
		while (msg.type != BFTM_MSG_FREE && msg.seq != peers[2].seq);
	}
	return msg;
}

/*
 * At the end of the lease, to one that goes on polling. Where this process or the server stands
 * still at that moment, FREE is the answer to a poll: so again. On a machine so busy that three
 * times in ten one does, it does twenty times with a probability of 0.3^20, 3 in 10^11.
 */
static void expiry(void **state)
{
	struct bftm_msg msg;
	u64 attempt = 0;
	u32 k;

	(void)state;
	begin("honest");
	lease = 500 * MS;
	do {
		assert_true(++attempt <= 20);
		GRANTED(1, attempt, 1);
		msg = poll_until_free(attempt, &k);
		release(2, attempt);
		while (peer_answer(2).type != BFTM_MSG_RELEASED)
			;
	} while (msg.seq);
	lease = BFTM_LEASE_MAX_DEFAULT_NS;
	assert_in_range(msg.k, k - 1, k);
	liar_stop("honest");
	assert_int_equal(pushes, 1);
}

/* To where a client was heard last, in whatever family. */
static void pushes_follow_the_client(void **state)
{
	(void)state;
	begin("honest");
	GRANTED(1, 1, 1);
	QUEUED(2, 1, 1);
	peer_connect(&peers[2], true);
	QUEUED(2, 1, 2);
	release(1, 1);
	pushed(2, BFTM_MSG_FREE, 1);
	liar_stop("honest");
}

static void inquire_and_yield(void **state)
{
	struct bftm_msg msg;

	(void)state;
	begin("honest");
	GRANTED(2, 1, 1);
	QUEUED(1, 1, 1);			/* equal priorities: 1 goes first */
	msg = pushed(2, BFTM_MSG_INQUIRE, 1);
	peer_say(2, BFTM_MSG_YIELD, 1, (struct bftm_msg){ .gno = msg.gno });
	assert_int_equal(pushed(1, BFTM_MSG_FREE, 1).gno, msg.gno + 1);
	assert_silence(2);
	release(1, 1);
	assert_int_equal(pushed(2, BFTM_MSG_FREE, 1).gno, msg.gno + 2);
	liar_stop("honest");
	assert_int_equal(pushes, 3);
}

static u8 stamp(u32 c, u64 attempt, u64 token)
{
	peer_say(c, BFTM_MSG_STAMP, attempt, (struct bftm_msg){ .token = token });
	return peer_answer(c).type;
}

static u64 recover(u64 token)
{
	struct bftm_msg msg;

	peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_RECOVER, .token = token });
	msg = peer_answer(1);
	assert_int_equal(msg.type, BFTM_MSG_CHALLENGE);
	return msg.token;
}

static void tokens(void **state)
{
	(void)state;
	liar_start("honest", "--no-quarantine", NULL);
	peer_hello(1);
	assert_int_equal(stamp(1, 1, 8), BFTM_MSG_REFUSED);	/* nobody has told */
	assert_int_equal(recover(7), 7);
	assert_int_equal(stamp(1, 1, 7), BFTM_MSG_SNACK);
	assert_int_equal(stamp(1, 1, 8), BFTM_MSG_SACK);
	assert_int_equal(stamp(2, 1, 8), BFTM_MSG_SNACK);
	assert_int_equal(recover(100), 8);
	liar_stop("honest");
	begin("honest");
	assert_int_equal(stamp(1, 1, 1), BFTM_MSG_SACK);
	liar_stop("honest");
}

/* Client 1 has the lock all the time; 2 waits and hears that it is its turn. */
static void queue_jumper(void **state)
{
	u32 k, jumps = 0;
	struct bftm_msg msg;

	(void)state;
	begin("queue-jumper");
	peer_queue(1, 1, 1);
	for (k = 1; k <= 40; k++)
		peer_queue(2, 1, k);
	liar_stop("queue-jumper");
	for (k = 0; k < 40; k++) {
		msg = peer_answer(2);
		if (msg.type == BFTM_MSG_WAIT)
			continue;
		assert_int_equal(msg.type, BFTM_MSG_FREE);
		assert_int_equal(msg.seq, 0);
		jumps++;
	}
	assert_true(jumps && lies);
}

static void false_position(void **state)
{
	u32 k, quarantines = 0, far = 0;
	struct bftm_msg msg;

	(void)state;
	begin("false-position");
	GRANTED(1, 1, 1);
	for (k = 1; k <= 60; k++) {
		peer_queue(2, 1, k);
		msg = peer_answer(2);
		assert_int_equal(msg.type, BFTM_MSG_WAIT);
		quarantines += !msg.position;
		far += msg.position > 1;
	}
	liar_stop("false-position");
	assert_true(quarantines && far);
	assert_int_equal(lies, 60);
}

/* Of holders and waiters, and seldom about what is true. */
static void inquirer(void **state)
{
	u32 k, right = 0, wrong = 0, asked = 0;
	struct bftm_msg msg;
	u64 gno = 0;

	(void)state;
	begin("inquirer");
	for (k = 1; k <= 100; k++)
		peer_queue(1, 1, k);
	liar_stop("inquirer");
	while (peer_next(1, &msg, 0)) {
		if (msg.type == BFTM_MSG_FREE)
			gno = msg.gno;
		if (msg.type != BFTM_MSG_INQUIRE)
			continue;
		asked += msg.seq != 0;
		right += msg.gno == gno;
		wrong += msg.gno != gno;
	}
	assert_true(asked && right && wrong);
}

static void inflate(void **state)
{
	struct bftm_msg msg;
	u32 k;

	(void)state;
	begin("inflate");
	for (k = 1; k <= 20; k++) {
		peer_queue(1 + k % 2, 1, k);
		msg = peer_answer(1 + k % 2);
		assert_true(msg.token >> 62 && msg.prio >> 62);
		assert_true(msg.token != BFTM_TOKEN_UNKNOWN);
	}
	liar_stop("inflate");
	assert_in_range(lies, 20, 41);	/* one was about the epoch; some are INQUIREs */
}

/* The same token to two, and none to others. */
static void deny(void **state)
{
	u32 i, twice = 0, never = 0;

	(void)state;
	begin("deny");
	for (i = 1; i <= 20; i++) {
		u8 one = stamp(1, i, 100), two = stamp(2, i, 100);

		twice += one == BFTM_MSG_SACK && two == BFTM_MSG_SACK;
		never += one != BFTM_MSG_SACK && two != BFTM_MSG_SACK;
	}
	liar_stop("deny");
	assert_true(twice && never);
}

static void hoard(void **state)
{
	u32 i;

	(void)state;
	begin("hoard");
	GRANTED(2, 1, 1);
	QUEUED(1, 1, 1);
	pushed(2, BFTM_MSG_INQUIRE, 1);
	for (i = 0; i < 10; i++) {
		peer_say(2, BFTM_MSG_YIELD, 1, (struct bftm_msg){ .gno = i });
		pushed(2, BFTM_MSG_FREE, 1);
		QUEUED(1, 1, i + 2);
		pushed(2, BFTM_MSG_INQUIRE, 1);
	}
	release(2, 1);
	GRANTED(1, 1, 20);
	liar_stop("hoard");
	assert_in_range(lies, 10, 60);
}

static void withhold(void **state)
{
	u32 k;

	(void)state;
	begin("withhold");
	peer_try(1, "x", 1, 1);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_FREE);
	QUEUED(2, 1, 1);
	release(1, 1);
	assert_int_equal(peer_answer(1).type, BFTM_MSG_RELEASED);
	for (k = 2; k < 10; k++)
		QUEUED(2, 1, k);
	assert_silence(2);
	liar_stop("withhold");
	assert_int_equal(pushes, 1);
}

/* Older strategies, at the turn of client 2 */
static void pushes_of_others(void **state)
{
	static const struct {
		const char *strategy;
		u32 heard;
	} table[] = {
		{ "honest", 1 }, { "silent", 0 }, { "always-locked", 0 }, { "always-free", 1 },
		{ "late", 1 }, { "duplicate", 5 }, { "replay", 1 },
	};
	struct bftm_msg msg;
	u32 heard;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		liar_start(table[i].strategy, "--delay=20", "--no-quarantine");
		peer_send(1, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
		if (strcmp(table[i].strategy, "silent")) {
			epoch = peer_answer(1).server_epoch;
			peer_try(1, "x", 1, 1);
			peer_queue(2, 1, 1);
			release(1, 1);
		}
		/* As many as there will be, and a while for one more. */
		heard = 0;
		while (peer_next(2, &msg, heard < table[i].heard ? PATIENCE_MS : 100))
			heard += msg.type == BFTM_MSG_FREE && msg.seq < 2;
		liar_stop(table[i].strategy);
		while (peer_next(1, &msg, 0))
			;
		if (heard != table[i].heard)
			fail_msg("%s: %u", table[i].strategy, heard);
		assert_int_equal(pushes, table[i].heard || strcmp(table[i].strategy, "silent"));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, liar_reap)
	const struct CMUnitTest tests[] = {
		TEST(hand_over),
		TEST(expiry),
		TEST(pushes_follow_the_client),
		TEST(inquire_and_yield),
		TEST(tokens),
		TEST(queue_jumper),
		TEST(false_position),
		TEST(inquirer),
		TEST(inflate),
		TEST(deny),
		TEST(hoard),
		TEST(withhold),
		TEST(pushes_of_others),
	};

	return cmocka_run_group_tests_name("liar queue", tests, peers_make, peers_destroy);
}
