// SPDX-License-Identifier: GPL-2.0
/*
 * The judgement of kmod/core/wire.c and ordering/wire.c on datagrams: for each line of hexadecimal
 * digits on the input one line on the output, as judge() of codec.py has it: "ok" and the datagram
 * as the message in it is written, with a tag of zeroes; "version", "foreign" or "bad".
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/ordering/wire.h"

/* From hexadecimal digits up to the end of the line. Return: how many bytes. */
static size_t read_bytes(const char *line, u8 *bytes, size_t max)
{
	unsigned int byte;
	size_t len = 0;

	while (len < max && sscanf(line + 2 * len, "%2x", &byte) == 1)
		bytes[len++] = (u8)byte;
	return len;
}

/* Has no form here. */
static bool is_foreign(u8 proto)
{
	return proto != BFTM_PROTO_BACKOFF && proto != BFTM_PROTO_ORDER && proto < BFTM_PROTO_TEST;
}

static void say_ok(const u8 *datagram, size_t len)
{
	size_t i;

	printf("ok ");
	for (i = 0; i < len; i++)
		printf("%02x", i < len - BFTM_TAG_LEN ? datagram[i] : 0);
	printf("\n");
}

static void judge_plain(const u8 *datagram, size_t len)
{
	u8 out[BFTM_WIRE_LEN_MAX];
	enum bftm_wire_error error;
	struct bftm_msg msg;

	error = bftm_wire_get(datagram, len, &msg);
	if (error == BFTM_WIRE_BAD_VERSION) {
		printf("version\n");
	} else if (error) {
		printf("bad\n");
	} else if (msg.type != BFTM_MSG_VERSION && is_foreign(msg.proto)) {
		printf("foreign\n");
	} else {
		len = bftm_wire_write(&msg, out);
		say_ok(out, len);
	}
}

static void judge_object(const u8 *datagram, size_t len)
{
	struct bftm_order_msg msg;
	u8 out[BFTM_DATAGRAM_MAX];

	if (bftm_order_wire_get(datagram, len, &msg)) {
		printf("bad\n");
	} else {
		len = bftm_order_wire_put(&msg, out);
		say_ok(out, len);
	}
}

static void judge(const u8 *bytes, size_t len)
{
	/* Of just that length, so that a sanitizer sees what is read behind it. */
	u8 *datagram = malloc(len + !len);

	if (!datagram)
		exit(1);
	memcpy(datagram, bytes, len);
	if (len >= BFTM_ORDER_SHAPE_LEN && bftm_order_shaped(datagram))
		judge_object(datagram, len);
	else
		judge_plain(datagram, len);
	free(datagram);
}

int main(void)
{
	static char line[8192];
	static u8 bytes[sizeof(line) / 2];

	while (fgets(line, sizeof(line), stdin))
		judge(bytes, read_bytes(line, bytes, sizeof(bytes)));
	return 0;
}
