// SPDX-License-Identifier: GPL-2.0
/* contend() of one client that waits in the servers' queue. */
#include "contender.h"

#define POLL	(L / 8)

static int queueing_client(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_QUEUE;
	return 0;
}

static enum bftm_verdict waits(u32 u, u32 position, u64 wait_ns, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_WAIT, .attempt = c.base.attempt, .k = c.base.sends,
		.position = position, .lease_ns = wait_ns,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
	return out.verdict;
}

static void all_wait(u32 set, u64 now)
{
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1)
			assert_int_equal(waits(u, 1, POLL, now), BFTM_PENDING);
}

static void uncontended_is_one_round_trip(void **state)
{
	(void)state;
	start(8, T0);
	assert_true(bftm_contender_queues(&c.base));
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(all_say(0x1f, BFTM_MSG_FREE, T0 + 1), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	assert_true(out.round_over);
	assert_int_equal(out.said_free, 0x1f);
}

/* However many say no: the attempt is one for the whole wait. */
static void waiting_loses_no_round(void **state)
{
	static const u8 type[] = { BFTM_MSG_WAIT, BFTM_MSG_LOCKED };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(type); i++) {
		start(i + 1, T0);
		assert_int_equal(all_say(ALL, type[i], T0 + 1), BFTM_PENDING);
		assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
		assert_int_equal(out.release_to | bftm_out_to(&out, BFTM_MSG_TRY), 0);
		assert_int_equal(c.base.attempt, i + 1);
		assert_int_equal(c.base.wake_ns, T0 + POLL);
	}
}

/* The same attempt, the next k, to all; and what became of the last poll. */
static void polls(void **state)
{
	u64 now = T0;
	u32 i;

	(void)state;
	start(5, T0);
	for (i = 2; i < 40; i++) {
		all_wait(ALL & ~1u, now + 1);
		assert_int_equal(waits(0, 2, 7, now + 1), BFTM_PENDING);
		assert_quiet();
		assert_int_equal(c.base.wake_ns, now + POLL);
		wake(c.base.wake_ns - 1, 99, 0);
		assert_quiet();
		now = c.base.wake_ns;
		wake(now, 99, 0);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
		assert_int_equal(out.release_to, 0);
		assert_int_equal(c.base.attempt, 5);
		assert_int_equal(c.base.prio, 1);
		assert_int_equal(c.base.sends, i);
		assert_int_equal(c.base.rounds, i);
		assert_true(out.round_over);
		assert_int_equal(out.said_locked, ALL);
		assert_int_equal(out.said_free | out.silent, 0);
	}
}

/* The next poll comes after half of T_w, an eighth to a half of a lease; b servers move nothing. */
static void polls_as_servers_say(void **state)
{
	static const struct {
		u64 wait_ns, poll_ns;
	} told[] = {
		{ 1, POLL }, { 2 * POLL, POLL }, { 3 * POLL, 3 * POLL / 2 }, { 6 * POLL, 3 * POLL },
		{ 8 * POLL, 4 * POLL }, { L * 1000, 4 * POLL }, { ~0ull, 4 * POLL },
	};
	size_t i;
	u32 u;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		start(i + 1, T0);
		waits(0, 2, told[i].wait_ns, T0 + 1);
		assert_int_equal(c.poll_ns, T0 + POLL);
		for (u = 1; u < 6; u++)
			waits(u, 2, told[i].wait_ns, T0 + 1);
		assert_int_equal(c.poll_ns, T0 + told[i].poll_ns);
		waits(6, 2, 1, T0 + 1);
		assert_int_equal(c.poll_ns, T0 + told[i].poll_ns);
		waits(6, 2, ~0ull, T0 + 1);
		assert_int_equal(c.poll_ns, T0 + told[i].poll_ns);
		assert_int_equal(c.base.wake_ns, c.poll_ns);
	}
	/* Only answers to this poll say when the next is due. */
	wake(c.base.wake_ns, 9, 0);
	assert_int_equal(c.poll_ns, T0 + 5 * POLL);
	/* One grant may be a liar's; two are not. */
	for (u = 2; u < 7; u++)
		waits(u, 2, 8 * POLL, T0 + 4 * POLL + 1);
	says(0, BFTM_MSG_FREE, 2, T0 + 4 * POLL + 2);
	assert_int_equal(c.poll_ns, T0 + 8 * POLL);
	says_of(1, BFTM_MSG_FREE, 2, 7, T0 + 4 * POLL + 2);
	assert_int_equal(c.poll_ns, T0 + 4 * POLL + 2 + RESEND);
	waits(6, 2, 8 * POLL, T0 + 4 * POLL + 3);
	assert_int_equal(c.poll_ns, T0 + 4 * POLL + 2 + RESEND);
}

static void told(u32 u, u8 type, u64 prio, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .mode = BFTM_MODE_EX, .attempt = c.base.attempt, .k = c.base.sends,
		.gno = 7, .prio = prio, .position = type == BFTM_MSG_WAIT, .lease_ns = POLL,
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
}

static void assert_prio(u64 now, u64 prio)
{
	assert_int_equal(c.base.wake_ns, now);
	wake(now, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(out.send[0].prio, prio);
}

/* It first asks with 1. When b + 1 servers tell of more, it soon asks for the place behind. */
static void a_newcomer_goes_behind(void **state)
{
	u32 u;

	(void)state;
	start(1, T0);
	assert_int_equal(out.send[0].prio, 1);
	for (u = 0; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 40 + u, T0 + 1);
	assert_quiet();
	assert_int_equal(c.base.attempt, 1);
	assert_prio(T0 + RESEND, 46);		/* of the two highest the lower, plus 1 */
	/* Once. Others that come now have a higher one. */
	for (u = 0; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 90, T0 + RESEND + 1);
	assert_prio(T0 + RESEND + POLL, 46);
	/* One liar makes nobody go behind, and a client that knows more has no reason to. */
	assert_int_equal(fresh_client(state), 0);
	want.wait = BFTM_WAIT_QUEUE;
	start(2, T0);
	told(0, BFTM_MSG_WAIT, 40, T0 + 1);
	for (u = 1; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 1, T0 + 1);
	assert_prio(T0 + POLL, 1);
}

/* An earlier version of a server would keep the priority that a grant began with. */
static void beside_an_older_server_nobody_goes_behind(void **state)
{
	struct bftm_msg challenge = { .type = BFTM_MSG_CHALLENGE };
	u32 u;

	(void)state;
	bftm_client_challenge(&cfg, 3, &challenge);
	start(1, T0);
	for (u = 0; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 40, T0 + 1);
	assert_prio(T0 + POLL, 1);
	/* It was updated. */
	challenge.features = BFTM_FEATURE_PRIO;
	bftm_client_challenge(&cfg, 3, &challenge);
	assert_int_equal(fresh_client(state), 0);
	want.wait = BFTM_WAIT_QUEUE;
	start(2, T0);
	for (u = 0; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 40, T0 + 1);
	assert_prio(T0 + RESEND, 41);
}

/* Of others that came after it, FREE tells as well: it has waited for that. */
static void who_has_waited_stays(void **state)
{
	u32 u;

	(void)state;
	start(1, T0);
	for (u = 0; u < 6; u++)
		told(u, BFTM_MSG_WAIT, 1, T0 + 1);
	told(6, BFTM_MSG_WAIT, 2, T0 + 1);
	told(0, BFTM_MSG_FREE, 2, T0 + RESEND - 1);
	assert_true(c.base.wake_ns > T0 + RESEND);
	told(1, BFTM_MSG_FREE, 2, T0 + RESEND);
	assert_prio(T0 + 2 * RESEND, 1);
	/* Nor does it give up what b + 1 servers grant it: they have agreed on it. */
	assert_int_equal(fresh_client(state), 0);
	want.wait = BFTM_WAIT_QUEUE;
	start(2, T0);
	told(0, BFTM_MSG_FREE, 40, T0 + 1);
	told(1, BFTM_MSG_FREE, 40, T0 + 1);
	for (u = 2; u < 7; u++)
		told(u, BFTM_MSG_WAIT, 40, T0 + 1);
	assert_prio(T0 + 1 + RESEND, 1);
}

/* To the silent again, twice as late each time, until the next poll. */
static void resends(void **state)
{
	static const u32 at[] = { 1, 2, 4, 8, 16, 24, 32, 40 };
	u64 now;
	size_t i;

	(void)state;
	want.lease_ns = 8 * 45 * RESEND;
	start(1, T0);
	all_wait(0x1f, T0 + 1);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		now = T0 + at[i] * RESEND;
		assert_int_equal(c.base.wake_ns, now);
		wake(now, 9, 0);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x60);
		assert_false(out.round_over);
	}
	assert_int_equal(c.base.wake_ns, T0 + 45 * RESEND);
	wake(c.base.wake_ns, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(out.silent, 0x60);
	assert_int_equal(c.base.wake_ns, T0 + 46 * RESEND);	/* it doubles anew */
	/* When the last has answered there is nothing to resend. */
	all_wait(ALL, c.base.wake_ns - 1);
	assert_int_equal(c.base.wake_ns, T0 + 90 * RESEND);
}

/* b silent servers make no send time be forgotten, however long the lease. */
static void silence_of_some_costs_no_grant_of_others(void **state)
{
	u64 sent, end;
	u32 u;

	(void)state;
	want.lease_ns = BFTM_LEASE_MAX_NS;
	start(1, T0);
	all_wait(0x3f, T0 + 1);
	sent = T0;
	end = sent + want.lease_ns / 8;
	while (c.base.wake_ns < end)
		wake(c.base.wake_ns, 9, 0);
	/* The release that all waited for: pushes echo what was heard last. */
	for (u = 0; u < 5; u++)
		says_of(u, BFTM_MSG_FREE, 1, 7, end - 1);
	assert_int_equal(out.verdict, BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg),
			 sent + bftm_lease_at_client(want.lease_ns, cfg.rho_ppm));
}

/* A grant of an earlier poll counts, from its own send, as long as it is good. */
static void grants_are_kept_over_polls(void **state)
{
	const u64 late = T0 + GOOD - LEAST;
	u64 t1 = T0 + POLL;

	(void)state;
	start(1, T0);
	all_say(0x07, BFTM_MSG_FREE, T0 + 1);
	wake(c.base.wake_ns, 9, 0);
	while (c.base.sends < 2)
		wake(c.base.wake_ns, 9, 0);
	t1 = c.sent_ns[2];
	says_of(3, BFTM_MSG_FREE, 2, 0, t1 + 1);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	assert_int_equal(says_of(4, BFTM_MSG_FREE, 2, 0, t1 + 1), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	/* But not when too little is left: the next poll has the leases begin anew. */
	start(2, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0 + 1);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, late + 1), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	assert_int_equal(out.release_to, 0);
	wake(late + 1, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	for (u32 u = 0; u < 4; u++)
		assert_int_equal(says(u, BFTM_MSG_FREE, c.base.sends, late + 2), BFTM_PENDING);
	assert_int_equal(says(4, BFTM_MSG_FREE, c.base.sends, late + 2), BFTM_WON);
}

/* More than b grants by others' release: the rest was lost, and is asked for soon. */
static void a_hand_over_is_not_left_to_the_next_poll(void **state)
{
	u64 now = T0 + 10 * MS;

	(void)state;
	start(1, T0);
	all_wait(ALL, T0 + 1);
	says_of(0, BFTM_MSG_FREE, 1, 7, now);		/* any liar can say that */
	assert_int_equal(c.base.wake_ns, T0 + POLL);
	says_of(0, BFTM_MSG_FREE, 1, 8, now);
	assert_int_equal(c.base.wake_ns, T0 + POLL);
	says_of(1, BFTM_MSG_FREE, 1, 7, now);
	assert_int_equal(c.base.wake_ns, now + RESEND);
	says_of(2, BFTM_MSG_FREE, 1, 7, now + 5);	/* not later, for more of them */
	assert_int_equal(c.base.wake_ns, now + RESEND);
	wake(now + RESEND, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(c.base.sends, 2);
	assert_int_equal(out.said_free, 0x07);
	/* The same grants again are no news: the next poll is a poll away. */
	for (u32 u = 0; u < 3; u++)
		says_of(u, BFTM_MSG_FREE, 2, 7 + !u, now + RESEND + 1);
	all_wait(0x78, now + RESEND + 1);
	assert_int_equal(c.base.wake_ns, now + RESEND + POLL);
}

/* All that is missing is in quarantine, for less than a poll. */
static void quarantine_shortens_a_poll(void **state)
{
	(void)state;
	start(1, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0 + 1);
	waits(4, 0, 60 * MS, T0 + 1);
	assert_int_equal(c.base.wake_ns, T0 + RESEND);	/* two are silent */
	waits(5, 0, 70 * MS, T0 + 1);
	waits(6, 0, 80 * MS, T0 + 1);
	assert_int_equal(c.base.wake_ns, T0 + 1 + 70 * MS);
	/* A place in the queue says nothing about quarantines. */
	start(2, T0);
	all_wait(0x0f, T0 + 1);
	waits(4, 0, 60 * MS, T0 + 1);
	waits(5, 0, 60 * MS, T0 + 1);
	waits(6, 0, 60 * MS, T0 + 1);
	assert_int_equal(c.base.wake_ns, T0 + POLL);
}

/* b + 1 with one reason end it; grants do not become refusals. */
static void refusals_of_waiters(void **state)
{
	(void)state;
	start(1, T0);
	refuses(0, BFTM_REFUSED_WAITERS, T0);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(refuses(1, BFTM_REFUSED_LOCKS, T0), BFTM_PENDING);
	assert_int_equal(refuses(2, BFTM_REFUSED_WAITERS, T0), BFTM_REFUSED);
	assert_int_equal(out.refusal, BFTM_REFUSED_WAITERS);
	assert_cancelled(1);
	start(2, T0);
	says(0, BFTM_MSG_FREE, 1, T0);
	refuses(0, BFTM_REFUSED_WAITERS, T0);
	assert_int_equal(refuses(1, BFTM_REFUSED_WAITERS, T0), BFTM_PENDING);
	/* They may have room by the next poll. */
	wake(T0 + POLL, 9, 0);
	assert_int_equal(refuses(3, BFTM_REFUSED_WAITERS, T0 + POLL), BFTM_PENDING);
}

static void new_epochs_once_a_poll(void **state)
{
	(void)state;
	start(1, T0);
	bftm_contend_again(&c, 3, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 8);
	bftm_contend_again(&c, 3, &out);
	assert_quiet();
	wake(T0 + POLL, 9, 0);
	bftm_contend_again(&c, 3, &out);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 8);
	assert_int_equal(c.base.sends, 2);
}

static void reached_while_waiting(void **state)
{
	(void)state;
	start(1, T0);
	assert_false(bftm_contend_reached(&c, &cfg));
	all_wait(0x07, T0);
	assert_true(bftm_contend_reached(&c, &cfg));	/* F FREE cannot be */
	wake(T0 + POLL, 9, 0);
	assert_true(bftm_contend_reached(&c, &cfg));	/* the poll before */
	wake(T0 + 2 * POLL, 9, 0);
	assert_false(bftm_contend_reached(&c, &cfg));
}

static void cancelled_while_waiting(void **state)
{
	(void)state;
	start(1, T0);
	all_wait(ALL, T0);
	bftm_contend_stop(&c, &cfg, &out);
	assert_cancelled(1);
	/* A hand-over that crossed it. */
	says_of(2, BFTM_MSG_FREE, 1, 7, T0);
	assert_int_equal(out.release_to, 4);
	assert_int_equal(out.release_attempt, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, queueing_client)
	const struct CMUnitTest tests[] = {
		TEST(uncontended_is_one_round_trip),
		TEST(waiting_loses_no_round),
		TEST(polls),
		TEST(polls_as_servers_say),
		TEST(a_newcomer_goes_behind),
		TEST(beside_an_older_server_nobody_goes_behind),
		TEST(who_has_waited_stays),
		TEST(resends),
		TEST(silence_of_some_costs_no_grant_of_others),
		TEST(grants_are_kept_over_polls),
		TEST(a_hand_over_is_not_left_to_the_next_poll),
		TEST(quarantine_shortens_a_poll),
		TEST(refusals_of_waiters),
		TEST(new_epochs_once_a_poll),
		TEST(reached_while_waiting),
		TEST(cancelled_while_waiting),
	};

	return cmocka_run_group_tests_name("client wait", tests, NULL, NULL);
}
