// SPDX-License-Identifier: GPL-2.0
/*
 * try() at one server, told as stories. Times are ns of the server's clock;
 * lease L is kept until L + ⌈Lρ⌉ + tick after the request, and one ns more.
 */
#include "unit.h"

#include "core/backoff/server.h"
#include "core/lease.h"

#define L	(100 * BFTM_NS_PER_MS)
#define RHO	2000
#define GUARD	(100200000 + BFTM_TICK_NS)	/* L (1 + ρ) + tick */
#define T0	(50 * BFTM_NS_PER_SEC)

enum who { NOBODY, ALICE = 7, BOB = 9, CAROL = 11 };

static const struct bftm_server_cfg cfg = {
	.lease_max_ns = BFTM_NS_PER_SEC,
	.quarantine_until_ns = 1000,
	.rho_ppm = RHO,
	.waiters_max = 8,
};

static struct bftm_lock lock;
static struct bftm_msg reply, push;

static int fresh_lock(void **state)
{
	(void)state;
	bftm_lock_init(&lock, 100, 0);
	return 0;
}

static void step(struct bftm_msg req, u64 now)
{
	req.seq = 77;
	req.name_len = 1;
	req.name[0] = 'x';
	req.mode = BFTM_MODE_EX;
	memset(&reply, 0xee, sizeof(reply));
	bftm_server_step(&cfg, &lock, &req, now, &reply, &push);
	/* Nobody waits here. */
	assert_int_equal(push.type, BFTM_MSG_NONE);
	/* A reply of any kind answers this request and echoes its numbers. */
	assert_int_equal(reply.seq, 77);
	assert_int_equal(reply.attempt, req.attempt);
	assert_int_equal(reply.client, req.client);
	assert_int_equal(reply.k, req.k);
	assert_memory_equal(reply.name, req.name, sizeof(req.name));
	assert_int_equal(reply.token, 0);
}

static u8 try_for(u32 client, u64 attempt, u32 k, u64 lease, u64 now)
{
	step((struct bftm_msg){ .type = BFTM_MSG_TRY, .flags = BFTM_FLAG_NOQUEUE,
				.client = client, .attempt = attempt, .k = k,
				.lease_ns = lease, .prio = client }, now);
	return reply.type;
}

static u8 try(u32 client, u64 attempt, u32 k, u64 now)
{
	return try_for(client, attempt, k, L, now);
}

static u8 release(u32 client, u64 attempt, u64 now)
{
	step((struct bftm_msg){ .type = BFTM_MSG_RELEASE, .client = client,
				.attempt = attempt, .k = 1 }, now);
	return reply.type;
}

#define FREE(call)	assert_int_equal(call, BFTM_MSG_FREE)
#define LOCKED(call)	assert_int_equal(call, BFTM_MSG_LOCKED)
#define SILENT(call)	assert_int_equal(call, BFTM_MSG_NONE)
#define RELEASED(call)	assert_int_equal(call, BFTM_MSG_RELEASED)

static void first_come_first_served(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	assert_int_equal(reply.gno, 101);
	assert_true(bftm_lock_owned(&lock, T0));
	LOCKED(try(BOB, 1, 1, T0 + 5));
	assert_int_equal(reply.gno, 101);
	assert_int_equal(reply.lease_ns, GUARD - 5 + 1);	/* an honest estimate */
	RELEASED(release(ALICE, 1, T0 + 10));
	assert_false(bftm_lock_owned(&lock, T0 + 10));
	FREE(try(BOB, 2, 1, T0 + 11));
	assert_int_equal(reply.gno, 102);
}

/* "Expired" means strictly later: the holder may be inside at the instant. */
static void a_grant_is_over_strictly_after_its_end(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	LOCKED(try(BOB, 1, 1, T0 + GUARD - 1));
	LOCKED(try(BOB, 1, 2, T0 + GUARD));
	assert_int_equal(reply.lease_ns, 1);
	assert_true(bftm_lock_owned(&lock, T0 + GUARD));
	assert_false(bftm_lock_expire(&cfg, &lock, T0 + GUARD, &push));
	FREE(try(BOB, 1, 3, T0 + GUARD + 1));
	LOCKED(try(ALICE, 1, 2, T0 + GUARD + 2));
}

static void a_timer_may_take_back_what_is_over(void **state)
{
	(void)state;
	assert_false(bftm_lock_expire(&cfg, &lock, T0, &push));
	FREE(try(ALICE, 1, 1, T0));
	assert_false(bftm_lock_expire(&cfg, &lock, T0 + GUARD, &push));
	assert_true(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	assert_false(bftm_lock_expire(&cfg, &lock, T0 + GUARD + 1, &push));
	assert_false(bftm_lock_owned(&lock, T0));
	/* The numbers of grants go on. */
	FREE(try(ALICE, 1, 2, T0 + GUARD + 2));
	assert_int_equal(reply.gno, 102);
}

/* The client counts from its send of the k that comes back. */
static void refresh_and_echo_go_together(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	FREE(try(ALICE, 1, 2, T0 + L / 2));
	assert_int_equal(reply.k, 2);
	assert_int_equal(reply.gno, 101);		/* no new grant */
	LOCKED(try(BOB, 1, 1, T0 + GUARD + 1));
	LOCKED(try(BOB, 1, 2, T0 + L / 2 + GUARD));
	FREE(try(BOB, 1, 3, T0 + L / 2 + GUARD + 1));
}

/* An old k that comes late is answered; the timer is only ever put off. */
static void reordered_tries_never_shorten_a_grant(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 3, T0));
	FREE(try(ALICE, 1, 1, T0 + 10));
	assert_int_equal(reply.k, 1);
	assert_int_equal(lock.first.k, 3);
	LOCKED(try(BOB, 1, 1, T0 + 10 + GUARD));
	FREE(try(BOB, 1, 1, T0 + 10 + GUARD + 1));
}

/*
 * A client that gives up a later attempt while it holds by an earlier one goes on holding. Servers
 * took that RELEASE for the end of both once, and said nothing to a renewal any more.
 */
static void a_later_attempt_given_up_ends_no_earlier_one(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	LOCKED(try(ALICE, 2, 1, T0 + 5));
	RELEASED(release(ALICE, 2, T0 + 10));
	FREE(try(ALICE, 1, 2, T0 + L / 2));
	assert_int_equal(reply.gno, 101);
	LOCKED(try(BOB, 1, 1, T0 + L / 2 + GUARD));
	/* Its own end is one, and what comes late of it is nothing any more. */
	RELEASED(release(ALICE, 1, T0 + L / 2 + GUARD));
	SILENT(try(ALICE, 1, 3, T0 + L / 2 + GUARD));
	SILENT(try(ALICE, 2, 2, T0 + L / 2 + GUARD));
	FREE(try(BOB, 1, 2, T0 + L / 2 + GUARD));
}

/* Δ is the grant's: neither another client's nor a later try of the owner's. */
static void the_guard_is_that_of_the_grant(void **state)
{
	(void)state;
	FREE(try_for(ALICE, 1, 1, L, T0));
	LOCKED(try_for(BOB, 1, 1, BFTM_LEASE_MIN_NS, T0 + 2 * BFTM_LEASE_MIN_NS));
	LOCKED(try_for(BOB, 1, 2, BFTM_LEASE_MIN_NS, T0 + GUARD));
	/* Against the protocol, and harmless. */
	FREE(try_for(ALICE, 1, 2, BFTM_LEASE_MIN_NS, T0 + GUARD));
	LOCKED(try(BOB, 1, 3, T0 + 2 * GUARD));
	FREE(try(BOB, 1, 4, T0 + 2 * GUARD + 1));
}

/* Nobody else came: the owner's late repetition revives the same grant. */
static void an_overdue_owner_is_still_the_owner(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	FREE(try(ALICE, 1, 2, T0 + 3 * GUARD));
	assert_int_equal(reply.gno, 101);
	LOCKED(try(BOB, 1, 1, T0 + 4 * GUARD));
}

static void release_must_match_client_and_attempt(void **state)
{
	static const struct {
		u32 client;
		u64 attempt;
		bool frees;
	} table[] = {
		{ BOB, 5, false }, { ALICE, 4, false }, { ALICE, 6, false },
		{ BOB, 4, false }, { NOBODY, 5, false }, { ALICE, 5, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		bftm_lock_init(&lock, 0, 0);
		FREE(try(ALICE, 5, 1, T0));
		RELEASED(release(table[i].client, table[i].attempt, T0 + 1));
		assert_int_equal(bftm_lock_owned(&lock, T0 + 1), !table[i].frees);
	}
}

/* The same number of attempt at another client is another attempt. */
static void ownership_must_match_client_and_attempt(void **state)
{
	(void)state;
	FREE(try(ALICE, 5, 1, T0));
	LOCKED(try(BOB, 5, 1, T0 + 1));
	LOCKED(try(ALICE, 6, 1, T0 + 2));
	LOCKED(try(ALICE, 4, 1, T0 + 3));
	FREE(try(ALICE, 5, 2, T0 + 4));
}

static void a_stale_release_does_not_free_a_later_grant(void **state)
{
	(void)state;
	FREE(try(ALICE, 1, 1, T0));
	RELEASED(release(ALICE, 1, T0 + 1));
	FREE(try(ALICE, 2, 1, T0 + 2));
	RELEASED(release(ALICE, 1, T0 + 3));		/* its second copy */
	LOCKED(try(BOB, 1, 1, T0 + 4));
	FREE(try(ALICE, 2, 2, T0 + 5));
}

/* RELEASE overtook the try: that one must not be granted to nobody. */
static void tombs_keep_dead_attempts_dead(void **state)
{
	(void)state;
	RELEASED(release(ALICE, 5, T0));
	SILENT(try(ALICE, 5, 1, T0 + 1));
	SILENT(try(ALICE, 4, 1, T0 + 2));
	assert_false(bftm_lock_owned(&lock, T0 + 2));
	FREE(try(ALICE, 6, 1, T0 + 3));
	RELEASED(release(ALICE, 6, T0 + 4));
	SILENT(try(ALICE, 6, 2, T0 + 5));
	/* An older release does not dig up a newer tomb. */
	RELEASED(release(ALICE, 5, T0 + 6));
	SILENT(try(ALICE, 6, 3, T0 + 7));
	FREE(try(BOB, 5, 1, T0 + 8));
}

/* Two tombs, one for a client, the newest first. */
static void tombs_are_few(void **state)
{
	(void)state;
	release(ALICE, 5, T0);
	release(BOB, 5, T0);
	SILENT(try(ALICE, 5, 1, T0));
	SILENT(try(BOB, 5, 1, T0));
	release(ALICE, 6, T0);			/* replaces her own, not Bob's */
	SILENT(try(ALICE, 6, 1, T0));
	SILENT(try(BOB, 5, 1, T0));
	release(CAROL, 5, T0);			/* the oldest goes */
	SILENT(try(CAROL, 5, 1, T0));
	SILENT(try(ALICE, 6, 1, T0));
	FREE(try(BOB, 5, 1, T0));		/* a phantom, until its lease ends */
}

/* After a start nothing is granted until the longest lease of before is over. */
static void quarantine(void **state)
{
	const u64 end = cfg.quarantine_until_ns;
	u64 max = cfg.lease_max_ns;

	(void)state;
	assert_int_equal(bftm_quarantine(max, RHO, 5),
			 5 + max + max / 500 + BFTM_TICK_NS);
	assert_int_equal(try(ALICE, 1, 1, 0), BFTM_MSG_WAIT);
	assert_int_equal(reply.lease_ns, end + 1);
	assert_int_equal(reply.prio, ALICE);		/* but it listens */
	assert_int_equal(try(BOB, 1, 1, end), BFTM_MSG_WAIT);
	assert_int_equal(reply.lease_ns, 1);
	assert_false(bftm_lock_owned(&lock, end));
	RELEASED(release(BOB, 1, end));
	FREE(try(ALICE, 1, 2, end + 1));
	SILENT(try(BOB, 1, 2, end + 2));
}

/* A server of those that may restart without it grants at once. */
static void no_quarantine(void **state)
{
	struct bftm_server_cfg spared = cfg;
	struct bftm_msg req = {
		.type = BFTM_MSG_TRY, .mode = BFTM_MODE_EX, .flags = BFTM_FLAG_NOQUEUE, .client = BOB,
		.attempt = 1, .k = 1, .lease_ns = L,
	};

	(void)state;
	spared.spared = 1;
	bftm_server_step(&spared, &lock, &req, 0, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_FREE);
}

/* A restart forgets the grant; its holder is gone when others may come. */
static void quarantine_outlasts_every_grant(void **state)
{
	struct bftm_server_cfg next = cfg;
	struct bftm_msg req = {
		.type = BFTM_MSG_TRY, .mode = BFTM_MODE_EX, .flags = BFTM_FLAG_NOQUEUE, .client = BOB,
		.attempt = 1, .k = 1, .lease_ns = L,
	};
	u64 until;

	(void)state;
	FREE(try_for(ALICE, 1, 1, cfg.lease_max_ns, T0));
	until = lock.first.time_ns;
	next.quarantine_until_ns = bftm_quarantine(cfg.lease_max_ns, RHO, T0);
	bftm_lock_init(&lock, 200, 0);
	bftm_server_step(&next, &lock, &req, until, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_WAIT);
	bftm_server_step(&next, &lock, &req, until + 1, &reply, &push);
	assert_int_equal(reply.type, BFTM_MSG_FREE);
}

/* Lamport's priorities: the server reports the highest it saw. */
static void priorities_are_reported(void **state)
{
	(void)state;
	FREE(try(BOB, 1, 1, T0));
	assert_int_equal(reply.prio, BOB);
	LOCKED(try(ALICE, 1, 1, T0));
	assert_int_equal(reply.prio, BOB);
	LOCKED(try(CAROL, 1, 1, T0));
	assert_int_equal(reply.prio, CAROL);
	RELEASED(release(BOB, 1, T0));
	FREE(try(ALICE, 2, 1, T0));
	assert_int_equal(reply.prio, CAROL);
	/* One client cannot use them up. */
	step((struct bftm_msg){ .type = BFTM_MSG_TRY, .client = BOB, .attempt = 2, .k = 1,
				.lease_ns = BFTM_NS_PER_SEC, .prio = ~0ull }, T0);
	assert_true(reply.prio == CAROL + BFTM_PRIO_JUMP_MAX);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_lock)
	const struct CMUnitTest tests[] = {
		TEST(first_come_first_served),
		TEST(a_grant_is_over_strictly_after_its_end),
		TEST(a_timer_may_take_back_what_is_over),
		TEST(refresh_and_echo_go_together),
		TEST(a_later_attempt_given_up_ends_no_earlier_one),
		TEST(reordered_tries_never_shorten_a_grant),
		TEST(the_guard_is_that_of_the_grant),
		TEST(an_overdue_owner_is_still_the_owner),
		TEST(release_must_match_client_and_attempt),
		TEST(ownership_must_match_client_and_attempt),
		TEST(a_stale_release_does_not_free_a_later_grant),
		TEST(tombs_keep_dead_attempts_dead),
		TEST(tombs_are_few),
		TEST(quarantine),
		TEST(no_quarantine),
		TEST(quarantine_outlasts_every_grant),
		TEST(priorities_are_reported),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
