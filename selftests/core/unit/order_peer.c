// SPDX-License-Identifier: GPL-2.0
#include "order_peer.h"

u8 heard[BFTM_DATAGRAM_MAX + 8];

void order_start(const char *order)
{
	const char *const more[] = {
		"--no-quarantine", "--token-floor", "0", "--order", order, NULL,
	};

	liar_start_with("honest", more);
	peer_hello(1);
}

void order_send(u32 c, struct bftm_order_msg msg)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len;

	msg.cluster = master.cluster;
	msg.server = master.server;
	msg.client = c;
	msg.seq = ++peers[c].seq;
	if (!msg.server_epoch)
		msg.server_epoch = epoch;
	if (!msg.name_len && bftm_order_form(msg.type)->named)
		msg.name[msg.name_len++] = 'x';
	if (!msg.room)
		msg.room = BFTM_ORDER_ROOM_SURE;
	len = bftm_order_wire_put(&msg, buf);
	assert_int_equal(bftm_mac_sign_bytes(peers[c].request, buf, len), 0);
	assert_int_equal(send(peers[c].fd, buf, len, 0), len);
}

struct bftm_order_msg order_answer(u32 c)
{
	ssize_t len = peer_hear(c, heard, sizeof(heard), PATIENCE_MS);
	struct bftm_order_msg msg = {};
	struct bftm_msg wire;

	assert_true(len > 0);
	assert_true(bftm_mac_verify_bytes(peers[c].reply, heard, (size_t)len));
	if (!bftm_order_shaped(heard)) {
		assert_int_equal(bftm_wire_get(heard, (size_t)len, &wire), BFTM_WIRE_OK);
		assert_int_equal(wire.proto, BFTM_PROTO_ORDER);
		msg.type = wire.type;
		msg.offset = wire.arg;
		msg.server_epoch = wire.server_epoch;
		return msg;
	}
	assert_int_equal(bftm_order_wire_get(heard, (size_t)len, &msg), BFTM_WIRE_OK);
	assert_int_equal(msg.client, c);
	assert_int_equal(msg.server_epoch, epoch);
	return msg;
}

struct bftm_order_msg order_ask(u32 c, struct bftm_order_msg msg)
{
	order_send(c, msg);
	return order_answer(c);
}

struct bftm_order_msg order_get(u32 c, u64 count)
{
	return order_ask(c, (struct bftm_order_msg){
		.type = BFTM_ORDER_GET, .rank = rank_of(count, c),
	});
}

struct bftm_order_msg about(u8 type, u64 version, const void *data, u32 len)
{
	struct bftm_order_msg msg = {
		.type = type,
	};

	/* In pieces, if it is too long. */
	if (len <= BFTM_ORDER_DATA_MAX) {
		msg.data = data;
		msg.data_len = (u16)len;
	}

	assert_int_equal(bftm_body_describe(version, data, len, &msg.id), 0);
	return msg;
}

u32 make_state(u64 version, const char *response, u8 *ret, u32 room)
{
	const struct bftm_applied a = {
		.client = 1, .op = 1, .response = (const u8 *)response,
		.len = (u32)strlen(response),
	};
	u32 len = bftm_state_make(NULL, version, &a, 1, (const u8 *)"app", 3, ret, room);

	assert_int_not_equal(len, 0);
	return len;
}

u8 order_put(u32 c, u64 version, const u8 *data, u32 len)
{
	struct bftm_order_msg msg = about(BFTM_ORDER_PUT, version, data, len);
	u8 type = BFTM_MSG_NONE;

	for (msg.offset = 0; msg.offset < len; msg.offset += BFTM_PIECE_LEN) {
		msg.data = data + msg.offset;
		msg.data_len = (u16)(len - msg.offset < BFTM_PIECE_LEN ? len - msg.offset :
				     BFTM_PIECE_LEN);
		type = order_ask(c, msg).type;
	}
	return type;
}
