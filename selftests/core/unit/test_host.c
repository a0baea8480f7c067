// SPDX-License-Identifier: GPL-2.0
/* One attempt of the kernel by itself: ASK, HOLD, END. n = 7, b = 1: F = 5. */
#include "core/backoff/host.h"
#include "contender.h"

#define TRIP	(10 * MS)

static struct bftm_host h;
static struct bftm_host_step step;
static struct bftm_ask_state ask;

static int fresh(void **state)
{
	fresh_client(state);
	want.wait = BFTM_WAIT_NOT;
	h = (struct bftm_host){ .core = bftm_backoff.client, .client = &c.base };
	return 0;
}

/* Each server takes 10 ms, and five are asked first. */
static void ask_first(void)
{
	u32 u;

	bftm_ask_start(&ask, false);
	for (u = 0; u < cfg.n; u++) {
		bftm_ask_server(&ask, u, 1, u + 1);
		ask.speed.srtt_ns[u] = TRIP;
	}
	cfg.ask = &ask;
	want.lock = 1;
}

static u32 tried(void)
{
	return bftm_out_to(&step.out, BFTM_MSG_TRY);
}

/* Return: whom it asks. */
static u32 begin(u64 now)
{
	bftm_host_begin(&h, &cfg, &want, 1, now, &step);
	assert_int_equal(h.state, BFTM_HOST_ASK);
	assert_int_equal(step.event, BFTM_HOST_NOTHING);
	return tried();
}

static enum bftm_host_event host_says(u32 u, u8 type, u64 gno, u64 now)
{
	const struct bftm_msg msg = {
		.type = type, .attempt = 1, .k = c.base.sends, .gno = gno,
		.position = type == BFTM_MSG_WAIT,
		.mode = type == BFTM_MSG_FREE || type == BFTM_MSG_INQUIRE ? want.mode :
									    BFTM_MODE_NL,
	};

	bftm_host_answer(&h, &cfg, u, &msg, now, &step);
	return step.event;
}

static enum bftm_host_event all_tell(u32 set, u8 type, u64 now)
{
	enum bftm_host_event event = BFTM_HOST_NOTHING;
	u32 u;

	for (u = 0; u < cfg.n; u++)
		if (set >> u & 1) {
			assert_int_equal(event, BFTM_HOST_NOTHING);
			event = host_says(u, type, 1, now);
		}
	return event;
}

static enum bftm_host_event host_wakes(u64 now)
{
	bftm_host_wake(&h, &cfg, now, &step);
	return step.event;
}

/* F of those asked win it. Return: these. */
static u32 hold(u64 now)
{
	u32 asked = begin(now);

	while (bftm_count(asked) > 5)
		asked &= asked - 1;
	assert_int_equal(all_tell(asked, BFTM_MSG_FREE, now + 1), BFTM_HOST_WON);
	assert_int_equal(h.state, BFTM_HOST_HOLD);
	return asked;
}

static void assert_over_at(u32 asked, bool doubt)
{
	assert_int_equal(h.state, BFTM_HOST_END);
	assert_int_equal(step.out.release_to, asked);
	assert_int_equal(step.out.release_attempt, 1);
	assert_int_equal(step.out.release_doubt, doubt);
	assert_int_equal(tried(), 0);
}

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
	}
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
	while (h.state == BFTM_HOST_ASK && h.due_ns < T0 + 3 * L)
		host_wakes(h.due_ns);
	assert_int_equal(step.event, BFTM_HOST_LOST);
	assert_true(step.unheard);
	assert_int_equal(c.base.sends, BFTM_HOST_SENDS);
	assert_over_at(ALL, false);
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
		cmocka_unit_test_setup(a_quarantine_disputes_nothing, fresh),
		cmocka_unit_test_setup(a_renewal_disputes_nothing, fresh),
		cmocka_unit_test_setup(it_is_renewed, fresh),
		cmocka_unit_test_setup(renewed_on_request, fresh),
		cmocka_unit_test_setup(lapsed, fresh),
		cmocka_unit_test_setup(it_waits_in_the_queue, fresh),
		cmocka_unit_test_setup(unheard_in_the_queue, fresh),
		cmocka_unit_test_setup(a_wait_is_contested, fresh),
		cmocka_unit_test_setup(a_waiter_hurries_it, fresh),
		cmocka_unit_test_setup(a_liar_wants_nothing, fresh),
		cmocka_unit_test_setup(a_reader_is_wanted_as_a_reader, fresh),
		cmocka_unit_test_setup(writers_alone_leave_a_doubt, fresh),
		cmocka_unit_test_setup(given_up_while_it_asks, fresh),
		cmocka_unit_test_setup(released_at_those_that_were_asked, fresh),
		cmocka_unit_test_setup(release_without_room, fresh),
		cmocka_unit_test_setup(granted_after_release, fresh),
		cmocka_unit_test_setup(late_answers_prove, fresh),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
