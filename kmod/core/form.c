// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/slots.h"
#include "core/wire.h"

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

/* The bytes of a name's last word that are behind the name; @name_len is no multiple of 8. */
static u64 behind(u8 name_len)
{
	return ~0ull << name_len % 8 * 8;
}

enum bftm_wire_error bftm_head_get(const void *buf, size_t len, struct bftm_head *head)
{
	const struct bftm_wire_head *w = &head->wire;
	size_t name, most;

	if (len < BFTM_VERSION_LEN || len > BFTM_DATAGRAM_MAX || len % 8)
		return BFTM_WIRE_BAD_LENGTH;
	memcpy(&head->wire, buf, sizeof(head->wire));
	if (w->version != BFTM_WIRE_VERSION)
		return BFTM_WIRE_BAD_VERSION;
	if (w->name_len > BFTM_NAME_LEN_MAX)
		return BFTM_WIRE_BAD_NAME;
	name = bftm_pad8(w->name_len);
	most = len - sizeof(*w) - BFTM_TAG_LEN;
	if (most < name)
		return BFTM_WIRE_BAD_LENGTH;
	head->name = (const u8 *)buf + sizeof(*w);
	head->body = head->name + name;
	head->left = most - name;
	/* One name has one spelling: its bytes, then zeroes. */
	if (w->name_len % 8 && bftm_get64(head->body - 8) & behind(w->name_len))
		return BFTM_WIRE_BAD_NAME;
	if (!(w->type & BFTM_MSG_REPLY) && !w->seq)
		return BFTM_WIRE_BAD_FIELD;
	return BFTM_WIRE_OK;
}

void bftm_name_get(const struct bftm_head *head, u8 name[BFTM_NAME_LEN_MAX])
{
	const u8 *at;

	for (at = head->name; at != head->body; at += 8, name += 8)
		memcpy(name, at, 8);
}

u8 *bftm_head_put(const struct bftm_wire_head *head, const u8 name[BFTM_NAME_LEN_MAX], void *buf)
{
	u8 *at = buf, *end;

	memcpy(at, head, sizeof(*head));
	at += sizeof(*head);
	for (end = at + bftm_pad8(head->name_len); at != end; at += 8, name += 8)
		memcpy(at, name, 8);
	if (head->name_len % 8)
		bftm_put64(end - 8, bftm_get64(end - 8) & ~behind(head->name_len));
	return end;
}

enum bftm_wire_error bftm_form_allows(const struct bftm_form *form,
				      const struct bftm_wire_head *head, bool modes)
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

bool bftm_form_get(const struct bftm_form *form, const u8 *body, void *msg)
{
	const struct bftm_slot *slot;
	const u8 *at = body;

	for (slot = form->slots; slot->bytes; at += slot->bytes, slot++)
		if (!bftm_slot_get(slot, at, msg))
			return false;
	return true;
}

void bftm_form_put(const struct bftm_form *form, const void *msg, u8 *body)
{
	const struct bftm_slot *slot;
	u8 *at = body;

	for (slot = form->slots; slot->bytes; at += slot->bytes, slot++)
		bftm_slot_put(slot, msg, at);
}
