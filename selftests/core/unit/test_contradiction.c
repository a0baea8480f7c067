// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that no honest server gives: whole runs of honest servers in a bad network,
 * with restarts, in which nothing of the kind is found; and each lie alone.
 */
#include "bad_network.h"

static void honest_servers_never_do(void **state)
{
	u32 won = 0, run, i, u;

	(void)state;
	rnd = unit_seed("honest servers");
	make_queues();
	for (run = 0; run < 40; run++) {
		new_cluster();
		for (i = 0; i < 20000; i++)
			network_step();
		for (i = 0; i < CLIENTS; i++)
			won += clients[i].won;
	}
	printf("# %u times won\n", won);
	assert_true(won > 1000);
	assert_int_equal(contradictions, 0);
	for (u = 0; u < N; u++)
		free(servers[u].lock.queue);
}

static struct bftm_contend c;
static struct bftm_claim claim;
static u64 sent_ns;

/* The answer to request @seq, when the last one was @last. */
static enum bftm_lie lie_in(struct bftm_msg msg, u64 seq, u64 last)
{
	struct bftm_out out;
	enum bftm_lie lie;

	msg.seq = seq;
	msg.attempt = c.base.attempt;
	msg.server_epoch = 7;
	lie = bftm_contradicts(&claim, &c.base, &network_cfg,
			       bftm_backoff.client->granted_ns(&c.base, 0), &msg,
			       seq ? sent_ns : 0, last, network_now);
	bftm_contend_answer(&c, &network_cfg, 0, &msg, network_now, 0, &out);
	return lie;
}

#define TRUTH(...)	assert_int_equal(lie_in(__VA_ARGS__), BFTM_LIE_NONE)
#define LIE(kind, ...)	assert_int_equal(lie_in(__VA_ARGS__), BFTM_LIE_ ## kind)

static int waiting(void **state)
{
	const struct bftm_want want = { .lease_ns = LEASE, .wait = BFTM_WAIT_QUEUE,
				       .mode = BFTM_MODE_EX };
	struct bftm_out out;

	(void)state;
	network_now = 1000 * MS;
	sent_ns = network_now;
	memset(&c, 0, sizeof(c));
	memset(&claim, 0, sizeof(claim));
	bftm_contend_start(&c, &network_cfg, &want, 1, network_now, &out);
	return 0;
}

#define SAYS(what, ...) \
	((struct bftm_msg){ .type = BFTM_MSG_##what, .k = 1, .mode = BFTM_MODE_EX, __VA_ARGS__ })

static void grants_that_run_backwards(void **state)
{
	(void)state;
	TRUTH(SAYS(WAIT, .gno = 5, .position = 1), 1, 4);
	/* Asked before that was known: requests may overtake each other. */
	TRUTH(SAYS(WAIT, .gno = 4, .position = 1), 3, 4);
	TRUTH(SAYS(WAIT, .gno = 5, .position = 1), 5, 8);
	LIE(COUNT, SAYS(WAIT, .gno = 4, .position = 1), 6, 8);
	LIE(COUNT, SAYS(FREE, .gno = 4), 7, 8);
	/* A push answers nothing. */
	TRUTH(SAYS(FREE, .gno = 4), 0, 8);
}

/* More than a server can have given since it was started. */
static void grants_that_were_never_given(void **state)
{
	(void)state;
	TRUTH(SAYS(FREE, .gno = 5ull << 56), 1, 4);
	TRUTH(SAYS(FREE, .gno = 6ull << 56), 2, 4);
	LIE(COUNT, SAYS(FREE, .gno = (7ull << 56) + 1), 3, 4);
	waiting(NULL);
	TRUTH(SAYS(FREE, .gno = 5ull << 56), 1, 4);
	/* Whichever of the two was said first, or unasked. */
	LIE(COUNT, SAYS(FREE, .gno = 3ull << 56), 0, 4);
}

static void tokens_that_run_backwards(void **state)
{
	(void)state;
	TRUTH(SAYS(FREE, .gno = 5, .token = 9), 1, 4);
	TRUTH(SAYS(SACK, .gno = 10, .token = 10), 5, 8);
	LIE(COUNT, SAYS(SACK, .gno = 9, .token = 9), 9, 12);
	LIE(COUNT, SAYS(SNACK, .gno = 4, .token = 9), 13, 16);
	LIE(COUNT, SAYS(FREE, .gno = 5, .token = BFTM_TOKEN_UNKNOWN), 17, 20);
}

static void a_grant_that_is_taken_back(void **state)
{
	struct bftm_msg inquire = SAYS(INQUIRE, .gno = 6);

	(void)state;
	TRUTH(SAYS(FREE, .gno = 5), 1, 4);
	TRUTH(SAYS(WAIT, .gno = 6, .position = 1), 2, 4);
	LIE(BACK, SAYS(WAIT, .gno = 6, .position = 1), 5, 8);
	/* After a yield it may. */
	TRUTH(SAYS(FREE, .gno = 6), 6, 12);
	TRUTH(inquire, 0, 13);
	TRUTH(SAYS(WAIT, .gno = 7, .position = 1), 14, 16);
	/* And when the lease is over. */
	TRUTH(SAYS(FREE, .gno = 8), 17, 20);
	network_now += LEASE;
	TRUTH(SAYS(WAIT, .gno = 9, .position = 1), 21, 24);
}

static void priorities_that_jump(void **state)
{
	const u64 jump = BFTM_PRIO_JUMP_MAX;

	(void)state;
	TRUTH(SAYS(WAIT, .prio = 5), 1, 4);
	network_now += 1000;	/* ten times that a server can decide, and one */
	TRUTH(SAYS(WAIT, .prio = 5 + 12 * jump - 1), 2, 4);
	/* Of what was asked before that was known the order is not known. */
	TRUTH(SAYS(WAIT, .prio = ~0ull), 4, 8);
	TRUTH(SAYS(WAIT, .prio = 5), 5, 8);
	LIE(PRIO, SAYS(WAIT, .prio = 5 + 12 * jump), 9, 12);
	/* A lock that was made anew begins with less; a push says nothing of the order. */
	TRUTH(SAYS(WAIT, .prio = 0), 13, 16);
	TRUTH(SAYS(FREE, .prio = ~0ull), 0, 16);
}

static void a_send_that_was_not_made(void **state)
{
	const struct bftm_msg later = { .type = BFTM_MSG_FREE, .gno = 5, .k = 2 };

	(void)state;
	LIE(AHEAD, later, 2, 4);
	LIE(AHEAD, later, 0, 4);
}

static void a_restart_is_none(void **state)
{
	(void)state;
	TRUTH(SAYS(WAIT, .gno = 5, .position = 1, .token = 7, .prio = 1), 1, 4);
	claim.epoch = 6;
	TRUTH(SAYS(WAIT, .gno = 4, .position = 1, .prio = ~0ull), 5, 8);
	claim.epoch = 6;
	TRUTH(SAYS(WAIT, .gno = ~0ull, .position = 1), 9, 12);
}

/* An answer beside the request whose number it has. */

static const struct bftm_msg queueing = {
	.type = BFTM_MSG_TRY, .proto = BFTM_PROTO_BACKOFF, .server_epoch = 7, .seq = 3,
	.attempt = 9, .k = 2, .prio = 40, .lease_ns = LEASE, .name_len = 1, .name = "x",
};

static enum bftm_lie answers(const struct bftm_msg *req, struct bftm_msg msg)
{
	struct bftm_asked a = bftm_asked_of(req, 1, 0);

	return bftm_answer_lies(&a, 1, &msg);
}

/* Change some fields of an answer that is true, and see which lie that is. */
#define CHANGED(kind, req, msg, ...) do { \
	struct bftm_msg m = (msg); \
	assert_int_equal(answers(&(req), m), BFTM_LIE_NONE); \
	__VA_ARGS__; \
	assert_int_equal(answers(&(req), m), BFTM_LIE_ ## kind); \
} while (0)

static struct bftm_msg reply_to(const struct bftm_msg *req, u8 type)
{
	struct bftm_msg msg = *req;

	msg.type = type;
	msg.flags = 0;
	if (type == BFTM_MSG_WAIT)
		msg.position = 1;
	return msg;
}

static void what_an_answer_repeats(void **state)
{
	const struct bftm_msg free = reply_to(&queueing, BFTM_MSG_FREE);
	struct bftm_asked a = bftm_asked_of(&queueing, 1, 0);

	(void)state;
	CHANGED(AHEAD, queueing, free, m.attempt++);
	CHANGED(AHEAD, queueing, free, m.k++);
	CHANGED(OTHER, queueing, free, m.attempt--);
	CHANGED(OTHER, queueing, free, m.k--);
	CHANGED(OTHER, queueing, free, m.name[0]++);
	CHANGED(OTHER, queueing, free, m.name_len++);
	/* Another server was asked. */
	assert_int_equal(bftm_answer_lies(&a, 2, &free), BFTM_LIE_OTHER);
	/* Of the other protocol it is looked at elsewhere. */
	a.proto = BFTM_PROTO_ORDER;
	a.k++;
	assert_int_equal(bftm_answer_lies(&a, 1, &free), BFTM_LIE_NONE);
}

static void which_answers_there_are(void **state)
{
	struct bftm_msg hello = { .type = BFTM_MSG_HELLO, .proto = BFTM_PROTO_BACKOFF };
	struct bftm_msg once = queueing, release = queueing, stamp = queueing;

	(void)state;
	once.flags = BFTM_FLAG_NOQUEUE;
	release.type = BFTM_MSG_RELEASE;
	stamp.type = BFTM_MSG_STAMP;
	stamp.token = 50;
	stamp.gno = 50;
	CHANGED(OTHER, queueing, reply_to(&queueing, BFTM_MSG_WAIT), m.type = BFTM_MSG_LOCKED);
	CHANGED(OTHER, queueing, reply_to(&queueing, BFTM_MSG_WAIT), m.type = BFTM_MSG_INQUIRE);
	CHANGED(PLACE, once, reply_to(&once, BFTM_MSG_LOCKED),
		m.type = BFTM_MSG_WAIT, m.position = 1);
	CHANGED(OTHER, release, reply_to(&release, BFTM_MSG_RELEASED), m.type = BFTM_MSG_FREE);
	CHANGED(OTHER, queueing, reply_to(&queueing, BFTM_MSG_FREE), m.type = BFTM_MSG_RELEASED);
	CHANGED(OTHER, stamp, reply_to(&stamp, BFTM_MSG_SACK), m.gno++);
	CHANGED(COUNT, stamp, reply_to(&stamp, BFTM_MSG_SACK), m.token++);
	CHANGED(COUNT, stamp, reply_to(&stamp, BFTM_MSG_SNACK), m.token--);
	CHANGED(OTHER, hello, ((struct bftm_msg){ .type = BFTM_MSG_CHALLENGE, .server_epoch = 8 }),
		m.type = BFTM_MSG_FREE);
	CHANGED(OTHER, hello, ((struct bftm_msg){ .type = BFTM_MSG_CHALLENGE, .server_epoch = 8 }),
		m.type = BFTM_MSG_STALE);
	CHANGED(OTHER, queueing, reply_to(&queueing, BFTM_MSG_WAIT), m.type = BFTM_MSG_CHALLENGE);
	/* To anything. */
	assert_int_equal(answers(&queueing, reply_to(&queueing, BFTM_MSG_REFUSED)), BFTM_LIE_NONE);
	assert_int_equal(answers(&hello, reply_to(&hello, BFTM_MSG_REFUSED)), BFTM_LIE_NONE);
}

/* A member tells what it holds without a lease, and a server waits for members. */
static void what_members_are_told(void **state)
{
	static const u8 requests[] = {
		BFTM_MSG_HELLO, BFTM_MSG_TRY, BFTM_MSG_RELEASE, BFTM_MSG_YIELD, BFTM_MSG_STAMP,
		BFTM_MSG_RECOVER, BFTM_MSG_SYNC, BFTM_MSG_ASK,
	};
	const struct bftm_msg sync = {
		.type = BFTM_MSG_SYNC, .proto = BFTM_PROTO_BACKOFF, .server_epoch = 7, .seq = 3,
		.incarnation = 0x6b0d7a7b,
	};
	struct bftm_msg req, reply, wait = reply_to(&queueing, BFTM_MSG_WAIT);
	size_t i;

	(void)state;
	reply = sync;
	reply.type = BFTM_MSG_SYNCED;
	CHANGED(EPOCH, sync, reply, m.server_epoch++);
	assert_int_equal(answers(&queueing, reply_to(&queueing, BFTM_MSG_SYNCED)), BFTM_LIE_OTHER);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		req = queueing;
		req.type = requests[i];
		if (req.type == BFTM_MSG_SYNC)
			req = sync;
		bftm_refuse(&req, &reply, BFTM_REFUSED_ACCESS);
		assert_int_equal(answers(&req, reply), BFTM_LIE_NONE);
		CHANGED(AHEAD, req, reply, m.attempt++);
		CHANGED(OTHER, req, reply, m.attempt--);
	}
	/* Nobody knows how long. */
	wait.position = 0;
	wait.lease_ns = BFTM_LEASE_NONE;
	CHANGED(PLACE, queueing, wait, m.position++);
	CHANGED(PLACE, queueing, wait, m.lease_ns--);
}

static void epochs_that_are_no_start(void **state)
{
	struct bftm_msg challenge = reply_to(&queueing, BFTM_MSG_CHALLENGE), hello = queueing;
	struct bftm_msg stale = reply_to(&queueing, BFTM_MSG_STALE);

	(void)state;
	challenge.server_epoch = 8;
	stale.server_epoch = 8;
	hello.type = BFTM_MSG_HELLO;
	CHANGED(EPOCH, queueing, reply_to(&queueing, BFTM_MSG_FREE), m.server_epoch++);
	CHANGED(EPOCH, queueing, stale, m.server_epoch = 0);
	CHANGED(EPOCH, queueing, stale, m.server_epoch = 7);
	CHANGED(EPOCH, hello, challenge, m.server_epoch = 0);
	/* A probe may hear the epoch that it named; a refusal comes before a look at that. */
	CHANGED(NONE, hello, challenge, m.server_epoch = 7);
	CHANGED(NONE, queueing, reply_to(&queueing, BFTM_MSG_REFUSED), m.server_epoch++);
}

static void places_and_waits_that_no_queue_has(void **state)
{
	const u64 most = BFTM_LEASE_MAX_NS + BFTM_LEASE_MAX_NS / 10 + BFTM_TICK_NS + 1;
	struct bftm_msg wait = reply_to(&queueing, BFTM_MSG_WAIT);
	struct bftm_msg challenge = reply_to(&queueing, BFTM_MSG_CHALLENGE), hello = queueing;

	(void)state;
	hello.type = BFTM_MSG_HELLO;
	challenge.server_epoch = 8;
	wait.position = BFTM_WAITERS_MAX;
	CHANGED(PLACE, queueing, wait, m.position++);
	CHANGED(PLACE, queueing, wait, m.lease_ns = 0);
	wait.lease_ns = most;
	CHANGED(PLACE, queueing, wait, m.lease_ns++);
	wait.position = 0;		/* a quarantine */
	CHANGED(PLACE, queueing, wait, m.lease_ns++);
	challenge.gno = most;
	CHANGED(PLACE, hello, challenge, m.gno++);
}

static void priorities_below_the_request(void **state)
{
	struct bftm_msg free = reply_to(&queueing, BFTM_MSG_FREE), high = queueing;

	(void)state;
	CHANGED(PRIO, queueing, free, m.prio--);
	CHANGED(NONE, queueing, free, m.prio = ~0ull);
	/* One TRY moves it so far. */
	high.prio = 7 * BFTM_PRIO_JUMP_MAX;
	free.prio = BFTM_PRIO_JUMP_MAX;
	CHANGED(PRIO, high, free, m.prio--);
}

static void epochs_that_come_again(void **state)
{
	struct bftm_epochs e = {};
	u32 i;

	(void)state;
	bftm_epochs_believe(&e, 1, 1, 10);
	assert_false(bftm_epochs_return(&e, 1, 20));
	/* Asked before the first was heard of: which start was the first is not known. */
	bftm_epochs_believe(&e, 2, 9, 12);
	assert_false(bftm_epochs_return(&e, 1, 20));
	bftm_epochs_believe(&e, 1, 10, 13);
	assert_false(bftm_epochs_return(&e, 2, 20));
	bftm_epochs_believe(&e, 3, 14, 20);
	assert_false(bftm_epochs_return(&e, 1, 20));
	assert_true(bftm_epochs_return(&e, 1, 21));
	assert_false(bftm_epochs_return(&e, 2, 21));
	assert_false(bftm_epochs_return(&e, 3, 21));
	for (i = 0; i < BFTM_EPOCHS_LEFT; i++)
		bftm_epochs_believe(&e, 4 + i, 21 + i, 21 + i);
	assert_true(bftm_epochs_return(&e, 3, 99));
	assert_false(bftm_epochs_return(&e, 1, 99));	/* forgotten */
	assert_false(bftm_epochs_return(&e, 0, 99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_servers_never_do),
		cmocka_unit_test_setup(grants_that_run_backwards, waiting),
		cmocka_unit_test_setup(grants_that_were_never_given, waiting),
		cmocka_unit_test_setup(tokens_that_run_backwards, waiting),
		cmocka_unit_test_setup(a_grant_that_is_taken_back, waiting),
		cmocka_unit_test_setup(priorities_that_jump, waiting),
		cmocka_unit_test_setup(a_send_that_was_not_made, waiting),
		cmocka_unit_test_setup(a_restart_is_none, waiting),
		cmocka_unit_test(what_an_answer_repeats),
		cmocka_unit_test(which_answers_there_are),
		cmocka_unit_test(what_members_are_told),
		cmocka_unit_test(epochs_that_are_no_start),
		cmocka_unit_test(places_and_waits_that_no_queue_has),
		cmocka_unit_test(priorities_below_the_request),
		cmocka_unit_test(epochs_that_come_again),
	};

	return cmocka_run_group_tests_name("contradiction", tests, NULL, NULL);
}
