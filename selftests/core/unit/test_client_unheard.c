// SPDX-License-Identifier: GPL-2.0
/* contend() of one client that waits in the servers' queue, and does not hear them. */
#include "contender.h"
#include "core/resend.h"

#define POLL	(L / 8)

static int queueing_client(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_QUEUE;
	return 0;
}

/*
 * Servers may have granted the lock to one who hears nothing, and each poll would keep
 * it there: after a lease of them the attempt is given back, and another sleeps first.
 */
static void unheard_gives_way(void **state)
{
	u64 base = L + 4 * cfg.delta_ns, now = T0;
	u32 i;

	(void)state;
	start(1, T0);
	for (i = 1; i < 8; i++) {
		/* One less than it takes to know anything. */
		says(0, BFTM_MSG_FREE, i, now + 1);
		says(1, BFTM_MSG_WAIT, i, now + 1);
		while (c.base.sends == i) {
			wake(c.base.wake_ns, 9, 0);
			assert_int_equal(out.release_to, 0);
		}
		now = c.sent_ns[c.base.sends % BFTM_SENDS];
		assert_int_equal(now, T0 + i * POLL);
	}
	while (c.base.phase == BFTM_PHASE_TRY)
		wake(c.base.wake_ns, 9, base / 2);
	assert_cancelled(1);
	assert_int_equal(out.verdict, BFTM_PENDING);
	assert_false(bftm_contend_reached(&c, &cfg));
	assert_int_equal(c.base.phase, BFTM_PHASE_BACKOFF);
	assert_int_equal(c.base.wake_ns, T0 + L + base + base / 2);
	/* An answer that comes now is for an attempt that is dead. */
	says_of(2, BFTM_MSG_FREE, 8, 7, c.base.wake_ns - 1);
	assert_int_equal(out.release_to, 4);
	assert_int_equal(out.release_attempt, 1);
	wake(c.base.wake_ns, 2, 0);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_TRY), ALL);
	assert_int_equal(c.base.attempt, 2);
	/* Silence does not make the sleep grow. */
	while (c.base.phase == BFTM_PHASE_TRY)
		wake(c.base.wake_ns, 9, 0);
	assert_cancelled(2);
	assert_int_equal(c.base.wake_ns, T0 + 2 * L + base + base / 2 + base);
}

/* F answers, whatever they are, are enough to go on. */
static void heard_again_in_time(void **state)
{
	u32 i;

	(void)state;
	start(1, T0);
	for (i = 1; i < 40; i++) {
		if (i % 8 == 7)
			all_say(0x07, BFTM_MSG_WAIT, c.sent_ns[c.base.sends % BFTM_SENDS] + 1);
		while (c.base.sends == i)
			wake(c.base.wake_ns, 9, 0);
		assert_int_equal(c.base.attempt, 1);
	}
}

/* With a hedge of 1 ms a server that is off would else hear a TRY each 8 ms, for each lock that waits. */
static void who_is_silent_is_asked_less_and_less(void **state)
{
	u64 most = BFTM_LATER_MOST * cfg.resend_ns, pause = BFTM_ASK_FLOOR_NS, now = T0;
	static struct bftm_ask_state ask;
	u32 u, asked = 0, silent;

	(void)state;
	bftm_ask_start(&ask, false);
	for (u = 0; u < cfg.n; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = BFTM_ASK_FLOOR_NS / 2;
	}
	cfg.ask = &ask;
	want.lease_ns = 60 * L;
	start(1, now);
	silent = bftm_out_to(&out, BFTM_MSG_TRY);
	silent &= -silent;
	all_say(ALL & ~silent, BFTM_MSG_WAIT, now);
	while (c.base.sends == 1) {
		assert_int_equal(c.base.wake_ns, now + pause);
		now = c.base.wake_ns;
		wake(now, 0, 0);
		assert_true(bftm_out_to(&out, BFTM_MSG_TRY) & silent);
		if (asked++ && 2 * pause <= most)
			pause *= 2;
		/* The next poll is before the next repetition. */
		if (c.base.wake_ns < now + pause)
			break;
	}
	assert_true(pause > most / 2);
	assert_in_range(asked, 30, 40);	/* in an eighth of a minute */
	cfg.ask = NULL;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, queueing_client)
	const struct CMUnitTest tests[] = {
		TEST(unheard_gives_way),
		TEST(heard_again_in_time),
		TEST(who_is_silent_is_asked_less_and_less),
	};

	return cmocka_run_group_tests_name("client unheard", tests, NULL, NULL);
}
