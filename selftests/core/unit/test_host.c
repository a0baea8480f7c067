// SPDX-License-Identifier: GPL-2.0
/* An attempt of the kernel asks, and ends. */
#include "core/backoff/ended.h"
#include "host.h"

static void f_servers_win(void **state)
{
	(void)state;
	assert_int_equal(begin(T0), ALL);
	assert_true(step.out.send[0].flags & BFTM_FLAG_NOQUEUE);
	assert_int_equal(h.due_ns, c.base.wake_ns);
	assert_int_equal(all_tell(0x1f, BFTM_MSG_FREE, T0 + 1), BFTM_HOST_WON);
	assert_int_equal(step.end_ns, T0 + GOOD);
	assert_int_equal(step.out.count, 0);
	assert_int_equal(step.out.release_to, 0);
	assert_false(step.disputed);
	/* It is not renewed: nothing is to be done until it is given back. */
	assert_int_equal(h.due_ns, 0);
	assert_int_equal(host_wakes(T0 + L), BFTM_HOST_NOTHING);
}

static void a_token_is_part_of_it(void **state)
{
	u32 u;

	(void)state;
	want.fence = true;
	begin(T0);
	all_tell(0x1f, BFTM_MSG_FREE, T0 + 1);
	assert_int_equal(h.state, BFTM_HOST_ASK);
	assert_int_equal(bftm_out_to(&step.out, BFTM_MSG_STAMP), ALL);
	for (u = 0; u < 6 && step.event != BFTM_HOST_WON; u++)
		host_says(u, BFTM_MSG_SACK, c.base.token, T0 + 2);
	assert_int_equal(step.event, BFTM_HOST_WON);
	assert_true(c.base.token);
}

/* Servers of @set grant @mode, with the token @token, which the modes @himask share. */
static enum bftm_host_event grant(u32 set, enum bftm_mode mode, u64 token, u8 himask, u64 now)
{
	const struct bftm_msg msg = {
		.type = BFTM_MSG_FREE, .attempt = 1, .k = 1, .gno = 1, .mode = mode,
		.token = token, .arg = himask,
	};
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1)
			bftm_host_answer(&h, &cfg, u, &msg, now, &step);
	return step.event;
}

/* A grant of more will do, and one of less is none. */
static void any_mode_is_asked_for(void **state)
{
	enum bftm_mode mode, given;
	struct bftm_msg msg;

	for (mode = BFTM_MODE_CR; mode < BFTM_MODES; mode++)
		for (given = BFTM_MODE_NL; given < BFTM_MODES; given++) {
			fresh(state);
			want.mode = mode;
			assert_int_equal(begin(T0), ALL);
			bftm_contender_message(h.client, &step.out.send[0], ALL, &msg);
			assert_int_equal(msg.mode, mode);
			assert_int_equal(msg.arg, BFTM_MODE_NL);
			grant(0x0f, mode, 0, 0, T0 + 1);
			assert_int_equal(grant(0x10, given, 0, 0, T0 + 1),
					 bftm_mode_covers(given, mode) ? BFTM_HOST_WON :
									 BFTM_HOST_NOTHING);
		}
}

/* It is shared with those beside whom the lock is held, and with nobody else. */
static void a_token_of_readers(void **state)
{
	static const struct {
		enum bftm_mode mode;
		u8 himask;
		u64 offered;
	} cases[] = {
		{ BFTM_MODE_PR, 1 << BFTM_MODE_PR | 1 << BFTM_MODE_CR, 7 },
		{ BFTM_MODE_PR, 1 << BFTM_MODE_EX, 8 },
		{ BFTM_MODE_PR, 1 << BFTM_MODE_CW, 8 },
		{ BFTM_MODE_CW, 1 << BFTM_MODE_CW, 7 },
		{ BFTM_MODE_PW, 1 << BFTM_MODE_CR, 8 },
	};
	struct bftm_msg msg;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fresh(state);
		want.fence = true;
		want.mode = cases[i].mode;
		begin(T0);
		grant(0x1f, want.mode, 7, cases[i].himask, T0 + 1);
		assert_int_equal(h.state, BFTM_HOST_ASK);
		assert_int_equal(bftm_out_to(&step.out, BFTM_MSG_STAMP), ALL);
		bftm_contender_message(h.client, &step.out.send[0], ALL, &msg);
		assert_int_equal(msg.mode, want.mode);
		assert_int_equal(msg.token, cases[i].offered);
	}
}

static void others_have_it(void **state)
{
	(void)state;
	begin(T0);
	assert_int_equal(all_tell(0x07, BFTM_MSG_LOCKED, T0 + 1), BFTM_HOST_LOST);
	assert_false(step.unheard);
	assert_over_at(ALL, false);
}

/* F FREE of which nothing is left. */
static void too_late_is_lost(void **state)
{
	(void)state;
	begin(T0);
	all_tell(0x0f, BFTM_MSG_FREE, T0 + 1);
	assert_int_equal(host_says(4, BFTM_MSG_FREE, 1, T0 + GOOD + 1), BFTM_HOST_LOST);
	assert_over_at(ALL, false);
}

/* At the very end of the lease as well: it would be over before the program could know. */
static void a_token_that_comes_too_late(void **state)
{
	u32 u;

	(void)state;
	want.fence = true;
	begin(T0);
	all_tell(0x1f, BFTM_MSG_FREE, T0 + 1);
	for (u = 0; u < 6 && step.event == BFTM_HOST_NOTHING; u++)
		host_says(u, BFTM_MSG_SACK, c.base.token, T0 + GOOD);
	assert_int_equal(step.event, BFTM_HOST_LOST);
	assert_over_at(ALL, false);
}

/* The third send is the last; did as many servers answer as win a lock? */
static void silent_servers_are_asked_three_times(void **state)
{
	u32 heard;

	(void)state;
	for (heard = 0; heard < 2; heard++) {
		fresh(state);
		begin(T0);
		if (heard) {
			all_tell(0x07, BFTM_MSG_FREE, T0 + 1);
			all_tell(0x18, BFTM_MSG_LOCKED, T0 + 1);
		}
		while (c.base.sends < 3)
			assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(host_wakes(h.due_ns - 1), BFTM_HOST_NOTHING);
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_LOST);
		assert_int_equal(step.unheard, !heard);
		assert_over_at(ALL, false);
	}
}

static void too_few_can_be_asked(void **state)
{
	(void)state;
	begin(T0);
	bftm_host_unsent(&h, &cfg, 0x60, T0, &step);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	fresh(state);
	begin(T0);
	bftm_host_unsent(&h, &cfg, 0x70, T0, &step);
	assert_int_equal(step.event, BFTM_HOST_LOST);
	assert_true(step.unheard);
	assert_over_at(ALL, false);
	/* Those that were not asked first may do. */
	fresh(state);
	ask_first();
	bftm_host_unsent(&h, &cfg, begin(T0), T0, &step);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	cfg.ask = NULL;
}

/*
 * The server asks for its grant back. Only another grant of it counts then; and if a daemon goes on
 * with the lock, the caller has numbers to skip.
 */
static void a_grant_is_given_back(void **state)
{
	(void)state;
	begin(T0);
	host_says(0, BFTM_MSG_FREE, 3, T0 + 1);
	assert_false(h.yielded);
	assert_int_equal(host_says(0, BFTM_MSG_INQUIRE, 3, T0 + 1), BFTM_HOST_NOTHING);
	assert_int_equal(bftm_out_to(&step.out, BFTM_MSG_YIELD), 1);
	assert_true(h.yielded);
	host_says(0, BFTM_MSG_FREE, 3, T0 + 1);
	assert_int_equal(bftm_out_to(&step.out, BFTM_MSG_YIELD), 1);
	assert_int_equal(all_tell(0x1e, BFTM_MSG_FREE, T0 + 1), BFTM_HOST_NOTHING);
	assert_int_equal(host_says(0, BFTM_MSG_FREE, 4, T0 + 1), BFTM_HOST_WON);
	assert_true(h.yielded);
}

/* The daemon is told of up to b servers that disagree with F others, also when it is won. */
static void a_server_disputes_it(void **state)
{
	static const u8 denials[] = { BFTM_MSG_LOCKED, BFTM_MSG_WAIT };
	u32 i;

	for (i = 0; i < 2; i++) {
		fresh(state);
		begin(T0);
		host_says(6, denials[i], 0, T0 + 1);
		assert_false(step.disputed);
		all_tell(0x1f, BFTM_MSG_FREE, T0 + 1);
		assert_true(step.disputed);
		/* Of two a correct one is among them: somebody else has had the lock. */
		host_says(5, denials[i], 0, T0 + 1);
		assert_false(step.disputed);
		fresh(state);
		hold(T0);
		assert_false(step.disputed);
		host_says(0, denials[i], 0, T0 + 1);
		assert_true(step.disputed);
		host_says(0, denials[i], 0, T0 + 1);
		assert_false(step.disputed);
		/* Nor does its grant excuse it. */
		fresh(state);
		hold(T0);
		host_says(6, denials[i], 0, T0 + 1);
		assert_true(step.disputed);
	}
}

/* It had another client's grant to end first. */
static void a_server_grants_it_late(void **state)
{
	(void)state;
	begin(T0);
	host_says(6, BFTM_MSG_WAIT, 0, T0 + 1);
	host_says(6, BFTM_MSG_FREE, 1, T0 + 1);
	all_tell(0x0f, BFTM_MSG_FREE, T0 + 1);
	assert_int_equal(step.event, BFTM_HOST_WON);
	assert_false(step.disputed);
	/* Of more than b servers that denied it one grants it no more. */
	fresh(state);
	want.wait = BFTM_WAIT_QUEUE;
	begin(T0);
	all_tell(ALL, BFTM_MSG_WAIT, T0 + 1);
	all_tell(0x1f, BFTM_MSG_FREE, T0 + 2);
	assert_int_equal(step.event, BFTM_HOST_WON);
	assert_false(step.disputed);
}

/* It has no lock for anybody. */
static void a_quarantine_disputes_nothing(void **state)
{
	const struct bftm_msg msg = { .type = BFTM_MSG_WAIT, .attempt = 1, .k = 1, .lease_ns = L };

	(void)state;
	begin(T0);
	bftm_host_answer(&h, &cfg, 6, &msg, T0 + 1, &step);
	all_tell(0x1f, BFTM_MSG_FREE, T0 + 1);
	assert_int_equal(step.event, BFTM_HOST_WON);
	assert_false(step.disputed);
}

/* Where readers come and go, servers hear of a writer one after the other. */
static void servers_that_disagree_on_readers_dispute_nothing(void **state)
{
	(void)state;
	want.mode = BFTM_MODE_PR;
	begin(T0);
	host_says(6, BFTM_MSG_LOCKED, 0, T0 + 1);
	assert_int_equal(all_tell(0x1f, BFTM_MSG_FREE, T0 + 1), BFTM_HOST_WON);
	assert_false(step.disputed);
	host_says(5, BFTM_MSG_LOCKED, 0, T0 + 1);
	assert_false(step.disputed);
}

static void given_up_while_it_asks(void **state)
{
	(void)state;
	begin(T0);
	all_tell(0x0f, BFTM_MSG_FREE, T0 + 1);
	bftm_host_stop(&h, &cfg, false, T0 + 2, &step);
	assert_over_at(ALL, false);
	/* The fifth grant comes too late. */
	assert_int_equal(host_says(4, BFTM_MSG_FREE, 1, T0 + 3), BFTM_HOST_NOTHING);
	assert_int_equal(h.state, BFTM_HOST_END);
}

/* RELEASE goes to those that were asked, twice more to the silent ones, and no more. */
static void released_at_those_that_were_asked(void **state)
{
	u32 asked, i;

	(void)state;
	ask_first();
	asked = hold(T0);
	assert_int_not_equal(asked, ALL);
	/* An answer to RELEASE that was not sent yet is none. */
	all_tell(asked, BFTM_MSG_RELEASED, T0 + 2);
	assert_int_equal(h.state, BFTM_HOST_HOLD);
	bftm_host_stop(&h, &cfg, true, T0 + 3, &step);
	assert_over_at(asked, true);
	assert_int_equal(h.due_ns, T0 + 3 + RESEND);
	all_tell(asked & (asked - 1), BFTM_MSG_RELEASED, T0 + 4);
	assert_int_equal(step.out.count, 0);
	assert_int_equal(step.out.release_to, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(host_wakes(h.due_ns - 1), BFTM_HOST_NOTHING);
		assert_int_equal(step.out.release_to, 0);
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(step.out.release_to, asked & -asked);
	}
	assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_OVER);
	fresh(state);
	asked = hold(T0);
	bftm_host_stop(&h, &cfg, false, T0 + 3, &step);
	assert_int_equal(all_tell(ALL, BFTM_MSG_RELEASED, T0 + 4), BFTM_HOST_OVER);
}

/* There was no room for RELEASE: it goes out at the next wake-up, and is the first of three. */
static void release_without_room(void **state)
{
	u32 i;

	(void)state;
	hold(T0);
	bftm_host_stop(&h, &cfg, false, T0 + 3, &step);
	bftm_host_unreleased(&h, T0 + 3);
	assert_int_equal(h.due_ns, T0 + 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(step.out.release_to, ALL);
	}
	assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_OVER);
}

/* RELEASE overtook TRY: the server hears once more that nobody has the lock. */
static void granted_after_release(void **state)
{
	u32 i;

	(void)state;
	begin(T0);
	bftm_host_stop(&h, &cfg, false, T0 + 1, &step);
	host_says(1, BFTM_MSG_RELEASED, 0, T0 + 2);
	/* To server 0 RELEASE is on its way, or FREE has overtaken RELEASED. */
	assert_int_equal(host_says(0, BFTM_MSG_FREE, 1, T0 + 3), BFTM_HOST_NOTHING);
	assert_int_equal(step.out.release_to, 0);
	assert_int_equal(host_says(0, BFTM_MSG_RELEASED, 0, T0 + 3), BFTM_HOST_NOTHING);
	assert_int_equal(step.out.release_to, 1);
	assert_int_equal(host_says(1, BFTM_MSG_LOCKED, 1, T0 + 3), BFTM_HOST_NOTHING);
	assert_int_equal(step.out.release_to, 0);
	assert_int_equal(host_says(1, BFTM_MSG_FREE, 1, T0 + 3), BFTM_HOST_NOTHING);
	assert_int_equal(step.out.release_to, 2);
	assert_int_equal(step.out.release_attempt, 1);
	/* That one can be lost as well, and there was no room for it. */
	bftm_host_unreleased(&h, T0 + 3);
	bftm_host_unreleased(&h, T0 + 3);
	all_tell(ALL & ~2u, BFTM_MSG_RELEASED, T0 + 4);
	assert_int_equal(h.state, BFTM_HOST_END);
	for (i = 0; i < 3; i++) {
		assert_int_equal(host_wakes(h.due_ns), BFTM_HOST_NOTHING);
		assert_int_equal(step.out.release_to, 2);
	}
	assert_int_equal(host_says(1, BFTM_MSG_RELEASED, 0, h.due_ns - 1), BFTM_HOST_OVER);
}

/* It has not taken TRY: the same k once more, to that server alone, once a round. */
static void another_epoch(void **state)
{
	u32 k;

	(void)state;
	begin(T0);
	k = c.base.sends;
	bftm_host_epoch(&h, &cfg, 2, T0 + 1, &step);
	assert_int_equal(tried(), 4);
	assert_int_equal(step.out.send[0].k, k);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	bftm_host_epoch(&h, &cfg, 2, T0 + 2, &step);
	assert_int_equal(tried(), 0);
	assert_int_equal(all_tell(0x1f, BFTM_MSG_FREE, T0 + 3), BFTM_HOST_WON);
	/* Of a holder's renewal likewise; a server that heard of the end has RELEASE to answer. */
	bftm_host_epoch(&h, &cfg, 3, T0 + 4, &step);
	assert_int_equal(tried(), 8);
	assert_int_equal(h.state, BFTM_HOST_HOLD);
	bftm_host_stop(&h, &cfg, false, T0 + 5, &step);
	h.client = NULL;
	bftm_host_epoch(&h, &cfg, 4, T0 + 6, &step);
	assert_int_equal(tried(), 0);
}

/* A suspected server answers in time, but after F others, or after RELEASE. */
static void late_answers_prove(void **state)
{
	u32 released;

	(void)state;
	for (released = 0; released < 2; released++) {
		fresh(state);
		ask_first();
		ask.suspected = 1;
		ask.server[0].level = 1;
		ask.starts = 15;
		assert_true(begin(T0) & 1);
		assert_int_equal(all_tell(tried() & ~1u, BFTM_MSG_FREE, T0 + 1), BFTM_HOST_WON);
		if (released)
			bftm_host_stop(&h, &cfg, false, T0 + 1, &step);
		host_says(0, BFTM_MSG_FREE, 1, T0 + 2 * TRIP);
		assert_int_equal(ask.suspected, 0);
	}
}

/* A server that hears TRY after its RELEASE, when no attempt waits for answers any more. */
static void granted_when_it_is_over(void **state)
{
	struct bftm_msg free = { .type = BFTM_MSG_FREE, .attempt = 7, .name_len = 2, .name = "ab" };
	struct bftm_ended ended = {};
	struct bftm_msg release;
	u64 attempt;

	(void)state;
	assert_false(bftm_ended_stray(&ended, &free, &release));
	bftm_ended_note(&ended, 7);
	assert_true(bftm_ended_stray(&ended, &free, &release));
	assert_int_equal(release.type, BFTM_MSG_RELEASE);
	assert_int_equal(release.attempt, 7);
	assert_int_equal(release.flags, 0);
	assert_int_equal(release.name_len, 2);
	assert_memory_equal(release.name, "ab", 2);
	free.type = BFTM_MSG_INQUIRE;
	assert_true(bftm_ended_stray(&ended, &free, &release));
	free.type = BFTM_MSG_WAIT;
	assert_false(bftm_ended_stray(&ended, &free, &release));
	/* The last ones are remembered, and none that is not one. */
	free.type = BFTM_MSG_FREE;
	for (attempt = 8; attempt < 7 + BFTM_ENDED; attempt++)
		bftm_ended_note(&ended, attempt);
	assert_true(bftm_ended_stray(&ended, &free, &release));
	bftm_ended_note(&ended, attempt);
	assert_false(bftm_ended_stray(&ended, &free, &release));
	free.attempt = 0;
	memset(&ended, 0, sizeof(ended));
	assert_false(bftm_ended_stray(&ended, &free, &release));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(f_servers_win, fresh),
		cmocka_unit_test_setup(another_epoch, fresh),
		cmocka_unit_test_setup(a_token_is_part_of_it, fresh),
		cmocka_unit_test_setup(any_mode_is_asked_for, fresh),
		cmocka_unit_test_setup(a_token_of_readers, fresh),
		cmocka_unit_test_setup(others_have_it, fresh),
		cmocka_unit_test_setup(too_late_is_lost, fresh),
		cmocka_unit_test_setup(a_token_that_comes_too_late, fresh),
		cmocka_unit_test_setup(silent_servers_are_asked_three_times, fresh),
		cmocka_unit_test_setup(too_few_can_be_asked, fresh),
		cmocka_unit_test_setup(a_grant_is_given_back, fresh),
		cmocka_unit_test_setup(a_server_disputes_it, fresh),
		cmocka_unit_test_setup(servers_that_disagree_on_readers_dispute_nothing, fresh),
		cmocka_unit_test_setup(a_server_grants_it_late, fresh),
		cmocka_unit_test_setup(a_quarantine_disputes_nothing, fresh),
		cmocka_unit_test_setup(given_up_while_it_asks, fresh),
		cmocka_unit_test_setup(released_at_those_that_were_asked, fresh),
		cmocka_unit_test_setup(release_without_room, fresh),
		cmocka_unit_test_setup(granted_after_release, fresh),
		cmocka_unit_test_setup(late_answers_prove, fresh),
		cmocka_unit_test(granted_when_it_is_over),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
