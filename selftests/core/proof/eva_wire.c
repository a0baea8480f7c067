// SPDX-License-Identifier: GPL-2.0
// prove: memory all_heads bftm_head_get bftm_pad8 bftm_name_get: every head of a datagram of up to 120 bytes, 1224 and 1232, behind which no byte is read; of a wrong length nothing is
// prove: memory all_forms bftm_wire_form bftm_form_get bftm_form_put bftm_slot_get bftm_slot_put bftm_member bftm_member_set bftm_get32 bftm_get64 bftm_put32 bftm_put64 bftm_form_allows bftm_all_zero bftm_wire_common bftm_msg_name bftm_refusal_name bftm_mode_mask bftm_epoch_known bftm_discount: every type; no byte behind its body is read or written
// prove: memory all_written bftm_head_put bftm_wire_write bftm_wire_put: every message with a room of up to 64 bytes for a value; it is written in 224 bytes at most
// frama-c: -eva-precision 1 -eva-domains=-octagon,-gauges,-symbolic-locations,-equality -eva-slevel 50
// takes 10: all_written
#include "any.h"
#include "core/form.c"
#include "core/wire.c"

/* The datagram that is read ends where its memory does, so that no byte behind it is. */
static u8 memory[BFTM_DATAGRAM_MAX];
#define BEHIND	(memory + sizeof(memory))

static void one_head(size_t len, size_t name_least, size_t name_most)
{
	u8 name[BFTM_NAME_LEN_MAX], *buf = BEHIND - len;
	struct bftm_head head;

	any(memory);
	buf[offsetof(struct bftm_wire_head, name_len)] = (u8)any_from(name_least, name_most);
	if (bftm_head_get(buf, len, &head) != BFTM_WIRE_OK)
		return;
	//@ assert whole: head.body + head.left + BFTM_TAG_LEN == buf + len;
	bftm_name_get(&head, name);
}

static void heads_of(size_t len)
{
	size_t name;

	one_head(len, 0, 0);
	//@ loop unroll 10;
	for (name = 8; name <= BFTM_NAME_LEN_MAX; name += 8)
		one_head(len, name - 7, name);
	one_head(len, BFTM_NAME_LEN_MAX + 1, 255);
}

void all_heads(void)
{
	struct bftm_head head;
	size_t len;

	bftm_head_get(BEHIND, any_from(0, BFTM_VERSION_LEN - 1), &head);
	bftm_head_get(BEHIND, any_from(BFTM_DATAGRAM_MAX + 1, ~0ull), &head);
	//@ loop unroll 7;
	for (len = 1; len < 8; len++)
		bftm_head_get(BEHIND, any_from(0, ~0ull / 8 - 1) * 8 + len, &head);
	/* Behind the longest name each length is like the one before. */
	//@ loop unroll 20;
	for (len = BFTM_VERSION_LEN; len <= BFTM_VERSION_LEN + BFTM_NAME_LEN_MAX + 8; len += 8)
		heads_of(len);
	heads_of(BFTM_DATAGRAM_MAX - 8);
	heads_of(BFTM_DATAGRAM_MAX);
}

static void one_form(u8 type)
{
	const struct bftm_form *form = bftm_wire_form(type);
	struct bftm_head head;
	struct bftm_msg msg;

	any(msg);
	bftm_wire_common(type);
	bftm_msg_name(type);
	msg.type = type;
	bftm_epoch_known(&msg, any_from(0, ~0ull));
	bftm_discount(&msg);
	if (!form)
		return;
	//@ assert modes: form->mode_max <= BFTM_MODE_EX;
	any(head);
	any(memory);
	bftm_form_allows(form, &head.wire, any_bool());
	bftm_form_get(form, BEHIND - form->bytes, &msg);
	msg.type = type;
	get_body(form, BEHIND - form->bytes, &msg);
	any(msg);
	bftm_form_put(form, &msg, BEHIND - form->bytes);
	msg.type = type;
	put_body(form, &msg, BEHIND - form->bytes);
}

void all_forms(void)
{
	u32 type;

	bftm_refusal_name((u32)any_from(0, ~0u));
	bftm_mode_mask((enum bftm_mode)any_from(BFTM_MODE_NL, BFTM_MODE_EX));
	//@ loop unroll 256;
	for (type = 0; type < 256; type++)
		one_form((u8)type);
}

/* With room for a value, and one of @len bytes, or none that is there. */
static void one_written(u8 type, u8 name_least, u8 name_most, u8 room, u8 len)
{
	struct bftm_wire wire;
	struct bftm_msg msg;

	any(msg);
	msg.type = type;
	msg.name_len = (u8)any_from(name_least, name_most);
	msg.value_room = room;
	msg.value_len = len;
	bftm_wire_put(&msg, &wire);
}

static void written_of(u8 type, bool value)
{
	u32 name, room;

	one_written(type, 0, 0, 0, 0);
	//@ loop unroll 10;
	for (name = 8; name <= BFTM_NAME_LEN_MAX; name += 8)
		one_written(type, (u8)(name - 7), (u8)name, 0, 0);
	if (!value)
		return;
	/* Behind the longest name: behind others each byte is written further ahead. */
	//@ loop unroll 10;
	for (room = 8; room <= BFTM_VALUE_LEN_MAX; room += 8) {
		one_written(type, BFTM_NAME_LEN_MAX - 7, BFTM_NAME_LEN_MAX, (u8)room, 0);
		one_written(type, BFTM_NAME_LEN_MAX - 7, BFTM_NAME_LEN_MAX, (u8)room, (u8)room);
	}
}

/* A value of each length ends where its room does. To write no byte takes a place all the same. */
static void one_value(u8 room, u8 least, u8 most)
{
	u8 *last = BEHIND - 1, *end;
	struct bftm_msg msg;

	any(msg);
	msg.value_room = room;
	msg.value_len = (u8)any_from(least, most);
	*last = 1;
	end = put_value(&msg, last - value_form.bytes - room);
	//@ assert whole: end == last && *last == 1;
}

void all_written(void)
{
	const struct bftm_form *form;
	u32 type, room, len;

	//@ loop unroll 10;
	for (room = 0; room <= BFTM_VALUE_LEN_MAX; room += 8) {
		//@ loop unroll 65;
		for (len = 0; len <= room; len++)
			one_value((u8)room, (u8)len, (u8)len);
		/* Values that are longer than their room are all written alike. */
		one_value((u8)room, (u8)(room + 1), 255);
	}
	//@ loop unroll 257;
	for (type = 0; type < 256; type++) {
		form = bftm_wire_form((u8)type);
		if (form)
			written_of((u8)type, form->flags & BFTM_FLAG_VALUE);
	}
}
