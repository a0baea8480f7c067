// SPDX-License-Identifier: GPL-2.0
#include "spoil.h"

/** struct spoiler - a message, how many wrong forms to pass over, and the datagram */
struct spoiler {
	const struct bftm_msg *m;
	const struct bftm_form *form;
	unsigned int left;
	struct bftm_wire *wire;
};

/* Is it this one's turn? */
static bool turn(struct spoiler *s)
{
	return !s->left--;
}

static const char *in_flags(struct spoiler *s)
{
	unsigned int bit, mode;

	for (mode = 0; mode <= BFTM_FLAGS_MODE; mode++)
		if ((mode < s->form->mode_min || mode > s->form->mode_max) && turn(s)) {
			s->wire->head.flags &= (u8)~BFTM_FLAGS_MODE;
			s->wire->head.flags |= (u8)mode;
			return "a mode that it cannot have";
		}
	for (bit = BFTM_FLAGS_MODE + 1; bit < 256; bit <<= 1)
		if (!(s->form->flags & bit) && turn(s)) {
			s->wire->head.flags |= (u8)bit;
			return "a flag that it cannot have";
		}
	return NULL;
}

static const char *in_head(struct spoiler *s)
{
	if (turn(s)) {
		s->wire->head.seq = 0;
		return "no number";
	}
	if (turn(s)) {
		s->wire->head.type |= 0x40;
		return "a type that is none";
	}
	if (turn(s)) {
		s->wire->head.arg = (u8)(s->form->arg + 1);
		return "an argument one too large";
	}
	if (turn(s)) {
		s->wire->head.arg = 255;
		return "the largest argument";
	}
	return NULL;
}

/* Eight bytes more behind the first @at, all of this value. */
static void insert(struct bftm_wire *wire, size_t at, u8 byte)
{
	memmove(wire->data + at + 8, wire->data + at, wire->len - at);
	memset(wire->data + at, byte, 8);
	wire->len += 8;
}

static const char *in_name(struct spoiler *s)
{
	struct bftm_msg m = *s->m;
	u32 i;

	if (s->form->named == BFTM_NAMELESS) {
		if (!turn(s))
			return NULL;
		insert(s->wire, BFTM_HEAD_LEN, 'x');
		s->wire->head.name_len = 8;
		return "a name that is not to be";
	}
	if (turn(s)) {
		m.name_len = 0;
		bftm_wire_put(&m, s->wire);
		return "no name";
	}
	if (turn(s)) {
		s->wire->head.name_len = BFTM_NAME_LEN_MAX + 1;
		return "too long a name";
	}
	for (i = m.name_len; i % 8; i++)
		if (turn(s)) {
			s->wire->data[BFTM_HEAD_LEN + i] = 1;
			return "something behind its name";
		}
	return NULL;
}

static const char *in_body(struct spoiler *s)
{
	u8 *at = s->wire->data + BFTM_HEAD_LEN + bftm_pad8(s->wire->head.name_len);
	const struct bftm_slot *slot;
	u32 i;

	for (slot = s->form->slots; slot->bytes; at += slot->bytes, slot++) {
		for (i = 0; slot->rule == BFTM_SLOT_ZERO && i < slot->bytes; i++)
			if (turn(s)) {
				at[i] = 1;
				return "something where nothing is";
			}
		if (slot->rule == BFTM_SLOT_FILLED && turn(s)) {
			memset(at, 0, slot->bytes);
			return "0 where it cannot be";
		}
		if (slot->rule != BFTM_SLOT_ZERO && slot->at == offsetof(struct bftm_msg, token) &&
		    turn(s)) {
			memset(at, 0xff, slot->bytes);
			return "a token that is not known";
		}
	}
	return NULL;
}

/* Of a value; that of the message is shorter than its room. */
static const char *in_value(struct spoiler *s)
{
	struct bftm_msg m = *s->m;
	u8 *end = s->wire->data + s->wire->len - BFTM_TAG_LEN, *part = end - m.value_room - 8;
	u32 i;

	if (!(m.flags & BFTM_FLAG_VALUE))
		return NULL;
	for (i = m.value_len; i < m.value_room; i++)
		if (turn(s)) {
			part[8 + i] = 1;
			return "something behind its value";
		}
	for (i = 6; i < 8; i++)
		if (turn(s)) {
			part[i] = 1;
			return "something between its value's numbers and its value";
		}
	if (turn(s)) {
		m.value_k = 0;
		bftm_wire_put(&m, s->wire);
		return "a value that nobody wrote";
	}
	if (turn(s)) {
		part[4] = (u8)(m.value_room + 1);	/* its length */
		return "a value longer than its room";
	}
	for (i = 1; i < 8; i++)
		if (turn(s)) {
			part[5] = (u8)(m.value_room + i);
			return "another room than there is";
		}
	if (turn(s)) {
		insert(s->wire, s->wire->len - BFTM_TAG_LEN, 0);
		part[5] = BFTM_VALUE_LEN_MAX + 8;
		return "too large a room";
	}
	return NULL;
}

static const char *in_length(struct spoiler *s)
{
	if (turn(s)) {
		insert(s->wire, s->wire->len - BFTM_TAG_LEN, 0);
		return "8 bytes too many";
	}
	if (turn(s)) {
		s->wire->len -= 8;
		return "8 bytes too few";
	}
	if (turn(s)) {
		s->wire->len = BFTM_VERSION_LEN;
		return "no body";
	}
	return NULL;
}

const char *spoil(const struct bftm_msg *m, unsigned int n, struct bftm_wire *ret)
{
	struct spoiler s = { .m = m, .form = bftm_wire_form(m->type), .left = n, .wire = ret };
	const char *what;

	bftm_wire_put(m, ret);
	what = in_head(&s);
	what = what ?: in_flags(&s);
	what = what ?: in_name(&s);
	what = what ?: in_body(&s);
	what = what ?: in_value(&s);
	return what ?: in_length(&s);
}
