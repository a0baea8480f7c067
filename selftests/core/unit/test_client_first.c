// SPDX-License-Identifier: GPL-2.0
/* contend() of one client that asks some servers first, and the others when those do not do. */
#include "contender.h"
#include "core/release.h"

#define TRIP	(10 * MS)
#define H	(2 * TRIP)

static struct bftm_ask_state ask;
static u32 first, rest;

/* Each server takes 10 ms, so the hedge is 20 ms. */
static int fresh(void **state)
{
	u32 u;

	fresh_client(state);
	bftm_ask_start(&ask, false);
	for (u = 0; u < cfg.n; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = TRIP;
	}
	cfg.ask = &ask;
	want.lock = 1;
	want.wait = BFTM_WAIT_QUEUE;
	return 0;
}

static u32 tried(void)
{
	return bftm_out_to(&out, BFTM_MSG_TRY);
}

static void start_first(u64 attempt, u64 now)
{
	start(attempt, now);
	first = tried();
	rest = ALL & ~first;
	assert_int_equal(bftm_count(first), 5);
}

static u32 lowest(u32 servers)
{
	return servers & -servers;
}

static void f_servers_are_enough(void **state)
{
	(void)state;
	start_first(1, T0);
	assert_int_equal(all_say(first, BFTM_MSG_FREE, T0 + TRIP), BFTM_WON);
	assert_int_equal(out.silent, 0);
	assert_int_equal(out.count, 0);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	/* Those that were not asked know nothing of it. */
	bftm_contend_stop(&c, &cfg, &out);
	assert_int_equal(out.release_to, first);
	assert_true(out.release_lock);
}

/* A waiter asks the others at the first denial, with the same k; and a lease counts from its send. */
static void a_denial_asks_the_rest(void **state)
{
	u32 liar;

	(void)state;
	start_first(1, T0);
	liar = lowest(first);
	says(bftm_lowest(liar), BFTM_MSG_WAIT, 1, T0 + TRIP);
	assert_int_equal(tried(), rest);
	assert_int_equal(out.send[0].k, 1);
	assert_int_equal(out.release_to, 0);
	all_say(first & ~liar, BFTM_MSG_FREE, T0 + 2 * TRIP);
	assert_int_equal(says(bftm_lowest(rest), BFTM_MSG_FREE, 1, T0 + 2 * TRIP), BFTM_WON);
	assert_int_equal(bftm_contend_end(&c, &cfg), T0 + GOOD);
	bftm_contend_stop(&c, &cfg, &out);
	assert_int_equal(out.release_to, ALL);
}

static void inquire_asks_the_rest(void **state)
{
	(void)state;
	start_first(1, T0);
	says_of(bftm_lowest(first), BFTM_MSG_FREE, 1, 3, T0 + TRIP);
	says_of(bftm_lowest(first), BFTM_MSG_INQUIRE, 1, 3, T0 + TRIP);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_YIELD), lowest(first));
	assert_int_equal(tried(), rest);
}

/* F servers of which one is silent: at h the rest is asked, and the silent one again. */
static void silence_asks_the_rest(void **state)
{
	static const enum bftm_wait ways[] = {
		BFTM_WAIT_QUEUE, BFTM_WAIT_BACKOFF, BFTM_WAIT_NOT
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		fresh(state);
		want.wait = ways[i];
		start_first(i + 1, T0);
		all_say(first & ~lowest(first), BFTM_MSG_FREE, T0 + TRIP);
		assert_int_equal(c.base.wake_ns, T0 + H);
		wake(T0 + H - 1, 0, 0);
		assert_quiet();
		wake(T0 + H, 0, 0);
		assert_int_equal(tried(), rest | lowest(first));
		assert_int_equal(out.send[0].k, 1);
		assert_int_equal(c.base.sends, 1);
		/* Again after h, and the round's next send, of another k, comes as ever. */
		assert_int_equal(c.base.wake_ns, T0 + 2 * H);
		wake(T0 + 2 * H, 0, 0);
		assert_int_equal(tried(), rest | lowest(first));
		assert_int_equal(says(bftm_lowest(rest), BFTM_MSG_FREE, c.base.sends,
				      T0 + 2 * H + TRIP), BFTM_WON);
	}
}

/* n - F = 2: three that deny have decided; fewer leave it to the others. */
static void a_round_waits_for_those_asked_first(void **state)
{
	u32 liar, left;

	(void)state;
	want.wait = BFTM_WAIT_NOT;
	start_first(1, T0);
	liar = lowest(first);
	says(bftm_lowest(liar), BFTM_MSG_LOCKED, 1, T0 + 1);
	assert_quiet();
	left = lowest(first & ~liar);
	all_say(first & ~liar & ~left, BFTM_MSG_FREE, T0 + 2);
	assert_quiet();
	says(bftm_lowest(left), BFTM_MSG_FREE, 1, T0 + 3);
	assert_int_equal(tried(), rest);
	assert_int_equal(out.send[0].flags & BFTM_FLAG_NOQUEUE, BFTM_FLAG_NOQUEUE);
	assert_int_equal(says(bftm_lowest(rest), BFTM_MSG_FREE, 1, T0 + 4), BFTM_WON);
}

static void a_held_lock_takes_one_step(void **state)
{
	u32 two;

	(void)state;
	want.wait = BFTM_WAIT_NOT;
	start_first(1, T0);
	two = lowest(first) | lowest(first & ~lowest(first));
	all_say(two, BFTM_MSG_LOCKED, T0 + 1);
	assert_quiet();
	assert_int_equal(says(bftm_lowest(first & ~two), BFTM_MSG_LOCKED, 1, T0 + 2),
			 BFTM_LOST_ROUND);
	assert_int_equal(out.release_to, first);
}

/* The others were not asked, and F is not lowered: four grants are not five. */
static void fewer_grants_win_nothing(void **state)
{
	(void)state;
	start_first(1, T0);
	assert_int_equal(all_say(first & ~lowest(first), BFTM_MSG_FREE, T0 + 1), BFTM_PENDING);
	wake(T0 + H, 0, 0);
	assert_int_equal(c.base.phase, BFTM_PHASE_TRY);
	assert_int_equal(bftm_contend_end(&c, &cfg), 0);
}

/* A poll asks all, with the next k. */
static void polls_ask_all(void **state)
{
	u64 now = T0;

	(void)state;
	start_first(1, T0);
	while (c.base.sends == 1) {
		now = c.base.wake_ns;
		wake(now, 0, 0);
	}
	assert_int_equal(now, T0 + L / 8);
	assert_int_equal(tried(), ALL);
}

/*
 * The first renewal goes to all: a server that has never heard of the holder may have granted a
 * waiter, whose host goes down with another server of the holder's. Later ones go to F.
 */
static void the_first_renewal_tells_all(void **state)
{
	u64 now;

	(void)state;
	want.renew = true;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	now = c.base.wake_ns;
	assert_int_equal(now, T0 + L / 8);
	wake(now, 0, 0);
	assert_int_equal(tried(), ALL);
	assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
	assert_int_equal(out.send[0].flags & BFTM_FLAG_NOQUEUE, 0);
	for (u32 u = 0; u < 7; u++)
		if (first >> u & 1)
			says(u, BFTM_MSG_FREE, 2, now + TRIP);
	assert_int_equal(c.base.wake_ns, now + L / 2);
	now = c.base.wake_ns;
	wake(now, 0, 0);
	assert_int_equal(tried(), first);
	bftm_contend_stop(&c, &cfg, &out);
	assert_int_equal(out.release_to, ALL);
}

/*
 * A server that asks for the lock has a waiter: all hear of the holder, once. Then no server asks
 * any more, so b + 1 of them ask first, or have their time to.
 */
static void a_waiter_makes_it_tell_all(void **state)
{
	u64 now = T0 + 2 * TRIP;
	u32 u, v;

	(void)state;
	want.renew = true;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	u = bftm_lowest(first);
	v = bftm_lowest(first & (first - 1));
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, now);
	assert_quiet();
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, now + 1);
	assert_int_equal(c.base.wake_ns, now + RESEND);
	wake(now + RESEND, 0, 0);
	assert_int_equal(tried(), ALL);
	assert_int_equal(out.send[0].k, 2);
	assert_int_equal(out.send[0].arg, BFTM_MODE_EX);
	assert_false(c.base.wanted);
	fresh(state);
	want.renew = true;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, now);
	says_of(v, BFTM_MSG_INQUIRE, 1, 3, now + 1);
	assert_int_equal(tried(), ALL);
	assert_true(c.base.wanted);
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, now + 1);
	assert_quiet();
	/* A holder that does not renew goes anyhow, and one that has asked all need not tell. */
	fresh(state);
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, T0 + 2 * TRIP);
	assert_quiet();
	fresh(state);
	cfg.ask = NULL;
	want.renew = true;
	start(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	says_of(u, BFTM_MSG_INQUIRE, 1, 3, T0 + 2 * TRIP);
	assert_quiet();
}

/* It may ask while the token is awaited. */
static void a_waiter_before_the_token_makes_it_tell_all(void **state)
{
	u32 u;

	(void)state;
	want.renew = true;
	want.fence = true;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	says_of(bftm_lowest(first), BFTM_MSG_INQUIRE, 1, 3, T0 + TRIP);
	assert_int_equal(tried(), 0);
	for (u = 0; u < 7 && c.base.phase == BFTM_PHASE_FENCE; u++)
		says_of(u, BFTM_MSG_SACK, 1, c.offered, T0 + 2 * TRIP);
	assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	assert_int_equal(c.base.wake_ns, T0 + 2 * TRIP + RESEND);
	wake(c.base.wake_ns, 0, 0);
	assert_int_equal(tried(), ALL);
}

static void tells(u32 u, u8 len, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_FREE, .attempt = c.base.attempt, .k = 1, .mode = BFTM_MODE_PR,
		.flags = BFTM_FLAG_VALUE, .value_len = len, .value_room = bftm_pad8(len),
	};

	bftm_contend_answer(&c, &cfg, u, &msg, now, 0, &out);
}

/* F grants, and not enough of them agree on the value: the others are asked for it at once. */
static void a_reader_asks_the_rest_for_the_value(void **state)
{
	struct bftm_value_told value;
	u32 u, two;

	(void)state;
	want.value = true;
	want.mode = BFTM_MODE_PR;
	start_first(1, T0);
	two = lowest(first) | lowest(first & ~lowest(first));
	for (u = 0; u < 7; u++)
		if (first >> u & 1)
			tells(u, two >> u & 1 ? 4 : 3, T0 + TRIP);
	assert_int_equal(c.base.phase, BFTM_PHASE_VALUE);
	assert_int_equal(tried(), rest);
	assert_int_equal(out.send[0].k, 1);
	assert_int_equal(ask.suspected, 0);
	tells(bftm_lowest(rest), 3, T0 + 2 * TRIP);
	assert_int_equal(out.verdict, BFTM_WON);
	bftm_contend_value(&c, &cfg, T0 + 2 * TRIP, &value);
	assert_true(value.valid);
	assert_int_equal(value.len, 3);
	bftm_contend_stop(&c, &cfg, &out);
	assert_int_equal(out.release_to, ALL);
}

/* A request that does not wait, beside RELEASE of its own host: once more. */
static void own_release_is_waited_for(void **state)
{
	struct bftm_release release = {};
	u32 u;

	(void)state;
	want.wait = BFTM_WAIT_NOT;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&release, &cfg, &out, T0 + 2 * TRIP);
	start_first(2, T0 + 2 * TRIP);
	/* Two of the five have not answered yet. */
	rest = lowest(first);
	rest |= lowest(first & ~rest);
	assert_int_equal(all_say(first & ~rest, BFTM_MSG_LOCKED, T0 + 3 * TRIP), BFTM_PENDING);
	assert_int_equal(tried(), ALL);
	assert_int_equal(c.base.sends, 2);
	/* To the send before, which no denial names: it says nothing new. */
	for (u = 0; u < 7; u++)
		if (rest >> u & 1)
			assert_int_equal(says(u, BFTM_MSG_LOCKED, 0, T0 + 3 * TRIP), BFTM_PENDING);
	assert_int_equal(out.release_to, 0);
	for (u = 0; u < 7; u++)
		assert_int_not_equal(c.server[u].type, BFTM_MSG_LOCKED);
	for (u = 0; u < 4; u++)
		assert_int_equal(says(u, BFTM_MSG_FREE, 2, T0 + 4 * TRIP), BFTM_PENDING);
	assert_int_equal(says(4, BFTM_MSG_FREE, 2, T0 + 4 * TRIP), BFTM_WON);
	assert_int_equal(ask.suspected, 0);
}

static void once_more_and_no_oftener(void **state)
{
	(void)state;
	want.wait = BFTM_WAIT_NOT;
	bftm_ask_released(&ask, want.lock, ALL, T0);
	start_first(2, T0);
	for (u32 u = 0; u < 7; u++)
		if (first >> u & 1 && c.base.sends == 1)
			says(u, BFTM_MSG_LOCKED, 1, T0 + TRIP);
	/* These have denied the send before: that they deny this one counts. */
	rest = first & ~c.base.asking.stale;
	assert_int_equal(bftm_count(rest), 3);
	for (u32 u = 0; u < 7; u++)
		if (rest >> u & 1)
			says(u, BFTM_MSG_LOCKED, 0, T0 + 2 * TRIP);
	assert_int_equal(out.verdict, BFTM_LOST_ROUND);
	/* Another host's lock is lost at once. */
	want.lock = 2;
	start_first(3, T0);
	first &= ~lowest(first);
	first &= ~lowest(first);
	assert_int_equal(all_say(first, BFTM_MSG_LOCKED, T0 + TRIP), BFTM_LOST_ROUND);
}

/* A liar that denies is suspected at the second lie, and asked no more. */
static void a_liar_is_left_out(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start(i + 1, T0);
		first = tried();
		if (i == 2)
			break;
		rest = ALL & ~first;
		says(0, BFTM_MSG_WAIT, 1, T0 + 1);
		assert_true(first & 1);
		all_say(first & ~1u, BFTM_MSG_FREE, T0 + 2);
		says(bftm_lowest(rest), BFTM_MSG_FREE, 1, T0 + 3);
		assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	}
	assert_int_equal(first & 1, 0);
	assert_int_equal(bftm_count(first), 5);
}

/* On a lock that this host takes again at once: a liar that answers RELEASE is found as well. */
static void a_liar_on_a_hot_lock_is_left_out(void **state)
{
	struct bftm_release release = {};
	u64 now = T0;
	u32 i, u;

	(void)state;
	for (i = 0; i < 3; i++) {
		start(i + 1, now);
		first = tried();
		if (i == 2)
			break;
		rest = ALL & ~first;
		says(0, BFTM_MSG_WAIT, 1, now + TRIP);
		assert_true(first & 1);
		all_say(first & ~1u, BFTM_MSG_FREE, now + TRIP);
		says(bftm_lowest(rest), BFTM_MSG_FREE, 1, now + 2 * TRIP);
		assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
		bftm_contend_stop(&c, &cfg, &out);
		bftm_release_start(&release, &cfg, &out, now + 2 * TRIP);
		for (u = 0; u < 7; u++)
			bftm_release_answer(&release, &cfg, u);
		now += 3 * TRIP;
	}
	assert_int_equal(first & 1, 0);
}

/* FREE, and INQUIRE before the others' FREE can win: such a server has granted nothing. */
static void a_liar_that_takes_back_is_left_out(void **state)
{
	u32 i, liar;

	(void)state;
	for (i = 0; i < 2; i++) {
		start_first(i + 1, T0);
		liar = lowest(first);
		says_of(bftm_lowest(liar), BFTM_MSG_FREE, 1, 3, T0 + 1);
		says_of(bftm_lowest(liar), BFTM_MSG_INQUIRE, 1, 3, T0 + 1);
		all_say(first & ~liar, BFTM_MSG_FREE, T0 + TRIP);
		all_say(lowest(rest), BFTM_MSG_FREE, T0 + 2 * TRIP);
		assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	}
	assert_int_equal(ask.suspected, liar);
}

/* So is one whose FREE is of a send that never was: it does not count, and the others are asked. */
static void a_free_that_does_not_count_is_a_lie(void **state)
{
	u32 i, liar;

	(void)state;
	for (i = 0; i < 2; i++) {
		start_first(i + 1, T0);
		liar = lowest(first);
		says(bftm_lowest(liar), BFTM_MSG_FREE, 9, T0 + 1);
		all_say(first & ~liar, BFTM_MSG_FREE, T0 + TRIP);
		wake(T0 + H, 0, 0);
		assert_int_equal(tried(), rest | liar);
		all_say(lowest(rest), BFTM_MSG_FREE, T0 + H + TRIP);
		assert_int_equal(c.base.phase, BFTM_PHASE_HOLD);
	}
	assert_int_equal(ask.suspected, liar);
	/* Nor does it prove that a suspect, which is asked again, grants in time. */
	ask.server[bftm_lowest(liar)].level = 1;
	ask.starts = 15;
	start(3, T0);
	assert_true(tried() & liar);
	says(bftm_lowest(liar), BFTM_MSG_FREE, 9, T0 + 1);
	assert_int_equal(ask.suspected, liar);
}

/* F of those asked first grant the lock, which are one more; one is silent. Return: its number. */
static u32 one_is_silent(u64 attempt)
{
	ask.spare = 1;
	start(attempt, T0);
	first = tried();
	assert_int_equal(bftm_count(first), 6);
	assert_int_equal(all_say(first & ~lowest(first), BFTM_MSG_FREE, T0 + TRIP), BFTM_WON);
	return bftm_lowest(first);
}

static void a_spare_hides_no_silence(void **state)
{
	struct bftm_release release;
	u32 u = one_is_silent(1), score;

	(void)state;
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&release, &cfg, &out, T0 + H);
	assert_int_equal(ask.server[u].score, 0);	/* an answer could still come */
	one_is_silent(2);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&release, &cfg, &out, T0 + H + 1);
	assert_int_equal(ask.server[u].score, 64);
	ask.server[u].score = 0;
	/* A lock that is held for long: at its renewal, and once. */
	want.renew = true;
	one_is_silent(3);
	wake(c.base.wake_ns, 0, 0);
	score = ask.server[u].score;
	assert_true(score);
	bftm_contend_stop(&c, &cfg, &out);
	bftm_release_start(&release, &cfg, &out, T0 + L);
	assert_int_equal(ask.server[u].score, score);
}

/* The probe's FREE comes after RELEASE: in time, too late, or to no send. Return: is it trusted? */
static bool is_trusted_after(u32 k, u8 mode, u64 answered)
{
	struct bftm_release release;
	struct bftm_msg msg = { .type = BFTM_MSG_FREE, .attempt = 1, .mode = mode, .k = k };

	ask.suspected = 1;
	ask.server[0].level = 1;
	ask.server[0].proven = 0;
	ask.starts = 15;
	start(1, T0);
	assert_true(tried() & 1);
	assert_int_equal(all_say(tried() & ~1u, BFTM_MSG_FREE, T0 + 1), BFTM_WON);
	bftm_contend_stop(&c, &cfg, &out);
	assert_true(out.release_to & 1);
	bftm_release_start(&release, &cfg, &out, T0 + 1);
	bftm_ask_late(&cfg, &release.late, 0, &msg, answered);
	return !(ask.suspected & 1);
}

static void a_probe_may_answer_after_release(void **state)
{
	(void)state;
	assert_true(is_trusted_after(1, BFTM_MODE_EX, T0 + H));
	assert_false(is_trusted_after(1, BFTM_MODE_EX, T0 + H + 1));
	assert_false(is_trusted_after(0, BFTM_MODE_EX, T0 + 2));
	assert_false(is_trusted_after(2, BFTM_MODE_EX, T0 + 2));
	assert_false(is_trusted_after(1, BFTM_MODE_PR, T0 + 2));
}

/* A fencing token is offered to all, at once: it is not the servers of the grants that count. */
static void tokens_go_to_all(void **state)
{
	(void)state;
	want.fence = true;
	start_first(1, T0);
	all_say(first, BFTM_MSG_FREE, T0 + TRIP);
	assert_int_equal(bftm_out_to(&out, BFTM_MSG_STAMP), ALL);
}

/* A new epoch is answered, and such a server hears of RELEASE. */
static void a_restarted_server_is_asked(void **state)
{
	(void)state;
	start_first(1, T0);
	bftm_contend_again(&c, bftm_lowest(rest), &out);
	assert_int_equal(tried(), lowest(rest));
	bftm_contend_stop(&c, &cfg, &out);
	assert_int_equal(out.release_to, first | lowest(rest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(f_servers_are_enough, fresh),
		cmocka_unit_test_setup(a_denial_asks_the_rest, fresh),
		cmocka_unit_test_setup(inquire_asks_the_rest, fresh),
		cmocka_unit_test_setup(silence_asks_the_rest, fresh),
		cmocka_unit_test_setup(a_round_waits_for_those_asked_first, fresh),
		cmocka_unit_test_setup(a_held_lock_takes_one_step, fresh),
		cmocka_unit_test_setup(fewer_grants_win_nothing, fresh),
		cmocka_unit_test_setup(polls_ask_all, fresh),
		cmocka_unit_test_setup(the_first_renewal_tells_all, fresh),
		cmocka_unit_test_setup(a_waiter_makes_it_tell_all, fresh),
		cmocka_unit_test_setup(a_waiter_before_the_token_makes_it_tell_all, fresh),
		cmocka_unit_test_setup(a_reader_asks_the_rest_for_the_value, fresh),
		cmocka_unit_test_setup(own_release_is_waited_for, fresh),
		cmocka_unit_test_setup(once_more_and_no_oftener, fresh),
		cmocka_unit_test_setup(a_liar_is_left_out, fresh),
		cmocka_unit_test_setup(a_liar_on_a_hot_lock_is_left_out, fresh),
		cmocka_unit_test_setup(a_liar_that_takes_back_is_left_out, fresh),
		cmocka_unit_test_setup(a_free_that_does_not_count_is_a_lie, fresh),
		cmocka_unit_test_setup(a_spare_hides_no_silence, fresh),
		cmocka_unit_test_setup(a_probe_may_answer_after_release, fresh),
		cmocka_unit_test_setup(tokens_go_to_all, fresh),
		cmocka_unit_test_setup(a_restarted_server_is_asked, fresh),
	};

	return cmocka_run_group_tests_name("client_first", tests, NULL, NULL);
}
