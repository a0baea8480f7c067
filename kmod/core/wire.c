// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/wire.h"

static const char *const msg_names[] = {
	[BFTM_MSG_HELLO] = "HELLO",
	[BFTM_MSG_TRY] = "TRY",
	[BFTM_MSG_RELEASE] = "RELEASE",
	[BFTM_MSG_YIELD] = "YIELD",
	[BFTM_MSG_STAMP] = "STAMP",
	[BFTM_MSG_RECOVER] = "RECOVER",
};

static const char *const reply_names[] = {
	[BFTM_MSG_CHALLENGE & ~BFTM_MSG_REPLY] = "CHALLENGE",
	[BFTM_MSG_FREE & ~BFTM_MSG_REPLY] = "FREE",
	[BFTM_MSG_LOCKED & ~BFTM_MSG_REPLY] = "LOCKED",
	[BFTM_MSG_WAIT & ~BFTM_MSG_REPLY] = "WAIT",
	[BFTM_MSG_RELEASED & ~BFTM_MSG_REPLY] = "RELEASED",
	[BFTM_MSG_REFUSED & ~BFTM_MSG_REPLY] = "REFUSED",
	[BFTM_MSG_INQUIRE & ~BFTM_MSG_REPLY] = "INQUIRE",
	[BFTM_MSG_SACK & ~BFTM_MSG_REPLY] = "SACK",
	[BFTM_MSG_SNACK & ~BFTM_MSG_REPLY] = "SNACK",
};

#define LAST_REQUEST	BFTM_MSG_RECOVER
#define LAST_REPLY	BFTM_MSG_SNACK

static bool is_type(u8 type)
{
	return (type >= BFTM_MSG_HELLO && type <= LAST_REQUEST) ||
	       (type >= BFTM_MSG_CHALLENGE && type <= LAST_REPLY);
}

const char *bftm_msg_name(u8 type)
{
	if (!is_type(type))
		return "?";
	if (type & BFTM_MSG_REPLY)
		return reply_names[type & ~BFTM_MSG_REPLY];
	return msg_names[type];
}

const char *bftm_refusal_name(u32 reason)
{
	switch (reason) {
	case BFTM_REFUSED_LEASE:
		return "lease outside what the server grants";
	case BFTM_REFUSED_LOCKS:
		return "lock table full";
	case BFTM_REFUSED_CLIENTS:
		return "client table full";
	case BFTM_REFUSED_ACCESS:
		return "access denied";
	case BFTM_REFUSED_PROTO:
		return "message or protocol not served";
	case BFTM_REFUSED_WAITERS:
		return "queue of the lock full";
	case BFTM_REFUSED_TOKENS:
		return "not known which tokens were stamped";
	case BFTM_REFUSED_OBJECTS:
		return "object table or its memory full";
	case BFTM_REFUSED_STATE:
		return "state or operation too long or malformed";
	case BFTM_REFUSED_PENDING:
		return "too many operations wait for the object";
	case BFTM_REFUSED_CLOCK:
		return "fencing token above the server's wall clock";
	case BFTM_REFUSED_BEHIND:
		return "numbers of the client are behind what was taken";
	}
	return "unknown reason";
}

/* Used bytes first, then only zeroes: one name has one spelling. */
static bool name_ok(const struct bftm_wire *w)
{
	bool may_be_empty = w->type == BFTM_MSG_HELLO ||
			    w->type == BFTM_MSG_RECOVER ||
			    w->type == BFTM_MSG_CHALLENGE ||
			    w->type == BFTM_MSG_REFUSED;
	size_t i;
	u64 word;

	if (w->name_len > BFTM_NAME_LEN_MAX || (!w->name_len && !may_be_empty))
		return false;
	for (i = w->name_len; i % sizeof(word); i++)
		if (w->name[i])
			return false;
	for (; i < BFTM_NAME_LEN_MAX; i += sizeof(word)) {
		memcpy(&word, &w->name[i], sizeof(word));
		if (word)
			return false;
	}
	return true;
}

enum bftm_wire_error bftm_wire_get(const void *buf, size_t len,
				   struct bftm_msg *msg)
{
	struct bftm_wire w;

	if (len != sizeof(w))
		return BFTM_WIRE_BAD_LENGTH;
	memcpy(&w, buf, sizeof(w));
	if (w.version != BFTM_WIRE_VERSION)
		return BFTM_WIRE_BAD_VERSION;
	if (!is_type(w.type))
		return BFTM_WIRE_BAD_TYPE;
	if (le16_to_cpu(w.flags) & ~BFTM_FLAGS_KNOWN)
		return BFTM_WIRE_BAD_FLAGS;
	if (!name_ok(&w))
		return BFTM_WIRE_BAD_NAME;

	msg->type = w.type;
	msg->proto = w.proto;
	msg->name_len = w.name_len;
	msg->server = le16_to_cpu(w.server);
	msg->flags = le16_to_cpu(w.flags);
	msg->cluster = le32_to_cpu(w.cluster);
	msg->client = le32_to_cpu(w.client);
	msg->k = le32_to_cpu(w.k);
	msg->position = w.type == BFTM_MSG_REFUSED ? 0 : le32_to_cpu(w.position);
	msg->arg = w.type == BFTM_MSG_REFUSED ? (u8)le32_to_cpu(w.position) : 0;
	msg->mode = BFTM_MODE_EX;
	msg->server_epoch = le64_to_cpu(w.server_epoch);
	msg->seq = le64_to_cpu(w.seq);
	msg->attempt = le64_to_cpu(w.attempt);
	msg->lease_ns = le64_to_cpu(w.lease_ns);
	msg->prio = le64_to_cpu(w.prio);
	msg->gno = le64_to_cpu(w.gno);
	msg->token = le64_to_cpu(w.token);
	memcpy(msg->name, w.name, sizeof(msg->name));
	return BFTM_WIRE_OK;
}

void bftm_wire_put(const struct bftm_msg *msg, struct bftm_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->version = BFTM_WIRE_VERSION;
	wire->type = msg->type;
	wire->proto = msg->proto;
	wire->name_len = msg->name_len;
	wire->cluster = cpu_to_le32(msg->cluster);
	wire->client = cpu_to_le32(msg->client);
	wire->server = cpu_to_le16(msg->server);
	wire->flags = cpu_to_le16(msg->flags);
	wire->server_epoch = cpu_to_le64(msg->server_epoch);
	wire->seq = cpu_to_le64(msg->seq);
	wire->attempt = cpu_to_le64(msg->attempt);
	wire->k = cpu_to_le32(msg->k);
	wire->position = cpu_to_le32(msg->type == BFTM_MSG_REFUSED ? msg->arg : msg->position);
	wire->lease_ns = cpu_to_le64(msg->lease_ns);
	wire->prio = cpu_to_le64(msg->prio);
	wire->gno = cpu_to_le64(msg->gno);
	wire->token = cpu_to_le64(msg->token);
	memcpy(wire->name, msg->name, msg->name_len);
}
