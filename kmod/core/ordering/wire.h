/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams of the ordering protocol: a fixed head, whose first 32 bytes are
 * those of struct bftm_wire, then data, zero bytes, and the tag over all of it.
 * Requests leave as much room as an answer may need; none is longer than its
 * request. What does not fit one datagram travels in pieces.
 */
#ifndef BFTM_CORE_ORDER_WIRE_H
#define BFTM_CORE_ORDER_WIRE_H

#include "core/ordering/order.h"
#include "core/wire.h"

/* Of a datagram. The longest fits the least MTU of IPv6 (1280). */
#define BFTM_ORDER_LEN_MAX	1232
#define BFTM_ORDER_HEAD_LEN	176
#define BFTM_ORDER_DATA_MAX	(BFTM_ORDER_LEN_MAX - BFTM_ORDER_HEAD_LEN - BFTM_TAG_LEN)
/* Room that every request leaves: for a rank and its signature. */
#define BFTM_ORDER_ROOM_MIN	(16 + BFTM_SIGNATURE_LEN)
#define BFTM_ORDER_LEN_MIN	(BFTM_ORDER_HEAD_LEN + BFTM_ORDER_ROOM_MIN + BFTM_TAG_LEN)

/* Bodies travel in pieces of this many bytes; only the last may be shorter. */
#define BFTM_PIECE_LEN		1024
#define BFTM_PIECES_MAX		(BFTM_STATE_MAX / BFTM_PIECE_LEN)

/**
 * enum bftm_order_type - what a message says; replies have bit 7 set
 * @BFTM_ORDER_SUBMIT:     operation @op, @id is its body, which is the data when
 *                         @offset is 0 and it fits; asks for its response from
 *                         @offset on
 * @BFTM_ORDER_GET:        get(@rank); the data is empty or the rank's signature;
 *                         pending operations from client @from on are told
 * @BFTM_ORDER_PROPOSE:    propose(@id, @rank); the data is the body if it fits
 * @BFTM_ORDER_COMMIT:     commit(@id, @rank); the data is empty or the body
 * @BFTM_ORDER_INSTALL:    to a server that said RECOVERING to GET(@rank): @id is
 *                         committed; data as in COMMIT
 * @BFTM_ORDER_FETCH:      the piece of body @id at @offset?
 * @BFTM_ORDER_PUT:        the data is the piece of body @id at @offset
 * @BFTM_ORDER_RESPONSE:   to operation @op: data from @offset on, of @id.len bytes;
 *                         or @id.len is BFTM_RESPONSE_GONE and there is none
 * @BFTM_ORDER_PENDING:    operation @op waits
 * @BFTM_ORDER_GOT:        answer to GET: @id is σc; the data is struct
 *                         bftm_order_got
 * @BFTM_ORDER_RECOVERING: answer to GET: this server has lost its memory
 * @BFTM_ORDER_PROPOSED, @BFTM_ORDER_COMMITTED, @BFTM_ORDER_INSTALLED: done
 * @BFTM_ORDER_EXCEPTION:  RankException: the data is struct bftm_order_exception
 * @BFTM_ORDER_NEEDBODY:   body @id is not known here, @op or @rank say for what
 * @BFTM_ORDER_BODY:       the data is the piece asked for
 * @BFTM_ORDER_NOBODY:     body @id is not, or no longer, known here
 * @BFTM_ORDER_STORED:     the piece at @offset is here
 *
 * RESPONSE also comes unasked, then with @seq 0. REFUSED and CHALLENGE are struct
 * bftm_wire, with @proto BFTM_PROTO_ORDER.
 */
enum bftm_order_type {
	BFTM_ORDER_SUBMIT = 0x10,
	BFTM_ORDER_GET = 0x11,
	BFTM_ORDER_PROPOSE = 0x12,
	BFTM_ORDER_COMMIT = 0x13,
	BFTM_ORDER_INSTALL = 0x14,
	BFTM_ORDER_FETCH = 0x15,
	BFTM_ORDER_PUT = 0x16,
	BFTM_ORDER_RESPONSE = 0x90,
	BFTM_ORDER_PENDING = 0x91,
	BFTM_ORDER_GOT = 0x92,
	BFTM_ORDER_RECOVERING = 0x93,
	BFTM_ORDER_PROPOSED = 0x94,
	BFTM_ORDER_COMMITTED = 0x95,
	BFTM_ORDER_INSTALLED = 0x96,
	BFTM_ORDER_EXCEPTION = 0x97,
	BFTM_ORDER_NEEDBODY = 0x98,
	BFTM_ORDER_BODY = 0x99,
	BFTM_ORDER_NOBODY = 0x9a,
	BFTM_ORDER_STORED = 0x9b,
};

/** struct bftm_order_wire - head of a datagram; fields as in bftm_order_msg */
struct bftm_order_wire {
	__u8 version;
	__u8 type;
	__u8 proto;
	__u8 name_len;
	__le32 cluster;
	__le32 client;
	__le16 server;
	__le16 flags;
	__le64 server_epoch;
	__le64 seq;
	__le64 rank_count;
	__le32 rank_client;
	__le32 rank_incarnation;
	__le64 op;
	__le64 id_version;
	__u8 id_digest[BFTM_DIGEST_LEN];
	__le32 id_len;
	__le32 offset;
	__le32 from;
	__le16 data_len;
	__le16 zero;
	__u8 name[BFTM_NAME_LEN_MAX];
};

static_assert(sizeof(struct bftm_order_wire) == BFTM_ORDER_HEAD_LEN);

/**
 * struct bftm_order_msg - a message in the host's byte order
 * @type:     enum bftm_order_type
 * @name_len: bytes of @name, the object's, 1 to BFTM_OBJECT_NAME_MAX
 * @server, @cluster, @client, @server_epoch, @seq: as in struct bftm_wire
 * @rank:     of the iteration; in an answer that of the request
 * @op:       number of the operation, see bftm_op_follows()
 * @id:       of the body
 * @offset:   of the data in the body or response, bytes
 * @from:     see BFTM_ORDER_GET
 * @data_len: bytes of @data
 * @room:     bytes that @data of the answer may have
 * @data:     in the datagram
 */
struct bftm_order_msg {
	u8 type;
	u8 name_len;
	u16 server;
	u32 cluster;
	u32 client;
	u64 server_epoch;
	u64 seq;
	struct bftm_rank rank;
	u64 op;
	struct bftm_body_id id;
	u32 offset;
	u32 from;
	u16 data_len;
	u16 room;
	u8 name[BFTM_NAME_LEN_MAX];
	const u8 *data;
};

/* An operation that waits, in struct bftm_order_got. */
struct bftm_order_waiting {
	__le32 client;
	__le32 len;
	__le64 op;
	__u8 digest[BFTM_DIGEST_LEN];
};

#define BFTM_ORDER_WAITING_MAX \
	((BFTM_ORDER_DATA_MAX - 64) / sizeof(struct bftm_order_waiting))

/* Data of GOT: σpc, its proposer's rank, and what waits as far as there is room. */
struct bftm_order_got {
	__le64 sp_version;
	__u8 sp_digest[BFTM_DIGEST_LEN];
	__le32 sp_len;
	__le32 pending;		/* how many wait, told here or not */
	__le64 prop_count;
	__le32 prop_client;
	__le32 prop_incarnation;
	struct bftm_order_waiting waiting[];
};

static_assert(sizeof(struct bftm_order_got) == 64);

/* Data of EXCEPTION: the highest rank seen, and its signature if there is one. */
struct bftm_order_exception {
	__le64 count;
	__le32 client;
	__le32 incarnation;
	__u8 signature[BFTM_SIGNATURE_LEN];
};

static_assert(sizeof(struct bftm_order_exception) == BFTM_ORDER_ROOM_MIN);

/** bftm_order_len() - bytes of a datagram with room for so much data. */
static inline size_t bftm_order_len(size_t room)
{
	if (room < BFTM_ORDER_ROOM_MIN)
		room = BFTM_ORDER_ROOM_MIN;
	return BFTM_ORDER_HEAD_LEN + (room + 7) / 8 * 8 + BFTM_TAG_LEN;
}

/**
 * bftm_order_wire_get() - read a datagram
 * @buf: its payload, any alignment; @msg->data points into it
 * @len: its length in bytes
 * @msg: the message, untouched on failure
 *
 * Checks the form only, not the tag. Requests and replies both pass.
 *
 * Return: BFTM_WIRE_OK or the first thing that is wrong.
 */
enum bftm_wire_error bftm_order_wire_get(const void *buf, size_t len,
					 struct bftm_order_msg *msg);

/**
 * bftm_order_wire_put() - write a message, all but its tag
 * @buf: of bftm_order_len() bytes for msg->room or msg->data_len, whichever is
 *       more; @msg->data may be where it belongs already
 * Return: bytes of the datagram.
 */
size_t bftm_order_wire_put(const struct bftm_order_msg *msg, void *buf);

/**
 * bftm_order_shaped() - is this datagram laid out as those of the ordering protocol?
 * @buf: its first bytes, BFTM_ORDER_SHAPE_LEN of them; untrusted
 *
 * Its header says so. CHALLENGE, REFUSED and all else that no protocol owns is laid out as
 * struct bftm_wire, whatever protocol it is about.
 */
bool bftm_order_shaped(const void *buf);

/* Of a header, as far as bftm_order_shaped() looks. */
#define BFTM_ORDER_SHAPE_LEN	3

/** bftm_order_head() - what bftm_admit_address(), access rules and so on look at */
void bftm_order_head(const struct bftm_order_msg *msg, struct bftm_msg *head);

/** bftm_order_name() - "GET" for BFTM_ORDER_GET and so on, "?" for no type. */
const char *bftm_order_name(u8 type);

#endif /* BFTM_CORE_ORDER_WIRE_H */
