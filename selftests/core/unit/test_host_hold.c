// SPDX-License-Identifier: GPL-2.0
/* An attempt of the kernel waits in the queue, and renews what it holds. */
#include "host.h"

/* In a renewal a server that has not granted the lock says WAIT, and there is no dispute. */
static void a_renewal_disputes_nothing(void **state)
{
	(void)state;
	want.renew = true;
	hold(T0);
	host_wakes(h.due_ns);
	assert_int_equal(tried(), 0x7c);
	host_says(0, BFTM_MSG_WAIT, 0, T0 + L / 2 + 1);
	assert_false(step.disputed);
}

/* At half of the lease, or at an eighth of all servers where not all know of it. */
static void it_is_renewed(void **state)
{
	u64 pause, first;
	u32 asked;

	(void)state;
	for (first = 0; first < 2; first++) {
		fresh(state);
		want.renew = true;
		if (first)
			ask_first();
		asked = hold(T0);
		pause = first ? L / 8 : L / 2;
		assert_int_equal(h.due_ns, T0 + pause);
		assert_int_equal(host_wakes(T0 + pause - 1), BFTM_HOST_NOTHING);
		assert_int_equal(tried(), 0);
		assert_int_equal(host_wakes(T0 + pause), BFTM_HOST_NOTHING);
		assert_int_equal(tried(), first ? ALL : asked);
		assert_int_equal(step.out.send[0].k, 2);
		assert_int_equal(step.out.send[0].arg, BFTM_MODE_EX);
		assert_int_equal(all_tell(asked, BFTM_MSG_FREE, T0 + pause + 1), BFTM_HOST_RENEWED);
		assert_int_equal(step.end_ns, T0 + pause + GOOD);
		assert_int_equal(h.state, BFTM_HOST_HOLD);
		assert_int_equal(h.due_ns, T0 + pause + L / 2);
		cfg.ask = NULL;
	}
}

/* Also one that is not renewed by itself; and one whose lease is over is not. */
static void renewed_on_request(void **state)
{
	u32 asked;

	(void)state;
	asked = hold(T0);
	assert_int_equal(h.due_ns, 0);
	bftm_host_renew(&h, &cfg, T0 + 5, &step);
	assert_int_equal(tried(), asked);
	assert_int_not_equal(h.due_ns, 0);
	assert_int_equal(all_tell(asked, BFTM_MSG_FREE, T0 + 6), BFTM_HOST_RENEWED);
	assert_int_equal(step.end_ns, T0 + 5 + GOOD);
	assert_int_equal(h.due_ns, 0);
	bftm_host_renew(&h, &cfg, T0 + 6 + GOOD, &step);
	assert_int_equal(step.event, BFTM_HOST_LAPSED);
	assert_over_at(ALL, true);
	/* An attempt that asks, or is over, is not renewed. */
	h.client = NULL;
	bftm_host_renew(&h, &cfg, T0 + L, &step);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	fresh(state);
	begin(T0);
	bftm_host_renew(&h, &cfg, T0, &step);
	assert_int_equal(tried(), 0);
}

/* An answer that comes when the lease is over does not bring the lock back. */
static void lapsed(void **state)
{
	(void)state;
	want.renew = true;
	hold(T0);
	host_wakes(T0 + L / 2);
	assert_int_equal(host_says(3, BFTM_MSG_FREE, 1, T0 + GOOD + 1), BFTM_HOST_LAPSED);
	assert_over_at(ALL, true);
}

/* It has its place in the queue, polls for as long as servers answer, and wins in the end. */
static void it_waits_in_the_queue(void **state)
{
	u32 polls;

	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	assert_int_equal(begin(T0), ALL);
	assert_false(step.out.send[0].flags & BFTM_FLAG_NOQUEUE);
	for (polls = 0; polls < 20; polls++) {
		assert_int_equal(all_tell(ALL, BFTM_MSG_WAIT, T0 + polls * L / 8 + 1),
				 BFTM_HOST_NOTHING);
		assert_int_equal(h.due_ns, T0 + (polls + 1) * L / 8);
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(tried(), ALL);
		assert_false(step.disputed);
	}
	assert_int_equal(all_tell(0x1f, BFTM_MSG_FREE, T0 + 20 * L / 8 + 1), BFTM_HOST_WON);
	assert_int_equal(step.end_ns, T0 + 20 * L / 8 + GOOD);
	/* Somebody else had it. */
	assert_false(step.disputed);
}

/* It is heard no more, or never was. */
static void unheard_in_the_queue(void **state)
{
	u32 polls;
	u64 now;

	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	begin(T0);
	all_tell(ALL, BFTM_MSG_WAIT, T0 + 1);
	while (h.state == BFTM_HOST_ASK && h.due_ns < T0 + 3 * L)
		host_wakes(h.due_ns);
	assert_int_equal(step.event, BFTM_HOST_LOST);
	assert_int_equal(c.base.sends, 9);
	assert_over_at(ALL, false);
	fresh(state);
	want.wait = BFTM_WAIT_QUEUE;
	begin(T0);
	assert_false(bftm_host_in_vain(&h, &cfg));
	for (polls = 1; polls < BFTM_HOST_SENDS; polls++) {
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(tried(), ALL);
		assert_int_equal(bftm_host_silent(&h), ALL);
		assert_true(bftm_host_in_vain(&h, &cfg));
	}
	now = h.due_ns;
	assert_int_equal(host_wakes(now), BFTM_HOST_LOST);
	assert_true(step.unheard);
	/* No poll is waited for: a lease may be long. */
	assert_int_equal(c.base.sends, 1);
	assert_true(now <= T0 + 16 * cfg.delta_ns);
	assert_over_at(ALL, false);
}

/* A host with thousands of locks to ask for comes to this one late: the answers may just be lost. */
static void woken_late_it_is_repeated_first(void **state)
{
	u64 late = T0 + 2 * BFTM_HOST_SENDS * cfg.resend_ns, now;

	(void)state;
	want.wait = BFTM_WAIT_QUEUE;
	want.lease_ns = 60 * L;		/* no poll comes before */
	ask_first();
	begin(T0);
	assert_int_equal(host_wakes(late), BFTM_HOST_NOTHING);
	assert_int_equal(tried(), ALL);
	/* The hedge is shorter than that. */
	for (now = h.due_ns; now < late + cfg.resend_ns; now = h.due_ns)
		assert_int_equal(host_wakes(now), BFTM_HOST_NOTHING);
	assert_int_equal(host_wakes(now), BFTM_HOST_LOST);
	assert_true(step.unheard);
	fresh(state);
	want.wait = BFTM_WAIT_QUEUE;
	begin(T0);
	assert_int_equal(host_wakes(late), BFTM_HOST_NOTHING);
	all_tell(ALL, BFTM_MSG_WAIT, late + 1);
	assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
	assert_int_equal(h.state, BFTM_HOST_ASK);
	cfg.ask = NULL;
}

/* Up to b servers grant a lock that others deny, and the daemon is to see such rounds. */
static void a_wait_is_contested(void **state)
{
	static const struct {
		u32 free;
		bool contested;
	} cases[] = { { 0x40, true }, { 0x60, false }, { 0, false } };
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fresh(state);
		want.wait = BFTM_WAIT_QUEUE;
		begin(T0);
		all_tell(ALL & ~cases[i].free, BFTM_MSG_WAIT, T0 + 1);
		all_tell(cases[i].free, BFTM_MSG_FREE, T0 + 1);
		host_wakes(T0 + L / 8);
		assert_int_equal(tried(), ALL);
		assert_int_equal(step.contested, cases[i].contested);
	}
}

/* A server that asks has a waiter, which a holder that asked few servers tells the others of. */
static void a_waiter_hurries_it(void **state)
{
	u32 asked;

	(void)state;
	want.renew = true;
	hold(T0);
	/* All know of the holder. */
	host_says(0, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_int_equal(tried(), 0);
	assert_int_equal(h.due_ns, T0 + L / 2);
	fresh(state);
	ask_first();
	want.renew = true;
	asked = hold(T0);
	host_says(bftm_lowest(asked), BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_int_equal(tried(), 0);
	assert_false(step.wanted);
	assert_int_equal(h.due_ns, T0 + 2 + RESEND);
	asked &= asked - 1;
	host_says(bftm_lowest(asked), BFTM_MSG_INQUIRE, 1, T0 + 4);
	assert_int_equal(tried(), ALL);
	assert_true(step.wanted);
	host_says(bftm_lowest(asked), BFTM_MSG_INQUIRE, 1, T0 + 5);
	assert_false(step.wanted);
	/* A lock that is not renewed is not. */
	fresh(state);
	ask_first();
	asked = hold(T0);
	host_says(bftm_lowest(asked), BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_int_equal(tried(), 0);
	cfg.ask = NULL;
}

static void a_liar_wants_nothing(void **state)
{
	(void)state;
	hold(T0);
	host_says(0, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_false(step.wanted);
	host_says(0, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_false(step.wanted);
	host_says(1, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_true(step.wanted);
	/* Once. */
	host_says(1, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_false(step.wanted);
}

/* An INQUIRE for more than what is held is about another grant. */
static void a_reader_is_wanted_as_a_reader(void **state)
{
	struct bftm_msg msg = { .type = BFTM_MSG_INQUIRE, .attempt = 1, .mode = BFTM_MODE_EX };
	u32 u;

	(void)state;
	want.mode = BFTM_MODE_PR;
	hold(T0);
	for (u = 0; u < cfg.n; u++) {
		bftm_host_answer(&h, &cfg, u, &msg, T0 + 2, &step);
		assert_false(step.wanted);
	}
	host_says(0, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_false(step.wanted);
	host_says(1, BFTM_MSG_INQUIRE, 1, T0 + 2);
	assert_true(step.wanted);
}

/* Its lease ended, and nobody knows what it has done: a reader has written nothing. */
static void writers_alone_leave_a_doubt(void **state)
{
	enum bftm_mode mode;

	for (mode = BFTM_MODE_CR; mode < BFTM_MODES; mode++) {
		fresh(state);
		want.mode = mode;
		hold(T0);
		bftm_host_stop(&h, &cfg, true, T0 + GOOD + 1, &step);
		assert_over_at(ALL, mode == BFTM_MODE_PW || mode == BFTM_MODE_EX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_renewal_disputes_nothing, fresh),
		cmocka_unit_test_setup(it_is_renewed, fresh),
		cmocka_unit_test_setup(renewed_on_request, fresh),
		cmocka_unit_test_setup(lapsed, fresh),
		cmocka_unit_test_setup(it_waits_in_the_queue, fresh),
		cmocka_unit_test_setup(woken_late_it_is_repeated_first, fresh),
		cmocka_unit_test_setup(unheard_in_the_queue, fresh),
		cmocka_unit_test_setup(a_wait_is_contested, fresh),
		cmocka_unit_test_setup(a_waiter_hurries_it, fresh),
		cmocka_unit_test_setup(a_liar_wants_nothing, fresh),
		cmocka_unit_test_setup(a_reader_is_wanted_as_a_reader, fresh),
		cmocka_unit_test_setup(writers_alone_leave_a_doubt, fresh),
	};

	return cmocka_run_group_tests_name("host_hold", tests, NULL, NULL);
}
