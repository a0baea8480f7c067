// SPDX-License-Identifier: GPL-2.0
/*
 * Figures of the textbook, step by step: the algorithms of selftests/core/peers in a world in which
 * the test says which message arrives next. Process 0 is p1 of the figures.
 */
#include "unit.h"

#include "selftests/core/peers/algorithms.h"

#define SENT_MAX 64

static const struct peer_algorithm *algorithm;
static struct peer peers[8];
static u8 states[8][32768] __aligned(8);
static struct { u32 from, to; struct peer_note note; } sent[SENT_MAX];
static u32 count;
static u32 entered, inside;	/* the last one, and how often */
static u32 elected[8], recorded[8], channel[8][8];
static u64 delivered[8];	/* decimal digits: what was delivered, in order */
static u32 decided[8];

void peer_tell(struct peer *p, u32 to, const struct peer_note *note)
{
	assert_in_range(count, 0, SENT_MAX - 1);
	sent[count].from = p->id;
	sent[count].to = to;
	sent[count++].note = *note;
}

void peer_wake_after(struct peer *p, u64 ticks)
{
	(void)p;
	(void)ticks;
}

void peer_enter(struct peer *p)
{
	entered = p->id;
	inside++;
}

void peer_elected(struct peer *p, u32 rank)
{
	elected[p->id] = rank;
}

void peer_deliver(struct peer *p, u32 value)
{
	delivered[p->id] = delivered[p->id] * 10 + value;
}

void peer_decide(struct peer *p, u32 value)
{
	decided[p->id] = value;
}

void peer_record(struct peer *p, u32 value)
{
	recorded[p->id] = value;
}

u64 peer_now(const struct peer *p)
{
	(void)p;
	return 0;
}

u64 peer_random(struct peer *p, u64 below)
{
	(void)p;
	(void)below;
	return 0;
}

void peer_read(struct peer *p, u32 value)
{
	(void)p;
	(void)value;
}

void peer_record_channel(struct peer *p, u32 from, u32 value)
{
	channel[p->id][from] = value;
}

static void begin(const struct peer_algorithm *a, u32 n)
{
	u32 i;

	algorithm = a;
	count = inside = 0;
	memset(states, 0, sizeof(states));
	memset(delivered, 0, sizeof(delivered));
	assert_in_range(a->size, 0, sizeof(states[0]));
	for (i = 0; i < n; i++) {
		peers[i] = (struct peer){
			.id = i, .n = n, .rank = i, .f = 1, .state = states[i],
		};
		elected[i] = recorded[i] = decided[i] = 99;
		if (a->start)
			a->start(&peers[i]);
	}
}

/* Where a message on its way is; SENT_MAX: there is none. */
static u32 find(const char *kind, u32 from, u32 to)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (sent[i].from == from && sent[i].to == to &&
		    !strcmp(algorithm->kinds[sent[i].note.kind], kind))
			return i;
	return SENT_MAX;
}

static bool is_sent(const char *kind, u32 from, u32 to)
{
	return find(kind, from, to) < SENT_MAX;
}

static void arrives(const char *kind, u32 from, u32 to)
{
	u32 i = find(kind, from, to);
	struct peer_note note;

	if (i == SENT_MAX)
		fail_msg("no %s from %u to %u is on its way", kind, from, to);
	note = sent[i].note;
	memmove(&sent[i], &sent[i + 1], (--count - i) * sizeof(*sent));
	algorithm->hear(&peers[to], from, &note);
}

/* Figure 15.2: the server grants in the order of requests. */
static void a_server_manages_a_token(void **test)
{
	u32 p;

	(void)test;
	begin(&peer_central, 5);
	for (p = 3; p <= 4; p++)
		algorithm->want(&peers[p]);
	algorithm->want(&peers[2]);
	arrives("REQUEST", 3, 0);
	arrives("REQUEST", 4, 0);
	arrives("REQUEST", 2, 0);
	arrives("GRANT", 0, 3);
	assert_int_equal(entered, 3);
	assert_int_equal(count, 0);
	algorithm->leave(&peers[3]);
	arrives("RELEASE", 3, 0);
	assert_false(is_sent("GRANT", 0, 2));
	arrives("GRANT", 0, 4);
	assert_int_equal(entered, 4);
}

/* Figure 15.5: the requests have the numbers 41 and 34, and p3 does not want to enter. */
static void multicast_synchronization(void **test)
{
	(void)test;
	begin(&peer_ricart, 3);
	peers[0].clock = 40;
	peers[1].clock = 33;
	algorithm->want(&peers[0]);
	algorithm->want(&peers[1]);
	arrives("REQUEST", 0, 2);
	arrives("REQUEST", 1, 2);
	arrives("REPLY", 2, 0);
	arrives("REPLY", 2, 1);
	arrives("REQUEST", 0, 1);
	assert_false(is_sent("REPLY", 1, 0));
	arrives("REQUEST", 1, 0);
	assert_int_equal(inside, 0);
	arrives("REPLY", 0, 1);
	assert_int_equal(entered, 1);
	algorithm->leave(&peers[1]);
	arrives("REPLY", 1, 0);
	assert_int_equal(inside, 2);
	assert_int_equal(entered, 0);
}

/* Section 15.2.1: each of three has its own vote, and waits for that of the next one. */
static void three_voters_deadlock(void **test)
{
	u32 p;

	(void)test;
	begin(&peer_maekawa, 3);
	for (p = 0; p < 3; p++) {
		algorithm->want(&peers[p]);
		arrives("REQUEST", p, p);
		arrives("REPLY", p, p);
	}
	for (p = 0; p < 3; p++)
		arrives("REQUEST", p, (p + 1) % 3);
	assert_int_equal(count, 0);
	assert_int_equal(inside, 0);
}

/* The same, and a voter that has a better request asks its vote back. */
static void three_voters_with_a_way_back(void **test)
{
	u32 p;

	(void)test;
	begin(&peer_sanders, 3);
	for (p = 0; p < 3; p++) {
		algorithm->want(&peers[p]);
		arrives("REQUEST", p, p);
		arrives("VOTE", p, p);
	}
	for (p = 0; p < 3; p++)
		arrives("REQUEST", p, (p + 1) % 3);
	arrives("INQUIRE", 1, 1);
	arrives("YIELD", 1, 1);
	arrives("VOTE", 1, 0);
	assert_int_equal(inside, 1);
	assert_int_equal(entered, 0);
}

/* Figure 15.7: 17 has called, 24 is the largest so far, and 28 puts itself in its place. */
static void a_ring_in_progress(void **test)
{
	static const u32 ranks[] = { 17, 24, 1, 28, 15, 9, 4, 3 };
	u32 p, rounds;

	(void)test;
	begin(&peer_election_ring, 8);
	for (p = 0; p < 8; p++)
		peers[p].rank = ranks[p];
	algorithm->call(&peers[0], PEER_NOBODY);
	arrives("ELECTION", 0, 1);
	arrives("ELECTION", 1, 2);
	assert_int_equal(sent[0].note.number, 24);
	arrives("ELECTION", 2, 3);
	assert_int_equal(sent[0].note.number, 28);
	for (p = 3, rounds = 0; rounds < 8; p = (p + 1) % 8, rounds++)
		arrives("ELECTION", p, (p + 1) % 8);
	for (p = 3, rounds = 0; rounds < 8; p = (p + 1) % 8, rounds++)
		arrives("ELECTED", p, (p + 1) % 8);
	assert_int_equal(count, 0);
	for (p = 0; p < 8; p++)
		assert_int_equal(elected[p], 28);
}

/* Figure 15.8: p4 has crashed, p3 does before it can say that it is the coordinator. */
static void a_bully(void **test)
{
	(void)test;
	begin(&peer_bully, 4);
	algorithm->call(&peers[0], 3);
	arrives("ELECTION", 0, 1);
	arrives("ELECTION", 0, 2);
	arrives("ANSWER", 1, 0);
	arrives("ANSWER", 2, 0);
	arrives("ELECTION", 1, 2);
	arrives("ANSWER", 2, 1);
	assert_true(is_sent("ELECTION", 2, 3));
	/* Stage 3: nobody hears of p3 again; the timeout for answers, then T', of p1. */
	count = 0;
	algorithm->wake(&peers[0]);
	assert_int_equal(count, 0);
	algorithm->wake(&peers[0]);
	arrives("ELECTION", 0, 1);
	arrives("ANSWER", 1, 0);
	/* T' of p2, and then no answer to it. */
	algorithm->wake(&peers[1]);
	algorithm->wake(&peers[1]);
	assert_true(is_sent("ELECTION", 1, 2));
	algorithm->wake(&peers[1]);
	arrives("COORDINATOR", 1, 0);
	assert_int_equal(elected[0], 1);
	assert_int_equal(elected[1], 1);
}

/* Figure 15.15: an answer that overtakes what it answers is held back. */
static void an_answer_waits_for_its_question(void **test)
{
	(void)test;
	begin(&peer_causal, 3);
	algorithm->cast(&peers[0], 1);
	arrives("MESSAGE", 0, 1);
	algorithm->cast(&peers[1], 2);
	arrives("MESSAGE", 1, 2);
	assert_int_equal(delivered[2], 0);
	arrives("MESSAGE", 0, 2);
	assert_int_equal(delivered[2], 12);
}

/* Figure 15.19, left: the lieutenant p3 lies to both others. */
static void four_generals(void **test)
{
	u32 p;

	(void)test;
	begin(&peer_generals, 4);
	for (p = 0; p < 4; p++)
		algorithm->propose(&peers[p], 1);
	for (p = 1; p < 4; p++)
		arrives("ORDER", 0, p);
	for (p = 1; p < 4; p++)
		algorithm->wake(&peers[p]);
	sent[find("ORDER", 2, 1)].note.value = 0;
	sent[find("ORDER", 2, 3)].note.value = 0;
	arrives("ORDER", 2, 1);
	arrives("ORDER", 3, 1);
	arrives("ORDER", 1, 3);
	arrives("ORDER", 2, 3);
	algorithm->wake(&peers[1]);
	algorithm->wake(&peers[3]);
	assert_int_equal(decided[1], 1);
	assert_int_equal(decided[3], 1);
}

/*
 * Figure 14.12 with one kind of money: p1 pays 10 for goods, p2 has sent goods worth 5. The recorded
 * state was at no time that of the system.
 */
static void widgets(void **test)
{
	(void)test;
	begin(&peer_snapshot, 2);
	algorithm->call(&peers[0], PEER_NOBODY);
	algorithm->cast(&peers[0], 10 * 2 + 1);
	algorithm->cast(&peers[1], 5 * 2);
	arrives("PAYMENT", 1, 0);
	arrives("MARKER", 0, 1);
	arrives("MARKER", 1, 0);
	arrives("PAYMENT", 0, 1);
	assert_int_equal(recorded[0], PEER_MONEY);
	assert_int_equal(recorded[1], PEER_MONEY - 5);
	assert_int_equal(channel[0][1], 5);
	assert_int_equal(channel[1][0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_manages_a_token),
		cmocka_unit_test(multicast_synchronization),
		cmocka_unit_test(three_voters_deadlock),
		cmocka_unit_test(three_voters_with_a_way_back),
		cmocka_unit_test(a_ring_in_progress),
		cmocka_unit_test(a_bully),
		cmocka_unit_test(an_answer_waits_for_its_question),
		cmocka_unit_test(four_generals),
		cmocka_unit_test(widgets),
	};

	return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}
