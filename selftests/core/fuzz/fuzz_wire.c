// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of datagrams: what it takes, it gives back byte for byte but for the tag; of a
 * protocol that has no number here it says whom it is from and what it is about.
 */
#include "core/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct bftm_wire_head head;
	enum bftm_wire_error err;
	struct bftm_wire wire;
	struct bftm_msg msg;

	err = bftm_wire_get(data, len, &msg);
	if (err && err != BFTM_WIRE_BAD_VERSION)
		return 0;
	must(len >= BFTM_VERSION_LEN && len <= BFTM_DATAGRAM_MAX && len % 8 == 0);
	memcpy(&head, data, sizeof(head));
	must(msg.client == le32_to_cpu(head.client) && msg.seq == le64_to_cpu(head.seq));
	must(msg.server == le16_to_cpu(head.server) && msg.cluster == le32_to_cpu(head.cluster));
	must(msg.type == head.type && msg.proto == head.proto && msg.version == head.version);
	must(err ? msg.version != BFTM_WIRE_VERSION : msg.version == BFTM_WIRE_VERSION);
	if (err)
		return 0;
	must(msg.seq || msg.type & BFTM_MSG_REPLY);
	if (!msg.proto || (msg.proto > BFTM_PROTO_ORDER && msg.proto < BFTM_PROTO_TEST)) {
		must(!(msg.type & BFTM_MSG_REPLY) || msg.type == BFTM_MSG_VERSION);
		return 0;
	}
	must(*bftm_msg_name(msg.type) != '?' && len <= BFTM_WIRE_LEN_MAX);
	bftm_wire_put(&msg, &wire);
	must(wire.len == len && !memcmp(wire.data, data, len - BFTM_TAG_LEN));
	return 0;
}
