// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/slots.h"
#include "core/wire.h"
#include "core/wire_forms.h"

/* The tables of core/wire_forms.h: slots of each type, then the forms. */
#define FIELD(member, bytes) BFTM_SLOT(struct bftm_msg, member, bytes, BFTM_SLOT_ANY)
#define FILLED(member, bytes) BFTM_SLOT(struct bftm_msg, member, bytes, BFTM_SLOT_FILLED)
#define ZERO(bytes) BFTM_SLOT_ZEROES(bytes)
#define NOTHING

#define SLOTS(type, named, modes, flags, arg, body) \
	static const struct bftm_slot slots_##type[] = { body {} };

BFTM_COMMON_FORMS(SLOTS)
BFTM_LOCK_FORMS(SLOTS)

#undef FIELD
#undef FILLED
#undef ZERO
#define FIELD(member, bytes) + (bytes)
#define FILLED(member, bytes) + (bytes)
#define ZERO(bytes) + (bytes)
#define MODES(least, most) ((least) | (most) << 4)
#define NO_MODE 0

/* Requests 0x01 to 0x0f, then what servers send, 0x80 to 0x8f; VERSION. */
#define PLACES	33
#define PLACE(type) \
	((type) == BFTM_MSG_VERSION ? 32 : ((type) & BFTM_MSG_REPLY) >> 3 | ((type) & 15))

#define FORM(type, named_as, modes, flags_known, arg_max, body) \
	[PLACE(BFTM_MSG_##type)] = { \
		.name = #type, .slots = slots_##type, .bytes = 0 body, \
		.named = BFTM_##named_as, .mode_min = (modes) & 15, .mode_max = (modes) >> 4, \
		.flags = (flags_known), .arg = (arg_max), \
	},

static const struct bftm_form forms[PLACES] = {
	BFTM_COMMON_FORMS(FORM)
	BFTM_LOCK_FORMS(FORM)
};

const struct bftm_form *bftm_wire_form(u8 type)
{
	const struct bftm_form *form;

	if (type != BFTM_MSG_VERSION && type & 0x70)
		return NULL;
	form = &forms[PLACE(type)];
	return form->name ? form : NULL;
}

bool bftm_wire_common(u8 type)
{
	return type == BFTM_MSG_HELLO || type == BFTM_MSG_STALE || type == BFTM_MSG_CHALLENGE ||
	       type == BFTM_MSG_REFUSED || type == BFTM_MSG_VERSION;
}

const char *bftm_msg_name(u8 type)
{
	const struct bftm_form *form = bftm_wire_form(type);

	return form ? form->name : "?";
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
	case BFTM_REFUSED_EVICTED:
		return "this incarnation of the client was evicted";
	case BFTM_REFUSED_CLOCK:
		return "fencing token above the server's wall clock";
	case BFTM_REFUSED_BEHIND:
		return "numbers of the client are behind what was taken";
	case BFTM_REFUSED_UNNOTED:
		return "client not in the roll yet";
	}
	return "unknown reason";
}

/*
 * The messages of each acquire and release are read and written without a loop: what the table
 * says of their slots the compiler knows.
 */
#define COUNT(slots) (sizeof(slots) / sizeof((slots)[0]) - 1)

static __always_inline bool get_slots(const struct bftm_slot *slots, size_t count, const u8 *at,
				      struct bftm_msg *msg)
{
	size_t i;

#pragma GCC unroll 8
	for (i = 0; i < count; at += slots[i].bytes, i++)
		if (!bftm_slot_get(&slots[i], at, msg))
			return false;
	return true;
}

static __always_inline void put_slots(const struct bftm_slot *slots, size_t count,
				      const struct bftm_msg *msg, u8 *at)
{
	size_t i;

#pragma GCC unroll 8
	for (i = 0; i < count; at += slots[i].bytes, i++)
		bftm_slot_put(&slots[i], msg, at);
}

static bool get_body(const struct bftm_form *form, const u8 *body, struct bftm_msg *msg)
{
	switch (msg->type) {
	case BFTM_MSG_TRY:
		return get_slots(slots_TRY, COUNT(slots_TRY), body, msg);
	case BFTM_MSG_FREE:
		return get_slots(slots_FREE, COUNT(slots_FREE), body, msg);
	case BFTM_MSG_RELEASE:
		return get_slots(slots_RELEASE, COUNT(slots_RELEASE), body, msg);
	case BFTM_MSG_RELEASED:
		return get_slots(slots_RELEASED, COUNT(slots_RELEASED), body, msg);
	}
	return bftm_form_get(form, body, msg);
}

static void put_body(const struct bftm_form *form, const struct bftm_msg *msg, u8 *body)
{
	switch (msg->type) {
	case BFTM_MSG_TRY:
		put_slots(slots_TRY, COUNT(slots_TRY), msg, body);
		break;
	case BFTM_MSG_FREE:
		put_slots(slots_FREE, COUNT(slots_FREE), msg, body);
		break;
	case BFTM_MSG_RELEASE:
		put_slots(slots_RELEASE, COUNT(slots_RELEASE), msg, body);
		break;
	case BFTM_MSG_RELEASED:
		put_slots(slots_RELEASED, COUNT(slots_RELEASED), msg, body);
		break;
	default:
		bftm_form_put(form, msg, body);
	}
}

/* A part that may follow a body: REFUSED has a number for some of its reasons. */
#define PART(name, wire_bytes, fields) \
	static const struct bftm_slot slots_##name[] = { fields {} }; \
	static const struct bftm_form name##_form = { .slots = slots_##name, .bytes = (wire_bytes) }
#define PART_FIELD(member, wire_bytes) \
	BFTM_SLOT(struct bftm_msg, member, wire_bytes, BFTM_SLOT_ANY)

PART(lease, 8, PART_FIELD(lease_ns, 8));
PART(behind, 8, PART_FIELD(gno, 8));
PART(value, 8, PART_FIELD(value_k, 4) PART_FIELD(value_len, 1) PART_FIELD(value_room, 1)
	       BFTM_SLOT_ZEROES(2));

static const struct bftm_form *refusal_form(const struct bftm_msg *msg)
{
	if (msg->type != BFTM_MSG_REFUSED)
		return NULL;
	if (msg->arg == BFTM_REFUSED_LEASE)
		return &lease_form;
	return msg->arg == BFTM_REFUSED_BEHIND ? &behind_form : NULL;
}

/*
 * A request leaves room for the value of the answer and may write one, if it says by which grant;
 * an answer has as much as there is, or says only how long it is.
 */
static bool value_fits(const struct bftm_msg *msg)
{
	u8 len = msg->value_len, room = msg->value_room;

	if (room > BFTM_VALUE_LEN_MAX || room % 8 || len > BFTM_VALUE_LEN_MAX)
		return false;
	if (msg->type & BFTM_MSG_REPLY)
		return !msg->value_k && (!room || room == bftm_pad8(len));
	return len <= room && (msg->value_k || !len);
}

/* Reads the parts that follow the body, up to the tag. */
static enum bftm_wire_error get_parts(struct bftm_msg *msg, const u8 *at, size_t left)
{
	const struct bftm_form *refusal = refusal_form(msg);
	u8 kept;

	if (refusal) {
		if (left != refusal->bytes)
			return BFTM_WIRE_BAD_LENGTH;
		bftm_form_get(refusal, at, msg);
		return BFTM_WIRE_OK;
	}
	if (!(msg->flags & BFTM_FLAG_VALUE))
		return left ? BFTM_WIRE_BAD_LENGTH : BFTM_WIRE_OK;
	if (left < value_form.bytes)
		return BFTM_WIRE_BAD_LENGTH;
	if (!bftm_form_get(&value_form, at, msg) || !value_fits(msg))
		return BFTM_WIRE_BAD_FIELD;
	if (left - value_form.bytes != msg->value_room)
		return BFTM_WIRE_BAD_LENGTH;
	at += value_form.bytes;
	kept = msg->value_len <= msg->value_room ? msg->value_len : 0;
	memcpy(msg->value, at, kept);
	return bftm_all_zero(at + kept, msg->value_room - kept) ? BFTM_WIRE_OK :
								  BFTM_WIRE_BAD_FIELD;
}

/* Does no field forbid another? */
static bool fields_agree(const struct bftm_msg *msg)
{
	switch (msg->type) {
	case BFTM_MSG_STAMP:
	case BFTM_MSG_RECOVER:
		return msg->token != BFTM_TOKEN_UNKNOWN;
	case BFTM_MSG_FREE:
		return (msg->flags & BFTM_FLAG_VALUE || !(msg->flags & BFTM_FLAG_DOUBT)) &&
		       !(msg->arg & bftm_mode_mask(BFTM_MODE_NL));
	case BFTM_MSG_SACK:
	case BFTM_MSG_SNACK:
		return !(msg->arg & bftm_mode_mask(BFTM_MODE_NL));
	case BFTM_MSG_REFUSED:
		return msg->arg;
	}
	return true;
}

static void get_head(const struct bftm_wire_head *head, bool modes, struct bftm_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->version = head->version;
	msg->type = head->type;
	msg->proto = head->proto;
	msg->name_len = head->name_len;
	msg->mode = modes ? head->flags & BFTM_FLAGS_MODE : 0;
	msg->arg = head->arg;
	msg->server = le16_to_cpu(head->server);
	msg->flags = modes ? head->flags & ~BFTM_FLAGS_MODE : head->flags;
	msg->cluster = le32_to_cpu(head->cluster);
	msg->client = le32_to_cpu(head->client);
	msg->server_epoch = le64_to_cpu(head->epoch);
	msg->seq = le64_to_cpu(head->seq);
}

/* A request of a protocol that is not served here: enough is known to refuse it. */
static enum bftm_wire_error get_foreign(const struct bftm_head *head, struct bftm_msg *msg)
{
	/* STALE repeats the first word of any request. */
	const struct bftm_form *first = bftm_wire_form(BFTM_MSG_STALE);

	if (head->wire.type & BFTM_MSG_REPLY)
		return BFTM_WIRE_BAD_TYPE;
	if (head->left < first->bytes)
		return BFTM_WIRE_BAD_LENGTH;
	get_head(&head->wire, false, msg);
	bftm_name_get(head, msg->name);
	bftm_form_get(first, head->body, msg);
	return BFTM_WIRE_OK;
}

static bool is_foreign(u8 proto)
{
	return proto != BFTM_PROTO_BACKOFF && proto != BFTM_PROTO_ORDER && proto < BFTM_PROTO_TEST;
}

enum bftm_wire_error bftm_wire_get(const void *buf, size_t len,
				   struct bftm_msg *msg)
{
	const struct bftm_form *form;
	enum bftm_wire_error err;
	struct bftm_head head __uninitialized;
	u8 type, proto;
	bool modes;

	err = bftm_head_get(buf, len, &head);
	if (err) {
		if (err == BFTM_WIRE_BAD_VERSION)
			get_head(&head.wire, false, msg);
		return err;
	}
	type = head.wire.type;
	proto = head.wire.proto;
	modes = proto != BFTM_PROTO_ORDER && type != BFTM_MSG_VERSION;
	form = bftm_wire_form(type);
	if (type != BFTM_MSG_VERSION) {
		if (len < BFTM_DATAGRAM_MIN)
			return BFTM_WIRE_BAD_LENGTH;
		if (is_foreign(proto))
			return get_foreign(&head, msg);
	}
	if (!form || (proto == BFTM_PROTO_ORDER && !bftm_wire_common(type)))
		return BFTM_WIRE_BAD_TYPE;
	if (proto == BFTM_PROTO_ORDER && head.wire.name_len > BFTM_OBJECT_NAME_MAX)
		return BFTM_WIRE_BAD_NAME;
	err = bftm_form_allows(form, &head.wire, modes);
	if (err)
		return err;
	if (head.left < form->bytes)
		return BFTM_WIRE_BAD_LENGTH;
	get_head(&head.wire, modes, msg);
	bftm_name_get(&head, msg->name);
	if (!get_body(form, head.body, msg) || !fields_agree(msg))
		return BFTM_WIRE_BAD_FIELD;
	return get_parts(msg, head.body + form->bytes, head.left - form->bytes);
}

static u8 *put_value(const struct bftm_msg *msg, u8 *at)
{
	u8 kept = msg->value_len <= msg->value_room ? msg->value_len : 0;

	bftm_form_put(&value_form, msg, at);
	at += value_form.bytes;
	if (kept)
		memcpy(at, msg->value, kept);
	memset(at + kept, 0, msg->value_room - kept);
	return at + msg->value_room;
}

size_t bftm_wire_write(const struct bftm_msg *msg, void *buf)
{
	const struct bftm_form *form = bftm_wire_form(msg->type), *refusal = refusal_form(msg);
	const struct bftm_wire_head head = {
		.version = msg->type == BFTM_MSG_VERSION ? msg->version : BFTM_WIRE_VERSION,
		.proto = msg->proto,
		.type = msg->type,
		.name_len = form->named == BFTM_NAMELESS ? 0 : msg->name_len,
		.flags = (u8)((msg->flags & form->flags) | (form->mode_max ? msg->mode : 0)),
		.arg = form->arg ? msg->arg : 0,
		.server = cpu_to_le16(msg->server),
		.cluster = cpu_to_le32(msg->cluster),
		.client = cpu_to_le32(msg->client),
		.epoch = cpu_to_le64(msg->server_epoch),
		.seq = cpu_to_le64(msg->seq),
	};
	u8 *at = bftm_head_put(&head, msg->name, buf);

	put_body(form, msg, at);
	at += form->bytes;
	if (refusal) {
		bftm_form_put(refusal, msg, at);
		at += refusal->bytes;
	} else if (msg->flags & form->flags & BFTM_FLAG_VALUE) {
		at = put_value(msg, at);
	}
	return at - (u8 *)buf + BFTM_TAG_LEN;
}

void bftm_wire_put(const struct bftm_msg *msg, struct bftm_wire *wire)
{
	wire->len = bftm_wire_write(msg, wire->data);
	memset(wire->data + wire->len - BFTM_TAG_LEN, 0, BFTM_TAG_LEN);
}
