// SPDX-License-Identifier: GPL-2.0
/* A client asks some servers first, suspects some, and asks spare ones: n = 7, b = 1, F = 5. */
#include "unit.h"

#include "core/ask.h"
#include "core/client.h"

#define MS	BFTM_NS_PER_MS
#define L	(1000 * MS)
#define TRIP	(10 * MS)
#define H	(2 * TRIP)
#define T0	(5000 * MS)
#define ALL	0x7fu

static struct bftm_ask_state ask;
static struct bftm_client_cfg cfg;
static struct bftm_want want;
static struct bftm_asking t;

static int fresh(void **state)
{
	u32 u;

	(void)state;
	bftm_ask_start(&ask, false);
	cfg = (struct bftm_client_cfg){ .n = 7, .b = 1, .ask = &ask };
	want = (struct bftm_want){ .lease_ns = L, .mode = BFTM_MODE_EX, .lock = 1 };
	for (u = 0; u < BFTM_SERVERS_MAX; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = u < 7 ? TRIP : 0;
	}
	return 0;
}

static void begin(u64 now)
{
	bftm_ask_begin(&cfg, &want, now, &t);
}

static u32 lowest(u32 servers)
{
	return servers & -servers;
}

/* These answer in time. */
static void hear(u32 servers, bool free)
{
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (servers >> u & 1)
			bftm_ask_heard(&cfg, &t, u, free, t.begun_ns, t.begun_ns + TRIP);
}

/* The servers that said FREE have granted it. */
static void won(void)
{
	bftm_ask_won(&cfg, &t, t.heard & ~t.denied);
}

/* An acquire in which @deny and @silent do not do, and the others are asked. */
static void second_step(u32 deny, u32 silent)
{
	hear(t.first & ~deny & ~silent, true);
	hear(t.first & deny, false);
	if (silent)
		bftm_ask_due(&cfg, &t, t.begun_ns + t.hedge_ns + 1);
	bftm_ask_more(&t, ALL, t.begun_ns + t.hedge_ns + 1);
	won();
}

static void one_step(void)
{
	hear(t.asked, true);
	won();
}

/* Server @u misses, in a lock of which it is asked first; where many do, by noise. */
static void miss(u32 u)
{
	want.lock = 1;
	for (begin(T0); !(t.first >> u & 1) && want.lock < 1000; begin(T0))
		want.lock++;
	second_step(1u << u, 0);
}

static void without_knowledge_all_are_asked(void **state)
{
	(void)state;
	cfg.ask = NULL;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	assert_int_equal(t.hedge_ns, 0);
	cfg.ask = &ask;
	ask.speed.srtt_ns[0] = ask.speed.srtt_ns[1] = ask.speed.srtt_ns[2] = 0;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	assert_int_equal(t.first, ALL);
	/* Of F servers it is known how long they take. */
	ask.speed.srtt_ns[0] = TRIP;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 5);
	assert_int_equal(t.asked, t.first);
	assert_int_equal(t.hedge_ns, H);
}

/* Every host asks the same ones, and over all locks each server is asked as often. */
static void locks_have_orders(void **state)
{
	u32 asked[7] = {}, u, first;

	(void)state;
	for (want.lock = 1; want.lock <= 7000; want.lock++) {
		begin(T0);
		first = t.first;
		begin(T0 + 1);
		assert_int_equal(t.first, first);
		for (u = 0; u < 7; u++)
			asked[u] += first >> u & 1;
	}
	for (u = 0; u < 7; u++) {
		assert_true(asked[u] > 4800);
		assert_true(asked[u] < 5200);
	}
	/* A server that is suspected has one other take its place: the rest stays. */
	want.lock = 1;
	begin(T0);
	first = t.first;
	ask.suspected = lowest(first);
	begin(T0);
	assert_int_equal(bftm_count(t.first & first), 4);
	assert_int_equal(bftm_count(t.first), 5);
}

static void names_have_numbers(void **state)
{
	u64 one = bftm_ask_lock((const u8 *)"one", 3);

	(void)state;
	assert_true(one);
	assert_true(one != bftm_ask_lock((const u8 *)"two", 3));
	assert_true(one != bftm_ask_lock((const u8 *)"one\0", 4));
	assert_true(one == bftm_ask_lock((const u8 *)"one", 3));
}

/* The hedge is two round trips of the F-th fastest, and no less than a millisecond. */
static void hedge_of_the_fth(void **state)
{
	(void)state;
	ask.speed.srtt_ns[0] = ask.speed.srtt_ns[1] = 1;
	ask.speed.srtt_ns[6] = 100 * TRIP;
	begin(T0);
	assert_int_equal(t.hedge_ns, H);
	ask.speed.srtt_ns[2] = ask.speed.srtt_ns[3] = ask.speed.srtt_ns[4] = 1;
	begin(T0);
	assert_int_equal(t.hedge_ns, BFTM_ASK_FLOOR_NS);
}

/* Where a second step would take more than an eighth of the lease, there is none. */
static void short_leases_ask_all(void **state)
{
	(void)state;
	want.lease_ns = 8 * H;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 5);
	want.lease_ns--;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	want.lease_ns = BFTM_LEASE_NONE;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 5);
}

static void literal_and_written_values_ask_all(void **state)
{
	(void)state;
	cfg.literal = true;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	cfg.literal = false;
	want.value = true;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	/* F_V + b = n - F + 2b + 1 = 5: of those that tell, b may lie. */
	want.mode = BFTM_MODE_PR;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 5);
	cfg.n = 31;
	cfg.b = 10;
	memset(ask.speed.srtt_ns, 1, sizeof(ask.speed.srtt_ns));
	want.lease_ns = BFTM_LEASE_MAX_NS;
	ask.speed.srtt_ns[0] = 1;
	want.value = false;
	begin(T0);
	assert_int_equal(t.asked, 0x7fffffff);	/* round trips of a month */
	memset(ask.speed.srtt_ns, 0, sizeof(ask.speed.srtt_ns));
	for (u32 u = 0; u < 31; u++)
		ask.speed.srtt_ns[u] = TRIP;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 21);
	want.value = true;
	begin(T0);
	assert_int_equal(bftm_count(t.asked), 31);	/* F = 21, and 10 + 21 tell */
}

static void second_miss_is_suspicious(void **state)
{
	(void)state;
	miss(3);
	assert_int_equal(ask.suspected, 0);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	want.lock = 1;
	begin(T0);
	assert_int_equal(t.asked & ~t.probe & 1u << 3, 0);
}

/* FREE in time makes up for a miss, one for each point. */
static void a_miss_is_forgotten(void **state)
{
	int i;

	(void)state;
	miss(3);
	want.lock = 1;
	for (i = 0; i < 200; i++) {
		begin(T0);
		one_step();
		want.lock++;
	}
	miss(3);
	assert_int_equal(ask.suspected, 0);
}

/* No answer by h, and FREE later, is as bad as none. */
static void late_is_missed(void **state)
{
	u32 u;

	(void)state;
	begin(T0);
	u = bftm_lowest(t.first);
	hear(t.first & ~(1u << u), true);
	bftm_ask_due(&cfg, &t, T0 + H);		/* not over yet */
	assert_int_equal(ask.server[u].score, 0);
	bftm_ask_heard(&cfg, &t, u, true, T0, T0 + H + 1);
	assert_true(ask.server[u].score);
	/* Once. */
	bftm_ask_due(&cfg, &t, T0 + H + 1);
	assert_int_equal(ask.server[u].score, 64);
}

/* More than b that deny: others want the lock, and nobody lies. */
static void contention_is_nobodys_fault(void **state)
{
	u32 u, one, i;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(T0);
		one = lowest(t.first);
		second_step(one | lowest(t.first & ~one), 0);
	}
	assert_int_equal(ask.suspected, 0);
	for (u = 0; u < 7; u++)
		assert_int_equal(ask.server[u].score, 0);
}

/*
 * Honest servers deny a TRY that has overtaken RELEASE of this very host. One that has answered
 * RELEASE has no such excuse, and none has it twice in 16 attempts.
 */
static void own_release_is_an_excuse(void **state)
{
	u32 one, two;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0 - 4 * TRIP);
	begin(T0);
	assert_int_equal(t.own, ALL);
	one = lowest(t.first);
	two = lowest(t.first & ~one);
	second_step(one, 0);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
	/* The steps are counted all the same. */
	ask.adapts = true;
	begin(T0);
	second_step(two, 0);
	assert_int_equal(ask.server[bftm_lowest(two)].score, 0);
	assert_int_equal(ask.pressure, 128);
	begin(T0);
	second_step(one, 0);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 64);
	begin(T0 + 1);
	assert_int_equal(t.own, 0);
	want.lock = 1 + BFTM_ASK_RELEASES;
	begin(T0);
	assert_int_equal(t.own, 0);
}

static void an_excuse_lasts_16_attempts(void **state)
{
	u32 i, one;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0);
	for (i = 0; i < 33; i++) {
		begin(T0);
		one = lowest(t.first);
		if (i % 16)
			one_step();
		else
			second_step(one, 0);
	}
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
}

static void who_answers_release_has_no_excuse(void **state)
{
	u32 one;

	(void)state;
	bftm_ask_released(&ask, 1, ALL, T0);
	begin(T0);
	one = lowest(t.first);
	/* RELEASE of another lock. */
	bftm_ask_release_heard(&ask, 1 + BFTM_ASK_RELEASES, bftm_lowest(one));
	bftm_ask_release_heard(NULL, 1, bftm_lowest(one));
	begin(T0);
	assert_int_equal(t.own, ALL);
	bftm_ask_release_heard(&ask, 1, bftm_lowest(one));
	begin(T0);
	assert_int_equal(t.own, ALL & ~one);
	second_step(one, 0);
	begin(T0);
	second_step(one, 0);
	assert_int_equal(ask.suspected, one);
}

/* FREE and then INQUIRE is a denial; a denial and then FREE is none. */
static void the_last_word_counts(void **state)
{
	u32 one;

	(void)state;
	begin(T0);
	one = lowest(t.first);
	hear(t.first, true);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL & ~one);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 64);
	ask.server[bftm_lowest(one)].score = 0;
	begin(T0);
	hear(t.first & ~one, true);
	hear(one, false);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
	/* A server whose grants do not count can say what it likes. */
	cfg.forgetful = one;
	begin(T0);
	t.first |= one;
	hear(t.first, true);
	bftm_ask_more(&t, ALL, T0 + TRIP);
	bftm_ask_won(&cfg, &t, ALL & ~one);
	assert_int_equal(ask.server[bftm_lowest(one)].score, 0);
}

/* A suspected server is asked as well, and says so. */
static void proves(u32 u, bool free)
{
	begin(T0);
	t.probe = 1u << u;
	t.asked |= t.probe;
	hear(1u << u, free);
}

/* 1, 2, 4 … 64 times FREE in time in a row, and it is trusted. */
static void suspicion_ends_by_proof(void **state)
{
	u32 level, i, owed;

	(void)state;
	for (level = 1; level <= 9; level++) {
		ask.missed = 0;
		miss(3);
		miss(3);
		owed = 1u << ((level < 7 ? level : 7) - 1);
		for (i = 1; i < owed; i++)
			proves(3, true);
		assert_int_equal(ask.suspected, 1u << 3);
		proves(3, false);		/* the count begins anew */
		for (i = 0; i < owed; i++) {
			assert_int_equal(ask.suspected, 1u << 3);
			proves(3, true);
		}
		assert_int_equal(ask.suspected, 0);
	}
}

static void each_16th_attempt_probes(void **state)
{
	u32 i, probes[7] = {}, u;

	(void)state;
	ask.suspected = 0x12;
	for (i = 1; i <= 16 * 14; i++) {
		begin(T0);
		if (i % 16)
			assert_int_equal(t.probe, 0);
		assert_int_equal(t.asked, t.first | t.probe);
		assert_int_equal(t.first & ask.suspected, 0);
		for (u = 0; u < 7; u++)
			probes[u] += t.probe >> u & 1;
	}
	assert_int_equal(probes[1], 8);
	assert_int_equal(probes[4], 6);
}

static void too_few_trusted_ask_all(void **state)
{
	(void)state;
	ask.suspected = 0x03;
	begin(T0);
	assert_int_equal(t.first, 0x7c);
	ask.suspected = 0x07;
	begin(T0);
	assert_int_equal(t.asked, ALL);
}

/* A server that may forget what it grants has no vote: it is not asked first. */
static void forgetful_servers_are_not_first(void **state)
{
	(void)state;
	cfg.forgetful = 0x02;
	ask.suspected = 0x01;
	begin(T0);
	assert_int_equal(t.first, 0x7c);
	cfg.forgetful = 0x06;
	begin(T0);
	assert_int_equal(t.asked, ALL);
	/* … nor probed: it cannot prove anything. */
	cfg.forgetful = ask.suspected = 0x02;
	ask.starts = 15;
	begin(T0);
	assert_int_equal(t.probe, 0);
	assert_int_equal(t.first & 0x02, 0);
}

/* 1,024 FREE in a row make up for one suspicion. */
static void levels_sink(void **state)
{
	u32 i;

	(void)state;
	ask.server[0].level = 2;
	for (i = 0; i < 2048; i++) {
		assert_int_equal(ask.server[0].level, 2 - i / 1024);
		begin(T0);
		t.first = t.asked = 1;
		hear(1, true);
	}
	assert_int_equal(ask.server[0].level, 0);
}

/* Where one in 64 is missed, a server is suspected at the third. */
static void noise_is_tolerated(void **state)
{
	(void)state;
	ask.missed = BFTM_ASK_ONE / 20;
	miss(3);
	miss(3);
	assert_int_equal(ask.suspected, 0);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	/* However much is missed, a miss weighs 4. */
	ask.missed = BFTM_ASK_ONE;
	ask.server[2].score = 0;
	miss(2);
	assert_int_equal(ask.server[2].score, 4);
}

static void second_steps_ask_for_one_more(void **state)
{
	u32 i;

	(void)state;
	ask.adapts = true;
	for (i = 0; i < 3; i++) {
		assert_int_equal(ask.spare, 0);
		begin(T0);
		t.rest_ns = T0 + H;
		won();
	}
	assert_int_equal(ask.spare, 1);
	begin(T0);
	assert_int_equal(bftm_count(t.first), 6);
	for (i = 0; i < 30; i++) {
		t.rest_ns = T0 + H;
		won();
	}
	assert_int_equal(ask.spare, 2);
	begin(T0);
	assert_int_equal(t.asked, ALL);
	/* 2,048 acquires in which one step was enough */
	for (i = 0; i < 2048; i++) {
		assert_int_equal(ask.spare, 2);
		begin(T0);
		t.rest_ns = i % 512 == 1 ? T0 + H : 0;
		won();
	}
	assert_int_equal(ask.spare, 1);
	/* ask = first does not count. */
	ask.adapts = false;
	for (i = 0; i < 30; i++) {
		t.rest_ns = T0 + H;
		won();
	}
	assert_int_equal(ask.spare, 1);
}

/* A liar that was found makes nobody ask more. */
static void suspicion_takes_pressure_away(void **state)
{
	(void)state;
	ask.adapts = true;
	miss(3);
	assert_int_equal(ask.pressure, 128);
	miss(3);
	assert_int_equal(ask.suspected, 1u << 3);
	assert_int_equal(ask.pressure, 128);
	assert_int_equal(ask.spare, 0);
}

/* An attempt that was sent later to a server is timed from there. */
static void late_servers_are_timed_from_their_send(void **state)
{
	u32 u;

	(void)state;
	begin(T0);
	u = bftm_lowest(ALL & ~t.asked);
	bftm_ask_heard(&cfg, &t, u, true, T0, T0 + H);	/* it was not asked */
	assert_int_equal(ask.speed.srtt_ns[u], TRIP);
	bftm_ask_more(&t, ALL, T0 + H);
	bftm_ask_heard(&cfg, &t, u, true, T0, T0 + H + TRIP + 80);
	assert_int_equal(ask.speed.srtt_ns[u], TRIP + 10);
	bftm_ask_heard(&cfg, &t, u, true, T0, T0 + 9 * H);	/* its first answer counts */
	assert_int_equal(ask.speed.srtt_ns[u], TRIP + 10);
}

/* Suspects stay suspects, but for ask = first none is spare. */
static void knowledge_is_inherited(void **state)
{
	static struct bftm_ask_state next;

	(void)state;
	ask.suspected = 4;
	ask.spare = 1;
	bftm_ask_start(&next, true);
	bftm_ask_inherit(&next, &ask);
	assert_true(next.adapts);
	assert_int_equal(next.suspected, 4);
	assert_int_equal(next.spare, 1);
	assert_int_equal(next.speed.srtt_ns[0], TRIP);
	bftm_ask_start(&next, false);
	bftm_ask_inherit(&next, &ask);
	assert_int_equal(next.suspected, 4);
	assert_int_equal(next.spare, 0);
	/* Another server has the place of that one. */
	next.server[2].score = 9;
	bftm_ask_forget(&next, 2);
	assert_int_equal(next.suspected, 0);
	assert_int_equal(next.server[2].score, 0);
	assert_int_equal(next.speed.srtt_ns[2], 0);
	assert_int_equal(next.speed.srtt_ns[1], TRIP);
	assert_true(next.server[2].salt == ask.server[2].salt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_knowledge_all_are_asked, fresh),
		cmocka_unit_test_setup(locks_have_orders, fresh),
		cmocka_unit_test_setup(names_have_numbers, fresh),
		cmocka_unit_test_setup(hedge_of_the_fth, fresh),
		cmocka_unit_test_setup(short_leases_ask_all, fresh),
		cmocka_unit_test_setup(literal_and_written_values_ask_all, fresh),
		cmocka_unit_test_setup(second_miss_is_suspicious, fresh),
		cmocka_unit_test_setup(a_miss_is_forgotten, fresh),
		cmocka_unit_test_setup(late_is_missed, fresh),
		cmocka_unit_test_setup(contention_is_nobodys_fault, fresh),
		cmocka_unit_test_setup(own_release_is_an_excuse, fresh),
		cmocka_unit_test_setup(an_excuse_lasts_16_attempts, fresh),
		cmocka_unit_test_setup(who_answers_release_has_no_excuse, fresh),
		cmocka_unit_test_setup(the_last_word_counts, fresh),
		cmocka_unit_test_setup(suspicion_ends_by_proof, fresh),
		cmocka_unit_test_setup(each_16th_attempt_probes, fresh),
		cmocka_unit_test_setup(too_few_trusted_ask_all, fresh),
		cmocka_unit_test_setup(forgetful_servers_are_not_first, fresh),
		cmocka_unit_test_setup(levels_sink, fresh),
		cmocka_unit_test_setup(noise_is_tolerated, fresh),
		cmocka_unit_test_setup(second_steps_ask_for_one_more, fresh),
		cmocka_unit_test_setup(suspicion_takes_pressure_away, fresh),
		cmocka_unit_test_setup(late_servers_are_timed_from_their_send, fresh),
		cmocka_unit_test_setup(knowledge_is_inherited, fresh),
	};

	return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
