// SPDX-License-Identifier: GPL-2.0
/*
 * selftests/core/vectors/vectors.txt, made by another codec: each datagram about objects has the
 * tag that its keys make, and is read and written again byte for byte. So is each that differs
 * from it in a bit, unless it is refused: a message has one spelling.
 */
#include <string.h>

#include "unit.h"

#include "core/ordering/wire.h"
#include "crypto/keys.h"

#define FILE_NAME	"selftests/core/vectors/vectors.txt"
#define VECTORS		20	/* about objects there are at least so many */

static size_t from_hex(const char *text, u8 *ret, size_t room)
{
	size_t len;

	for (len = 0; text[2 * len] > ' '; len++) {
		assert_true(len < room);
		assert_int_equal(sscanf(text + 2 * len, "%2hhx", &ret[len]), 1);
	}
	return len;
}

/* Return: it is refused; else it was written again, and was the same. */
static bool is_refused(const u8 *buf, size_t len)
{
	struct bftm_order_msg order;
	u8 again[BFTM_DATAGRAM_MAX];
	struct bftm_wire wire;
	struct bftm_msg msg;

	if (bftm_order_shaped(buf)) {
		if (bftm_order_wire_get(buf, len, &order))
			return true;
		assert_int_equal(bftm_order_wire_put(&order, again), len);
		assert_memory_equal(again, buf, len - BFTM_TAG_LEN);
		return false;
	}
	/* Of a protocol that is not served the server looks at the head alone. */
	if (bftm_wire_get(buf, len, &msg) || msg.proto != BFTM_PROTO_ORDER)
		return true;
	bftm_wire_put(&msg, &wire);
	assert_int_equal(wire.len, len);
	assert_memory_equal(wire.data, buf, len - BFTM_TAG_LEN);
	return false;
}

static void check_vector(const char *name, u8 *buf, size_t len, struct bftm_mac *const mac[2])
{
	u8 type = buf[offsetof(struct bftm_wire_head, type)];
	const char *own = bftm_order_form(type) ? bftm_order_name(type) : bftm_msg_name(type);
	size_t bit;

	assert_memory_equal(name, own, strlen(own));
	assert_true(bftm_mac_verify_bytes(mac[!!(type & BFTM_MSG_REPLY)], buf, len));
	assert_false(is_refused(buf, len));
	for (bit = 0; bit < 8 * (len - BFTM_TAG_LEN); bit++) {
		buf[bit / 8] ^= (u8)(1u << bit % 8);
		is_refused(buf, len);
		buf[bit / 8] ^= (u8)(1u << bit % 8);
	}
}

static void every_vector(void **state)
{
	FILE *file = fopen(FILE_NAME, "r");
	char name[80] = "", line[2 * BFTM_DATAGRAM_MAX + 2];
	struct bftm_mac *mac[2] = {};
	u8 buf[BFTM_DATAGRAM_MAX];
	u32 vectors = 0;
	size_t len;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "request ", 8) || !strncmp(line, "reply ", 6)) {
			assert_int_equal(from_hex(strchr(line, ' ') + 1, buf, sizeof(buf)), 16);
			mac[line[2] == 'p'] = bftm_mac_new(buf);
		} else if (strchr(line, '(') || !mac[0] || !mac[1]) {
			snprintf(name, sizeof(name), "%.79s", line);
		} else {
			len = from_hex(line, buf, sizeof(buf));
			if (buf[offsetof(struct bftm_wire_head, proto)] != BFTM_PROTO_ORDER)
				continue;
			check_vector(name, buf, len, mac);
			vectors++;
		}
	}
	fclose(file);
	assert_in_range(vectors, VECTORS, 1000);
	bftm_mac_free(mac[0]);
	bftm_mac_free(mac[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vector),
	};

	return cmocka_run_group_tests_name("order_vectors", tests, NULL, NULL);
}
