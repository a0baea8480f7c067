// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/form.h"
#include "core/wire.h"

static u32 get32(const u8 *at)
{
	__le32 x;

	memcpy(&x, at, sizeof(x));
	return le32_to_cpu(x);
}

static u64 get64(const u8 *at)
{
	__le64 x;

	memcpy(&x, at, sizeof(x));
	return le64_to_cpu(x);
}

static void put32(u8 *at, u32 value)
{
	__le32 x = cpu_to_le32(value);

	memcpy(at, &x, sizeof(x));
}

static void put64(u8 *at, u64 value)
{
	__le64 x = cpu_to_le64(value);

	memcpy(at, &x, sizeof(x));
}

bool bftm_all_zero(const u8 *bytes, size_t len)
{
	u64 word, any = 0;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		any |= word;
	}
	while (len--)
		any |= bytes[len];
	return !any;
}

enum bftm_wire_error bftm_head_get(const void *buf, size_t len, struct bftm_head *head)
{
	struct bftm_wire_head w;
	size_t name;

	if (len < BFTM_VERSION_LEN || len > BFTM_DATAGRAM_MAX || len % 8)
		return BFTM_WIRE_BAD_LENGTH;
	memcpy(&w, buf, sizeof(w));
	*head = (struct bftm_head){
		.version = w.version, .proto = w.proto, .type = w.type, .name_len = w.name_len,
		.flags = w.flags, .arg = w.arg, .server = le16_to_cpu(w.server),
		.cluster = le32_to_cpu(w.cluster), .client = le32_to_cpu(w.client),
		.epoch = le64_to_cpu(w.epoch), .seq = le64_to_cpu(w.seq),
		.name = (const u8 *)buf + sizeof(w),
	};
	if (w.version != BFTM_WIRE_VERSION)
		return BFTM_WIRE_BAD_VERSION;
	/* One name has one spelling: its bytes, then zeroes. */
	if (w.name_len > BFTM_NAME_LEN_MAX)
		return BFTM_WIRE_BAD_NAME;
	name = bftm_pad8(w.name_len);
	if (len < sizeof(w) + name + BFTM_TAG_LEN)
		return BFTM_WIRE_BAD_LENGTH;
	if (!bftm_all_zero(head->name + w.name_len, name - w.name_len))
		return BFTM_WIRE_BAD_NAME;
	if (!(w.type & BFTM_MSG_REPLY) && !head->seq)
		return BFTM_WIRE_BAD_FIELD;
	head->body = head->name + name;
	head->left = len - sizeof(w) - name - BFTM_TAG_LEN;
	return BFTM_WIRE_OK;
}

u8 *bftm_head_put(const struct bftm_head *head, void *buf)
{
	const struct bftm_wire_head w = {
		.version = head->version, .proto = head->proto, .type = head->type,
		.name_len = head->name_len, .flags = head->flags, .arg = head->arg,
		.server = cpu_to_le16(head->server), .cluster = cpu_to_le32(head->cluster),
		.client = cpu_to_le32(head->client), .epoch = cpu_to_le64(head->epoch),
		.seq = cpu_to_le64(head->seq),
	};
	size_t name = bftm_pad8(head->name_len);
	u8 *at = buf;

	memcpy(at, &w, sizeof(w));
	at += sizeof(w);
	memcpy(at, head->name, head->name_len);
	memset(at + head->name_len, 0, name - head->name_len);
	return at + name;
}

enum bftm_wire_error bftm_form_allows(const struct bftm_form *form, const struct bftm_head *head,
				      bool modes)
{
	u8 flags = head->flags, mode = flags & BFTM_FLAGS_MODE;

	if (form->named == BFTM_NAMED && !head->name_len)
		return BFTM_WIRE_BAD_NAME;
	if (form->named == BFTM_NAMELESS && head->name_len)
		return BFTM_WIRE_BAD_NAME;
	if (modes) {
		if (mode < form->mode_min || mode > form->mode_max)
			return BFTM_WIRE_BAD_FLAGS;
		flags &= (u8)~BFTM_FLAGS_MODE;
	}
	if (flags & ~form->flags || head->arg > form->arg)
		return BFTM_WIRE_BAD_FLAGS;
	return BFTM_WIRE_OK;
}

/* The slot's bytes go into the member, which may be wider. */
static void member_set(const struct bftm_slot *slot, const u8 *at, u8 *member)
{
	u64 wide;
	u32 word;

	if (slot->bytes == 8) {
		wide = get64(at);
		memcpy(member, &wide, sizeof(wide));
	} else if (slot->bytes == 4 && slot->member == 8) {
		wide = get32(at);
		memcpy(member, &wide, sizeof(wide));
	} else if (slot->bytes == 4) {
		word = get32(at);
		memcpy(member, &word, sizeof(word));
	} else {
		memcpy(member, at, slot->bytes);
	}
}

bool bftm_form_get(const struct bftm_form *form, const u8 *body, void *msg)
{
	const struct bftm_slot *slot;
	const u8 *at = body;

	for (slot = form->slots; slot->bytes; at += slot->bytes, slot++) {
		if (slot->rule == BFTM_SLOT_ZERO && !bftm_all_zero(at, slot->bytes))
			return false;
		if (slot->rule == BFTM_SLOT_FILLED && bftm_all_zero(at, slot->bytes))
			return false;
		if (slot->rule != BFTM_SLOT_ZERO)
			member_set(slot, at, (u8 *)msg + slot->at);
	}
	return true;
}

void bftm_form_put(const struct bftm_form *form, const void *msg, u8 *body)
{
	const struct bftm_slot *slot;
	const u8 *member;
	u8 *at = body;
	u64 wide;
	u32 word;

	for (slot = form->slots; slot->bytes; at += slot->bytes, slot++) {
		member = (const u8 *)msg + slot->at;
		if (slot->rule == BFTM_SLOT_ZERO) {
			memset(at, 0, slot->bytes);
		} else if (slot->member == 8) {
			memcpy(&wide, member, sizeof(wide));
			if (slot->bytes == 8)
				put64(at, wide);
			else
				put32(at, (u32)wide);
		} else if (slot->bytes == 4) {
			memcpy(&word, member, sizeof(word));
			put32(at, word);
		} else {
			memcpy(at, member, slot->bytes);
		}
	}
}
