// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/wire.h"
#include "core/ordering/wire_forms.h"
#include "core/slots.h"

/* The table of ordering/wire_forms.h: slots of each type, then the forms. */
#define FIELD(member, bytes) BFTM_SLOT(struct bftm_order_msg, member, bytes, BFTM_SLOT_ANY)
#define FILLED(member, bytes) BFTM_SLOT(struct bftm_order_msg, member, bytes, BFTM_SLOT_FILLED)
#define ZERO(bytes) BFTM_SLOT_ZEROES(bytes)

#define SLOTS(type, named, modes, flags, arg, body) \
	static const struct bftm_slot slots_##type[] = { body {} };

BFTM_ORDER_FORMS(SLOTS)

#undef FIELD
#undef FILLED
#undef ZERO
#define FIELD(member, bytes) + (bytes)
#define FILLED(member, bytes) + (bytes)
#define ZERO(bytes) + (bytes)

#define SIZES(type, named, modes, flags, arg, body) SIZE_##type = 0 body,
enum { BFTM_ORDER_FORMS(SIZES) };

static_assert((int)SIZE_PROPOSE == BFTM_ORDER_STATE_LEN);
static_assert((int)SIZE_RESPONSE == BFTM_ORDER_RESPONSE_LEN);
static_assert((int)SIZE_GOT == BFTM_ORDER_GOT_LEN);
static_assert((int)SIZE_EXCEPTION == BFTM_ORDER_EXCEPTION_LEN);
static_assert((int)SIZE_COMMIT_GET == BFTM_ORDER_COMMIT_GET_LEN);
static_assert((int)SIZE_COMMITTED_GOT == BFTM_ORDER_COMMITTED_GOT_LEN);
static_assert((int)SIZE_LISTED == BFTM_ORDER_LISTED_LEN);
static_assert(BFTM_LISTED_HEAD_LEN + BFTM_OBJECT_NAME_MAX + BFTM_TYPE_NAME_MAX ==
	      BFTM_LISTED_LEN_MAX);

/* Requests 0x10 to 0x1f, then what servers send, 0x90 to 0x9f. */
#define PLACES	32
#define PLACE(type) (((type) & BFTM_MSG_REPLY) >> 3 | ((type) & 15))

#define FORM(type, named_as, modes, flags_known, arg_max, body) \
	[PLACE(BFTM_ORDER_##type)] = { \
		.name = #type, .slots = slots_##type, .bytes = SIZE_##type, \
		.named = BFTM_##named_as, .flags = (flags_known), .arg = (arg_max), \
	},

static const struct bftm_form forms[PLACES] = {
	BFTM_ORDER_FORMS(FORM)
};

const struct bftm_form *bftm_order_form(u8 type)
{
	const struct bftm_form *form = &forms[PLACE(type)];

	return (type & 0x70) == 0x10 && form->name ? form : NULL;
}

const char *bftm_order_name(u8 type)
{
	const struct bftm_form *form = bftm_order_form(type);

	return form ? form->name : "?";
}

bool bftm_order_shaped(const void *buf)
{
	const u8 *head = buf;

	return head[offsetof(struct bftm_wire_head, version)] == BFTM_WIRE_VERSION &&
	       head[offsetof(struct bftm_wire_head, proto)] == BFTM_PROTO_ORDER &&
	       bftm_order_form(head[offsetof(struct bftm_wire_head, type)]);
}

/* May such a message be longer than its content? */
static bool may_be_padded(u8 type)
{
	return type <= BFTM_ORDER_INSTALL || type == BFTM_ORDER_COMMIT_GET ||
	       type == BFTM_ORDER_LIST;
}

static bool is_piece(u8 type)
{
	return type == BFTM_ORDER_PUT || type == BFTM_ORDER_BODY;
}

u32 bftm_listed_get(const u8 *data, u32 left, struct bftm_listed *ret)
{
	u32 len;

	if (left < BFTM_LISTED_HEAD_LEN)
		return 0;
	ret->version = bftm_get64(data);
	ret->name_len = data[8];
	ret->type_len = data[9];
	ret->name = data + BFTM_LISTED_HEAD_LEN;
	ret->type = ret->name + ret->name_len;
	len = bftm_listed_len(ret);
	if (!ret->version || !ret->name_len || ret->name_len > BFTM_OBJECT_NAME_MAX ||
	    ret->type_len > BFTM_TYPE_NAME_MAX || len > left)
		return 0;
	return bftm_all_zero(ret->type + ret->type_len,
			     (size_t)(data + len - ret->type) - ret->type_len) ? len : 0;
}

void bftm_listed_put(const struct bftm_listed *listed, u8 *data)
{
	u8 *end = data + bftm_listed_len(listed), *at = data + BFTM_LISTED_HEAD_LEN;

	bftm_put64(data, listed->version);
	data[8] = listed->name_len;
	data[9] = listed->type_len;
	memcpy(at, listed->name, listed->name_len);
	at += listed->name_len;
	if (listed->type_len)
		memcpy(at, listed->type, listed->type_len);
	at += listed->type_len;
	memset(at, 0, (size_t)(end - at));
}

static bool page_ok(const struct bftm_order_msg *msg, const u8 *data, size_t left)
{
	struct bftm_listed listed;
	u32 len;

	for (; left; data += len, left -= len) {
		len = bftm_listed_get(data, (u32)left, &listed);
		if (!len)
			return false;
	}
	return msg->recovering <= 1 && (!msg->next || msg->next > msg->cursor);
}

/* Does no field forbid another? */
static bool fields_agree(const struct bftm_order_msg *msg, u8 flags)
{
	if (msg->type == BFTM_ORDER_SUBMIT)
		return !(flags & BFTM_ORDER_FLAG_BODY) || !msg->offset;
	if (msg->type == BFTM_ORDER_FETCH || is_piece(msg->type))
		return msg->offset % BFTM_PIECE_LEN == 0 && msg->offset < msg->id.len;
	if (msg->type & BFTM_MSG_REPLY)
		return true;
	if (msg->type == BFTM_ORDER_COMMIT_GET && msg->then.count <= msg->rank.count)
		return false;
	return msg->rank.count <= BFTM_RANK_COUNT_MAX && msg->then.count <= BFTM_RANK_COUNT_MAX;
}

/* Bytes of data, where @left follow the body and its signature. */
static size_t data_told(const struct bftm_order_msg *msg, u8 flags, size_t left)
{
	size_t rest = 0;

	if (flags & BFTM_ORDER_FLAG_BODY)
		return msg->id.len;
	if (is_piece(msg->type))
		return bftm_piece_len(msg->id.len, msg->offset);
	if (msg->type == BFTM_ORDER_LISTED)
		return left;
	if (msg->type == BFTM_ORDER_GOT || msg->type == BFTM_ORDER_COMMITTED_GOT)
		return left - left % sizeof(struct bftm_order_waiting);
	if (msg->type != BFTM_ORDER_RESPONSE)
		return 0;
	/* As much as there is room for. */
	if (msg->id.len != BFTM_RESPONSE_GONE && msg->offset < msg->id.len)
		rest = msg->id.len - msg->offset;
	return rest < left ? rest : left;
}

static bool has_data(const struct bftm_order_msg *msg)
{
	return bftm_order_form(msg->type)->flags & BFTM_ORDER_FLAG_BODY ?
	       !!msg->data : is_piece(msg->type) || msg->type == BFTM_ORDER_RESPONSE ||
			     msg->type == BFTM_ORDER_GOT || msg->type == BFTM_ORDER_COMMITTED_GOT ||
			     msg->type == BFTM_ORDER_LISTED;
}

/* The longest answer that it gets in any case. */
static u32 least_room(u8 type)
{
	if (type == BFTM_ORDER_GET)
		return BFTM_ORDER_GOT_LEN;
	return type == BFTM_ORDER_LIST ? BFTM_ORDER_LIST_LEN : 0;
}

/* Reads the parts that follow the body, up to the tag. */
static enum bftm_wire_error get_parts(struct bftm_order_msg *msg, u8 flags, const u8 *at,
				      size_t left)
{
	size_t len, space;

	if (msg->room < least_room(msg->type))
		return BFTM_WIRE_BAD_LENGTH;
	if (flags & BFTM_ORDER_FLAG_SIGNED) {
		if (left < BFTM_SIGNATURE_LEN)
			return BFTM_WIRE_BAD_LENGTH;
		msg->signature = at;
		at += BFTM_SIGNATURE_LEN;
		left -= BFTM_SIGNATURE_LEN;
	}
	len = data_told(msg, flags, left);
	if (len > left)
		return BFTM_WIRE_BAD_LENGTH;
	space = msg->type == BFTM_ORDER_FETCH ? bftm_piece_len(msg->id.len, msg->offset) : len;
	if (!may_be_padded(msg->type) && left != bftm_pad8(space))
		return BFTM_WIRE_BAD_LENGTH;
	if (!bftm_all_zero(at + len, left - len) ||
	    (msg->type == BFTM_ORDER_LISTED && !page_ok(msg, at, len)))
		return BFTM_WIRE_BAD_FIELD;
	if (flags & BFTM_ORDER_FLAG_BODY || len)
		msg->data = at;
	msg->data_len = (u16)len;
	return BFTM_WIRE_OK;
}

static void get_head(const struct bftm_head *head, struct bftm_order_msg *msg)
{
	const struct bftm_wire_head *w = &head->wire;

	memset(msg, 0, sizeof(*msg));
	msg->type = w->type;
	msg->name_len = w->name_len;
	msg->server = le16_to_cpu(w->server);
	msg->cluster = le32_to_cpu(w->cluster);
	msg->client = le32_to_cpu(w->client);
	msg->server_epoch = le64_to_cpu(w->epoch);
	msg->seq = le64_to_cpu(w->seq);
	msg->room = (u16)head->left;
	bftm_name_get(head, msg->name);
}

static void get_ranks(struct bftm_order_msg *msg)
{
	/* The first words of a request are an operation's, or a rank's. */
	if (msg->type == BFTM_ORDER_NEEDBODY) {
		msg->rank.count = msg->op;
		msg->rank.incarnation = msg->id.len;
	}
	if (msg->rank.count)
		msg->rank.client = msg->client;
	if (msg->then.count)
		msg->then.client = msg->client;
}

enum bftm_wire_error bftm_order_wire_get(const void *buf, size_t len,
					 struct bftm_order_msg *msg)
{
	enum bftm_wire_error err;
	const struct bftm_form *form;
	struct bftm_head head;

	err = bftm_head_get(buf, len, &head);
	if (err)
		return err;
	form = bftm_order_form(head.wire.type);
	if (head.wire.proto != BFTM_PROTO_ORDER || !form)
		return BFTM_WIRE_BAD_TYPE;
	if (head.wire.name_len > BFTM_OBJECT_NAME_MAX)
		return BFTM_WIRE_BAD_NAME;
	err = bftm_form_allows(form, &head.wire, false);
	if (err)
		return err;
	if (head.left < form->bytes)
		return BFTM_WIRE_BAD_LENGTH;
	get_head(&head, msg);
	if (!bftm_form_get(form, head.body, msg) || !fields_agree(msg, head.wire.flags))
		return BFTM_WIRE_BAD_FIELD;
	get_ranks(msg);
	return get_parts(msg, head.wire.flags, head.body + form->bytes, head.left - form->bytes);
}

static bool has_signature(const struct bftm_order_msg *msg)
{
	return msg->signature && bftm_order_form(msg->type)->flags & BFTM_ORDER_FLAG_SIGNED;
}

/* Body, signature and data. */
static size_t told(const struct bftm_order_msg *msg)
{
	return bftm_order_form(msg->type)->bytes + (has_signature(msg) ? BFTM_SIGNATURE_LEN : 0) +
	       (has_data(msg) ? msg->data_len : 0);
}

size_t bftm_order_size(const struct bftm_order_msg *msg)
{
	size_t size = told(msg);

	if (msg->type == BFTM_ORDER_FETCH)
		size += bftm_piece_len(msg->id.len, msg->offset);
	if (may_be_padded(msg->type) && size < msg->room)
		size = msg->room;
	if (size < least_room(msg->type))
		size = least_room(msg->type);
	return bftm_pad8(size);
}

size_t bftm_order_len(const struct bftm_order_msg *msg)
{
	return BFTM_HEAD_LEN + bftm_pad8(msg->name_len) + bftm_order_size(msg) + BFTM_TAG_LEN;
}

size_t bftm_order_wire_put(const struct bftm_order_msg *msg, void *buf)
{
	const struct bftm_form *form = bftm_order_form(msg->type);
	u8 *body = bftm_order_body_at(buf, msg->name_len), *at = body + form->bytes;
	struct bftm_wire_head head = {
		.version = BFTM_WIRE_VERSION,
		.proto = BFTM_PROTO_ORDER,
		.type = msg->type,
		.name_len = msg->name_len,
		.server = cpu_to_le16(msg->server),
		.cluster = cpu_to_le32(msg->cluster),
		.client = cpu_to_le32(msg->client),
		.epoch = cpu_to_le64(msg->server_epoch),
		.seq = cpu_to_le64(msg->seq),
	};
	size_t size = bftm_order_size(msg);

	/* Before the rest: they may stand where that goes. */
	if (has_signature(msg)) {
		head.flags |= BFTM_ORDER_FLAG_SIGNED;
		memmove(at, msg->signature, BFTM_SIGNATURE_LEN);
		at += BFTM_SIGNATURE_LEN;
	}
	if (has_data(msg)) {
		head.flags |= form->flags & BFTM_ORDER_FLAG_BODY;
		if (msg->data_len && msg->data != at)
			memmove(at, msg->data, msg->data_len);
		at += msg->data_len;
	}
	memset(at, 0, size - (size_t)(at - body));
	/* RECOVERING repeats the beginning of a request about a rank. */
	if (msg->type == BFTM_ORDER_NEEDBODY && !msg->op)
		form = bftm_order_form(BFTM_ORDER_RECOVERING);
	bftm_form_put(form, msg, body);
	bftm_head_put(&head, msg->name, buf);
	return (size_t)(body - (u8 *)buf) + size + BFTM_TAG_LEN;
}

/* The first word of the body, which STALE and REFUSED repeat. */
static u64 first_word(const struct bftm_order_msg *msg)
{
	if (msg->type == BFTM_ORDER_LIST)
		return msg->cursor;
	if (msg->op)
		return msg->op;
	return msg->rank.count ? msg->rank.count : msg->id.version;
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
	head->attempt = first_word(msg);
	memcpy(head->name, msg->name, sizeof(head->name));
}
