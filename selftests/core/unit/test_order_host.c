// SPDX-License-Identifier: GPL-2.0
/* A host that is alone: its operations take two round trips, and servers are told of them late. */
#include "order_host.h"

static void assert_done(u64 id, int error, const char *text)
{
	assert_int_equal(done[id].error, error);
	assert_string_equal(done[id].text, text);
}

static void assert_sent(u32 gets, u32 proposes, u32 commit_gets, u32 submits)
{
	assert_int_equal(sent[BFTM_ORDER_GET], gets);
	assert_int_equal(sent[BFTM_ORDER_PROPOSE], proposes);
	assert_int_equal(sent[BFTM_ORDER_COMMIT_GET], commit_gets);
	assert_int_equal(sent[BFTM_ORDER_SUBMIT], submits);
	assert_int_equal(sent[BFTM_ORDER_COMMIT], 0);
}

/* The first operation of an object in σ0; whatever was asked for it is forgotten. */
static void create_counter(void)
{
	submit(1, "create counter");
	pass(0);
	assert_done(1, 0, "");
	forget_sent();
}

/* Another host has proposed a state with this content to all, or committed it. */
static void other_made(u8 type, const char *app, u32 len, bool true_digest)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET, .client = OTHER, .rank = { 1, OTHER, 1 },
		.room = BFTM_ORDER_ROOM_MAX,
	};
	u8 body[200];
	u32 u;

	len = bftm_state_make(NULL, 1, NULL, 0, (const u8 *)app, len, body, sizeof(body));
	for (u = 0; u < SERVERS; u++) {
		msg.type = BFTM_ORDER_GET;
		msg.id = (struct bftm_body_id){};
		server_step(u, &msg, NULL);
		assert_int_equal(bftm_body_describe(1, body, len, &msg.id), 0);
		msg.id.digest[0] ^= !true_digest;
		msg.type = type;
		server_step(u, &msg, body);
	}
}

/* Another host has made an operation, and then given its next rank up. */
static void other_operates(u64 op)
{
	const struct bftm_applied a = { .op = op, .client = OTHER };
	struct bftm_order_msg msg = { .client = OTHER, .room = BFTM_ORDER_ROOM_MAX };
	const struct bftm_body *old = object[0].sc;
	u64 count = object[0].max.count + 1;
	u32 u, len, app_len;
	const u8 *app;
	u8 body[300];

	app = bftm_state_app(old->data, old->id.len, &app_len);
	len = bftm_state_make(old->data, old->id.version + 1, &a, 1, app, app_len, body,
			      sizeof(body));
	assert_int_equal(bftm_body_describe(old->id.version + 1, body, len, &msg.id), 0);
	msg.rank = (struct bftm_rank){ count, OTHER, 1 };
	msg.then = (struct bftm_rank){ count + 1, OTHER, 1 };
	for (u = 0; u < SERVERS; u++) {
		msg.type = BFTM_ORDER_GET;
		server_step(u, &msg, NULL);
		msg.type = BFTM_ORDER_PROPOSE;
		server_step(u, &msg, body);
		msg.type = BFTM_ORDER_COMMIT_GET;
		server_step(u, &msg, body);
	}
}

static void two_round_trips(void **state)
{
	(void)state;
	submit(1, "create counter");
	pass(0);
	assert_done(1, 0, "");
	assert_sent(7, 7, 7, 0);
	forget_sent();
	submit(2, "add 1");
	pass(RESEND - 1);
	assert_done(2, 0, "1");
	submit(3, "add 1");
	pass(0);
	assert_done(3, 0, "2");
	assert_sent(0, 14, 14, 0);
	assert_int_equal(queued, 28);
}

/* After 4δ without an operation the rank is given up, which costs no datagram, but the next GET. */
static void a_rank_that_is_given_up(void **state)
{
	(void)state;
	create_counter();
	pass(RESEND);
	assert_int_equal(queued, 0);
	submit(2, "add 1");
	pass(0);
	assert_done(2, 0, "1");
	assert_sent(7, 7, 7, 0);
}

static void the_response_comes_with_the_quorum(void **state)
{
	u32 i;

	(void)state;
	create_counter();
	submit(2, "add 1");
	for (i = 0; i < SERVERS; i++)
		assert_true(hear_next());
	assert_sent(0, 7, 7, 0);
	for (i = 0; i < 4; i++)
		hear_next();
	assert_int_equal(done[2].error, -1);
	hear_next();
	assert_done(2, 0, "1");
}

static void told_after_4_delta(void **state)
{
	(void)state;
	silent = ALL;
	submit(1, "create counter");
	pass(RESEND - 1);
	assert_sent(7, 0, 0, 0);
	pass(1);
	assert_sent(14, 0, 0, 7);
	silent = 0;
	pass(2 * RESEND);
	assert_done(1, 0, "");
}

/* Another host begins an iteration of this rank. */
static void other_gets(u64 count)
{
	const struct bftm_order_msg get = {
		.type = BFTM_ORDER_GET, .client = OTHER, .rank = { count, OTHER, 1 },
		.room = BFTM_ORDER_ROOM_MAX,
	};
	u32 u;

	for (u = 0; u < SERVERS; u++)
		server_step(u, &get, NULL);
}

/* A rank that somebody used at some time is no contention, and a second one is. */
static void told_when_outranked(void **state)
{
	u32 i;

	(void)state;
	other_gets(50);
	submit(1, "create counter");
	for (i = 0; i < SERVERS; i++)
		hear_next();
	assert_sent(7, 0, 0, 0);
	other_gets(90);
	pass(0);
	assert_sent(14, 0, 0, 7);
	assert_int_equal(locks, 1);
	/* It waits for the lock, and goes on without. */
	pass(80 * RESEND);
	assert_done(1, 0, "");
}

/* A GET of another while this host proposes. */
static void told_when_a_proposal_is_outranked(void **state)
{
	(void)state;
	create_counter();
	submit(2, "add 1");
	other_gets(50);
	pass(0);
	assert_sent(0, 7, 0, 7);
	assert_int_equal(locks, 1);
}

/*
 * Hosts that take turns: the rank that the other one gave up outranks this one's, and the state is the
 * other one's. It takes five round trips, and no lock; nothing is committed twice.
 */
static void hosts_that_take_turns(void **state)
{
	u64 id;

	(void)state;
	create_counter();
	for (id = 2; id < 5; id++) {
		other_operates(id);
		pass(RESEND);
		forget_sent();
		submit(id, "add 1");
		pass(0);
		assert_int_equal(done[id].error, 0);
		assert_sent(14, 7, 7, 0);
		assert_int_equal(sent[BFTM_ORDER_FETCH], 1);
		assert_int_equal(queued, 29);
		pass(RESEND);
	}
	assert_int_equal(locks, 0);
}

/* Nobody gives the body of the state that was committed, so nothing can be made of it here. */
static void told_when_nothing_is_made(void **state)
{
	(void)state;
	other_made(BFTM_ORDER_COMMIT, "counter\0", 8, false);
	submit(1, "add 1");
	pass(0);
	assert_sent(7, 0, 0, 7);
	assert_int_equal(sent[BFTM_ORDER_FETCH], 5);
}

/* A host that may run the program does so for all, in its turn. */
static void told_when_a_program_runs(void **state)
{
	(void)state;
	other_made(BFTM_ORDER_COMMIT, "program\0", 8, true);
	submit(1, "go");
	pass(0);
	assert_int_equal(sent[BFTM_ORDER_SUBMIT], 7);
}

/* No server was told of it, in any way: then nobody applies it, and the error is the servers'. */
static void refused_before_it_was_told(void **state)
{
	(void)state;
	refused_type = BFTM_ORDER_GET;
	refusal = BFTM_REFUSED_ACCESS;
	submit(1, "create counter");
	pass(0);
	assert_done(1, EACCES, "");
	assert_sent(7, 0, 0, 0);
}

/* A state of another was proposed once more, and what is refused is not in it. */
static void refused_with_a_state_of_another(void **state)
{
	(void)state;
	other_made(BFTM_ORDER_PROPOSE, "counter\0", 8, true);
	refused_type = BFTM_ORDER_PROPOSE;
	refusal = BFTM_REFUSED_ACCESS;
	submit(1, "add 1");
	pass(0);
	assert_done(1, EACCES, "");
	assert_sent(7, 7, 0, 0);
}

/* A server may have the state with it. */
static void refused_when_it_was_proposed(void **state)
{
	(void)state;
	refused_type = BFTM_ORDER_COMMIT_GET;
	refusal = BFTM_REFUSED_ACCESS;
	submit(1, "create counter");
	pass(0);
	assert_done(1, EREMOTEIO, "");
	assert_sent(7, 7, 7, 0);
}

/* Servers refuse an operation that is over while the next one is under way. */
static void a_refusal_of_the_operation_before(void **state)
{
	u64 seq[SERVERS];
	u32 u;

	(void)state;
	silent = ALL;
	submit(1, "create counter");
	pass(RESEND);
	memcpy(seq, last_seq[BFTM_ORDER_SUBMIT], sizeof(seq));
	silent = 0;
	pass(2 * RESEND);
	assert_done(1, 0, "");
	submit(2, "add 1");
	for (u = 0; u < SERVERS; u++)
		refuses(u, seq[u], BFTM_REFUSED_ACCESS);
	pass(0);
	assert_done(2, 0, "1");
}

/* Servers where too many operations wait refuse SUBMIT, and not the iteration beside it. */
static void a_refusal_of_an_earlier_send(void **state)
{
	u64 seq[SERVERS];
	u32 u;

	(void)state;
	silent = ALL;
	submit(1, "create counter");
	pass(RESEND);
	memcpy(seq, last_seq[BFTM_ORDER_SUBMIT], sizeof(seq));
	pass(2 * RESEND);
	assert_int_not_equal(seq[0], last_seq[BFTM_ORDER_SUBMIT][0]);
	for (u = 0; u < SERVERS; u++) {
		refuses(u, seq[u], BFTM_REFUSED_PENDING);
		refuses(u, last_seq[BFTM_ORDER_SUBMIT][u], BFTM_REFUSED_PENDING);
	}
	assert_int_equal(done[1].error, -1);
	silent = 0;
	pass(8 * RESEND);
	assert_done(1, 0, "");
}

/* A server that was restarted is asked again, and still not told of an operation that is kept back. */
static void a_new_epoch_tells_nothing(void **state)
{
	const struct bftm_msg msg = { .name_len = 1, .name = "x" };

	(void)state;
	silent = ALL;
	submit(1, "create counter");
	pass(0);
	bftm_object_service.epoch(&cluster, 2, &msg);
	assert_sent(8, 0, 0, 0);
}

/* Server @u begins anew, with an empty memory, and this host hears of it. */
static void restarts(u32 u)
{
	bftm_object_init(&object[u], true);
	waiting[u].list = (struct bftm_pendings){ .room = 4 };
	object[u].pend = &waiting[u].list;
	bftm_object_service.restarted(&cluster, u);
}

/* A host commits an object once more that nobody asks for, so that a server that lost it has it. */
static void a_restarted_server_is_told(void **state)
{
	(void)state;
	create_counter();
	pass(RESEND);
	restarts(6);
	pass(2 * BFTM_NS_PER_SEC);
	assert_int_equal(sent[BFTM_ORDER_INSTALL], 1);
	assert_false(object[6].recovering);
	assert_int_equal(object[6].sc->id.version, 1);
	/* That is all. */
	forget_sent();
	pass(600 * BFTM_NS_PER_SEC);
	assert_int_equal(queued, 0);
}

/* Of five that a quorum takes, four are left: nobody can tell the object's state any more. */
static void an_object_that_servers_have_lost(void **state)
{
	u32 u;

	(void)state;
	create_counter();
	pass(RESEND);
	restarts(1);
	restarts(3);
	restarts(5);
	submit(2, "add 1");
	pass(10 * BFTM_NS_PER_SEC);
	for (u = 0; u < SERVERS; u++)
		assert_int_equal(!!cluster.peer[u].forgot_ns, u == 1 || u == 3 || u == 5);
}

/* Servers that are silent have lost nothing, as far as is known; and of two the others know it. */
static void an_object_that_too_few_answer_for(void **state)
{
	u32 u;

	(void)state;
	create_counter();
	pass(RESEND);
	silent = 1u << 0;
	restarts(1);
	restarts(3);
	submit(2, "add 1");
	pass(10 * BFTM_NS_PER_SEC);
	for (u = 0; u < SERVERS; u++)
		assert_int_equal(cluster.peer[u].forgot_ns, 0);
}

/* These answer about locks, as where nothing writes their journals; one of the three is silent. */
static void an_object_that_servers_are_silent_about(void **state)
{
	u32 u;

	(void)state;
	create_counter();
	pass(RESEND);
	silent = 1u << 1 | 1u << 2 | 1u << 4;
	able = ALL & ~(1u << 4);
	submit(2, "add 1");
	pass(10 * BFTM_NS_PER_SEC);
	for (u = 0; u < SERVERS; u++) {
		assert_int_equal(cluster.peer[u].forgot_ns, 0);
		assert_int_equal(!!cluster.peer[u].mute_ns, u == 1 || u == 2);
	}
	assert_int_equal(logged_mute, 1);
	/* Now they have lost it, which is another thing to know. */
	silent = 0;
	able = ALL;
	restarts(1);
	restarts(2);
	restarts(4);
	pass(10 * BFTM_NS_PER_SEC);
	assert_int_equal(logged_lost, 1);
	assert_int_equal(logged_mute, 1);
}

/* One answer that is missing says nothing: the server may have restarted just now. */
static void an_object_that_was_not_answered_for_once(void **state)
{
	u64 before = bftm_order_totals.slow;

	(void)state;
	create_counter();
	pass(RESEND);
	silent = 1u << 1 | 1u << 2 | 1u << 4;
	able = ALL;
	submit(2, "add 1");
	while (bftm_order_totals.slow == before)
		pass(RESEND / 4);
	silent = 0;
	pass(10 * BFTM_NS_PER_SEC);
	assert_int_equal(done[2].error, 0);
	assert_int_equal(logged_mute, 0);
}

/* The others are enough. */
static void an_object_that_two_are_silent_about(void **state)
{
	u32 u;

	(void)state;
	create_counter();
	pass(RESEND);
	silent = 1u << 1 | 1u << 2;
	able = ALL;
	submit(2, "add 1");
	pass(10 * BFTM_NS_PER_SEC);
	for (u = 0; u < SERVERS; u++)
		assert_int_equal(cluster.peer[u].mute_ns, 0);
}

/* A rank that another host gave up outranks the first GET: the next one is for a refresh, too. */
static void a_refresh_that_is_outranked(void **state)
{
	(void)state;
	create_counter();
	pass(RESEND);
	forget_sent();
	restarts(6);
	other_gets(50);
	while (!sent[BFTM_ORDER_GET])
		pass(RESEND);
	pass(RESEND);
	assert_int_equal(sent[BFTM_ORDER_GET], 14);
	assert_int_equal(sent[BFTM_ORDER_INSTALL], 1);
	assert_false(object[6].recovering);
}

/* A host that was behind, and then had nothing to do, may be behind once more: no contention. */
static void behind_twice(void **state)
{
	(void)state;
	create_counter();
	pass(RESEND);
	other_gets(50);
	refused_type = BFTM_ORDER_PROPOSE;
	refusal = BFTM_REFUSED_ACCESS;
	submit(2, "add 1");
	pass(0);
	assert_int_equal(done[2].error, EREMOTEIO);
	refused_type = 0;
	pass(BFTM_NS_PER_SEC);
	other_gets(150);
	forget_sent();
	submit(3, "add 1");
	pass(0);
	assert_done(3, 0, "1");
	assert_sent(14, 7, 7, 0);
	assert_int_equal(locks, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, host_begin, host_end)
	const struct CMUnitTest tests[] = {
		TEST(two_round_trips),
		TEST(a_rank_that_is_given_up),
		TEST(the_response_comes_with_the_quorum),
		TEST(told_after_4_delta),
		TEST(told_when_outranked),
		TEST(told_when_a_proposal_is_outranked),
		TEST(hosts_that_take_turns),
		TEST(told_when_nothing_is_made),
		TEST(told_when_a_program_runs),
		TEST(refused_before_it_was_told),
		TEST(refused_with_a_state_of_another),
		TEST(refused_when_it_was_proposed),
		TEST(a_refusal_of_the_operation_before),
		TEST(a_refusal_of_an_earlier_send),
		TEST(a_new_epoch_tells_nothing),
		TEST(a_restarted_server_is_told),
		TEST(an_object_that_servers_have_lost),
		TEST(an_object_that_too_few_answer_for),
		TEST(an_object_that_servers_are_silent_about),
		TEST(an_object_that_was_not_answered_for_once),
		TEST(an_object_that_two_are_silent_about),
		TEST(a_refresh_that_is_outranked),
		TEST(behind_twice),
	};

	return cmocka_run_group_tests_name("order_host", tests, NULL, NULL);
}
