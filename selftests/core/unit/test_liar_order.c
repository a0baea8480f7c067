// SPDX-License-Identifier: GPL-2.0
/* bftmutex-liar as a server of objects: honest, it does what the kernel's does. */
#include "order_peer.h"

static u8 body[20000];

static void honest_runs_an_iteration(void **state)
{
	const char op[] = "an operation";
	struct bftm_order_msg msg, req;
	u32 len;

	(void)state;
	order_start("honest");
	req = about(BFTM_ORDER_SUBMIT, 0, op, sizeof(op));
	req.op = 1;
	assert_int_equal(order_ask(1, req).type, BFTM_ORDER_PENDING);
	msg = order_get(2, 1);
	assert_int_equal(msg.type, BFTM_ORDER_GOT);
	assert_int_equal(msg.id.version, 0);
	assert_int_equal(msg.pending, 1);
	assert_int_equal(msg.data_len, 48);
	len = make_state(1, "done", body, sizeof(body));
	req = about(BFTM_ORDER_PROPOSE, 1, body, len);
	req.rank = rank_of(1, 2);
	assert_int_equal(order_ask(2, req).type, BFTM_ORDER_PROPOSED);
	req.type = BFTM_ORDER_COMMIT;
	req.data = NULL;	/* known from the proposal */
	assert_int_equal(order_ask(2, req).type, BFTM_ORDER_COMMITTED);
	/* Unasked, to where client 1 was heard. */
	msg = order_answer(1);
	assert_int_equal(msg.type, BFTM_ORDER_RESPONSE);
	assert_int_equal(msg.seq, 0);
	assert_int_equal(msg.op, 1);
	assert_int_equal(msg.data_len, 4);
	assert_memory_equal(msg.data, "done", 4);
	msg = order_get(1, 2);
	assert_int_equal(msg.id.version, 1);
	assert_int_equal(msg.data_len, 0);
	assert_int_equal(order_get(2, 1).type, BFTM_ORDER_EXCEPTION);
	liar_stop("honest");
	assert_int_equal(pushes, 1);
	assert_int_equal(lies, 0);
	assert_int_equal(requests, 7);
	assert_int_equal(replies, 8);
}

static void a_long_state_comes_and_goes_in_pieces(void **state)
{
	struct bftm_order_msg msg, req;
	char text[8000];
	u32 len, at;

	(void)state;
	memset(text, 'r', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	order_start("honest");
	len = make_state(7, text, body, sizeof(body));
	req = about(BFTM_ORDER_PROPOSE, 7, body, len);
	req.rank = rank_of(3, 1);
	assert_int_equal(order_ask(1, req).type, BFTM_ORDER_NEEDBODY);
	assert_int_equal(order_put(1, 7, body, len), BFTM_ORDER_STORED);
	/* It is client 1 who brought it. */
	req.rank = rank_of(4, 2);
	assert_int_equal(order_ask(2, req).type, BFTM_ORDER_NEEDBODY);
	req.rank = rank_of(3, 1);
	assert_int_equal(order_ask(1, req).type, BFTM_ORDER_PROPOSED);
	req.type = BFTM_ORDER_FETCH;
	for (at = 0; at < len; at += msg.data_len) {
		req.offset = at;
		msg = order_ask(2, req);
		assert_int_equal(msg.type, BFTM_ORDER_BODY);
		assert_memory_equal(msg.data, body + at, msg.data_len);
	}
	req.offset = 0;
	req.name_len = 1;
	req.name[0] = 'y';
	assert_int_equal(order_ask(2, req).type, BFTM_ORDER_NOBODY);
	liar_stop("honest");
	assert_int_equal(lies, 0);
}

static void wrong_bodies_are_refused(void **state)
{
	struct bftm_order_msg msg, req;
	u32 len;

	(void)state;
	order_start("honest");
	len = make_state(1, "done", body, sizeof(body));
	req = about(BFTM_ORDER_PROPOSE, 1, body, len);
	req.rank = rank_of(1, 1);
	body[len - 1]++;
	msg = order_ask(1, req);
	assert_int_equal(msg.type, BFTM_MSG_REFUSED);
	assert_int_equal(msg.offset, BFTM_REFUSED_STATE);
	/* A good digest of what is no state. */
	memset(body, 0xff, 100);
	req = about(BFTM_ORDER_COMMIT, 1, body, 100);
	req.rank = rank_of(1, 1);
	msg = order_ask(1, req);
	assert_int_equal(msg.type, BFTM_MSG_REFUSED);
	assert_int_equal(msg.offset, BFTM_REFUSED_STATE);
	/* In pieces: too long, and changed on the way. */
	req = about(BFTM_ORDER_PUT, 0, body, BFTM_OP_MAX + 1);
	req.data = body;
	req.data_len = BFTM_PIECE_LEN;
	assert_int_equal(order_ask(1, req).type, BFTM_MSG_REFUSED);
	req = about(BFTM_ORDER_PUT, 0, body, 1025);
	req.data_len = BFTM_PIECE_LEN;
	assert_int_equal(order_ask(1, req).type, BFTM_ORDER_STORED);
	req.offset = BFTM_PIECE_LEN;
	req.data = (const u8 *)"!";
	req.data_len = 1;
	assert_int_equal(order_ask(1, req).type, BFTM_MSG_REFUSED);
	assert_int_equal(order_get(1, 1).type, BFTM_ORDER_GOT);
	liar_stop("honest");
}

static void other_epochs_are_stale(void **state)
{
	struct bftm_order_msg msg, req = { .type = BFTM_ORDER_GET, .rank = rank_of(1, 1) };

	(void)state;
	order_start("honest");
	req.server_epoch = epoch ^ 1;
	msg = order_ask(1, req);
	assert_int_equal(msg.type, BFTM_MSG_STALE);
	assert_int_equal(msg.server_epoch, epoch);
	liar_stop("honest");
}

static void strangers_and_copies_get_nothing(void **state)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET, .rank = rank_of(1, 1), .cluster = 3, .server = 5,
		.client = 1, .name_len = 1, .name = "x",
	};
	u8 good[BFTM_DATAGRAM_MAX], bad[BFTM_DATAGRAM_MAX + 8];
	size_t len, bit;

	(void)state;
	order_start("silent");
	msg.seq = ++peers[1].seq;
	len = bftm_order_wire_put(&msg, good);
	bftm_mac_sign_bytes(peers[1].request, good, len);
	for (bit = 0; bit < 8 * len; bit += 101) {
		memcpy(bad, good, len);
		bad[bit / 8] ^= (u8)(1u << bit % 8);
		send(peers[1].fd, bad, len, 0);
	}
	memset(bad, 1, sizeof(bad));
	for (bit = 0; bit <= sizeof(bad); bit += 56)
		send(peers[1].fd, bad, bit, 0);
	send(peers[1].fd, good, len, 0);
	send(peers[1].fd, good, len, 0);
	liar_stop("honest");
	assert_silence(1);
	assert_int_equal(requests, 2);	/* with its HELLO */
	assert_int_equal(lies, 1);
}

/* Without a floor it may have forgotten what it promised. */
static void a_start_without_a_floor_recovers(void **state)
{
	const char *const more[] = { "--no-quarantine", NULL };
	struct bftm_order_msg req;
	u32 len;

	(void)state;
	liar_start_with("honest", more);
	peer_hello(1);
	assert_int_equal(order_get(1, 5).type, BFTM_ORDER_RECOVERING);
	len = make_state(4, "done", body, sizeof(body));
	req = about(BFTM_ORDER_INSTALL, 4, body, len);
	req.rank = rank_of(5, 1);
	assert_int_equal(order_ask(1, req).type, BFTM_ORDER_INSTALLED);
	assert_int_equal(order_get(1, 6).id.version, 4);
	liar_stop("honest");
}

/* Many bodies, each replaced, committed or left; under ASan nothing is lost. */
static void bodies_come_and_go(void **state)
{
	u64 rnd = unit_seed(__func__), version;
	struct bftm_order_msg req;
	char text[1500];
	u32 len;

	(void)state;
	order_start("honest");
	for (version = 1; version <= 300; version++) {
		u32 c = 1 + (u32)(unit_random(&rnd) & 1);

		memset(text, (int)('a' + version % 26), sizeof(text));
		text[unit_between(&rnd, 0, sizeof(text) - 1)] = '\0';
		req = about(BFTM_ORDER_SUBMIT, 0, text, (u32)strlen(text));
		req.op = version + 1;	/* more than any state reflects: nothing is pushed */
		if (!req.data)
			order_put(c, 0, (const u8 *)text, req.id.len);
		order_ask(c, req);
		len = make_state(version, text, body, sizeof(body));
		order_put(c, version, body, len);
		req = about(unit_random(&rnd) & 1 ? BFTM_ORDER_PROPOSE : BFTM_ORDER_COMMIT, version,
			    body, len);
		req.rank = rank_of(version, c);
		req.data = NULL;
		assert_int_equal(order_ask(c, req).type, req.type == BFTM_ORDER_PROPOSE ?
				 BFTM_ORDER_PROPOSED : BFTM_ORDER_COMMITTED);
	}
	liar_stop("honest");
	assert_int_equal(lies, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, liar_reap)
	const struct CMUnitTest tests[] = {
		TEST(honest_runs_an_iteration),
		TEST(a_long_state_comes_and_goes_in_pieces),
		TEST(wrong_bodies_are_refused),
		TEST(other_epochs_are_stale),
		TEST(strangers_and_copies_get_nothing),
		TEST(a_start_without_a_floor_recovers),
		TEST(bodies_come_and_go),
	};

	return cmocka_run_group_tests_name("liar_order", tests, peers_make, peers_destroy);
}
