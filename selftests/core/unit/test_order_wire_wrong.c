// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the ordering protocol that have no meaning: of each rule of the form one that
 * breaks nothing else.
 */
#include "order_samples.h"

#define NAME	3u	/* bytes of the name; it takes 8 */
#define BODY	(BFTM_HEAD_LEN + 8u)

/* Where the body of a datagram of @type begins. */
static size_t body_of(u32 type)
{
	return bftm_order_form((u8)type)->named ? BODY : BFTM_HEAD_LEN;
}

static u8 buf[BFTM_DATAGRAM_MAX + 64];
static size_t size;

static enum bftm_wire_error reads(void)
{
	struct bftm_order_msg msg;
	u8 *exact = malloc(size ? size : 1);	/* so that reading more is found */
	enum bftm_wire_error err;

	assert_non_null(exact);
	memcpy(exact, buf, size);
	err = bftm_order_wire_get(exact, size, &msg);
	free(exact);
	return err;
}

/* A good datagram: of @type, with a signature and a whole body if it may have them. */
static struct bftm_order_msg good(u8 type)
{
	u64 rnd = 7;
	struct bftm_order_msg msg = order_sample(type, NAME, &rnd);

	memset(buf, 0, sizeof(buf));
	if (bftm_order_form(type)->flags & BFTM_ORDER_FLAG_SIGNED)
		msg.signature = order_bytes;
	if (bftm_order_form(type)->flags & BFTM_ORDER_FLAG_BODY) {
		msg.offset = 0;
		msg.data = order_bytes;
		msg.data_len = 13;
		msg.id.len = 13;
	}
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_OK);
	return msg;
}

/* Without its body in the datagram. */
static void bodyless(u8 type)
{
	struct bftm_order_msg msg = good(type);

	msg.data = NULL;
	msg.data_len = 0;
	memset(buf, 0, sizeof(buf));
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_OK);
}

static void spoil(size_t at, u8 value, enum bftm_wire_error err)
{
	u8 was = buf[at];

	buf[at] = value;
	assert_int_equal(reads(), err);
	buf[at] = was;
	assert_int_equal(reads(), BFTM_WIRE_OK);
}

static void zero(size_t at, size_t len, enum bftm_wire_error err)
{
	u8 was[BFTM_DIGEST_LEN];

	memcpy(was, buf + at, len);
	memset(buf + at, 0, len);
	assert_int_equal(reads(), err);
	memcpy(buf + at, was, len);
}

#define FOR_TYPES(type) \
	for (type = 0; type < 256; type++) \
		if (bftm_order_form((u8)type))

static void head(void **state)
{
	u32 type, i;

	(void)state;
	FOR_TYPES(type) {
		good((u8)type);
		spoil(0, 1, BFTM_WIRE_BAD_VERSION);
		spoil(0, 3, BFTM_WIRE_BAD_VERSION);
		spoil(1, BFTM_PROTO_BACKOFF, BFTM_WIRE_BAD_TYPE);
		spoil(1, 3, BFTM_WIRE_BAD_TYPE);
		spoil(23, 1, BFTM_WIRE_BAD_FLAGS);
		for (i = 0; i < 8; i++)
			if (!(bftm_order_form((u8)type)->flags >> i & 1))
				spoil(22, (u8)(buf[22] | 1u << i), BFTM_WIRE_BAD_FLAGS);
	}
	good(BFTM_ORDER_COMMIT);
	for (i = 0; i < 256; i++)
		if (!bftm_order_form((u8)i))
			spoil(20, (u8)i, BFTM_WIRE_BAD_TYPE);
}

/* An answer may be to nothing, a request is never. */
static void number(void **state)
{
	u32 type;

	(void)state;
	FOR_TYPES(type) {
		good((u8)type);
		memset(buf + 24, 0, 8);
		assert_int_equal(reads(), type & BFTM_MSG_REPLY ? BFTM_WIRE_OK :
								  BFTM_WIRE_BAD_FIELD);
	}
}

static void name(void **state)
{
	struct bftm_order_msg msg = good(BFTM_ORDER_COMMIT);
	u32 i;

	(void)state;
	for (i = NAME; i < 8; i++)
		spoil(BFTM_HEAD_LEN + i, 1, BFTM_WIRE_BAD_NAME);
	spoil(21, NAME - 1, BFTM_WIRE_BAD_NAME);	/* now a byte follows it */
	spoil(21, 255, BFTM_WIRE_BAD_NAME);
	msg.name_len = 0;
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_BAD_NAME);
	/* A byte shorter than that of a lock. */
	memset(msg.name, 'x', sizeof(msg.name));
	msg.name_len = BFTM_OBJECT_NAME_MAX;
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_OK);
	msg.name_len = BFTM_NAME_LEN_MAX;
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_BAD_NAME);
}

static bool may_be_longer(u32 type)
{
	return type <= BFTM_ORDER_INSTALL || type == BFTM_ORDER_COMMIT_GET ||
	       type == BFTM_ORDER_LIST;
}

/* A list of what waits has as many entries as the datagram has room for. */
static bool is_list(u32 type)
{
	return type == BFTM_ORDER_GOT || type == BFTM_ORDER_COMMITTED_GOT;
}

/* A page has objects, or none, and nothing behind the last one. */
static bool is_page(size_t len, size_t whole)
{
	size_t at = BFTM_HEAD_LEN + BFTM_ORDER_LISTED_LEN;
	struct bftm_listed listed;

	while (at + BFTM_TAG_LEN < len && at + BFTM_TAG_LEN < whole)
		at += bftm_listed_get(buf + at, (u32)(whole - BFTM_TAG_LEN - at), &listed);
	return at + BFTM_TAG_LEN == len;
}

static void every_length(void **state)
{
	size_t len, whole;
	bool ok;
	u32 type;

	(void)state;
	FOR_TYPES(type) {
		good((u8)type);
		whole = size;
		/* Zeroes follow the signature and the body. */
		memset(buf + whole - BFTM_TAG_LEN, 0, sizeof(buf) - whole + BFTM_TAG_LEN);
		for (len = 0; len <= sizeof(buf); len++) {
			size = len;
			ok = len == whole || (may_be_longer(type) && len > whole &&
					      len <= BFTM_DATAGRAM_MAX && len % 8 == 0);
			if (is_list(type))
				ok = len % 48 == whole % 48 && len <= BFTM_DATAGRAM_MAX &&
				     len >= BODY + bftm_order_form((u8)type)->bytes + BFTM_TAG_LEN;
			if (type == BFTM_ORDER_LISTED)
				ok = is_page(len, whole);
			if (type == BFTM_ORDER_RESPONSE && len % 8 == 0 && len < whole &&
			    len >= BODY + BFTM_ORDER_RESPONSE_LEN + BFTM_TAG_LEN)
				ok = true;	/* the rest is to be asked for */
			assert_int_equal(reads() == BFTM_WIRE_OK, ok);
		}
	}
}

/* Every byte that must be 0, and every field that must not. */
static void fields(void **state)
{
	const struct bftm_slot *slot;
	u32 type, i;
	size_t at;

	(void)state;
	FOR_TYPES(type) {
		good((u8)type);
		at = body_of(type);
		for (slot = bftm_order_form((u8)type)->slots; slot->bytes; slot++) {
			if (slot->rule == BFTM_SLOT_FILLED)
				zero(at, slot->bytes, BFTM_WIRE_BAD_FIELD);
			for (i = 0; slot->rule == BFTM_SLOT_ZERO && i < slot->bytes; i++)
				spoil(at + i, 1, BFTM_WIRE_BAD_FIELD);
			at += slot->bytes;
		}
	}
}

static void padding(void **state)
{
	u32 type;
	size_t at;

	(void)state;
	FOR_TYPES(type) {
		struct bftm_order_msg msg = good((u8)type);

		if (is_list(type))
			continue;
		at = body_of(type) + bftm_order_form((u8)type)->bytes +
		     (msg.signature ? BFTM_SIGNATURE_LEN : 0) + msg.data_len;
		if (may_be_longer(type)) {
			msg.room = BFTM_ORDER_ROOM_SURE;
			size = bftm_order_wire_put(&msg, buf);
		}
		for (; at < size - BFTM_TAG_LEN; at++)
			spoil(at, 1, BFTM_WIRE_BAD_FIELD);
	}
}

/* Counts of requests end where one more could be followed by no other. */
static void ranks(void **state)
{
	static const u8 types[] = {
		BFTM_ORDER_GET, BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT, BFTM_ORDER_INSTALL,
		BFTM_ORDER_COMMIT_GET,
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		good(types[i]);
		spoil(BODY + 7, 0x80, BFTM_WIRE_BAD_FIELD);
	}
	/* The next rank is above. */
	good(BFTM_ORDER_COMMIT_GET);
	spoil(BODY + 64 + 7, 0x80, BFTM_WIRE_BAD_FIELD);
	memcpy(buf + BODY + 64, buf + BODY, 8);
	assert_int_equal(reads(), BFTM_WIRE_BAD_FIELD);
	buf[BODY + 64]++;
	assert_int_equal(reads(), BFTM_WIRE_OK);
	memset(buf + BODY, 0xff, 7);
	assert_int_equal(reads(), BFTM_WIRE_BAD_FIELD);
}

/* A body is there whole, of an operation only beside offset 0; or it is not there. */
static void bodies(void **state)
{
	static const u8 types[] = {
		BFTM_ORDER_SUBMIT, BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT, BFTM_ORDER_INSTALL,
		BFTM_ORDER_COMMIT_GET,
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		size_t len = types[i] == BFTM_ORDER_SUBMIT ? BODY + 8 : BODY + 24;

		good(types[i]);
		spoil(len, 12, BFTM_WIRE_BAD_FIELD);	/* what is left is no zeroes */
		spoil(len, 17, BFTM_WIRE_BAD_LENGTH);
		spoil(len + 3, 0xff, BFTM_WIRE_BAD_LENGTH);
		bodyless(types[i]);
		spoil(len, 1, BFTM_WIRE_OK);
		spoil(22, (u8)(buf[22] | BFTM_ORDER_FLAG_BODY), BFTM_WIRE_BAD_LENGTH);
	}
	good(BFTM_ORDER_SUBMIT);
	spoil(BODY + 12, 1, BFTM_WIRE_BAD_FIELD);
	bodyless(BFTM_ORDER_SUBMIT);
	spoil(BODY + 12, 1, BFTM_WIRE_OK);
}

static void signatures(void **state)
{
	struct bftm_order_msg msg = good(BFTM_ORDER_EXCEPTION);

	(void)state;
	msg.signature = NULL;
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_OK);
	spoil(22, BFTM_ORDER_FLAG_SIGNED, BFTM_WIRE_BAD_LENGTH);
	/* GET leaves room for GOT, signed or not. */
	good(BFTM_ORDER_GET);
	assert_int_equal(size, BODY + BFTM_ORDER_GOT_LEN + BFTM_TAG_LEN);
	spoil(22, 0, BFTM_WIRE_BAD_FIELD);	/* zeroes were to follow */
}

/* Pieces begin at multiples of their length, and are what is left of the body, or whole. */
static void pieces(void **state)
{
	static const u8 types[] = { BFTM_ORDER_FETCH, BFTM_ORDER_PUT, BFTM_ORDER_BODY };
	struct bftm_order_msg msg;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		msg = good(types[i]);
		spoil(BODY + 12, 1, BFTM_WIRE_BAD_FIELD);
		spoil(BODY + 14, 0x7f, BFTM_WIRE_BAD_FIELD);	/* behind the end */
		spoil(BODY + 11, 1, BFTM_WIRE_BAD_LENGTH);	/* more is left */
		msg.offset = BFTM_PIECE_LEN;
		msg.id.len = 2 * BFTM_PIECE_LEN;
		msg.data_len = types[i] == BFTM_ORDER_FETCH ? 0 : BFTM_PIECE_LEN;
		size = bftm_order_wire_put(&msg, buf);
		assert_int_equal(size, BODY + 48 + BFTM_PIECE_LEN + BFTM_TAG_LEN);
		assert_int_equal(reads(), BFTM_WIRE_OK);
		zero(BODY + 8, 4, BFTM_WIRE_BAD_FIELD);
	}
}

/* A response that was given away has no bytes; one that is over has none left. */
static void responses(void **state)
{
	(void)state;
	good(BFTM_ORDER_RESPONSE);
	memset(buf + BODY + 8, 0xff, 4);
	assert_int_equal(reads(), BFTM_WIRE_BAD_LENGTH);
	size = BODY + BFTM_ORDER_RESPONSE_LEN + BFTM_TAG_LEN;
	assert_int_equal(reads(), BFTM_WIRE_OK);
	memset(buf + BODY + 8, 0, 4);
	assert_int_equal(reads(), BFTM_WIRE_OK);
	size += 8;
	assert_int_equal(reads(), BFTM_WIRE_BAD_LENGTH);
}

/* Of one object: bytes of the datagram, its name of 9 and its type of 7. */
#define OBJECT	(BFTM_HEAD_LEN + BFTM_ORDER_LISTED_LEN)

static struct bftm_order_msg page_of_one(void)
{
	struct bftm_order_msg msg = good(BFTM_ORDER_LISTED);
	const struct bftm_listed listed = {
		.version = 3, .name_len = 9, .type_len = 7, .name = (const u8 *)"visits/up",
		.type = (const u8 *)"counter",
	};
	static u8 data[32];

	assert_int_equal(bftm_listed_len(&listed), sizeof(data));
	bftm_listed_put(&listed, data);
	msg.data = data;
	msg.data_len = sizeof(data);
	msg.cursor = 5;
	msg.next = 6;
	memset(buf, 0, sizeof(buf));
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_OK);
	return msg;
}

/* Each object is whole, has a name and a state; a list goes on, and says so by one bit. */
static void pages(void **state)
{
	struct bftm_order_msg msg = page_of_one(), got;
	struct bftm_listed listed;
	u32 i;

	(void)state;
	assert_int_equal(bftm_order_wire_get(buf, size, &got), BFTM_WIRE_OK);
	assert_int_equal(bftm_listed_get(got.data, got.data_len, &listed), 32);
	assert_int_equal(listed.version, 3);
	assert_memory_equal(listed.name, "visits/up", listed.name_len);
	assert_memory_equal(listed.type, "counter", listed.type_len);
	zero(OBJECT, 8, BFTM_WIRE_BAD_FIELD);			/* no state */
	page_of_one();
	spoil(OBJECT + 8, 0, BFTM_WIRE_BAD_FIELD);		/* no name */
	spoil(OBJECT + 8, 64, BFTM_WIRE_BAD_FIELD);
	spoil(OBJECT + 9, 32, BFTM_WIRE_BAD_FIELD);		/* no type has such a name */
	spoil(OBJECT + 9, 14, BFTM_WIRE_BAD_FIELD);		/* it is longer than the page */
	spoil(OBJECT + 9, 6, BFTM_WIRE_BAD_FIELD);		/* what pads it is not 0 */
	for (i = 26; i < 32; i++)
		spoil(OBJECT + i, 1, BFTM_WIRE_BAD_FIELD);
	spoil(BFTM_HEAD_LEN + 8, 5, BFTM_WIRE_BAD_FIELD);	/* it stays where it is */
	spoil(BFTM_HEAD_LEN + 8, 4, BFTM_WIRE_BAD_FIELD);
	spoil(BFTM_HEAD_LEN + 8, 0, BFTM_WIRE_OK);
	spoil(BFTM_HEAD_LEN + 16, 2, BFTM_WIRE_BAD_FIELD);
	/* Neither names an object. */
	msg.name_len = 3;
	size = bftm_order_wire_put(&msg, buf);
	assert_int_equal(reads(), BFTM_WIRE_BAD_NAME);
}

/* A message of locks is none of ordering, and the other way round. */
static void protocols_do_not_mix(void **state)
{
	struct bftm_msg lock = {
		.type = BFTM_MSG_HELLO, .proto = BFTM_PROTO_ORDER, .seq = 1, .server = 2,
	};
	struct bftm_order_msg order;
	struct bftm_wire wire;
	struct bftm_msg msg;
	u32 type;

	(void)state;
	FOR_TYPES(type) {
		good((u8)type);
		assert_int_not_equal(bftm_wire_get(buf, size, &msg), BFTM_WIRE_OK);
	}
	bftm_wire_put(&lock, &wire);
	assert_int_equal(bftm_wire_get(wire.data, wire.len, &msg), BFTM_WIRE_OK);
	assert_int_not_equal(bftm_order_wire_get(wire.data, wire.len, &order), BFTM_WIRE_OK);
	assert_false(bftm_order_shaped(wire.data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head),
		cmocka_unit_test(number),
		cmocka_unit_test(name),
		cmocka_unit_test(every_length),
		cmocka_unit_test(fields),
		cmocka_unit_test(padding),
		cmocka_unit_test(ranks),
		cmocka_unit_test(bodies),
		cmocka_unit_test(signatures),
		cmocka_unit_test(pieces),
		cmocka_unit_test(responses),
		cmocka_unit_test(pages),
		cmocka_unit_test(protocols_do_not_mix),
	};

	return cmocka_run_group_tests_name("order_wire_wrong", tests, NULL, NULL);
}
