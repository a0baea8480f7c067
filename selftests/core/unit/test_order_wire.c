// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the ordering protocol: what is written is read again, byte by byte and whatever
 * else surrounds it; each request has room for its answers. test_order_wire_wrong.c has what is
 * refused, test_order_vectors.c the datagrams that other implementations must make.
 */
#include "core/ordering/client.h"
#include "order_samples.h"

#define SAME(field) assert_int_equal(a->field, b->field)

static void assert_same_rank(const struct bftm_rank *a, const struct bftm_rank *b)
{
	SAME(count);
	SAME(client);
	SAME(incarnation);
}

static void assert_same_id(const struct bftm_body_id *a, const struct bftm_body_id *b)
{
	SAME(version);
	SAME(len);
	assert_memory_equal(a->digest, b->digest, sizeof(a->digest));
}

/* All but the room, which the datagram's length says. */
static void assert_same(const struct bftm_order_msg *a, const struct bftm_order_msg *b)
{
	SAME(type);
	SAME(name_len);
	SAME(server);
	SAME(cluster);
	SAME(client);
	SAME(server_epoch);
	SAME(seq);
	SAME(from);
	SAME(pending);
	SAME(offset);
	SAME(op);
	SAME(data_len);
	SAME(cursor);
	SAME(next);
	SAME(recovering);
	assert_same_rank(&a->rank, &b->rank);
	assert_same_rank(&a->then, &b->then);
	assert_same_rank(&a->prop, &b->prop);
	assert_same_rank(&a->max, &b->max);
	assert_same_id(&a->id, &b->id);
	assert_same_id(&a->sp, &b->sp);
	assert_memory_equal(a->name, b->name, sizeof(a->name));
	assert_int_equal(!a->data, !b->data);
	if (a->data_len)
		assert_memory_equal(a->data, b->data, a->data_len);
	assert_int_equal(!a->signature, !b->signature);
	if (a->signature)
		assert_memory_equal(a->signature, b->signature, BFTM_SIGNATURE_LEN);
}

static void every_type_and_name_length_survives(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg, got;
	u8 buf[BFTM_DATAGRAM_MAX], again[BFTM_DATAGRAM_MAX];
	size_t len;
	u32 type;
	u8 name;

	(void)state;
	for (type = 0; type < 256; type++)
		for (name = 1; bftm_order_form((u8)type) && name <= BFTM_OBJECT_NAME_MAX; name++) {
			msg = order_sample((u8)type, name, &rnd);
			len = bftm_order_wire_put(&msg, buf);
			assert_int_equal(len, bftm_order_len(&msg));
			assert_int_equal(bftm_order_wire_get(buf, len, &got), BFTM_WIRE_OK);
			assert_same(&msg, &got);
			assert_int_equal(bftm_order_wire_put(&got, again), len);
			assert_memory_equal(again, buf, len - BFTM_TAG_LEN);
			assert_true(bftm_order_shaped(buf));
		}
}

/* The last that fits, of each kind; nothing is cut. */
static void the_longest(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 buf[BFTM_DATAGRAM_MAX + 8];
	struct bftm_order_msg msg, got;

	(void)state;
	msg = order_sample(BFTM_ORDER_PROPOSE, BFTM_OBJECT_NAME_MAX, &rnd);
	msg.data = order_bytes;
	msg.data_len = BFTM_ORDER_DATA_MAX;
	msg.id.len = BFTM_ORDER_DATA_MAX;
	assert_int_equal(bftm_order_wire_put(&msg, buf), BFTM_DATAGRAM_MAX);
	assert_int_equal(bftm_order_wire_get(buf, BFTM_DATAGRAM_MAX, &got), BFTM_WIRE_OK);
	msg = order_sample(BFTM_ORDER_GET, BFTM_OBJECT_NAME_MAX, &rnd);
	msg.room = BFTM_ORDER_GOT_LEN + BFTM_ORDER_WAITING_MAX * sizeof(struct bftm_order_waiting);
	assert_in_range(bftm_order_wire_put(&msg, buf), BFTM_DATAGRAM_MAX - 47, BFTM_DATAGRAM_MAX);
	assert_int_equal(BFTM_ORDER_WAITING_MAX, 20);
	assert_int_equal(BFTM_ORDER_NEXT_WAITING_MAX, 22);
	msg = order_sample(BFTM_ORDER_SUBMIT, 1, &rnd);
	msg.room = BFTM_ORDER_ROOM_MAX - 8;
	assert_int_equal(bftm_order_wire_put(&msg, buf), BFTM_DATAGRAM_MAX);
	msg = order_sample(BFTM_ORDER_LIST, 0, &rnd);
	msg.room = BFTM_ORDER_ROOM_MAX;
	assert_int_equal(bftm_order_wire_put(&msg, buf), BFTM_DATAGRAM_MAX);
}

/* More room than is wanted is only zeroes, and told to who answers. */
static void every_room(void **state)
{
	static const u8 types[] = {
		BFTM_ORDER_SUBMIT, BFTM_ORDER_GET, BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT,
		BFTM_ORDER_INSTALL, BFTM_ORDER_COMMIT_GET, BFTM_ORDER_LIST,
	};
	u64 rnd = unit_seed(__func__);
	u8 buf[BFTM_DATAGRAM_MAX];
	struct bftm_order_msg msg, got;
	size_t len, least;
	u32 i, room;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (room = 0; room <= BFTM_ORDER_ROOM_SURE; room += 5) {
			msg = order_sample(types[i], 9, &rnd);
			least = bftm_order_size(&msg);
			msg.room = (u16)room;
			memset(buf, 0xff, sizeof(buf));
			len = bftm_order_wire_put(&msg, buf);
			assert_int_equal(bftm_order_wire_get(buf, len, &got), BFTM_WIRE_OK);
			assert_int_equal(got.room, least < room ? bftm_pad8(room) : least);
			assert_int_equal(bftm_order_size(&got), got.room);
		}
}

static void an_answer_has_no_padding(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg;
	size_t len;
	u32 type;

	(void)state;
	for (type = 0x80; type < 256; type++) {
		if (!bftm_order_form((u8)type))
			continue;
		msg = order_sample((u8)type, 9, &rnd);
		len = bftm_order_len(&msg);
		msg.room = BFTM_ORDER_ROOM_MAX;
		assert_int_equal(bftm_order_len(&msg), len);
	}
}

/* Of each request, which answers that say the least there are: bftm_order_step() fills the rest. */
static void no_answer_is_longer_than_its_request(void **state)
{
	static const u8 pairs[][2] = {
		{ BFTM_ORDER_SUBMIT, BFTM_ORDER_RESPONSE }, { BFTM_ORDER_SUBMIT, BFTM_ORDER_PENDING },
		{ BFTM_ORDER_SUBMIT, BFTM_ORDER_NEEDBODY }, { BFTM_ORDER_GET, BFTM_ORDER_GOT },
		{ BFTM_ORDER_GET, BFTM_ORDER_RECOVERING }, { BFTM_ORDER_GET, BFTM_ORDER_EXCEPTION },
		{ BFTM_ORDER_PROPOSE, BFTM_ORDER_PROPOSED },
		{ BFTM_ORDER_PROPOSE, BFTM_ORDER_EXCEPTION },
		{ BFTM_ORDER_PROPOSE, BFTM_ORDER_NEEDBODY },
		{ BFTM_ORDER_COMMIT, BFTM_ORDER_COMMITTED },
		{ BFTM_ORDER_COMMIT, BFTM_ORDER_EXCEPTION },
		{ BFTM_ORDER_COMMIT, BFTM_ORDER_NEEDBODY },
		{ BFTM_ORDER_INSTALL, BFTM_ORDER_INSTALLED },
		{ BFTM_ORDER_INSTALL, BFTM_ORDER_NEEDBODY },
		{ BFTM_ORDER_FETCH, BFTM_ORDER_BODY }, { BFTM_ORDER_FETCH, BFTM_ORDER_NOBODY },
		{ BFTM_ORDER_PUT, BFTM_ORDER_STORED },
		{ BFTM_ORDER_COMMIT_GET, BFTM_ORDER_COMMITTED_GOT },
		{ BFTM_ORDER_COMMIT_GET, BFTM_ORDER_RECOVERING },
		{ BFTM_ORDER_COMMIT_GET, BFTM_ORDER_EXCEPTION },
		{ BFTM_ORDER_COMMIT_GET, BFTM_ORDER_NEEDBODY },
		{ BFTM_ORDER_LIST, BFTM_ORDER_LISTED },
	};
	struct bftm_order_msg req, reply;
	u32 i, types = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		req = (struct bftm_order_msg){ .type = pairs[i][0], .name_len = 1, .id.len = 1 };
		req.name_len = bftm_order_form(req.type)->named;
		if (req.type == BFTM_ORDER_PUT)
			req.data_len = 1;
		reply = req;
		reply.type = pairs[i][1];
		reply.data_len = reply.type == BFTM_ORDER_BODY;
		/* Whichever object it is, there is room for one. */
		if (reply.type == BFTM_ORDER_LISTED)
			reply.data_len = BFTM_LISTED_LEN_MAX;
		reply.data = order_bytes;
		req.data = req.type == BFTM_ORDER_PUT ? order_bytes : NULL;
		assert_true(bftm_order_len(&reply) <= bftm_order_len(&req));
		types |= 1u << (req.type & 15) | 0x10000u << (reply.type & 15);
	}
	/* None was forgotten. */
	for (i = 0; i < 32; i++)
		assert_int_equal(types >> i & 1, !!bftm_order_form((u8)((i & 16) << 3 | 0x10 | (i & 15))));
}

/* SipHash takes 2 rounds a word and 8 at the end, for who signs and for who checks. */
static void add_cost(const struct bftm_order_msg *msg, u32 *bytes, u32 *rounds)
{
	size_t len = bftm_order_len(msg);

	*bytes += (u32)len;
	*rounds += 2 * (2 * (u32)((len - BFTM_TAG_LEN) / 8 + 1) + 8);
}

static void assert_cost(const struct bftm_order_msg *each, size_t count, u32 bytes, u32 rounds)
{
	u32 i, b = 0, r = 0;

	for (i = 0; i < count; i++) {
		struct bftm_order_msg msg = each[i];

		msg.name_len = 16;
		add_cost(&msg, &b, &r);
	}
	assert_int_equal(b, bytes);
	assert_int_equal(r, rounds);
}

/*
 * An operation of 32 bytes of an object with a name of 16 and a state of 200, at one server. It
 * was 2,680 bytes and 1,448 rounds when all heads were as long as the longest.
 */
#define ASKED_AND_ANSWERED \
	{ .type = BFTM_ORDER_SUBMIT, .data = order_bytes, .data_len = 32, .id.len = 32 }, \
	{ .type = BFTM_ORDER_PENDING }, \
	{ .type = BFTM_ORDER_PROPOSE, .data = order_bytes, .data_len = 200, .id.len = 200 }, \
	{ .type = BFTM_ORDER_PROPOSED }, \
	{ .type = BFTM_ORDER_RESPONSE, .data = order_bytes, .data_len = 32, .id.len = 32 }

static void what_an_operation_costs(void **state)
{
	const struct bftm_order order = {};
	const struct bftm_order_msg first[] = {
		ASKED_AND_ANSWERED,
		{ .type = BFTM_ORDER_GET, .room = bftm_order_room(&order, BFTM_ORDER_GET) },
		{ .type = BFTM_ORDER_GOT, .data_len = 48, .data = order_bytes },
		{ .type = BFTM_ORDER_COMMIT },
		{ .type = BFTM_ORDER_COMMITTED },
	};

	(void)state;
	assert_cost(first, ARRAY_SIZE(first), 1480, 848);
}

/* And of each that follows another one: two round trips instead of three. */
static void what_the_next_one_costs(void **state)
{
	const struct bftm_order order = {};
	const struct bftm_order_msg next[] = {
		ASKED_AND_ANSWERED,
		{ .type = BFTM_ORDER_COMMIT_GET, .room = bftm_order_room(&order, BFTM_ORDER_COMMIT_GET) },
		{ .type = BFTM_ORDER_COMMITTED_GOT, .data_len = 48, .data = order_bytes },
	};

	(void)state;
	assert_cost(next, ARRAY_SIZE(next), 1080, 624);
}

static void any_alignment(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 raw[BFTM_DATAGRAM_MAX + 8];
	struct bftm_order_msg msg = order_sample(BFTM_ORDER_BODY, 63, &rnd), got;
	size_t len;
	u32 shift;

	(void)state;
	for (shift = 0; shift < 8; shift++) {
		len = bftm_order_wire_put(&msg, raw + shift);
		assert_int_equal(bftm_order_wire_get(raw + shift, len, &got), BFTM_WIRE_OK);
		assert_same(&msg, &got);
		/* Written where it stands already. */
		assert_int_equal(bftm_order_wire_put(&got, raw + shift), len);
		assert_int_equal(bftm_order_wire_get(raw + shift, len, &got), BFTM_WIRE_OK);
		assert_same(&msg, &got);
	}
}

/* Data and signature may stand where they belong, or elsewhere in what is overwritten. */
static void written_over_its_own_data(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 plain[BFTM_DATAGRAM_MAX], buf[BFTM_DATAGRAM_MAX];
	struct bftm_order_msg msg = order_sample(BFTM_ORDER_RESPONSE, 63, &rnd);
	size_t len, at;

	(void)state;
	len = bftm_order_wire_put(&msg, plain);
	for (at = 0; at + msg.data_len <= sizeof(buf); at += 7) {
		struct bftm_order_msg other = msg;

		memcpy(buf + at, msg.data, msg.data_len);
		other.data = buf + at;
		assert_int_equal(bftm_order_wire_put(&other, buf), len);
		assert_memory_equal(buf, plain, len - BFTM_TAG_LEN);
	}
}

/* NEEDBODY repeats how the request began; who asked knows what it was. */
static void needbody_repeats_the_first_words(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg = order_sample(BFTM_ORDER_COMMIT, 5, &rnd), got;
	u8 req[BFTM_DATAGRAM_MAX], buf[BFTM_DATAGRAM_MAX];
	size_t len;

	(void)state;
	bftm_order_wire_put(&msg, req);
	msg.type = BFTM_ORDER_NEEDBODY;
	len = bftm_order_wire_put(&msg, buf);
	assert_memory_equal(bftm_order_body_at(buf, 5), bftm_order_body_at(req, 5), 16);
	assert_int_equal(bftm_order_wire_get(buf, len, &got), BFTM_WIRE_OK);
	assert_int_equal(bftm_rank_cmp(&got.rank, &msg.rank), 0);
	msg = order_sample(BFTM_ORDER_SUBMIT, 5, &rnd);
	bftm_order_wire_put(&msg, req);
	msg.type = BFTM_ORDER_NEEDBODY;
	len = bftm_order_wire_put(&msg, buf);
	assert_memory_equal(bftm_order_body_at(buf, 5), bftm_order_body_at(req, 5), 16);
	assert_int_equal(bftm_order_wire_get(buf, len, &got), BFTM_WIRE_OK);
	assert_int_equal(got.op, msg.op);
	assert_int_equal(got.id.len, msg.id.len);
}

static void the_head_is_what_admission_asks_for(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg;
	u8 buf[BFTM_DATAGRAM_MAX];
	struct bftm_wire stale;
	struct bftm_msg head;
	u32 type;

	(void)state;
	for (type = BFTM_ORDER_SUBMIT; type <= BFTM_ORDER_COMMIT_GET; type++) {
		msg = order_sample((u8)type, 9, &rnd);
		bftm_order_wire_put(&msg, buf);
		bftm_order_head(&msg, &head);
		assert_int_equal(head.type, type);
		/* Server, cluster, epoch and client, number, name and first word stay. */
		head.type = BFTM_MSG_STALE;
		bftm_wire_put(&head, &stale);
		assert_memory_equal(stale.data, buf, offsetof(struct bftm_wire_head, type));
		assert_memory_equal(stale.data + 24, buf + 24, 8 + 16 + 8);
		assert_int_equal(stale.len, BFTM_HEAD_LEN + 16 + 8 + BFTM_TAG_LEN);
	}
}

static void every_type_has_its_own_name(void **state)
{
	u32 i, j;

	(void)state;
	for (i = 0; i < 256; i++) {
		assert_int_equal(strcmp(bftm_order_name((u8)i), "?") != 0,
				 (i >= 0x10 && i <= 0x18) || (i >= 0x90 && i <= 0x9d));
		for (j = 0; j < i && bftm_order_form((u8)i); j++)
			assert_string_not_equal(bftm_order_name((u8)i), bftm_order_name((u8)j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_name_length_survives),
		cmocka_unit_test(the_longest),
		cmocka_unit_test(every_room),
		cmocka_unit_test(an_answer_has_no_padding),
		cmocka_unit_test(no_answer_is_longer_than_its_request),
		cmocka_unit_test(what_an_operation_costs),
		cmocka_unit_test(what_the_next_one_costs),
		cmocka_unit_test(any_alignment),
		cmocka_unit_test(written_over_its_own_data),
		cmocka_unit_test(needbody_repeats_the_first_words),
		cmocka_unit_test(the_head_is_what_admission_asks_for),
		cmocka_unit_test(every_type_has_its_own_name),
	};

	return cmocka_run_group_tests_name("order_wire", tests, NULL, NULL);
}
