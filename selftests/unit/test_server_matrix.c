// SPDX-License-Identifier: GPL-2.0
/*
 * Every message in every state of a lock at a server: what is answered, who
 * has the lock after it, and whether that was a new grant.
 */
#include "unit.h"

#include "../../kmod/core/backoff_server.h"

#define L	(10 * BFTM_NS_PER_MS)
#define T0	(50 * BFTM_NS_PER_SEC)
#define LATER	(T0 + 2 * L)

enum who { NOBODY, ALICE = 7, BOB = 9 };

static const struct bftm_server_cfg cfg = {
	.lease_max_ns = BFTM_NS_PER_SEC,
	.quarantine_until_ns = 1000,
	.rho_ppm = 2000,
};

static struct bftm_lock lock;

static u8 step(u8 type, u32 client, u64 attempt, u64 now)
{
	struct bftm_msg reply, req = {
		.type = type, .flags = BFTM_FLAG_NOQUEUE, .client = client,
		.attempt = attempt, .k = 1, .lease_ns = L,
	};

	bftm_server_step(&cfg, &lock, &req, now, &reply);
	return reply.type;
}

static void nobody(void) { }

static void alice(void)
{
	step(BFTM_MSG_TRY, ALICE, 5, T0);
}

static void bob(void)
{
	step(BFTM_MSG_TRY, BOB, 5, T0);
}

static void released(void)
{
	alice();
	step(BFTM_MSG_RELEASE, ALICE, 5, T0);
}

static void released_then_bob(void)
{
	released();
	bob();
}

static void alice_again(void)
{
	released();
	step(BFTM_MSG_TRY, ALICE, 6, T0);
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
};

static const struct {
	const char *what;
	struct bftm_msg msg;
} messages[] = {
	{ "TRY", { .type = BFTM_MSG_TRY, .attempt = 5, .lease_ns = L, .flags = 1 } },
	{ "TRY that wants to queue", { .type = BFTM_MSG_TRY, .attempt = 5, .lease_ns = L } },
	{ "TRY, Δ too short", { .type = BFTM_MSG_TRY, .attempt = 5, .lease_ns = 1, .flags = 1 } },
	{ "RELEASE", { .type = BFTM_MSG_RELEASE, .attempt = 5 } },
	{ "RELEASE of the one before", { .type = BFTM_MSG_RELEASE, .attempt = 4 } },
	{ "YIELD", { .type = BFTM_MSG_YIELD, .attempt = 5, .gno = 1 } },
	{ "STAMP", { .type = BFTM_MSG_STAMP, .attempt = 5, .token = 1 } },
};

/* What is answered, who has it then, is the grant's number a new one? */
struct cell {
	u8 reply;
	u32 owner;
	bool granted;
};

#define F_NEW	{ BFTM_MSG_FREE, ALICE, true }
#define F_OLD	{ BFTM_MSG_FREE, ALICE, false }
#define LOCK	{ BFTM_MSG_LOCKED, BOB, false }
#define NONE	{ BFTM_MSG_NONE, NOBODY, false }
#define NONE_B	{ BFTM_MSG_NONE, BOB, false }
#define NONE_A	{ BFTM_MSG_NONE, ALICE, false }
#define WAIT	{ BFTM_MSG_WAIT, NOBODY, false }
#define REF	{ BFTM_MSG_REFUSED, NOBODY, false }
#define REF_A	{ BFTM_MSG_REFUSED, ALICE, false }
#define REF_B	{ BFTM_MSG_REFUSED, BOB, false }
#define REL	{ BFTM_MSG_RELEASED, NOBODY, false }
#define REL_A	{ BFTM_MSG_RELEASED, ALICE, false }
#define REL_B	{ BFTM_MSG_RELEASED, BOB, false }

static const struct cell matrix[ARRAY_SIZE(states)][ARRAY_SIZE(messages)] = {
	/* TRY     queue  short  REL    REL 4  YIELD  STAMP */
	{ WAIT,    REF,   REF,   REL,   REL,   REF,   REF },	/* quarantine */
	{ F_NEW,   REF,   REF,   REL,   REL,   REF,   REF },	/* nobody */
	{ F_OLD,   REF_A, REF_A, REL,   REL_A, REF_A, REF_A },	/* she */
	{ F_OLD,   REF,   REF,   REL,   REL,   REF,   REF },	/* hers is over */
	{ LOCK,    REF_B, REF_B, REL_B, REL_B, REF_B, REF_B },	/* Bob */
	{ F_NEW,   REF,   REF,   REL,   REL,   REF,   REF },	/* Bob's is over */
	{ NONE,    REF,   REF,   REL,   REL,   REF,   REF },	/* given back */
	{ NONE_B,  REF_B, REF_B, REL_B, REL_B, REF_B, REF_B },	/* …, Bob */
	{ NONE_A,  REF_A, REF_A, REL_A, REL_A, REF_A, REF_A },	/* …, she again */
};

static void check(size_t s, size_t m)
{
	const struct cell *want = &matrix[s][m];
	struct bftm_msg req = messages[m].msg, reply;
	u32 owner;
	u64 gno;

	bftm_lock_init(&lock, 0);
	states[s].enter();
	gno = lock.gno;
	req.client = ALICE;
	req.k = 2;
	bftm_server_step(&cfg, &lock, &req, states[s].now, &reply);
	owner = bftm_lock_owned(&lock, states[s].now) ? lock.client : NOBODY;
	if (reply.type != want->reply || owner != want->owner ||
	    lock.gno != gno + want->granted)
		fail_msg("%s, %s: %s, owner %u, gno +%d", states[s].what, messages[m].what,
			 bftm_msg_name(reply.type), owner, (int)(lock.gno - gno));
	if (reply.type == BFTM_MSG_FREE)
		assert_int_equal(reply.gno, lock.gno);
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
	struct bftm_msg reply, req = messages[0].msg;
	size_t i;

	(void)state;
	req.k = 1;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		bftm_lock_init(&lock, 0);
		req.lease_ns = table[i].lease_ns;
		bftm_server_step(&cfg, &lock, &req, T0, &reply);
		assert_int_equal(reply.type, table[i].reply);
		assert_int_equal(bftm_lock_owned(&lock, T0), reply.type == BFTM_MSG_FREE);
		if (reply.type == BFTM_MSG_REFUSED) {
			assert_int_equal(reply.position, BFTM_REFUSED_LEASE);
			assert_int_equal(reply.lease_ns, cfg.lease_max_ns);
		}
	}
}

/* Attempts and sends are counted from 1, and k may be as large as it gets. */
static void zero_is_no_attempt_and_no_send(void **state)
{
	struct bftm_msg reply, req = messages[0].msg;

	(void)state;
	bftm_lock_init(&lock, 0);
	assert_int_equal(step(BFTM_MSG_TRY, ALICE, 0, T0), BFTM_MSG_REFUSED);
	assert_int_equal(step(BFTM_MSG_RELEASE, ALICE, 0, T0), BFTM_MSG_REFUSED);
	bftm_server_step(&cfg, &lock, &req, T0, &reply);
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.position, BFTM_REFUSED_PROTO);
	assert_false(bftm_lock_owned(&lock, T0));

	req.k = ~0u;
	bftm_server_step(&cfg, &lock, &req, T0, &reply);
	assert_int_equal(reply.type, BFTM_MSG_FREE);
	assert_int_equal(reply.k, ~0u);
	req.k = 1;
	bftm_server_step(&cfg, &lock, &req, T0, &reply);
	assert_int_equal(reply.k, 1);
	assert_int_equal(lock.k, ~0u);
}

static void releasing_what_is_unknown_is_answered(void **state)
{
	struct bftm_msg reply, req = messages[3].msg;

	(void)state;
	bftm_server_step(&cfg, NULL, &req, T0, &reply);
	assert_int_equal(reply.type, BFTM_MSG_RELEASED);
	req.type = BFTM_MSG_STAMP;
	bftm_server_step(&cfg, NULL, &req, T0, &reply);
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
}

/* What the protocol does not even see, and what is said instead. */
static const struct {
	const char *what;
	struct bftm_msg msg;
	u8 reply;		/* BFTM_MSG_NONE: the protocol sees it */
} admission[] = {
	{ "all is well", { .type = BFTM_MSG_TRY, .proto = 1, .server_epoch = 9 }, BFTM_MSG_NONE },
	{ "RELEASE", { .type = BFTM_MSG_RELEASE, .proto = 1, .server_epoch = 9 }, BFTM_MSG_NONE },
	{ "HELLO", { .type = BFTM_MSG_HELLO, .proto = 1, .server_epoch = 9 }, BFTM_MSG_CHALLENGE },
	{ "no epoch", { .type = BFTM_MSG_TRY, .proto = 1 }, BFTM_MSG_CHALLENGE },
	{ "stale", { .type = BFTM_MSG_TRY, .proto = 1, .server_epoch = 8 }, BFTM_MSG_CHALLENGE },
	{ "a stale RELEASE", { .type = BFTM_MSG_RELEASE, .proto = 1 }, BFTM_MSG_CHALLENGE },
	{ "another protocol", { .type = BFTM_MSG_TRY, .server_epoch = 9 }, BFTM_MSG_REFUSED },
	{ "both", { .type = BFTM_MSG_TRY, .server_epoch = 8 }, BFTM_MSG_CHALLENGE },
};

static void strangers_are_not_admitted(void **state)
{
	static const struct bftm_server_cfg self = {
		.cluster = 3, .id = 5, .epoch = 9, .lease_max_ns = L, .quarantine_until_ns = T0,
	};
	struct bftm_msg reply, req = { .type = BFTM_MSG_TRY, .cluster = 3, .server = 5 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(admission); i++) {
		reply.type = BFTM_MSG_NONE;
		assert_int_equal(bftm_admit(&self, &admission[i].msg, T0 - 7, &reply),
				 admission[i].reply == BFTM_MSG_NONE);
		if (reply.type != admission[i].reply)
			fail_msg("%s: %s", admission[i].what, bftm_msg_name(reply.type));
		if (reply.type == BFTM_MSG_CHALLENGE) {
			assert_int_equal(reply.lease_ns, L);
			assert_int_equal(reply.gno, 8);		/* ns of quarantine left */
		}
	}
	assert_false(bftm_admit(&self, &admission[2].msg, T0, &reply));
	assert_int_equal(reply.gno, 1);
	assert_false(bftm_admit(&self, &admission[2].msg, T0 + 1, &reply));
	assert_int_equal(reply.gno, 0);

	for (i = 0; i < 256; i++) {
		req.type = (u8)i;
		assert_int_equal(bftm_admit_address(&self, &req), i < BFTM_MSG_REPLY);
	}
	req.type = BFTM_MSG_TRY;
	req.cluster = 4;
	assert_false(bftm_admit_address(&self, &req));
	req.cluster = 3;
	req.server = 6;
	assert_false(bftm_admit_address(&self, &req));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_in_every_state),
		cmocka_unit_test(leases_have_bounds),
		cmocka_unit_test(zero_is_no_attempt_and_no_send),
		cmocka_unit_test(releasing_what_is_unknown_is_answered),
		cmocka_unit_test(strangers_are_not_admitted),
	};

	return cmocka_run_group_tests_name("server matrix", tests, NULL, NULL);
}
