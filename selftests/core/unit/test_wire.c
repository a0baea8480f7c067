// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams. What arrives is an attacker's: it is refused, or it means one
 * thing only and would be written in exactly this way.
 */
#include "unit.h"

#include "core/wire.h"

static const u8 types[] = {
	BFTM_MSG_HELLO, BFTM_MSG_TRY, BFTM_MSG_RELEASE, BFTM_MSG_YIELD, BFTM_MSG_STAMP,
	BFTM_MSG_RECOVER, BFTM_MSG_CHALLENGE, BFTM_MSG_FREE, BFTM_MSG_LOCKED, BFTM_MSG_WAIT,
	BFTM_MSG_RELEASED, BFTM_MSG_REFUSED, BFTM_MSG_INQUIRE, BFTM_MSG_SACK, BFTM_MSG_SNACK,
};

static bool is_type(u32 type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

static bool may_have_no_name(u8 type)
{
	return type == BFTM_MSG_HELLO || type == BFTM_MSG_RECOVER ||
	       type == BFTM_MSG_CHALLENGE || type == BFTM_MSG_REFUSED;
}

static void fill(void *to, size_t len, u64 *rnd)
{
	u8 *byte = to;

	while (len--)
		*byte++ = (u8)unit_random(rnd);
}

/* Any values in all fields, and a name of this length. */
static struct bftm_msg sample(u8 type, u8 name_len, u64 *rnd)
{
	struct bftm_msg msg;

	fill(&msg, sizeof(msg), rnd);
	msg.type = type;
	msg.flags = (u16)unit_random(rnd) & BFTM_FLAGS_KNOWN;
	msg.name_len = name_len;
	memset(msg.name + name_len, 0, sizeof(msg.name) - name_len);
	return msg;
}

#define SAME(field) assert_int_equal(a->field, b->field)

static void assert_same(const struct bftm_msg *a, const struct bftm_msg *b)
{
	SAME(type);
	SAME(proto);
	SAME(name_len);
	SAME(server);
	SAME(flags);
	SAME(cluster);
	SAME(client);
	SAME(k);
	SAME(position);
	SAME(server_epoch);
	SAME(seq);
	SAME(attempt);
	SAME(lease_ns);
	SAME(prio);
	SAME(gno);
	SAME(token);
	assert_memory_equal(a->name, b->name, sizeof(a->name));
}

static void every_type_and_name_length_survives(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg, got;
	struct bftm_wire wire;
	size_t i;
	u8 len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (len = may_have_no_name(types[i]) ? 0 : 1; len <= BFTM_NAME_LEN_MAX; len++) {
			msg = sample(types[i], len, &rnd);
			bftm_wire_put(&msg, &wire);
			assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got), BFTM_WIRE_OK);
			assert_same(&msg, &got);
		}
}

/* The format is a promise to other implementations: byte by byte. */
static void layout_is_little_endian(void **state)
{
	static const struct bftm_msg msg = {
		.type = BFTM_MSG_TRY, .proto = 1, .name_len = 3, .cluster = 0x04030201,
		.client = 0x08070605, .server = 0x0a09, .flags = 1,
		.server_epoch = 0x1716151413121110, .seq = 0x1f1e1d1c1b1a1918,
		.attempt = 0x2726252423222120, .k = 0x2b2a2928, .position = 0x2f2e2d2c,
		.lease_ns = 0x3736353433323130, .prio = 0x3f3e3d3c3b3a3938,
		.gno = 0x4746454443424140, .token = 0x4f4e4d4c4b4a4948, .name = "abc",
	};
	static const u8 head[] = { 1, 2, 1, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 0 };
	struct bftm_wire wire;
	u8 raw[BFTM_WIRE_LEN];
	u32 i;

	(void)state;
	memset(&wire, 0xff, sizeof(wire));
	bftm_wire_put(&msg, &wire);
	memcpy(raw, &wire, sizeof(raw));
	assert_memory_equal(raw, head, sizeof(head));
	for (i = 16; i < 80; i++)
		assert_int_equal(raw[i], i);
	assert_memory_equal(raw + 80, "abc", 3);
	for (i = 83; i < sizeof(raw); i++)
		assert_int_equal(raw[i], 0);
}

/* At every length from nothing to too long, in a buffer of just that length. */
static void only_one_length_is_right(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg = sample(BFTM_MSG_FREE, 5, &rnd), got, before;
	struct bftm_wire wire;
	size_t len;

	(void)state;
	bftm_wire_put(&msg, &wire);
	for (len = 0; len <= 200; len++) {
		u8 *buf = malloc(len ? len : 1);

		assert_non_null(buf);
		memset(buf, 0, len);
		memcpy(buf, &wire, len < sizeof(wire) ? len : sizeof(wire));
		memset(&got, 0x5a, sizeof(got));
		before = got;
		assert_int_equal(bftm_wire_get(buf, len, &got),
				 len == BFTM_WIRE_LEN ? BFTM_WIRE_OK : BFTM_WIRE_BAD_LENGTH);
		if (len != BFTM_WIRE_LEN)
			assert_memory_equal(&got, &before, sizeof(got));
		free(buf);
	}
}

static void any_alignment(void **state)
{
	u64 rnd = unit_seed(__func__);
	struct bftm_msg msg = sample(BFTM_MSG_LOCKED, 64, &rnd), got;
	u8 raw[BFTM_WIRE_LEN + 8];
	struct bftm_wire wire;
	u32 shift;

	(void)state;
	bftm_wire_put(&msg, &wire);
	for (shift = 0; shift < 8; shift++) {
		memcpy(raw + shift, &wire, sizeof(wire));
		assert_int_equal(bftm_wire_get(raw + shift, sizeof(wire), &got), BFTM_WIRE_OK);
		assert_same(&msg, &got);
	}
}

/* An error leaves @msg alone; success can be written again bit for bit. */
static enum bftm_wire_error check_one_spelling(const u8 raw[BFTM_WIRE_LEN])
{
	struct bftm_msg msg, before;
	enum bftm_wire_error err;
	struct bftm_wire again;

	memset(&msg, 0xa5, sizeof(msg));
	before = msg;
	err = bftm_wire_get(raw, BFTM_WIRE_LEN, &msg);
	if (err) {
		assert_memory_equal(&msg, &before, sizeof(msg));
	} else {
		bftm_wire_put(&msg, &again);
		assert_memory_equal(&again, raw, BFTM_TAGGED_LEN);
	}
	return err;
}

static void every_flipped_bit(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 raw[BFTM_WIRE_LEN];
	struct bftm_wire wire;
	struct bftm_msg msg;
	size_t i;
	u32 bit;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		msg = sample(types[i], (u8)unit_between(&rnd, 1, 64), &rnd);
		bftm_wire_put(&msg, &wire);
		memcpy(raw, &wire, sizeof(raw));
		for (bit = 0; bit < 8 * BFTM_WIRE_LEN; bit++) {
			raw[bit / 8] ^= (u8)(1u << bit % 8);
			if (check_one_spelling(raw) != BFTM_WIRE_OK)
				/* Version, type, name length, flags, name: nothing else. */
				assert_true(bit / 8 < 2 || bit / 8 == 3 || bit / 8 == 14 ||
					    bit / 8 == 15 || bit / 8 >= 80u + msg.name_len);
			else
				assert_false(bit / 8 == 0 || bit / 8 == 15 ||
					     (bit / 8 == 14 && !(BFTM_FLAGS_KNOWN >> bit % 8 & 1)));
			raw[bit / 8] ^= (u8)(1u << bit % 8);
		}
	}
}

/* Noise with a plausible beginning, so that it gets past the first checks. */
static void noise(void **state)
{
	u64 rnd = unit_seed(__func__);
	u8 raw[BFTM_WIRE_LEN];
	u32 i, seen[BFTM_WIRE_BAD_NAME + 1] = {};

	(void)state;
	for (i = 0; i < 300000; i++) {
		fill(raw, sizeof(raw), &rnd);
		if (i % 16)
			raw[0] = BFTM_WIRE_VERSION;
		if (i % 8)
			raw[1] = types[i % ARRAY_SIZE(types)];
		if (i % 4)
			raw[14] &= BFTM_FLAGS_KNOWN, raw[15] = 0;
		if (i % 3) {
			raw[3] %= BFTM_NAME_LEN_MAX + 1;
			memset(raw + 80 + raw[3], 0, BFTM_NAME_LEN_MAX - raw[3]);
		}
		seen[check_one_spelling(raw)]++;
	}
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		assert_true(i == BFTM_WIRE_BAD_LENGTH ? !seen[i] : seen[i]);
}

static void every_value_of_version_type_and_flags(void **state)
{
	static const struct bftm_msg msg = { .type = BFTM_MSG_TRY, .name_len = 1, .name = "x" };
	struct bftm_wire good, wire;
	struct bftm_msg got;
	u32 i;

	(void)state;
	bftm_wire_put(&msg, &good);
	for (i = 0; i < 65536; i++) {
		wire = good;
		wire.flags = cpu_to_le16(i);
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 i & ~BFTM_FLAGS_KNOWN ? BFTM_WIRE_BAD_FLAGS : BFTM_WIRE_OK);
		if (i > 255)
			continue;
		wire = good;
		wire.version = (u8)i;
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 i != BFTM_WIRE_VERSION ? BFTM_WIRE_BAD_VERSION : BFTM_WIRE_OK);
		wire = good;
		wire.type = (u8)i;
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 is_type(i) ? BFTM_WIRE_OK : BFTM_WIRE_BAD_TYPE);
	}
}

/* "a" must not be the same lock as "a" with something behind it. */
static void one_name_has_one_spelling(void **state)
{
	static const struct bftm_msg msg = { .type = BFTM_MSG_TRY, .name_len = 3, .name = "abc" };
	struct bftm_wire good, wire;
	struct bftm_msg got;
	u32 i;

	(void)state;
	bftm_wire_put(&msg, &good);
	for (i = 0; i < 256; i++) {
		wire = good;
		wire.name_len = (u8)i;
		/* Longer: zero bytes belong to the name, which is another one. */
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 i >= 3 && i <= BFTM_NAME_LEN_MAX ? BFTM_WIRE_OK :
								    BFTM_WIRE_BAD_NAME);
	}
	for (i = 0; i < BFTM_NAME_LEN_MAX; i++) {
		wire = good;
		wire.name[i] = 1;
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 i < 3 ? BFTM_WIRE_OK : BFTM_WIRE_BAD_NAME);
	}
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		memset(&wire, 0, sizeof(wire));
		wire.version = BFTM_WIRE_VERSION;
		wire.type = types[i];
		assert_int_equal(bftm_wire_get(&wire, sizeof(wire), &got),
				 may_have_no_name(types[i]) ? BFTM_WIRE_OK : BFTM_WIRE_BAD_NAME);
	}
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
	for (i = 0; i <= BFTM_REFUSED_BEHIND + 1; i++)
		assert_int_equal(strcmp(bftm_refusal_name(i), "unknown reason") != 0,
				 (i >= BFTM_REFUSED_LEASE && i <= BFTM_REFUSED_PENDING) ||
				 i == BFTM_REFUSED_CLOCK || i == BFTM_REFUSED_BEHIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_name_length_survives),
		cmocka_unit_test(layout_is_little_endian),
		cmocka_unit_test(only_one_length_is_right),
		cmocka_unit_test(any_alignment),
		cmocka_unit_test(every_flipped_bit),
		cmocka_unit_test(noise),
		cmocka_unit_test(every_value_of_version_type_and_flags),
		cmocka_unit_test(one_name_has_one_spelling),
		cmocka_unit_test(every_type_has_its_own_name),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
