// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the ordering protocol, as test_wire.c has it for locks: refused,
 * or of one meaning only. Their lengths differ, so room and data come in.
 */
#include "unit.h"

#include "core/ordering/wire.h"

#define HEAD	BFTM_ORDER_HEAD_LEN
#define NAME_AT	offsetof(struct bftm_order_wire, name)

static bool is_type(u32 type)
{
	return (type >= BFTM_ORDER_SUBMIT && type <= BFTM_ORDER_PUT) ||
	       (type >= BFTM_ORDER_RESPONSE && type <= BFTM_ORDER_STORED);
}

static void fill(void *to, size_t len, u64 *rnd)
{
	u8 *byte = to;

	while (len--)
		*byte++ = (u8)unit_random(rnd);
}

/* Any values in all fields; so much data, and room for so much. */
static struct bftm_order_msg sample(u8 type, u8 name_len, const u8 *data, u16 len, u16 room,
				    u64 *rnd)
{
	struct bftm_order_msg msg;

	fill(&msg, sizeof(msg), rnd);
	msg.type = type;
	msg.name_len = name_len;
	memset(msg.name + name_len, 0, sizeof(msg.name) - name_len);
	msg.data = data;
	msg.data_len = len;
	msg.room = room;
	return msg;
}

#define SAME(field) assert_int_equal(a->field, b->field)

/* All but the room, which the datagram's length rounds up. */
static void assert_same(const struct bftm_order_msg *a, const struct bftm_order_msg *b)
{
	SAME(type);
	SAME(name_len);
	SAME(server);
	SAME(cluster);
	SAME(client);
	SAME(server_epoch);
	SAME(seq);
	SAME(rank.count);
	SAME(rank.client);
	SAME(rank.incarnation);
	SAME(op);
	SAME(id.version);
	SAME(id.len);
	assert_memory_equal(a->id.digest, b->id.digest, sizeof(a->id.digest));
	SAME(offset);
	SAME(from);
	SAME(data_len);
	assert_memory_equal(a->name, b->name, sizeof(a->name));
	assert_memory_equal(a->data, b->data, a->data_len);
}

static void every_type_and_name_length_survives(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg, got;
	u8 buf[BFTM_ORDER_LEN_MAX], data[BFTM_ORDER_DATA_MAX];
	u32 type;
	u8 len;

	(void)state;
	fill(data, sizeof(data), &rnd);
	for (type = 0; type < 256; type++)
		for (len = 1; is_type(type) && len <= BFTM_OBJECT_NAME_MAX; len++) {
			u16 used = (u16)unit_between(&rnd, 0, sizeof(data));

			msg = sample((u8)type, len, data, used, 0, &rnd);
			assert_int_equal(bftm_order_wire_put(&msg, buf), bftm_order_len(used));
			assert_int_equal(bftm_order_wire_get(buf, bftm_order_len(used), &got),
					 BFTM_WIRE_OK);
			assert_same(&msg, &got);
			assert_ptr_equal(got.data, buf + HEAD);
		}
}

/* Every length of data with less, as much and more room; the rest is zeroes. */
static void every_length_and_room(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg, got;
	u8 buf[BFTM_ORDER_LEN_MAX], data[BFTM_ORDER_DATA_MAX];
	u16 len, room, most;
	size_t i, size;

	(void)state;
	fill(data, sizeof(data), &rnd);
	for (len = 0; len <= BFTM_ORDER_DATA_MAX; len++)
		for (i = 0; i < 3; i++) {
			room = i ? (u16)unit_between(&rnd, 0, BFTM_ORDER_DATA_MAX) : 0;
			most = len > room ? len : room;
			msg = sample(BFTM_ORDER_PROPOSE, 3, data, len, room, &rnd);
			memset(buf, 0xff, sizeof(buf));
			size = bftm_order_wire_put(&msg, buf);
			assert_int_equal(size, bftm_order_len(most));
			assert_int_equal(bftm_order_wire_get(buf, size, &got), BFTM_WIRE_OK);
			assert_same(&msg, &got);
			assert_true(got.room >= most && got.room >= BFTM_ORDER_ROOM_MIN &&
				    got.room <= BFTM_ORDER_DATA_MAX);
			while (size-- > (size_t)HEAD + len)
				assert_int_equal(buf[size], 0);
		}
	assert_int_equal(bftm_order_len(0), BFTM_ORDER_LEN_MIN);
	assert_int_equal(bftm_order_len(BFTM_ORDER_DATA_MAX), BFTM_ORDER_LEN_MAX);
}

/* An answer has its request's room, and so its length; it never grows. */
static void an_answer_is_as_long_as_its_request(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 buf[BFTM_ORDER_LEN_MAX], data[BFTM_ORDER_DATA_MAX];
	struct bftm_order_msg req, got, reply;
	size_t size;
	u16 room;

	(void)state;
	fill(data, sizeof(data), &rnd);
	for (room = 0; room <= BFTM_ORDER_DATA_MAX; room++) {
		req = sample(BFTM_ORDER_GET, 1, NULL, 0, room, &rnd);
		size = bftm_order_wire_put(&req, buf);
		assert_int_equal(bftm_order_wire_get(buf, size, &got), BFTM_WIRE_OK);
		reply = got;
		reply.type = BFTM_ORDER_GOT;
		reply.data = data;
		reply.data_len = got.room;
		assert_int_equal(bftm_order_wire_put(&reply, buf), size);
	}
}

/* The format is a promise to other implementations: byte by byte. */
static void layout_is_little_endian(void **state)
{
	static const u8 head[] = { 1, 0x12, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0 };
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_PROPOSE, .name_len = 3, .cluster = 0x04030201,
		.client = 0x08070605, .server = 0x0a09, .server_epoch = 0x1716151413121110,
		.seq = 0x1f1e1d1c1b1a1918,
		.rank = { 0x2726252423222120, 0x2b2a2928, 0x2f2e2d2c },
		.op = 0x3736353433323130, .id.version = 0x3f3e3d3c3b3a3938,
		.id.len = 0x63626160, .offset = 0x67666564, .from = 0x6b6a6968,
		.data_len = 4, .name = "abc", .data = (const u8 *)"data",
	};
	u8 buf[BFTM_ORDER_LEN_MIN];
	u32 i;

	(void)state;
	for (i = 0; i < BFTM_DIGEST_LEN; i++)
		msg.id.digest[i] = (u8)(0x40 + i);
	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(bftm_order_wire_put(&msg, buf), sizeof(buf));
	assert_memory_equal(buf, head, sizeof(head));
	for (i = 16; i < 108; i++)
		assert_int_equal(buf[i], i);
	assert_memory_equal(buf + 108, "\4\0\0\0abc", 7);
	for (i = 115; i < HEAD; i++)
		assert_int_equal(buf[i], 0);
	assert_memory_equal(buf + HEAD, "data", 4);
	for (i = HEAD + 4; i < sizeof(buf); i++)
		assert_int_equal(buf[i], 0);
}

/* An error leaves @msg alone; success can be written again bit for bit. */
static enum bftm_wire_error check_one_spelling(const u8 *buf, size_t len)
{
	struct bftm_order_msg msg, before;
	enum bftm_wire_error err;
	u8 again[BFTM_ORDER_LEN_MAX];

	memset(&msg, 0xa5, sizeof(msg));
	before = msg;
	err = bftm_order_wire_get(buf, len, &msg);
	if (err) {
		assert_memory_equal(&msg, &before, sizeof(msg));
	} else {
		assert_int_equal(bftm_order_wire_put(&msg, again), len);
		assert_memory_equal(again, buf, HEAD + msg.data_len);
	}
	return err;
}

/* Cut at every length, in a buffer of just that length. */
static void every_truncation(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 whole[BFTM_ORDER_LEN_MAX + 16] = {}, data[600];
	struct bftm_order_msg msg = sample(BFTM_ORDER_GOT, 5, data, sizeof(data), 0, &rnd);
	size_t len, full;
	bool ok;

	(void)state;
	fill(data, sizeof(data), &rnd);
	full = bftm_order_wire_put(&msg, whole);
	for (len = 0; len <= sizeof(whole); len++) {
		u8 *buf = malloc(len ? len : 1);

		assert_non_null(buf);
		memcpy(buf, whole, len);
		/* Longer is more room. */
		ok = len >= full && len <= BFTM_ORDER_LEN_MAX && len % 8 == 0;
		assert_int_equal(check_one_spelling(buf, len),
				 ok ? BFTM_WIRE_OK : BFTM_WIRE_BAD_LENGTH);
		free(buf);
	}
}

static void data_must_be_within_the_datagram(void **state)
{
	static const struct bftm_order_msg msg = {
		.type = BFTM_ORDER_PUT, .name_len = 1, .name = "x", .data_len = 0,
	};
	u8 buf[BFTM_ORDER_LEN_MAX] = {};
	size_t len;
	u32 said;

	(void)state;
	bftm_order_wire_put(&msg, buf);
	for (len = BFTM_ORDER_LEN_MIN; len <= BFTM_ORDER_LEN_MAX; len += 8)
		for (said = 0; said < 65536; said += said < 1300 ? 1 : 97) {
			buf[108] = (u8)said;
			buf[109] = (u8)(said >> 8);
			assert_int_equal(check_one_spelling(buf, len),
					 said <= len - HEAD - BFTM_TAG_LEN ? BFTM_WIRE_OK :
									     BFTM_WIRE_BAD_LENGTH);
		}
}

static void any_alignment(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 raw[BFTM_ORDER_LEN_MAX + 8], data[333];
	struct bftm_order_msg msg = sample(BFTM_ORDER_BODY, 63, data, sizeof(data), 0, &rnd), got;
	size_t len;
	u32 shift;

	(void)state;
	fill(data, sizeof(data), &rnd);
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

/* Version, type, protocol, name length, flags, lengths, name: nothing else matters. */
static bool may_spoil(u32 byte, u8 name_len)
{
	return byte < 4 || byte == 14 || byte == 15 || (byte >= 108 && byte < 112) ||
	       (byte >= NAME_AT + name_len && byte < HEAD);
}

static void every_flipped_bit(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 buf[BFTM_ORDER_LEN_MAX], data[100];
	struct bftm_order_msg msg;
	size_t len;
	u32 bit, type;

	(void)state;
	fill(data, sizeof(data), &rnd);
	for (type = 0; type < 256; type++) {
		if (!is_type(type))
			continue;
		msg = sample((u8)type, (u8)unit_between(&rnd, 1, 63), data, sizeof(data), 0, &rnd);
		len = bftm_order_wire_put(&msg, buf);
		for (bit = 0; bit < 8 * (u32)len; bit++) {
			buf[bit / 8] ^= (u8)(1u << bit % 8);
			if (check_one_spelling(buf, len) != BFTM_WIRE_OK)
				assert_true(may_spoil(bit / 8, msg.name_len));
			else
				assert_false(bit / 8 == 0 || bit / 8 == 2 || bit / 8 == 14 ||
					     bit / 8 == 15 || bit / 8 == 110 || bit / 8 == 111);
			buf[bit / 8] ^= (u8)(1u << bit % 8);
		}
	}
}

static void every_value_of_the_first_bytes(void **state)
{
	static const struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET, .name_len = 3, .name = "abc",
	};
	static const enum bftm_wire_error wrong[] = {
		BFTM_WIRE_BAD_VERSION, BFTM_WIRE_BAD_TYPE, BFTM_WIRE_BAD_TYPE, BFTM_WIRE_BAD_NAME,
	};
	u8 buf[BFTM_ORDER_LEN_MIN];
	u32 at, i;
	bool ok;

	(void)state;
	for (at = 0; at < ARRAY_SIZE(wrong); at++)
		for (i = 0; i < 256; i++) {
			bftm_order_wire_put(&msg, buf);
			buf[at] = (u8)i;
			ok = at == 0 ? i == BFTM_WIRE_VERSION : at == 1 ? is_type(i) :
			     at == 2 ? i == BFTM_PROTO_ORDER : i >= 3 && i < BFTM_NAME_LEN_MAX;
			assert_int_equal(check_one_spelling(buf, sizeof(buf)),
					 ok ? BFTM_WIRE_OK : wrong[at]);
		}
	/* A byte behind the name is not zero: not even the last, which is the lock's. */
	for (i = 0; i < BFTM_NAME_LEN_MAX; i++) {
		bftm_order_wire_put(&msg, buf);
		buf[NAME_AT + i] = 1;
		assert_int_equal(check_one_spelling(buf, sizeof(buf)),
				 i < 3 ? BFTM_WIRE_OK : BFTM_WIRE_BAD_NAME);
	}
}

/* A message of locks is none of ordering, and the other way round. */
static void protocols_do_not_mix(void **state)
{
	static const struct bftm_order_msg order = {
		.type = BFTM_ORDER_GET, .name_len = 1, .name = "x",
	};
	static const struct bftm_msg lock = {
		.type = BFTM_MSG_TRY, .proto = BFTM_PROTO_ORDER, .name_len = 1, .name = "x",
	};
	u8 buf[BFTM_ORDER_LEN_MAX] = {};
	struct bftm_order_msg got;
	struct bftm_wire wire;
	struct bftm_msg msg;
	size_t len;

	(void)state;
	len = bftm_order_wire_put(&order, buf);
	assert_int_not_equal(bftm_wire_get(buf, len, &msg), BFTM_WIRE_OK);
	assert_int_not_equal(bftm_wire_get(buf, BFTM_WIRE_LEN, &msg), BFTM_WIRE_OK);
	bftm_wire_put(&lock, &wire);
	memcpy(buf, &wire, sizeof(wire));
	assert_int_not_equal(bftm_order_wire_get(buf, sizeof(wire), &got), BFTM_WIRE_OK);
	assert_int_not_equal(bftm_order_wire_get(buf, BFTM_ORDER_LEN_MIN, &got), BFTM_WIRE_OK);
}

static void the_head_is_what_admission_asks_for(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_order_msg msg = sample(BFTM_ORDER_COMMIT, 9, NULL, 0, 0, &rnd);
	struct bftm_msg head;
	struct bftm_wire wire;
	u8 buf[BFTM_ORDER_LEN_MAX];

	(void)state;
	bftm_order_head(&msg, &head);
	assert_int_equal(head.proto, BFTM_PROTO_ORDER);
	bftm_wire_put(&head, &wire);
	bftm_order_wire_put(&msg, buf);
	assert_memory_equal(&wire, buf, offsetof(struct bftm_wire, attempt));
	assert_memory_equal(head.name, msg.name, sizeof(head.name));
}

static void every_type_has_its_own_name(void **state)
{
	u32 i, j;

	(void)state;
	for (i = 0; i < 256; i++) {
		assert_int_equal(strcmp(bftm_order_name((u8)i), "?") != 0, is_type(i));
		for (j = 0; j < i; j++)
			if (is_type(i) && is_type(j))
				assert_string_not_equal(bftm_order_name((u8)i),
							bftm_order_name((u8)j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_name_length_survives),
		cmocka_unit_test(every_length_and_room),
		cmocka_unit_test(an_answer_is_as_long_as_its_request),
		cmocka_unit_test(layout_is_little_endian),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(data_must_be_within_the_datagram),
		cmocka_unit_test(any_alignment),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(every_value_of_the_first_bytes),
		cmocka_unit_test(protocols_do_not_mix),
		cmocka_unit_test(the_head_is_what_admission_asks_for),
		cmocka_unit_test(every_type_has_its_own_name),
	};

	return cmocka_run_group_tests_name("order_wire", tests, NULL, NULL);
}
