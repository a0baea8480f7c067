// SPDX-License-Identifier: GPL-2.0
/* A client asks some servers first, and spare ones later. */
#include "asking.h"

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
		cmocka_unit_test_setup(each_16th_attempt_probes, fresh),
		cmocka_unit_test_setup(too_few_trusted_ask_all, fresh),
		cmocka_unit_test_setup(forgetful_servers_are_not_first, fresh),
		cmocka_unit_test_setup(second_steps_ask_for_one_more, fresh),
		cmocka_unit_test_setup(late_servers_are_timed_from_their_send, fresh),
		cmocka_unit_test_setup(knowledge_is_inherited, fresh),
	};

	return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
