// SPDX-License-Identifier: GPL-2.0
/* contend() of one client: how a lock is won, held and lost. */
#include "contender.h"

/* One round trip, and exactly F answers of it. */
static void uncontended(void **state)
{
	(void)state;
	start(8, T0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(c.base.attempt, 8);
	assert_int_equal(c.base.sends, 1);
	assert_int_equal(all_say(0x0f, BFTM_MSG_FREE, T0 + 1), BFTM_PENDING);
	assert_int_equal(bftm_contend_end(&c, &cfg), 0);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, T0 + 2), BFTM_WON);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_true(out.round_over);
	assert_int_equal(out.said_free, 0x1f);
	assert_int_equal(out.silent, 0x60);
	/* From before the send, not from the answer. */
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	assert_int_equal(c.base.wake_ns, T0 + GOOD + 1);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY) | out.release_to, 0);
}

/* For every n and the most liars: F of n - b win, whoever the b silent are. */
static void b_silent_servers_cost_nothing(void **state)
{
	(void)state;
	for (cfg.n = 1; cfg.n <= BFTM_SERVERS_MAX; cfg.n++) {
		u32 u, first, f;

		cfg.b = (cfg.n - 1) / 3;
		f = bftm_free_needed(cfg.n, cfg.b);
		for (first = cfg.b; first + f <= cfg.n; first++) {
			memset(&c, 0, sizeof(c));
			start(1, T0);
			for (u = first; u < first + f - 1; u++)
				assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0), BFTM_PENDING);
			assert_int_equal(says(u, BFTM_MSG_FREE, 1, T0), BFTM_WON);
		}
	}
}

/* As many as n - F may lie and say LOCKED, WAIT or no. */
static void lies_of_b_servers_cost_nothing(void **state)
{
	static const u8 lie[] = { BFTM_MSG_LOCKED, BFTM_MSG_WAIT, BFTM_MSG_REFUSED };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lie); i++) {
		start(i + 1, T0);
		says(3, lie[i], 1, T0);
		assert_quiet();
		says(3, lie[i], 1, T0);		/* saying it twice is one voice */
		says(3, lie[i], 1, T0);
		assert_quiet();
		assert_int_equal(all_say(ALL & ~8u & ~1u, BFTM_MSG_FREE, T0), BFTM_WON);
	}
}

/* Sigma: m FREE win and not F; m of them are good until the end; n - m + 1 others decide a loss. */
static void m_of_n_win(void **state)
{
	(void)state;
	cfg.m = 6;
	start(1, T0);
	assert_int_equal(all_say(0x1f, BFTM_MSG_FREE, T0), BFTM_PENDING);
	assert_int_equal(bftm_contend_end(&c, &cfg), 0);
	wake(T0 + RESEND, 0, 0);
	assert_int_equal(says(5, BFTM_MSG_FREE, 2, T0 + RESEND), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	start(2, T0);
	says(0, BFTM_MSG_LOCKED, 1, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	says(1, BFTM_MSG_LOCKED, 1, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
}

static void challenge(u32 u, u8 spared)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_CHALLENGE, .spared = spared, .features = u == 1 ? 0 : ~0u,
	};

	bftm_client_challenge(&cfg, u, &msg);
}

/* F of 7 servers leaves room for one that forgets; a grant of servers for two waits for ever. */
static void a_server_that_may_forget_too_much_has_no_say(void **state)
{
	(void)state;
	challenge(0, 1);
	assert_int_equal(cfg.forgetful, 0);
	challenge(0, 2);
	challenge(1, 2);
	assert_int_equal(cfg.forgetful, 3);
	start(1, T0);
	assert_int_equal(all_say(0x3f, BFTM_MSG_FREE, T0), BFTM_PENDING);
	assert_int_equal(c.server[0].type, BFTM_MSG_WAIT);
	assert_int_equal(says(6, BFTM_MSG_FREE, 1, T0), BFTM_WON);
	/* It renews by the others alone, too. */
	says(0, BFTM_MSG_FREE, 1, T0);
	assert_int_equal(c.server[0].k, 0);
	/* Sigma with 6 grants leaves room for three. */
	cfg.m = 6;
	challenge(0, 3);
	assert_int_equal(cfg.forgetful, 2);
	challenge(1, 0);
	assert_int_equal(cfg.forgetful, 0);
	challenge(1, 4);
	assert_int_equal(cfg.forgetful, 2);
	assert_int_equal(cfg.older, 2);
}

/* Of n = 7 servers F = 5 grants leave room for r = 1; two say that they may restart with two. */
static void what_it_granted_before_it_said_so_counts_no_more(void **state)
{
	(void)state;
	start(1, T0);
	assert_int_equal(all_say(0x0f, BFTM_MSG_FREE, T0), BFTM_PENDING);
	challenge(0, 2);
	challenge(1, 2);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, T0), BFTM_PENDING);
	assert_int_equal(c.server[0].type, BFTM_MSG_WAIT);
	assert_int_equal(says(5, BFTM_MSG_FREE, 1, T0), BFTM_PENDING);
	assert_int_equal(says(6, BFTM_MSG_FREE, 1, T0), BFTM_WON);
	/* A lock that a program holds stays held. */
	challenge(6, 2);
	says(1, BFTM_MSG_WAIT, 1, T0 + 1);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
}

/* Grants of earlier polls count as long as their leases last, and the wait in the queue as well. */
static void in_the_queue_it_counts_no_more_either(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	start(1, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	wake(c.poll_ns, 0, 0);
	challenge(0, 2);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, c.polled_ns), BFTM_PENDING);
	assert_int_equal(says(5, BFTM_MSG_FREE, 2, c.polled_ns), BFTM_WON);
}

/* Before the application knows: the lock that was won by that grant is none. */
static void while_its_value_is_read_it_counts_no_more(void **state)
{
	(void)state;
	want.value = true;
	start(1, T0);
	all_say(0x1f, BFTM_MSG_FREE, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_VALUE);
	challenge(0, 2);
	wake(c.base.wake_ns, 2, 0);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_cancelled(1);
}

static void a_server_counts_once(void **state)
{
	u32 i;

	(void)state;
	start(1, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	for (i = 0; i < 10; i++)
		assert_int_equal(says(i % 4, BFTM_MSG_FREE, 1, T0 + i), BFTM_PENDING);
	assert_int_equal(says(6, BFTM_MSG_FREE, 1, T0 + 20), BFTM_WON);
}

/* Grants count from the send they answer; F of them must still be good. */
static void the_end_is_the_fth_largest(void **state)
{
	const u64 t1 = T0 + RESEND;

	(void)state;
	start(1, T0);
	all_say(0x07, BFTM_MSG_FREE, T0 + 1);
	wake(t1, 0, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0x78);
	assert_int_equal(c.base.sends, 2);
	says(3, BFTM_MSG_FREE, 2, t1 + 1);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, t1 + 1), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	/* Four of t1 are not five … */
	says(5, BFTM_MSG_FREE, 2, t1 + 2);
	says(6, BFTM_MSG_FREE, 2, t1 + 2);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	/* … a fifth is, and the alarm moves with it. */
	says(0, BFTM_MSG_FREE, 2, t1 + 3);
	assert_int_equal(bftm_contend_end(&c, &cfg), t1 + GOOD);
	assert_int_equal(c.base.wake_ns, t1 + GOOD + 1);
	/* An older answer that comes later takes nothing back. */
	says(0, BFTM_MSG_FREE, 1, t1 + 4);
	assert_int_equal(bftm_contend_end(&c, &cfg), t1 + GOOD);
}

/* An answer to send 1 after send 2 counts from send 1. */
static void late_answers_count_from_their_own_send(void **state)
{
	(void)state;
	start(1, T0);
	wake(T0 + RESEND, 0, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(all_say(0x1f, BFTM_MSG_FREE, T0 + RESEND + 1), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
}

static void sends_that_never_were_are_ignored(void **state)
{
	static const u32 k[] = { 0, 2, 3, 16, 17, 33, 0x80000001u, ~0u };
	size_t i;

	(void)state;
	start(1, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	for (i = 0; i < ARRAY_SIZE(k); i++) {
		assert_int_equal(says(4, BFTM_MSG_FREE, k[i], T0), BFTM_PENDING);
		assert_int_equal(bftm_contend_end(&c, &cfg), 0);
	}
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, T0), BFTM_WON);
	/* Nor do they prolong what is held. */
	for (i = 0; i < ARRAY_SIZE(k); i++)
		says(4, BFTM_MSG_FREE, k[i], T0 + 1);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
}

/* With less left than one poll and a half, its grants begin anew first: at all servers. */
static void won_with_enough_of_the_lease_left(void **state)
{
	const u64 late = T0 + GOOD - LEAST;

	(void)state;
	start(1, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, late), BFTM_WON);

	start(2, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, late + 1), BFTM_PENDING);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	assert_int_equal(out.release_to | out.count, 0);
	wake(late + 2, 9, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(out.send[0].k, 2);
	assert_int_equal(out.send[0].flags, BFTM_FLAG_NOQUEUE);
	assert_int_equal(out.send[0].arg, BFTM_MODE_NL);
	for (u32 u = 0; u < 4; u++)
		assert_int_equal(says(u, BFTM_MSG_FREE, 2, late + 3), BFTM_PENDING);
	assert_int_equal(says(6, BFTM_MSG_FREE, 2, late + 3), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), late + 2 + GOOD);

	start(3, T0);
	all_say(0x0f, BFTM_MSG_FREE, T0);
	assert_int_equal(says(4, BFTM_MSG_FREE, 1, T0 + GOOD + 1), BFTM_PENDING);
	assert_int_not_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_cancelled(3);		/* not kept from others any longer */
}

static void held_until_the_end_and_not_after(void **state)
{
	(void)state;
	start(1, T0);
	all_say(0x1f, BFTM_MSG_FREE, T0);
	wake(T0 + GOOD, 9, 0);
	assert_quiet();
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_int_equal(wake(T0 + GOOD + 1, 9, 0), BFTM_LAPSED);
	assert_cancelled(1);
	assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
}

/* A FREE that comes after the end shows the lapse and revives nothing. */
static void a_late_free_is_discarded(void **state)
{
	(void)state;
	start(1, T0);
	all_say(0x07, BFTM_MSG_FREE, T0);
	wake(T0 + RESEND, 0, 0);
	says(3, BFTM_MSG_FREE, 2, T0 + RESEND);
	says(4, BFTM_MSG_FREE, 2, T0 + RESEND);
	says(5, BFTM_MSG_FREE, 2, T0 + RESEND);
	says(6, BFTM_MSG_FREE, 2, T0 + RESEND);
	/* This one would make it five of the second send. */
	assert_int_equal(says(0, BFTM_MSG_FREE, 2, T0 + GOOD + 1), BFTM_LAPSED);
	assert_cancelled(1);
	says(0, BFTM_MSG_FREE, 2, T0 + GOOD + 2);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_int_equal(out.release_to, 1);
}

static void nothing_but_free_matters_to_a_holder(void **state)
{
	static const u8 type[] = {
		BFTM_MSG_LOCKED, BFTM_MSG_WAIT, BFTM_MSG_RELEASED, BFTM_MSG_REFUSED,
		BFTM_MSG_INQUIRE, BFTM_MSG_CHALLENGE, BFTM_MSG_SACK, BFTM_MSG_SNACK,
	};
	size_t i;
	u32 u;

	(void)state;
	start(1, T0);
	all_say(0x1f, BFTM_MSG_FREE, T0);
	for (i = 0; i < ARRAY_SIZE(type); i++)
		for (u = 0; u < cfg.n; u++) {
			says(u, type[i], 1, T0 + GOOD);
			assert_quiet();
		}
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
}

/* LOCKED that was overtaken by FREE is old; FREE after LOCKED is news. */
static void free_wins_over_other_answers_of_a_server(void **state)
{
	(void)state;
	start(1, T0);
	says(0, BFTM_MSG_FREE, 1, T0);
	says(0, BFTM_MSG_LOCKED, 1, T0);
	says(0, BFTM_MSG_WAIT, 1, T0);
	refuses(0, BFTM_REFUSED_LOCKS, T0);
	says(1, BFTM_MSG_LOCKED, 1, T0);
	says(2, BFTM_MSG_LOCKED, 1, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	says(1, BFTM_MSG_FREE, 1, T0);
	assert_int_equal(all_say(0x38, BFTM_MSG_FREE, T0), BFTM_WON);
	assert_int_equal(out.said_free, 0x3b);
	assert_int_equal(out.said_locked, 0x04);
}

static const struct {
	u8 type;
	bool release;
} strays[] = {
	{ BFTM_MSG_FREE, true }, { BFTM_MSG_INQUIRE, true }, { BFTM_MSG_LOCKED, false },
	{ BFTM_MSG_WAIT, false }, { BFTM_MSG_RELEASED, false }, { BFTM_MSG_REFUSED, false },
	{ BFTM_MSG_CHALLENGE, false }, { BFTM_MSG_SACK, false }, { BFTM_MSG_SNACK, false },
};

static void check_strays(u64 attempt, u64 now)
{
	struct bftm_msg msg = { .attempt = attempt, .k = 1 };
	enum bftm_phase phase = c.base.phase;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strays); i++) {
		msg.type = strays[i].type;
		bftm_contend_answer(&c, &cfg, 5, &msg, now, 0, &out);
		assert_int_equal(out.verdict, BFTM_PENDING);
		assert_int_equal(out.release_to, strays[i].release ? 1u << 5 : 0);
		assert_int_equal(out.release_attempt, strays[i].release ? attempt : 0);
		assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), 0);
		assert_int_equal(c.base.phase, phase);
		bftm_stray(&msg, 5, &out);
		assert_int_equal(out.release_to, strays[i].release ? 1u << 5 : 0);
	}
}

/* A server that believes in a dead attempt is told, in whatever phase. */
static void free_for_a_dead_attempt_is_released(void **state)
{
	(void)state;
	check_strays(3, T0);				/* before any */
	start(10, T0);
	check_strays(9, T0);
	check_strays(11, T0);				/* a liar's invention */
	all_say(0x07, BFTM_MSG_LOCKED, T0);
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	check_strays(10, T0);				/* lost: as good as dead */
	wake(c.base.wake_ns, 11, 0);
	check_strays(10, c.sent_ns[1]);
	all_say(0x1f, BFTM_MSG_FREE, c.sent_ns[1]);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	check_strays(10, c.sent_ns[1]);
	bftm_contend_stop(&c, &cfg, &out);
	check_strays(11, c.sent_ns[1]);
}

static void stop_in_every_phase(void **state)
{
	(void)state;
	bftm_contend_stop(&c, &cfg, &out);
	assert_quiet();
	start(1, T0);
	bftm_contend_stop(&c, &cfg, &out);		/* cancel */
	assert_cancelled(1);
	assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
	bftm_contend_stop(&c, &cfg, &out);
	assert_quiet();
	start(2, T0);
	all_say(0x1f, BFTM_MSG_FREE, T0);
	bftm_contend_stop(&c, &cfg, &out);		/* release */
	assert_cancelled(2);
	start(3, T0);
	all_say(0x07, BFTM_MSG_LOCKED, T0);
	assert_cancelled(3);
	bftm_contend_stop(&c, &cfg, &out);		/* that was said already */
	assert_quiet();
	assert_int_equal(c.base.phase, BFTM_PHASE_DEAD);
	wake(~0ull, 9, 0);
	assert_quiet();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_client)
	const struct CMUnitTest tests[] = {
		TEST(uncontended),
		TEST(b_silent_servers_cost_nothing),
		TEST(lies_of_b_servers_cost_nothing),
		TEST(m_of_n_win),
		TEST(a_server_that_may_forget_too_much_has_no_say),
		TEST(what_it_granted_before_it_said_so_counts_no_more),
		TEST(in_the_queue_it_counts_no_more_either),
		TEST(while_its_value_is_read_it_counts_no_more),
		TEST(a_server_counts_once),
		TEST(the_end_is_the_fth_largest),
		TEST(late_answers_count_from_their_own_send),
		TEST(sends_that_never_were_are_ignored),
		TEST(won_with_enough_of_the_lease_left),
		TEST(held_until_the_end_and_not_after),
		TEST(a_late_free_is_discarded),
		TEST(nothing_but_free_matters_to_a_holder),
		TEST(free_wins_over_other_answers_of_a_server),
		TEST(free_for_a_dead_attempt_is_released),
		TEST(stop_in_every_phase),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
