// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/wire.h"

static const char *const names[] = {
	[BFTM_ORDER_SUBMIT - BFTM_ORDER_SUBMIT] = "SUBMIT",
	[BFTM_ORDER_GET - BFTM_ORDER_SUBMIT] = "GET",
	[BFTM_ORDER_PROPOSE - BFTM_ORDER_SUBMIT] = "PROPOSE",
	[BFTM_ORDER_COMMIT - BFTM_ORDER_SUBMIT] = "COMMIT",
	[BFTM_ORDER_INSTALL - BFTM_ORDER_SUBMIT] = "INSTALL",
	[BFTM_ORDER_FETCH - BFTM_ORDER_SUBMIT] = "FETCH",
	[BFTM_ORDER_PUT - BFTM_ORDER_SUBMIT] = "PUT",
};

static const char *const reply_names[] = {
	[BFTM_ORDER_RESPONSE - BFTM_ORDER_RESPONSE] = "RESPONSE",
	[BFTM_ORDER_PENDING - BFTM_ORDER_RESPONSE] = "PENDING",
	[BFTM_ORDER_GOT - BFTM_ORDER_RESPONSE] = "GOT",
	[BFTM_ORDER_RECOVERING - BFTM_ORDER_RESPONSE] = "RECOVERING",
	[BFTM_ORDER_PROPOSED - BFTM_ORDER_RESPONSE] = "PROPOSED",
	[BFTM_ORDER_COMMITTED - BFTM_ORDER_RESPONSE] = "COMMITTED",
	[BFTM_ORDER_INSTALLED - BFTM_ORDER_RESPONSE] = "INSTALLED",
	[BFTM_ORDER_EXCEPTION - BFTM_ORDER_RESPONSE] = "EXCEPTION",
	[BFTM_ORDER_NEEDBODY - BFTM_ORDER_RESPONSE] = "NEEDBODY",
	[BFTM_ORDER_BODY - BFTM_ORDER_RESPONSE] = "BODY",
	[BFTM_ORDER_NOBODY - BFTM_ORDER_RESPONSE] = "NOBODY",
	[BFTM_ORDER_STORED - BFTM_ORDER_RESPONSE] = "STORED",
};

const char *bftm_order_name(u8 type)
{
	if (type >= BFTM_ORDER_SUBMIT && type <= BFTM_ORDER_PUT)
		return names[type - BFTM_ORDER_SUBMIT];
	if (type >= BFTM_ORDER_RESPONSE && type <= BFTM_ORDER_STORED)
		return reply_names[type - BFTM_ORDER_RESPONSE];
	return "?";
}

static bool is_type(u8 type)
{
	return (type >= BFTM_ORDER_SUBMIT && type <= BFTM_ORDER_PUT) ||
	       (type >= BFTM_ORDER_RESPONSE && type <= BFTM_ORDER_STORED);
}

/* Used bytes first, then only zeroes: one name has one spelling. */
static bool name_ok(const struct bftm_order_wire *w)
{
	size_t i;

	if (!w->name_len || w->name_len > BFTM_OBJECT_NAME_MAX)
		return false;
	for (i = w->name_len; i < BFTM_NAME_LEN_MAX; i++)
		if (w->name[i])
			return false;
	return true;
}

enum bftm_wire_error bftm_order_wire_get(const void *buf, size_t len,
					 struct bftm_order_msg *msg)
{
	struct bftm_order_wire w;
	size_t room;

	if (len < BFTM_ORDER_LEN_MIN || len > BFTM_ORDER_LEN_MAX || len % 8)
		return BFTM_WIRE_BAD_LENGTH;
	memcpy(&w, buf, sizeof(w));
	room = len - BFTM_ORDER_HEAD_LEN - BFTM_TAG_LEN;
	if (w.version != BFTM_WIRE_VERSION)
		return BFTM_WIRE_BAD_VERSION;
	if (w.proto != BFTM_PROTO_ORDER || !is_type(w.type))
		return BFTM_WIRE_BAD_TYPE;
	if (w.flags || w.zero)
		return BFTM_WIRE_BAD_FLAGS;
	if (!name_ok(&w))
		return BFTM_WIRE_BAD_NAME;
	if (le16_to_cpu(w.data_len) > room)
		return BFTM_WIRE_BAD_LENGTH;

	msg->type = w.type;
	msg->name_len = w.name_len;
	msg->server = le16_to_cpu(w.server);
	msg->cluster = le32_to_cpu(w.cluster);
	msg->client = le32_to_cpu(w.client);
	msg->server_epoch = le64_to_cpu(w.server_epoch);
	msg->seq = le64_to_cpu(w.seq);
	msg->rank.count = le64_to_cpu(w.rank_count);
	msg->rank.client = le32_to_cpu(w.rank_client);
	msg->rank.incarnation = le32_to_cpu(w.rank_incarnation);
	msg->op = le64_to_cpu(w.op);
	msg->id.version = le64_to_cpu(w.id_version);
	msg->id.len = le32_to_cpu(w.id_len);
	memcpy(msg->id.digest, w.id_digest, sizeof(msg->id.digest));
	msg->offset = le32_to_cpu(w.offset);
	msg->from = le32_to_cpu(w.from);
	msg->data_len = le16_to_cpu(w.data_len);
	msg->room = (u16)room;
	memcpy(msg->name, w.name, sizeof(msg->name));
	msg->data = (const u8 *)buf + sizeof(w);
	return BFTM_WIRE_OK;
}

bool bftm_order_shaped(const void *buf)
{
	const u8 *head = buf;

	return head[offsetof(struct bftm_order_wire, proto)] == BFTM_PROTO_ORDER &&
	       is_type(head[offsetof(struct bftm_order_wire, type)]);
}

size_t bftm_order_wire_put(const struct bftm_order_msg *msg, void *buf)
{
	size_t len = bftm_order_len(msg->data_len > msg->room ? msg->data_len : msg->room);
	struct bftm_order_wire w = {
		.version = BFTM_WIRE_VERSION,
		.type = msg->type,
		.proto = BFTM_PROTO_ORDER,
		.name_len = msg->name_len,
		.cluster = cpu_to_le32(msg->cluster),
		.client = cpu_to_le32(msg->client),
		.server = cpu_to_le16(msg->server),
		.server_epoch = cpu_to_le64(msg->server_epoch),
		.seq = cpu_to_le64(msg->seq),
		.rank_count = cpu_to_le64(msg->rank.count),
		.rank_client = cpu_to_le32(msg->rank.client),
		.rank_incarnation = cpu_to_le32(msg->rank.incarnation),
		.op = cpu_to_le64(msg->op),
		.id_version = cpu_to_le64(msg->id.version),
		.id_len = cpu_to_le32(msg->id.len),
		.offset = cpu_to_le32(msg->offset),
		.from = cpu_to_le32(msg->from),
		.data_len = cpu_to_le16(msg->data_len),
	};
	u8 *data = (u8 *)buf + sizeof(w);

	memcpy(w.id_digest, msg->id.digest, sizeof(w.id_digest));
	memcpy(w.name, msg->name, msg->name_len);
	if (msg->data_len && msg->data != data)
		memmove(data, msg->data, msg->data_len);
	memset(data + msg->data_len, 0, len - sizeof(w) - msg->data_len);
	memcpy(buf, &w, sizeof(w));
	return len;
}

void bftm_order_head(const struct bftm_order_msg *msg, struct bftm_msg *head)
{
	memset(head, 0, sizeof(*head));
	head->type = msg->type;
	head->proto = BFTM_PROTO_ORDER;
	head->name_len = msg->name_len;
	head->server = msg->server;
	head->cluster = msg->cluster;
	head->client = msg->client;
	head->server_epoch = msg->server_epoch;
	head->seq = msg->seq;
	memcpy(head->name, msg->name, sizeof(head->name));
}
