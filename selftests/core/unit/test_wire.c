// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams. An attacker sends any datagram: it is refused, or it means one
 * thing only and would be written in exactly this way.
 */
#include "unit.h"

#include "core/wire.h"

static const u8 types[] = {
	BFTM_MSG_HELLO, BFTM_MSG_TRY, BFTM_MSG_RELEASE, BFTM_MSG_YIELD, BFTM_MSG_STAMP,
	BFTM_MSG_RECOVER, BFTM_MSG_SYNC, BFTM_MSG_ASK, BFTM_MSG_STALE, BFTM_MSG_CHALLENGE,
	BFTM_MSG_FREE, BFTM_MSG_LOCKED, BFTM_MSG_WAIT, BFTM_MSG_RELEASED, BFTM_MSG_REFUSED,
	BFTM_MSG_INQUIRE, BFTM_MSG_SACK, BFTM_MSG_SNACK, BFTM_MSG_SYNCED, BFTM_MSG_OWNER,
	BFTM_MSG_PROBE, BFTM_MSG_VERSION,
};

static bool is_type(u32 type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

static void fill(void *to, size_t len, u64 *rnd)
{
	u8 *byte = to;

	while (len--)
		*byte++ = (u8)unit_random(rnd);
}

/* A value of some length, with room for as much as this side may leave. */
static void sample_value(struct bftm_msg *msg, u64 *rnd)
{
	msg->value_len = (u8)(unit_random(rnd) % (BFTM_VALUE_LEN_MAX + 1));
	fill(msg->value, msg->value_len, rnd);
	msg->value_room = (u8)bftm_pad8(msg->value_len);
	msg->value_k = (u32)unit_random(rnd) | 1;
	if (msg->type & BFTM_MSG_REPLY)
		msg->value_k = 0;
	else if (unit_random(rnd) & 1)
		msg->value_room = BFTM_VALUE_LEN_MAX;
}

/* Any values in all fields, as far as the form has them, and a name of this length. */
static struct bftm_msg sample(u8 type, u8 name_len, u64 *rnd)
{
	const struct bftm_form *form = bftm_wire_form(type);
	struct bftm_msg msg;

	fill(&msg, sizeof(msg), rnd);
	msg.type = type;
	msg.version = BFTM_WIRE_VERSION;
	msg.proto = BFTM_PROTO_BACKOFF;
	msg.attempt |= 1;
	msg.seq |= 1;
	msg.k |= 1;
	msg.lease_ns |= 1;
	msg.incarnation |= 1;
	msg.token &= ~BFTM_TOKEN_UNKNOWN >> 1;
	msg.token |= 1;
	msg.mode = (u8)(form->mode_min + msg.mode % (form->mode_max - form->mode_min + 1));
	msg.flags &= form->flags;
	if (msg.flags & BFTM_FLAG_DOUBT && type == BFTM_MSG_FREE)
		msg.flags |= BFTM_FLAG_VALUE;
	msg.arg &= form->arg;
	if (form->arg == BFTM_MODE_EX)
		msg.arg = BFTM_MODE_EX;
	else if (form->arg == 63)
		msg.arg &= 62;
	else if (type == BFTM_MSG_REFUSED)
		msg.arg |= 1;
	msg.name_len = form->named == BFTM_NAMELESS ? 0 : name_len;
	memset(msg.name + msg.name_len, 0, sizeof(msg.name) - msg.name_len);
	if (msg.flags & BFTM_FLAG_VALUE)
		sample_value(&msg, rnd);
	return msg;
}

/* Return: whether it was accepted; then it is written again bit by bit. */
static enum bftm_wire_error check_one_spelling(const u8 *raw, size_t len)
{
	struct bftm_msg msg;
	struct bftm_wire again;
	enum bftm_wire_error err = bftm_wire_get(raw, len, &msg);

	if (err != BFTM_WIRE_OK)
		return err;
	/* A protocol that has no forms here is not written here. */
	if (msg.proto != BFTM_PROTO_BACKOFF && msg.proto != BFTM_PROTO_ORDER &&
	    msg.proto < BFTM_PROTO_TEST && msg.type != BFTM_MSG_VERSION)
		return err;
	memset(&again, 0xaa, sizeof(again));
	bftm_wire_put(&msg, &again);
	assert_int_equal(again.len, len);
	assert_memory_equal(again.data, raw, len - BFTM_TAG_LEN);
	return err;
}

/* Zeroes are sent behind the name, whatever stands there. */
static void every_type_and_name_length_survives(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg, sent, got;
	struct bftm_wire wire;
	size_t i;
	u8 len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (len = 1; len <= BFTM_NAME_LEN_MAX; len++) {
			msg = sample(types[i], len, &rnd);
			sent = msg;
			fill(sent.name + sent.name_len, sizeof(sent.name) - sent.name_len, &rnd);
			memset(&wire, 0x55, sizeof(wire));
			bftm_wire_put(&sent, &wire);
			assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_OK);
			assert_int_equal(got.type, msg.type);
			assert_int_equal(got.seq, msg.seq);
			assert_int_equal(got.name_len, msg.name_len);
			assert_memory_equal(got.name, msg.name, sizeof(got.name));
			assert_int_equal(check_one_spelling(wire.data, wire.len), BFTM_WIRE_OK);
			assert_true(bftm_all_zero(wire.data + wire.len - BFTM_TAG_LEN,
						  BFTM_TAG_LEN));
		}
}

/* A field that a type does not have is 0 when it is read, whatever it was when it was written. */
static void fields_that_a_type_has_not_are_zero(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg, got;
	struct bftm_wire wire;

	(void)state;
	msg = sample(BFTM_MSG_RELEASED, 3, &rnd);
	msg.prio = msg.gno = msg.token = ~0ull;
	bftm_wire_put(&msg, &wire);
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_OK);
	assert_int_equal(got.attempt, msg.attempt);
	assert_int_equal(got.prio | got.gno | got.token | got.lease_ns | got.k | got.mode, 0);
	/* Of the grant's number LOCKED and WAIT have the low half. */
	msg = sample(BFTM_MSG_WAIT, 3, &rnd);
	msg.gno = 0x123456789abcdef0;
	bftm_wire_put(&msg, &wire);
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_OK);
	assert_int_equal(got.gno, 0x9abcdef0);
	assert_int_equal(got.position, msg.position);
}

static void only_one_length_is_right(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg, got;
	u8 raw[BFTM_DATAGRAM_MAX + 16];
	size_t i, len, right;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		msg = sample(types[i], 5, &rnd);
		memset(raw, 0, sizeof(raw));
		right = bftm_wire_write(&msg, raw);
		memset(raw + right - BFTM_TAG_LEN, 0, BFTM_TAG_LEN);
		for (len = 0; len <= sizeof(raw); len++)
			assert_int_equal(bftm_wire_get(raw, len, &got) == BFTM_WIRE_OK,
					 len == right);
	}
}

static void any_alignment(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg = sample(BFTM_MSG_TRY, 7, &rnd), got;
	u8 raw[BFTM_WIRE_LEN_MAX + 8];
	size_t at, len;

	(void)state;
	for (at = 0; at < 8; at++) {
		len = bftm_wire_write(&msg, raw + at);
		assert_int_equal(bftm_wire_get(raw + at, len, &got), BFTM_WIRE_OK);
		assert_int_equal(got.prio, msg.prio);
	}
}

static void every_flipped_bit(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_wire wire;
	struct bftm_msg msg;
	size_t i, bit;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		msg = sample(types[i], (u8)(1 + i % BFTM_NAME_LEN_MAX), &rnd);
		bftm_wire_put(&msg, &wire);
		for (bit = 0; bit < 8 * (wire.len - BFTM_TAG_LEN); bit++) {
			wire.data[bit / 8] ^= (u8)(1u << bit % 8);
			check_one_spelling(wire.data, wire.len);
			wire.data[bit / 8] ^= (u8)(1u << bit % 8);
		}
	}
}

/* Noise with a plausible beginning, so that it gets past the first checks. */
static void noise(void **state)
{
	u32 i, seen[BFTM_WIRE_BAD_FIELD + 1] = {};
	u64 rnd = unit_seed(__func__);
	struct bftm_wire wire;
	struct bftm_msg msg;

	(void)state;
	for (i = 0; i < 200000; i++) {
		msg = sample(types[i % ARRAY_SIZE(types)], (u8)(1 + i % 64), &rnd);
		bftm_wire_put(&msg, &wire);
		if (i & 1)
			wire.data[unit_random(&rnd) % wire.len] = (u8)unit_random(&rnd);
		if (i & 2)
			wire.data[unit_random(&rnd) % BFTM_HEAD_LEN] = (u8)unit_random(&rnd);
		if (i & 4)
			wire.len = 8 * (unit_random(&rnd) % (BFTM_WIRE_LEN_MAX / 8 + 1));
		seen[check_one_spelling(wire.data, wire.len)]++;
	}
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		assert_true(seen[i]);
}

/* A message of @kind with one thing wrong, which is done to the message or to the bytes. */
#define WRONG(error, kind, how) do { \
	struct bftm_msg m = sample(BFTM_MSG_##kind, 5, &rnd), got_; \
	struct bftm_wire w; \
	u8 *d = w.data; \
	m.flags = 0; \
	m.arg = bftm_wire_form(m.type)->arg == 63 ? 32 : \
		m.type == BFTM_MSG_REFUSED ? BFTM_REFUSED_ACCESS : 0; \
	bftm_wire_put(&m, &w); \
	assert_int_equal(bftm_wire_get(w.data, w.len, &got_), BFTM_WIRE_OK); \
	(void)d; \
	how; \
	assert_int_equal(bftm_wire_get(w.data, w.len, &got_), BFTM_WIRE_##error); \
} while (0)

#define WRITTEN(change) do { change; bftm_wire_put(&m, &w); } while (0)
#define BODY (BFTM_HEAD_LEN + 8)	/* behind a name of five bytes */

static void each_wrong_form(void **state)
{
	u64 rnd = unit_seed(__func__);

	(void)state;
	WRONG(BAD_VERSION, TRY, d[0] = 1);
	WRONG(BAD_VERSION, TRY, d[0] = 3);
	WRONG(BAD_TYPE, TRY, w.head.type = 0);
	WRONG(BAD_TYPE, TRY, w.head.type = 0x09);
	WRONG(BAD_TYPE, TRY, w.head.type = 0x10);
	WRONG(BAD_TYPE, FREE, w.head.type = 0x8d);
	WRONG(BAD_TYPE, TRY, w.head.proto = BFTM_PROTO_ORDER);
	WRONG(BAD_FIELD, TRY, WRITTEN(m.seq = 0));
	WRONG(OK, FREE, WRITTEN(m.seq = 0));
	/* Names. */
	WRONG(BAD_NAME, TRY, w.head.name_len = 65);
	WRONG(BAD_NAME, TRY, d[BODY - 1] = 1);
	WRONG(BAD_NAME, TRY, WRITTEN(m.name_len = 0));
	WRONG(BAD_NAME, HELLO, w.head.name_len = 8);
	WRONG(OK, REFUSED, WRITTEN(m.name_len = 0));
	WRONG(OK, STALE, WRITTEN(m.name_len = 0));
	/* Modes, flags, arguments. */
	WRONG(BAD_FLAGS, TRY, w.head.flags = 0);
	WRONG(BAD_FLAGS, TRY, w.head.flags = 6);
	WRONG(OK, OWNER, w.head.flags = 0);
	WRONG(BAD_FLAGS, RELEASE, w.head.flags = 5);
	WRONG(BAD_FLAGS, TRY, w.head.flags |= BFTM_FLAG_DOUBT);
	WRONG(BAD_FLAGS, TRY, w.head.flags |= BFTM_FLAG_DEADLOCK);
	WRONG(BAD_FLAGS, YIELD, w.head.flags |= BFTM_FLAG_NOQUEUE);
	WRONG(BAD_FLAGS, TRY, w.head.arg = 6);
	WRONG(BAD_FLAGS, RELEASE, w.head.arg = 1);
	WRONG(BAD_FLAGS, FREE, w.head.arg = 64);
	WRONG(BAD_FIELD, FREE, w.head.arg = 33);
	WRONG(BAD_FIELD, SACK, w.head.arg = 1);
	WRONG(BAD_FIELD, FREE, WRITTEN(m.flags = BFTM_FLAG_DOUBT));
	WRONG(BAD_FIELD, REFUSED, w.head.arg = 0);
	/* Fields that must not be 0, or not all ones. */
	WRONG(BAD_FIELD, TRY, WRITTEN(m.attempt = 0));
	WRONG(BAD_FIELD, TRY, WRITTEN(m.k = 0));
	WRONG(BAD_FIELD, TRY, WRITTEN(m.lease_ns = 0));
	WRONG(OK, TRY, WRITTEN(m.lease_ns = BFTM_LEASE_NONE));
	WRONG(BAD_FIELD, RELEASE, WRITTEN(m.attempt = 0));
	WRONG(BAD_FIELD, FREE, WRITTEN(m.k = 0));
	WRONG(OK, OWNER, WRITTEN(m.attempt = 0));
	WRONG(BAD_FIELD, STAMP, WRITTEN(m.token = 0));
	WRONG(BAD_FIELD, STAMP, WRITTEN(m.token = BFTM_TOKEN_UNKNOWN));
	WRONG(OK, RECOVER, WRITTEN(m.token = 0));
	WRONG(BAD_FIELD, RECOVER, WRITTEN(m.token = BFTM_TOKEN_UNKNOWN));
	WRONG(BAD_FIELD, SYNC, WRITTEN(m.incarnation = 0));
	/* Bytes without a name are 0. */
	WRONG(BAD_FIELD, TRY, d[BODY + 12] = 1);
	WRONG(BAD_FIELD, TRY, d[BODY + 32] = 1);
	WRONG(BAD_FIELD, LOCKED, d[BODY + 12] = 1);
	WRONG(BAD_FIELD, ASK, d[BODY + 39] = 1);
	WRONG(BAD_FIELD, CHALLENGE, d[BFTM_HEAD_LEN + 31] = 1);
}

static void values(void **state)
{
	u64 rnd = unit_seed(__func__);
	static const u8 value[BFTM_VALUE_LEN_MAX] = { 1, 2, 3, 4, 5 };

	(void)state;
#define VALUE(k, len, room) WRITTEN(m.flags = BFTM_FLAG_VALUE; memcpy(m.value, value, sizeof(value)); \
				    m.value_k = (k); m.value_len = (len); m.value_room = (room))
	WRONG(OK, RELEASE, VALUE(3, 5, 8));
	WRONG(OK, RELEASE, VALUE(3, 5, 64));
	WRONG(OK, TRY, VALUE(0, 0, 64));
	WRONG(BAD_FIELD, TRY, VALUE(0, 5, 64));
	WRONG(BAD_FIELD, RELEASE, VALUE(3, 9, 8));
	WRONG(BAD_FIELD, RELEASE, VALUE(3, 5, 72));
	WRONG(BAD_FIELD, RELEASE, VALUE(3, 65, 64));
	WRONG(OK, FREE, VALUE(0, 5, 8));
	WRONG(OK, FREE, VALUE(0, 5, 0));
	WRONG(BAD_FIELD, FREE, VALUE(0, 5, 16));
	WRONG(BAD_FIELD, FREE, VALUE(1, 5, 8));
	/* Behind the value, and in the head of the part. */
	WRONG(BAD_FIELD, RELEASE, VALUE(3, 5, 8); d[BODY + 8 + 8 + 5] = 1);
	WRONG(BAD_FIELD, RELEASE, VALUE(3, 5, 8); d[BODY + 8 + 7] = 1);
	WRONG(BAD_LENGTH, RELEASE, VALUE(3, 5, 16); w.len -= 8);
#undef VALUE
}

/* A server can refuse a request that it does not serve, and looks at no more of it. */
static void a_protocol_without_a_number(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg = sample(BFTM_MSG_TRY, 5, &rnd), got;
	struct bftm_wire wire;

	(void)state;
	msg.proto = 77;
	bftm_wire_put(&msg, &wire);
	wire.head.type = 0x55;
	wire.head.flags = 0xff;
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_OK);
	assert_int_equal(got.proto, 77);
	assert_int_equal(got.attempt, msg.attempt);
	assert_int_equal(got.name_len, 5);
	wire.head.type = 0x95;
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_BAD_TYPE);
	wire.head.type = 0x55;
	wire.len = BFTM_HEAD_LEN + 8 + BFTM_TAG_LEN;
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_BAD_LENGTH);
}

/* The part that later versions keep is read, so that they can be told what is spoken here. */
static void the_head_of_another_version(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg = sample(BFTM_MSG_TRY, 5, &rnd), got;
	struct bftm_wire wire;

	(void)state;
	bftm_wire_put(&msg, &wire);
	wire.head.version = 9;
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &got), BFTM_WIRE_BAD_VERSION);
	assert_int_equal(got.version, 9);
	assert_int_equal(got.client, msg.client);
	assert_int_equal(got.server, msg.server);
	assert_int_equal(got.seq, msg.seq);
	got.type = BFTM_MSG_VERSION;
	got.arg = BFTM_WIRE_VERSION;
	bftm_wire_put(&got, &wire);
	assert_int_equal(wire.len, BFTM_VERSION_LEN);
	assert_int_equal(wire.head.version, 9);
}

/* STALE says where to send; CHALLENGE what a server forgot. */
static void an_epoch_counts_after_its_challenge(void **state)
{
	struct bftm_msg msg = { .server_epoch = 8, .k = 3 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		msg.type = types[i];
		assert_true(bftm_epoch_known(&msg, 8));
		assert_int_equal(bftm_epoch_known(&msg, 9),
				 types[i] != BFTM_MSG_FREE && types[i] != BFTM_MSG_SACK);
	}
	/* Somebody whose attempt is over has to give it back; but it answers no send. */
	msg.type = BFTM_MSG_FREE;
	assert_true(bftm_discount(&msg));
	assert_int_equal(msg.k, 0);
	msg.type = BFTM_MSG_SACK;
	assert_false(bftm_discount(&msg));
}

/* Nothing is amplified: no answer is longer than the shortest request that it answers. */
static void no_answer_is_longer_than_its_request(void **state)
{
	static const struct {
		u8 request;
		u8 answer[4];
	} pairs[] = {
		{ BFTM_MSG_HELLO, { BFTM_MSG_CHALLENGE } },
		{ BFTM_MSG_TRY, { BFTM_MSG_FREE, BFTM_MSG_LOCKED, BFTM_MSG_WAIT } },
		{ BFTM_MSG_RELEASE, { BFTM_MSG_RELEASED } },
		{ BFTM_MSG_STAMP, { BFTM_MSG_SACK, BFTM_MSG_SNACK } },
		{ BFTM_MSG_RECOVER, { BFTM_MSG_CHALLENGE } },
		{ BFTM_MSG_SYNC, { BFTM_MSG_SYNCED } },
		{ BFTM_MSG_ASK, { BFTM_MSG_OWNER } },
	};
	static const u8 common[] = { BFTM_MSG_STALE, BFTM_MSG_REFUSED, BFTM_MSG_VERSION };
	size_t i, j, most;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		most = bftm_wire_form(pairs[i].request)->bytes;
		for (j = 0; j < 4 && pairs[i].answer[j]; j++)
			assert_true(bftm_wire_form(pairs[i].answer[j])->bytes <= most);
		for (j = 0; j < ARRAY_SIZE(common); j++)
			assert_true(bftm_wire_form(common[j])->bytes <= most);
	}
	/* REFUSED says the longest lease to a TRY, and a number to a HELLO. */
	assert_true(bftm_wire_form(BFTM_MSG_REFUSED)->bytes + 8 <=
		    bftm_wire_form(BFTM_MSG_TRY)->bytes);
	assert_true(bftm_wire_form(BFTM_MSG_REFUSED)->bytes + 8 <=
		    bftm_wire_form(BFTM_MSG_HELLO)->bytes);
	/* And what comes unasked than the TRY that made its place. */
	assert_true(bftm_wire_form(BFTM_MSG_INQUIRE)->bytes <= bftm_wire_form(BFTM_MSG_TRY)->bytes);
	assert_true(bftm_wire_form(BFTM_MSG_PROBE)->bytes <= bftm_wire_form(BFTM_MSG_TRY)->bytes);
}

static void every_type_has_its_own_name(void **state)
{
	u32 i, j;

	(void)state;
	for (i = 0; i < 256; i++) {
		assert_non_null(bftm_msg_name((u8)i));
		assert_int_equal(strcmp(bftm_msg_name((u8)i), "?") != 0, is_type(i));
		for (j = 0; j < i; j++)
			if (is_type(i) && is_type(j))
				assert_string_not_equal(bftm_msg_name((u8)i), bftm_msg_name((u8)j));
	}
	for (i = 0; i <= BFTM_REFUSED_UNNOTED + 1; i++)
		assert_int_equal(strcmp(bftm_refusal_name(i), "unknown reason") != 0,
				 i >= BFTM_REFUSED_LEASE && i <= BFTM_REFUSED_UNNOTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_name_length_survives),
		cmocka_unit_test(fields_that_a_type_has_not_are_zero),
		cmocka_unit_test(only_one_length_is_right),
		cmocka_unit_test(any_alignment),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(noise),
		cmocka_unit_test(each_wrong_form),
		cmocka_unit_test(values),
		cmocka_unit_test(a_protocol_without_a_number),
		cmocka_unit_test(the_head_of_another_version),
		cmocka_unit_test(an_epoch_counts_after_its_challenge),
		cmocka_unit_test(no_answer_is_longer_than_its_request),
		cmocka_unit_test(every_type_has_its_own_name),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
