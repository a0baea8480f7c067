// SPDX-License-Identifier: GPL-2.0
/*
 * Every message in every state of a lock at a server: what is answered, who
 * has the lock after it, who waits, and who else hears of it.
 */
#include "unit.h"

#include "core/backoff/server.h"

#define L	(10 * BFTM_NS_PER_MS)
#define T0	(50 * BFTM_NS_PER_SEC)
#define LATER	(T0 + 2 * L)
#define SOON	(T0 + L + L / 100)	/* and nobody who waits is forgotten */

enum who { NOBODY, ALICE = 7, BOB = 9, CAROL = 11 };

static const struct bftm_server_cfg cfg = {
	.lease_max_ns = BFTM_NS_PER_SEC,
	.quarantine_until_ns = 1000,
	.rho_ppm = 2000,
	.waiters_max = 4,
};

static struct bftm_lock lock;
static union {
	struct bftm_queue queue;
	u8 raw[sizeof(struct bftm_queue) + 4 * sizeof(struct bftm_seat)];
} waiters;

static void fresh_lock(void)
{
	bftm_lock_init(&lock, 0, 0);
	waiters.queue.count = 0;
	waiters.queue.room = 4;
	lock.queue = &waiters.queue;
}

static u8 step(u8 type, u32 client, u64 attempt, u64 now, u16 flags)
{
	struct bftm_msg reply, push, req = {
		.type = type, .flags = flags, .client = client, .attempt = attempt, .k = 1,
		.lease_ns = L, .prio = client, .mode = BFTM_MODE_EX,
	};

	bftm_server_step(&cfg, &lock, &req, now, &reply, &push);
	return reply.type;
}

static void nobody(void) { }
static void alice(void) { step(BFTM_MSG_TRY, ALICE, 5, T0, BFTM_FLAG_NOQUEUE); }
static void bob(void) { step(BFTM_MSG_TRY, BOB, 5, T0, BFTM_FLAG_NOQUEUE); }

static void released(void)
{
	alice();
	step(BFTM_MSG_RELEASE, ALICE, 5, T0, 0);
}

static void released_then_bob(void)
{
	released();
	bob();
}

static void alice_again(void)
{
	released();
	step(BFTM_MSG_TRY, ALICE, 6, T0, BFTM_FLAG_NOQUEUE);
}

static void bob_then_alice(void)
{
	bob();
	step(BFTM_MSG_TRY, ALICE, 5, T0, 0);
}

static void alice_then_bob(void)
{
	alice();
	step(BFTM_MSG_TRY, BOB, 5, T0, 0);
}

static void alice_then_two(void)
{
	alice_then_bob();
	step(BFTM_MSG_TRY, CAROL, 5, T0, 0);
}

/* Heard so late that they still wait when Bob's is over. */
static void bob_then_two(void)
{
	bob();
	step(BFTM_MSG_TRY, CAROL, 5, T0 + L, 0);
	step(BFTM_MSG_TRY, ALICE, 5, T0 + L, 0);
}

static void bob_then_carol(void)
{
	bob();
	step(BFTM_MSG_TRY, CAROL, 5, T0 + L, 0);
}

static void alice_then_newer_alice(void)
{
	alice();
	step(BFTM_MSG_TRY, ALICE, 6, T0, 0);
}

static void bob_then_newer_alice(void)
{
	bob();
	step(BFTM_MSG_TRY, ALICE, 6, T0, 0);
}

/* States; the messages of the table below are Alice's and about attempt 5. */
static const struct {
	const char *what;
	void (*enter)(void);
	u64 now;
} states[] = {
	{ "quarantine", nobody, 1000 },
	{ "nobody has it", nobody, T0 },
	{ "she has it", alice, T0 },
	{ "hers is over", alice, LATER },
	{ "Bob has it", bob, T0 },
	{ "Bob's is over", bob, LATER },
	{ "she gave it back", released, T0 },
	{ "she gave it back and Bob has it", released_then_bob, T0 },
	{ "she gave it back and has it again", alice_again, T0 },
	{ "Bob has it and she waits", bob_then_alice, T0 },
	{ "she has it and Bob waits", alice_then_bob, T0 },
	{ "she has it, Bob and Carol wait", alice_then_two, T0 },
	{ "Bob's is over, Carol and she wait", bob_then_two, SOON },
	{ "Bob's is over, Carol waits", bob_then_carol, SOON },
	{ "she has it and waits with attempt 6", alice_then_newer_alice, T0 },
	{ "Bob has it and she waits with attempt 6", bob_then_newer_alice, T0 },
};

static const struct {
	const char *what;
	struct bftm_msg msg;
	bool wrong_gno;
} messages[] = {
	{ "TRY that does not queue",
	  .msg = { .type = BFTM_MSG_TRY, .mode = BFTM_MODE_EX, .attempt = 5, .lease_ns = L,
		 .flags = BFTM_FLAG_NOQUEUE } },
	{ "TRY", .msg = { .type = BFTM_MSG_TRY, .attempt = 5, .lease_ns = L } },
	{ "TRY, Δ too short", .msg = { .type = BFTM_MSG_TRY, .attempt = 5, .lease_ns = 1 } },
	{ "RELEASE", .msg = { .type = BFTM_MSG_RELEASE, .attempt = 5 } },
	{ "RELEASE of the one before", .msg = { .type = BFTM_MSG_RELEASE, .attempt = 4 } },
	{ "YIELD", .msg = { .type = BFTM_MSG_YIELD, .attempt = 5 } },
	{ "YIELD of another grant", .msg = { .type = BFTM_MSG_YIELD, .attempt = 5 }, .wrong_gno = true },
	{ "STAMP", .msg = { .type = BFTM_MSG_STAMP, .attempt = 5, .token = 1 } },
};

/*
 * The answer ("-" for silence), the owner then, "+" for a new grant, how
 * many wait, and what is said to whom unasked.
 */
static const char *const matrix[ARRAY_SIZE(states)][ARRAY_SIZE(messages)] = {
	/* TRY at once, TRY, too short, RELEASE, RELEASE 4, YIELD, YIELD other, STAMP */
	{ /* quarantine */
	  "WAIT - 0", "WAIT - 0", "REFUSED - 0", "RELEASED - 0",
	  "RELEASED - 0", "- - 0", "- - 0", "SACK - 0" },
	{ /* nobody */
	  "FREE A+ 0", "FREE A+ 0", "REFUSED - 0", "RELEASED - 0",
	  "RELEASED - 0", "- - 0", "- - 0", "SACK - 0" },
	{ /* she */
	  "FREE A 0", "FREE A 0", "REFUSED A 0", "RELEASED - 0",
	  "RELEASED A 0", "- A+ 0 FREE A", "- A 0", "SACK A 0" },
	{ /* hers is over */
	  "FREE A 0", "FREE A 0", "REFUSED - 0", "RELEASED - 0",
	  "RELEASED - 0", "- A+ 0 FREE A", "- - 0", "SACK - 0" },
	{ /* Bob */
	  "LOCKED B 0", "WAIT B 1 INQUIRE B", "REFUSED B 0", "RELEASED B 0",
	  "RELEASED B 0", "- B 0", "- B 0", "SACK B 0" },
	{ /* Bob's is over */
	  "FREE A+ 0", "FREE A+ 0", "REFUSED - 0", "RELEASED - 0",
	  "RELEASED - 0", "- - 0", "- - 0", "SACK - 0" },
	{ /* given back */
	  "- - 0", "- - 0", "REFUSED - 0", "RELEASED - 0",
	  "RELEASED - 0", "- - 0", "- - 0", "SACK - 0" },
	{ /* …, Bob */
	  "- B 0", "- B 0", "REFUSED B 0", "RELEASED B 0",
	  "RELEASED B 0", "- B 0", "- B 0", "SACK B 0" },
	{ /* …, she again */
	  "- A 0", "- A 0", "REFUSED A 0", "RELEASED A 0",
	  "RELEASED A 0", "- A 0", "- A 0", "SACK A 0" },
	{ /* Bob, she waits */
	  "LOCKED B 1", "WAIT B 1 INQUIRE B", "REFUSED B 1", "RELEASED B 0",
	  "RELEASED B 1", "- B 1", "- B 1", "SACK B 1" },
	{ /* she, Bob waits */
	  "FREE A 1", "FREE A 1", "REFUSED A 1", "RELEASED B+ 0 FREE B",
	  "RELEASED A 1", "- A+ 1 FREE A", "- A 1", "SACK A 1" },
	{ /* she, two wait */
	  "FREE A 2", "FREE A 2", "REFUSED A 2", "RELEASED B+ 1 FREE B",
	  "RELEASED A 2", "- A+ 2 FREE A", "- A 2", "SACK A 2" },
	{ /* Bob's over, two wait */
	  "FREE A+ 1", "FREE A+ 1", "REFUSED - 2", "RELEASED - 1",
	  "RELEASED - 2", "- - 2", "- - 2", "SACK - 2" },
	{ /* Bob's over, Carol waits */
	  "LOCKED C+ 0 FREE C", "FREE A+ 1", "REFUSED - 1", "RELEASED - 1",
	  "RELEASED - 1", "- - 1", "- - 1", "SACK - 1" },
	{ /* she, and waits with 6 */
	  "FREE A 1", "FREE A 1", "REFUSED A 1", "RELEASED A+ 0 FREE A",
	  "RELEASED A 1", "- A+ 0 FREE A", "- A 1", "SACK A 1" },
	{ /* Bob, she waits with 6 */
	  "- B 1", "- B 1", "REFUSED B 1", "RELEASED B 1",
	  "RELEASED B 1", "- B 1", "- B 1", "SACK B 1" },
};

static char initial(u32 client)
{
	return client == ALICE ? 'A' : client == BOB ? 'B' : client == CAROL ? 'C' : '-';
}

static void check(size_t s, size_t m)
{
	struct bftm_msg req = messages[m].msg, reply, push;
	char got[64], said[32] = "";
	u32 owner;
	u64 gno;

	fresh_lock();
	states[s].enter();
	gno = lock.gno;
	req.client = ALICE;
	req.prio = ALICE;
	req.k = 2;
	req.gno = gno - messages[m].wrong_gno;
	req.mode = BFTM_MODE_EX;
	bftm_server_step(&cfg, &lock, &req, states[s].now, &reply, &push);
	owner = bftm_lock_owned(&lock, states[s].now) ? lock.first.client : NOBODY;
	if (push.type != BFTM_MSG_NONE)
		snprintf(said, sizeof(said), " %s %c", bftm_msg_name(push.type),
			 initial(push.client));
	assert_in_range(lock.gno, gno, gno + 1);
	snprintf(got, sizeof(got), "%s %c%s %u%s",
		 reply.type == BFTM_MSG_NONE ? "-" : bftm_msg_name(reply.type), initial(owner),
		 lock.gno > gno ? "+" : "", waiters.queue.count, said);
	if (!matrix[s][m] || strcmp(got, matrix[s][m]))
		fail_msg("%s, %s: \"%s\" for \"%s\"", states[s].what, messages[m].what, got,
			 matrix[s][m] ?: "");
	if (reply.type == BFTM_MSG_FREE)
		assert_int_equal(reply.gno, lock.gno);
	if (push.type != BFTM_MSG_NONE) {
		assert_int_equal(push.gno, lock.gno);
		assert_int_equal(push.client, lock.first.client);
		assert_int_equal(push.attempt, lock.first.attempt);
		assert_int_equal(push.seq, 0);
	}
}

static void every_message_in_every_state(void **state)
{
	size_t s, m;

	(void)state;
	for (s = 0; s < ARRAY_SIZE(states); s++)
		for (m = 0; m < ARRAY_SIZE(messages); m++)
			check(s, m);
}

static void leases_have_bounds(void **state)
{
	static const struct {
		u64 lease_ns;
		u8 reply;
	} table[] = {
		{ 0, BFTM_MSG_REFUSED },
		{ BFTM_LEASE_MIN_NS - 1, BFTM_MSG_REFUSED },
		{ BFTM_LEASE_MIN_NS, BFTM_MSG_FREE },
		{ BFTM_NS_PER_SEC, BFTM_MSG_FREE },
		{ BFTM_NS_PER_SEC + 1, BFTM_MSG_REFUSED },
		{ ~0ull, BFTM_MSG_REFUSED },
	};
	struct bftm_msg reply, push, req = messages[0].msg;
	size_t i;

	(void)state;
	req.k = 1;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		fresh_lock();
		req.lease_ns = table[i].lease_ns;
		bftm_server_step(&cfg, &lock, &req, T0, &reply, &push);
		assert_int_equal(reply.type, table[i].reply);
		assert_int_equal(bftm_lock_owned(&lock, T0), reply.type == BFTM_MSG_FREE);
		if (reply.type == BFTM_MSG_REFUSED) {
			assert_int_equal(reply.arg, req.lease_ns == BFTM_LEASE_NONE ?
						    BFTM_REFUSED_ACCESS : BFTM_REFUSED_LEASE);
			assert_int_equal(reply.lease_ns, cfg.lease_max_ns);
		}
	}
}

/* Both are counted from 1, and k may be as large as it gets. */
static void zero_is_no_attempt_and_no_send(void **state)
{
	struct bftm_msg reply, push, req = messages[0].msg;

	(void)state;
	fresh_lock();
	assert_int_equal(step(BFTM_MSG_TRY, ALICE, 0, T0, 0), BFTM_MSG_REFUSED);
	assert_int_equal(step(BFTM_MSG_RELEASE, ALICE, 0, T0, 0), BFTM_MSG_REFUSED);
	bftm_server_step(&cfg, &lock, &req, T0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_PROTO);
	assert_false(bftm_lock_owned(&lock, T0));

	req.k = ~0u;
	bftm_server_step(&cfg, &lock, &req, T0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_FREE);
	assert_int_equal(reply.k, ~0u);
	req.k = 1;
	bftm_server_step(&cfg, &lock, &req, T0, &reply, &push);
	assert_int_equal(reply.k, 1);
	assert_int_equal(lock.first.k, ~0u);
}

static void releasing_what_is_unknown_is_answered(void **state)
{
	struct bftm_msg reply, push, req = messages[3].msg;

	(void)state;
	bftm_server_step(&cfg, NULL, &req, T0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_RELEASED);
	assert_int_equal(push.type, BFTM_MSG_NONE);
	req.type = BFTM_MSG_YIELD;
	bftm_server_step(&cfg, NULL, &req, T0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_NONE);
	assert_int_equal(push.type, BFTM_MSG_NONE);
	/* The others make the lock. */
	req = messages[0].msg;
	req.k = 1;
	for (req.type = 0; req.type < 255; req.type++)
		assert_int_equal(bftm_server_needs(&cfg, &req), req.type == BFTM_MSG_TRY ||
								req.type == BFTM_MSG_STAMP);
}

/* And its answer is the same, whether the lock is there or not. */
static void assert_takes_no_place(const struct bftm_msg *req, u32 reason)
{
	struct bftm_msg reply, push;

	assert_false(bftm_server_needs(&cfg, req));
	bftm_server_step(&cfg, NULL, req, T0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, reason);
	assert_int_equal(push.type, BFTM_MSG_NONE);
}

/* A request that is refused for its form says nothing about any lock. */
static void malformed_requests_take_no_place(void **state)
{
	struct bftm_msg good = messages[0].msg, req;

	(void)state;
	good.k = 1;
	assert_true(bftm_server_needs(&cfg, &good));
	req = good;
	req.attempt = 0;
	assert_takes_no_place(&req, BFTM_REFUSED_PROTO);
	req = good;
	req.k = 0;
	assert_takes_no_place(&req, BFTM_REFUSED_PROTO);
	req = good;
	req.lease_ns = BFTM_LEASE_MIN_NS - 1;
	assert_takes_no_place(&req, BFTM_REFUSED_LEASE);
	req.lease_ns = cfg.lease_max_ns + 1;
	assert_takes_no_place(&req, BFTM_REFUSED_LEASE);
	req.lease_ns = cfg.lease_max_ns;
	assert_true(bftm_server_needs(&cfg, &req));
	req.type = BFTM_MSG_STAMP;
	req.lease_ns = 0;
	req.k = 0;
	req.token = BFTM_TOKEN_UNKNOWN;
	assert_takes_no_place(&req, BFTM_REFUSED_PROTO);
	req.token = 1;
	assert_true(bftm_server_needs(&cfg, &req));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_in_every_state),
		cmocka_unit_test(leases_have_bounds),
		cmocka_unit_test(zero_is_no_attempt_and_no_send),
		cmocka_unit_test(releasing_what_is_unknown_is_answered),
		cmocka_unit_test(malformed_requests_take_no_place),
	};

	return cmocka_run_group_tests_name("server matrix", tests, NULL, NULL);
}
