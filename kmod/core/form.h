/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The forms of messages: which types there are, which fields the body of each has and where,
 * which flags and arguments are allowed. Each protocol has one table (wire_forms.h,
 * ordering/wire_forms.h), which codec, documentation and dissector share.
 *
 * A table is a macro that lists FORM(name, named, modes, flags, arg, body). @name is that of
 * the type, without its prefix; @named is NAMED, NAMELESS or NAMED_AS_ASKED; @modes is
 * MODES(least, most) in the lowest bits of the flags, or NO_MODE; @flags are the other bits that
 * may be set; @arg is the largest value of the head's byte arg. The body lists its fields in
 * their order: FIELD(member, bytes), of a member of the message; FILLED(member, bytes), which
 * is not 0; ZERO(bytes). A body without fields is NOTHING.
 */
#ifndef BFTM_CORE_FORM_H
#define BFTM_CORE_FORM_H

#include "core/limits.h"
#include "core/types.h"

#define BFTM_WIRE_VERSION	2
#define BFTM_HEAD_LEN		32
#define BFTM_TAG_LEN		16

/* Of a datagram. The longest fits the least MTU of IPv6 (1280); VERSION alone is shorter. */
#define BFTM_DATAGRAM_MIN	56
#define BFTM_DATAGRAM_MAX	1232
#define BFTM_VERSION_LEN	(BFTM_HEAD_LEN + BFTM_TAG_LEN)

/** bftm_pad8() - the next multiple of 8 */
static inline size_t bftm_pad8(size_t n)
{
	return (n + 7) / 8 * 8;
}

/** enum bftm_wire_error - why a datagram is not a message */
enum bftm_wire_error {
	BFTM_WIRE_OK,
	BFTM_WIRE_BAD_LENGTH,
	BFTM_WIRE_BAD_VERSION,
	BFTM_WIRE_BAD_TYPE,
	BFTM_WIRE_BAD_FLAGS,
	BFTM_WIRE_BAD_NAME,
	BFTM_WIRE_BAD_FIELD,
};

/**
 * struct bftm_wire_head - the beginning of each datagram, little-endian
 * @version:  BFTM_WIRE_VERSION
 * @proto:    enum bftm_proto
 * @server:   number of the server, names the key
 * @cluster:  number of the cluster, so that two never mix
 * @epoch:    the server's incarnation; in a request 0 is not known
 * @client:   number of the client, names the key
 * @type:     bit 7 is set in answers and in what comes unasked
 * @name_len: bytes of the name that follows, which zeroes fill up to a multiple of 8
 * @flags:    by type
 * @arg:      by type
 * @seq:      of a request at least 1, strictly increasing per client over all servers and
 *            restarts (incarnation in the high half); a server takes each once. An answer
 *            repeats the request's; 0 when it answers none
 *
 * Later versions keep the first 21 bytes, @seq, the keys and the tag at the end.
 */
struct bftm_wire_head {
	__u8 version;
	__u8 proto;
	__le16 server;
	__le32 cluster;
	__le64 epoch;
	__le32 client;
	__u8 type;
	__u8 name_len;
	__u8 flags;
	__u8 arg;
	__le64 seq;
};

static_assert(sizeof(struct bftm_wire_head) == BFTM_HEAD_LEN);

/**
 * struct bftm_head - it, and where the rest is
 * @wire: the head, in the byte order of the wire
 * @name: bytes of the name, and the zeroes that fill it up
 * @body: behind the name
 * @left: bytes from @body to the tag, a multiple of 8
 */
struct bftm_head {
	struct bftm_wire_head wire;
	const u8 *name;
	const u8 *body;
	size_t left;
};

/**
 * struct bftm_slot - a field of a body
 * @at:     of the message's member; any for zeroes
 * @member: bytes of the member
 * @bytes:  in the datagram: 1, 4, 8, 32; more are zeroes. 0 ends a list
 * @rule:   enum bftm_slot_rule
 */
struct bftm_slot {
	u16 at;
	u8 member;
	u8 bytes;
	u8 rule;
};

enum bftm_slot_rule {
	BFTM_SLOT_ANY,
	BFTM_SLOT_FILLED,
	BFTM_SLOT_ZERO,
};

enum bftm_form_named {
	BFTM_NAMELESS,
	BFTM_NAMED,
	BFTM_NAMED_AS_ASKED,	/* as the request that it answers */
};

/**
 * struct bftm_form - of a type of messages
 * @name:      "TRY"; NULL for no type
 * @slots:     of the body
 * @bytes:     of the body
 * @named:     enum bftm_form_named
 * @mode_min:  least mode that the flags may have
 * @mode_max:  greatest mode that the flags may have
 * @flags:     other bits that may be set
 * @arg:       largest
 */
struct bftm_form {
	const char *name;
	const struct bftm_slot *slots;
	u8 bytes;
	u8 named;
	u8 mode_min;
	u8 mode_max;
	u8 flags;
	u8 arg;
};

#define BFTM_FLAGS_MODE	7	/* the bits of the flags that are a mode, of a lock */

/* How a file makes the tables of a protocol whose message is @message. */
#define BFTM_SLOT(message, field, wire_bytes, how) \
	{ .at = offsetof(message, field), .member = sizeof(((message *)0)->field), \
	  .bytes = (wire_bytes), .rule = (how) },
#define BFTM_SLOT_ZEROES(wire_bytes) { .bytes = (wire_bytes), .rule = BFTM_SLOT_ZERO },

/**
 * bftm_head_get() - read the head of a datagram, and find its name
 * @buf: any alignment
 * @len: of it all
 * @head: undefined on failure but for BFTM_WIRE_BAD_VERSION, when what later versions keep is read
 *
 * Checks what needs no form: the length's bounds, the version, that a request has a number,
 * the name and its padding.
 */
enum bftm_wire_error bftm_head_get(const void *buf, size_t len, struct bftm_head *head);

/** bftm_name_get() - copy the name, by words: zeroes fill it up, and what follows them is left */
void bftm_name_get(const struct bftm_head *head, u8 name[BFTM_NAME_LEN_MAX]);

/**
 * bftm_head_put() - write the head and the name
 * @head: what to write
 * @name: @head->name_len bytes of it count
 * @buf:  any alignment
 * Return: where the body begins.
 */
u8 *bftm_head_put(const struct bftm_wire_head *head, const u8 name[BFTM_NAME_LEN_MAX], void *buf);

/** bftm_form_allows() - are name, flags and arg of @head those of @form? @modes: has a mode */
enum bftm_wire_error bftm_form_allows(const struct bftm_form *form,
				      const struct bftm_wire_head *head, bool modes);

/**
 * bftm_form_get() - read a body
 * @form: of the message's type
 * @body: of @form->bytes, any alignment
 * @msg:  the message whose members the slots name
 * Return: false if zeroes are not 0 or what must be filled is.
 */
bool bftm_form_get(const struct bftm_form *form, const u8 *body, void *msg);

/** bftm_form_put() - write a body of @form->bytes */
void bftm_form_put(const struct bftm_form *form, const void *msg, u8 *body);

/** bftm_all_zero() - are all these bytes 0? */
bool bftm_all_zero(const u8 *bytes, size_t len);

#endif /* BFTM_CORE_FORM_H */
