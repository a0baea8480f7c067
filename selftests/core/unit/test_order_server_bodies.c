// SPDX-License-Identifier: GPL-2.0
/* Bodies at the ordering server: responses, pieces of them, uploads, a memory lost. */
#include "core/ordering/upload.h"
#include "order_object.h"

static void responses_come_in_pieces(void **state)
{
	struct bftm_order_msg req = { .type = BFTM_ORDER_SUBMIT, .client = ALICE, .op = 1 };
	char text[3000];
	u32 i, left;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)('a' + i % 23);
	text[sizeof(text) - 1] = '\0';
	commit(1, BOB, state_of(1, 1, text));
	for (req.room = BFTM_ORDER_RESPONSE_LEN; req.room <= BFTM_ORDER_ROOM_MAX; req.room++)
		for (req.offset = 0; req.offset <= 3003; req.offset += 77) {
			assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_RESPONSE);
			assert_int_equal(reply.id.len, 2999);
			assert_int_equal(reply.id.version, 0);
			assert_int_equal(reply.offset, req.offset);
			left = req.offset < 2999 ? 2999 - req.offset : 0;
			if (left > req.room - (u32)BFTM_ORDER_RESPONSE_LEN)
				left = req.room - BFTM_ORDER_RESPONSE_LEN;
			assert_int_equal(reply.data_len, left);
			assert_memory_equal(reply.data, text + req.offset, reply.data_len);
		}
	req.offset = 0xffffffff;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_RESPONSE);
	assert_int_equal(reply.data_len, 0);
}

/* Unasked there is as much of it as the SUBMIT left room for. */
static void an_unasked_response_is_no_longer_than_the_submit(void **state)
{
	struct bftm_body *op = op_of(4);
	struct bftm_order_msg pushed, req = {
		.type = BFTM_ORDER_SUBMIT, .client = ALICE, .op = 1, .room = 96,
		.id = op->id,
	};
	char text[200];

	(void)state;
	memset(text, 'r', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	step_at(LATER, req, op);
	commit(1, BOB, state_of(1, 1, text));
	bftm_order_response(&obj, &waiting.list.entry[0], reply_data, &pushed);
	assert_int_equal(pushed.data_len, 80);
	assert_int_equal(pushed.id.len, 199);
	pushed.name_len = 1;
	req.name_len = 1;
	assert_int_equal(bftm_order_len(&pushed), bftm_order_len(&req));
}

static void pieces_of_a_body(void **state)
{
	struct bftm_body *op = op_of(2 * BFTM_PIECE_LEN + 100);
	struct bftm_order_msg req = { .type = BFTM_ORDER_FETCH, .client = BOB, .id = op->id };
	u32 want;

	(void)state;
	submit(ALICE, 1, op);
	for (req.offset = 0; req.offset < 2300; req.offset += 50) {
		u8 type = step_at(LATER, req, NULL);

		if (req.offset >= op->id.len) {
			assert_int_equal(type, BFTM_ORDER_NOBODY);
			assert_int_equal(reply.data_len, 0);
			continue;
		}
		want = op->id.len - req.offset;
		assert_int_equal(type, BFTM_ORDER_BODY);
		assert_int_equal(reply.offset, req.offset);
		assert_int_equal(reply.data_len, want < BFTM_PIECE_LEN ? want : BFTM_PIECE_LEN);
		assert_memory_equal(reply.data, op->data + req.offset, reply.data_len);
	}
	req.offset = 0xffffffff;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_NOBODY);
	req.offset = 0;
	req.room = 148;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_BODY);
	assert_int_equal(reply.data_len, 100);
	/* Every part of the id decides. */
	req.id.len++;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_NOBODY);
	req.id.len--;
	req.id.version = 1;
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_NOBODY);
	memset(&req.id, 0, sizeof(req.id));
	assert_int_equal(step_at(LATER, req, NULL), BFTM_ORDER_NOBODY);
}

/*
 * A client that puts the bytes of its next operation, which are those of the last, must be heard.
 */
static void what_is_stored(void **state)
{
	struct bftm_body *op = op_of(10), *one = state_of(1, 1, "one");
	struct bftm_order_msg req = { .type = BFTM_ORDER_PUT, .client = ALICE, .id = op->id };

	(void)state;
	submit(ALICE, 1, op);
	assert_false(bftm_object_stored(&obj, &req));
	propose(5, BOB, one);
	req.id = one->id;
	assert_true(bftm_object_stored(&obj, &req));
	req.id.digest[0]++;
	assert_false(bftm_object_stored(&obj, &req));
}

static void uploads(void **state)
{
	static u8 data[2 * BFTM_PIECE_LEN + 10], from[BFTM_PIECE_LEN];
	struct bftm_upload up = { .id.len = sizeof(data), .data = data };
	struct bftm_order_msg req = { .type = BFTM_ORDER_PUT, .id = up.id, .data = from };
	u32 offset, len;

	(void)state;
	assert_int_equal(bftm_pieces(sizeof(data)), 3);
	/* Only whole pieces at their places. */
	for (offset = 0; offset < 3300; offset += 1) {
		for (len = 0; len <= BFTM_PIECE_LEN; len += offset % BFTM_PIECE_LEN ? 101 : 1) {
			req.offset = offset;
			req.data_len = (u16)len;
			if ((offset == 0 || offset == 1024) ? len == 1024 :
			    offset == 2048 && len == 10)
				continue;
			assert_false(bftm_upload_take(&up, &req));
		}
	}
	req.offset = 0xfffffc00;
	req.data_len = BFTM_PIECE_LEN;
	assert_false(bftm_upload_take(&up, &req));
	assert_false(bftm_piece_ok(&req));
	assert_int_equal(up.pieces, 0);
	memset(from, 3, sizeof(from));
	req.offset = 2048;
	req.data_len = 10;
	assert_true(bftm_upload_take(&up, &req));
	req.offset = 0;
	req.data_len = BFTM_PIECE_LEN;
	assert_true(bftm_upload_take(&up, &req));
	memset(from, 4, sizeof(from));
	assert_true(bftm_upload_take(&up, &req));	/* again: what was first stays */
	assert_int_equal(data[0], 3);
	assert_false(bftm_upload_complete(&up));
	req.offset = 1024;
	assert_true(bftm_upload_take(&up, &req));
	assert_true(bftm_upload_complete(&up));
	assert_int_equal(up.pieces, 3);
	assert_int_equal(data[1024], 4);
	assert_int_equal(data[2057], 3);
}

static void the_longest_upload(void **state)
{
	struct bftm_upload up = { .id.len = BFTM_STATE_MAX, .data = malloc(BFTM_STATE_MAX) };
	u8 from[BFTM_PIECE_LEN] = {};
	struct bftm_order_msg req = {
		.id.len = BFTM_STATE_MAX, .data = from, .data_len = BFTM_PIECE_LEN,
	};

	(void)state;
	assert_non_null(up.data);
	for (req.offset = 0; req.offset < BFTM_STATE_MAX; req.offset += BFTM_PIECE_LEN) {
		assert_false(bftm_upload_complete(&up));
		assert_true(bftm_upload_take(&up, &req));
	}
	assert_false(bftm_upload_take(&up, &req));
	assert_true(bftm_upload_complete(&up));
	free(up.data);
}

static bool wants(u8 type, u64 count, const struct bftm_body *body)
{
	struct bftm_order_msg req = {
		.type = type, .client = ALICE, .rank = rank_of(count, ALICE), .op = 1,
	};

	if (body)
		req.id = body->id;
	return bftm_object_wants(&obj, &req);
}

/* Only what is looked at needs a digest. */
static void which_bodies_are_wanted(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one"), *two = state_of(2, 2, "two");
	struct bftm_body *op = op_of(10);

	(void)state;
	assert_true(wants(BFTM_ORDER_SUBMIT, 0, op));
	assert_true(wants(BFTM_ORDER_PROPOSE, 1, one));
	assert_false(wants(BFTM_ORDER_PROPOSE, 1, NULL));
	assert_false(wants(BFTM_ORDER_INSTALL, 1, one));
	assert_false(wants(BFTM_ORDER_GET, 1, one));
	assert_false(wants(BFTM_ORDER_FETCH, 1, one));
	/* An operation that waits is no state that is known. */
	submit(BOB, 1, op);
	assert_true(wants(BFTM_ORDER_PROPOSE, 1, op));
	commit(5, ALICE, one);
	assert_false(wants(BFTM_ORDER_SUBMIT, 0, op));
	assert_false(wants(BFTM_ORDER_PROPOSE, 4, two));
	assert_true(wants(BFTM_ORDER_PROPOSE, 5, two));
	assert_true(wants(BFTM_ORDER_COMMIT, 6, two));
	assert_false(wants(BFTM_ORDER_COMMIT, 6, one));
	bftm_object_init(&obj, true);
	assert_false(wants(BFTM_ORDER_SUBMIT, 0, op));
	assert_false(wants(BFTM_ORDER_COMMIT, 6, two));
	get(6, ALICE);
	assert_true(wants(BFTM_ORDER_INSTALL, 6, two));
	assert_false(wants(BFTM_ORDER_INSTALL, 5, two));
	assert_false(wants(BFTM_ORDER_INSTALL, 7, two));
}

/* It answers the highest only, so that INSTALL brings nothing older. */
static void a_server_that_recovers_keeps_to_one_rank(void **state)
{
	struct bftm_body *one = state_of(1, 1, "one"), *two = state_of(2, 2, "two");

	(void)state;
	bftm_object_init(&obj, true);
	obj.pend = &waiting.list;
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 5, ALICE, one, true), BFTM_MSG_NONE);
	assert_int_equal(get(5, ALICE), BFTM_ORDER_RECOVERING);
	assert_int_equal(get(4, BOB), BFTM_MSG_NONE);
	assert_int_equal(get(6, BOB), BFTM_ORDER_RECOVERING);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 5, ALICE, one, true), BFTM_MSG_NONE);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 7, BOB, one, true), BFTM_MSG_NONE);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 6, BOB, two, false), BFTM_ORDER_NEEDBODY);
	assert_true(obj.recovering);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 6, BOB, two, true), BFTM_ORDER_INSTALLED);
	assert_false(obj.recovering);
	assert_ptr_equal(obj.sc, two);
	assert_ptr_equal(obj.sp, two);
	assert_rank(obj.max, 6, BOB);
	assert_rank(obj.prop, 6, BOB);
	/* Once more, for the answer was lost; another state is not taken so. */
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 6, BOB, two, false), BFTM_ORDER_INSTALLED);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 6, BOB, one, true), BFTM_MSG_NONE);
	assert_ptr_equal(obj.sc, two);
	assert_int_equal(get(5, ALICE), BFTM_ORDER_EXCEPTION);
}

/* Also where the cluster has never stored anything. */
static void nothing_can_be_installed(void **state)
{
	(void)state;
	bftm_object_init(&obj, true);
	get(5, ALICE);
	assert_int_equal(put_state(BFTM_ORDER_INSTALL, 5, ALICE, NULL, false),
			 BFTM_ORDER_INSTALLED);
	assert_false(obj.recovering);
	assert_null(obj.sc);
	assert_rank(obj.max, 5, ALICE);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, fresh_object)
	const struct CMUnitTest tests[] = {
		TEST(responses_come_in_pieces),
		TEST(an_unasked_response_is_no_longer_than_the_submit),
		TEST(pieces_of_a_body),
		TEST(what_is_stored),
		TEST(uploads),
		TEST(the_longest_upload),
		TEST(which_bodies_are_wanted),
		TEST(a_server_that_recovers_keeps_to_one_rank),
		TEST(nothing_can_be_installed),
	};

	return cmocka_run_group_tests_name("order_server_bodies", tests, NULL, NULL);
}
