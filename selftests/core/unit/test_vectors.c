// SPDX-License-Identifier: GPL-2.0
/*
 * selftests/core/vectors/vectors.txt, which a second program has made: each datagram is read, has
 * the fields that it shall have, is written again byte for byte, and has the tag of its key.
 */
#include "unit.h"

#include "core/ordering/wire.h"
#include "crypto/keys.h"

#define VECTORS	"selftests/core/vectors/vectors.txt"
#define ATTEMPT	0x69c0ffee00000011u
#define GNO	0x69b0000000000005u
#define SEQ	0x69c0ffee00000203u

struct vector {
	char name[32];
	size_t len;
	u8 data[BFTM_DATAGRAM_MAX];
};

static struct vector vectors[80];
static size_t count;
static struct bftm_master master;
static u32 client;
static struct bftm_pair pair;

static size_t read_hex(const char *text, u8 *to, size_t max)
{
	unsigned int byte;
	size_t len = 0;

	while (len < max && sscanf(text + 2 * len, "%2x", &byte) == 1)
		to[len++] = (u8)byte;
	return len;
}

static void read_keys(FILE *file)
{
	char key[65], request[33], reply[33];
	unsigned int cluster, server, number;

	assert_int_equal(fscanf(file, "master %64s cluster %u server %u client %u request %32s reply %32s ",
				key, &cluster, &server, &number, request, reply), 6);
	master.cluster = cluster;
	master.server = (u16)server;
	client = number;
	assert_int_equal(read_hex(key, master.key, sizeof(master.key)), sizeof(master.key));
	assert_int_equal(read_hex(request, pair.request, sizeof(pair.request)), sizeof(pair.request));
	assert_int_equal(read_hex(reply, pair.reply, sizeof(pair.reply)), sizeof(pair.reply));
}

static int read_vectors(void **state)
{
	static char line[2 * BFTM_DATAGRAM_MAX + 2];
	FILE *file = fopen(VECTORS, "re");
	struct vector *v;
	size_t len;

	(void)state;
	if (!file) {
		perror(VECTORS);
		return -1;
	}
	read_keys(file);
	while (fscanf(file, "%31[^(](%zu bytes) ", vectors[count].name, &len) == 2) {
		v = &vectors[count++];
		assert_true(count < ARRAY_SIZE(vectors));
		v->name[strlen(v->name) - 1] = '\0';
		assert_non_null(fgets(line, sizeof(line), file));
		v->len = read_hex(line, v->data, sizeof(v->data));
		assert_int_equal(v->len, len);
	}
	assert_true(feof(file));
	fclose(file);
	return 0;
}

static const struct vector *find_vector(const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(vectors[i].name, name))
			return &vectors[i];
	fail_msg("%s: no vector of that name", name);
	return NULL;
}

static struct bftm_msg message(const char *name)
{
	const struct vector *v = find_vector(name);
	struct bftm_msg msg;

	assert_int_equal(bftm_wire_get(v->data, v->len, &msg), BFTM_WIRE_OK);
	return msg;
}

static bool is_about_object(const struct vector *v)
{
	return bftm_order_shaped(v->data);
}

static struct bftm_order_msg object_message(const char *name)
{
	const struct vector *v = find_vector(name);
	struct bftm_order_msg msg;

	assert_int_equal(bftm_order_wire_get(v->data, v->len, &msg), BFTM_WIRE_OK);
	return msg;
}

static void keys_are_derived(void **state)
{
	struct bftm_pair derived;

	(void)state;
	assert_int_equal(bftm_derive(&master, client, &derived), 0);
	assert_memory_equal(&derived, &pair, sizeof(pair));
}

static void each_has_the_tag_of_its_key(void **state)
{
	struct bftm_mac *request = bftm_mac_new(pair.request), *reply = bftm_mac_new(pair.reply);
	u8 copy[BFTM_DATAGRAM_MAX];
	struct bftm_mac *mac;
	size_t i;

	(void)state;
	assert_non_null(request);
	assert_non_null(reply);
	for (i = 0; i < count; i++) {
		mac = vectors[i].data[20] & BFTM_MSG_REPLY ? reply : request;
		assert_true(bftm_mac_verify_bytes(mac, vectors[i].data, vectors[i].len));
		memcpy(copy, vectors[i].data, vectors[i].len);
		memset(copy + vectors[i].len - BFTM_TAG_LEN, 0, BFTM_TAG_LEN);
		assert_int_equal(bftm_mac_sign_bytes(mac, copy, vectors[i].len), 0);
		assert_memory_equal(copy, vectors[i].data, vectors[i].len);
	}
	bftm_mac_free(request);
	bftm_mac_free(reply);
}

static size_t write_again(const struct vector *v, u8 *ret)
{
	struct bftm_order_msg about_object;
	struct bftm_msg msg;

	if (!is_about_object(v)) {
		msg = message(v->name);
		return bftm_wire_write(&msg, ret);
	}
	about_object = object_message(v->name);
	return bftm_order_wire_put(&about_object, ret);
}

static void each_is_written_as_it_was_read(void **state)
{
	u8 again[BFTM_DATAGRAM_MAX];
	size_t i;

	(void)state;
	assert_int_equal(count, 54);
	for (i = 0; i < count; i++) {
		memset(again, 0xff, sizeof(again));
		assert_int_equal(write_again(&vectors[i], again), vectors[i].len);
		assert_memory_equal(again, vectors[i].data, vectors[i].len - BFTM_TAG_LEN);
	}
}

/* The first word of a name in the file is that of its type. */
static void each_has_its_type(void **state)
{
	const struct vector *v;
	char name[32];
	size_t i;

	(void)state;
	for (i = 0; i < count; i++) {
		v = &vectors[i];
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(v->name, "+,"), v->name);
		assert_string_equal(name, is_about_object(v) ? bftm_order_name(v->data[20]) :
							       bftm_msg_name(v->data[20]));
	}
}

static void try_has_its_fields(void **state)
{
	struct bftm_msg msg = message("TRY");

	(void)state;
	assert_int_equal(msg.type, BFTM_MSG_TRY);
	assert_int_equal(msg.proto, BFTM_PROTO_BACKOFF);
	assert_int_equal(msg.server, 3);
	assert_int_equal(msg.cluster, 1);
	assert_int_equal(msg.client, 7);
	assert_int_equal(msg.server_epoch, 0x1122334455667788);
	assert_int_equal(msg.seq, SEQ);
	assert_int_equal(msg.name_len, 16);
	assert_memory_equal(msg.name, "backup/nightly-1", 16);
	assert_int_equal(msg.mode, BFTM_MODE_EX);
	assert_int_equal(msg.flags, 0);
	assert_int_equal(msg.arg, BFTM_MODE_NL);
	assert_int_equal(msg.attempt, ATTEMPT);
	assert_int_equal(msg.k, 2);
	assert_int_equal(msg.lease_ns, 10 * BFTM_NS_PER_SEC);
	assert_int_equal(msg.prio, 9);
}

static void free_has_its_fields(void **state)
{
	struct bftm_msg msg = message("FREE+VALUE");

	(void)state;
	assert_int_equal(msg.mode, BFTM_MODE_PR);
	assert_int_equal(msg.flags, BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT);
	assert_int_equal(msg.arg, bftm_mode_mask(BFTM_MODE_PR));
	assert_int_equal(msg.gno, GNO);
	assert_int_equal(msg.token, 41);
	assert_int_equal(msg.value_len, 13);
	assert_int_equal(msg.value_room, 16);
	assert_memory_equal(msg.value, "generation 17", 13);
	msg = message("FREE, pushed");
	assert_int_equal(msg.seq, 0);
	assert_int_equal(msg.flags, 0);
}

static void others_have_theirs(void **state)
{
	struct bftm_msg msg = message("WAIT");

	(void)state;
	assert_int_equal(msg.position, 3);
	assert_int_equal(msg.gno, (u32)GNO);
	assert_int_equal(msg.lease_ns, 7 * BFTM_NS_PER_SEC);
	msg = message("CHALLENGE");
	assert_int_equal(msg.gno, 5 * BFTM_NS_PER_SEC);
	assert_int_equal(msg.lease_ns, 30 * BFTM_NS_PER_SEC);
	assert_int_equal(msg.token, BFTM_TOKEN_UNKNOWN);
	msg = message("REFUSED, lease");
	assert_int_equal(msg.arg, BFTM_REFUSED_LEASE);
	assert_int_equal(msg.lease_ns, BFTM_NS_PER_SEC);
	msg = message("REFUSED, behind");
	assert_int_equal(msg.arg, BFTM_REFUSED_BEHIND);
	assert_int_equal(msg.gno, SEQ + (1ull << 33));
	msg = message("SNACK");
	assert_int_equal(msg.gno, 42);
	assert_int_equal(msg.token, 44);
	msg = message("OWNER");
	assert_int_equal(msg.owner, 7);
	assert_int_equal(msg.waiters, 3);
	assert_int_equal(msg.holders, 1);
	assert_int_equal(message("YIELD").gno, GNO);
	assert_int_equal(message("STAMP").token, 42);
	assert_int_equal(message("VERSION").arg, 2);
	assert_int_equal(message("REFUSED, objects").attempt, 12);
}

static void objects_have_theirs(void **state)
{
	struct bftm_order_msg msg = object_message("SUBMIT");

	(void)state;
	assert_int_equal(msg.op, 0x69c0ffee00000001u);
	assert_int_equal(msg.id.len, 5);
	assert_int_equal(msg.data_len, 5);
	assert_memory_equal(msg.data, "add 5", 5);
	msg = object_message("GET, signed");
	assert_int_equal(msg.rank.count, 12);
	assert_int_equal(msg.rank.incarnation, 0x69c0ffee);
	assert_int_equal(msg.rank.client, 7);
	assert_int_equal(msg.signature[63], 63);
	assert_int_equal(msg.room, BFTM_ORDER_GOT_LEN);
	msg = object_message("GOT");
	assert_int_equal(msg.pending, 1);
	assert_int_equal(msg.id.version, 8);
	assert_int_equal(msg.sp.version, 8);
	assert_int_equal(msg.prop.count, 12);
	assert_int_equal(msg.prop.client, 7);
	assert_int_equal(msg.data_len, sizeof(struct bftm_order_waiting));
	msg = object_message("EXCEPTION");
	assert_int_equal(msg.max.count, 20);
	assert_int_equal(msg.max.client, 8);
	assert_null(msg.signature);
	msg = object_message("COMMIT_GET");
	assert_int_equal(msg.then.count, 13);
	msg = object_message("PUT");
	assert_int_equal(msg.id.len, 1500);
	assert_int_equal(msg.offset, BFTM_PIECE_LEN);
	assert_int_equal(msg.data_len, 1500 - BFTM_PIECE_LEN);
	assert_int_equal(msg.data[0], (1024 * 7) & 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_derived),
		cmocka_unit_test(each_has_the_tag_of_its_key),
		cmocka_unit_test(each_is_written_as_it_was_read),
		cmocka_unit_test(each_has_its_type),
		cmocka_unit_test(try_has_its_fields),
		cmocka_unit_test(free_has_its_fields),
		cmocka_unit_test(others_have_theirs),
		cmocka_unit_test(objects_have_theirs),
	};

	return cmocka_run_group_tests(tests, read_vectors, NULL);
}
