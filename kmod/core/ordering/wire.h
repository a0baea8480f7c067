/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams of the ordering protocol: head, name of the object, a body by type
 * (ordering/wire_forms.h), a signature, data, the tag. A datagram is exactly as long as that
 * takes; only SUBMIT, GET, PROPOSE, COMMIT, INSTALL, COMMIT_GET and LIST may have more zeroes
 * before the tag, for the longest answer that is wanted: no answer is longer than its request, and
 * no response that comes unasked is longer than the SUBMIT of its operation. A body that does not
 * fit one datagram travels in pieces, and a list page by page. LIST and LISTED name no object.
 */
#ifndef BFTM_CORE_ORDER_WIRE_H
#define BFTM_CORE_ORDER_WIRE_H

#include "core/ordering/order.h"
#include "core/wire.h"

/* Bytes from the name to the tag: with no name, and with the longest name. */
#define BFTM_ORDER_ROOM_MAX	(BFTM_DATAGRAM_MAX - BFTM_HEAD_LEN - BFTM_TAG_LEN)
#define BFTM_ORDER_ROOM_SURE	(BFTM_ORDER_ROOM_MAX - BFTM_NAME_LEN_MAX)

/* Bytes of bodies in ordering/wire_forms.h; wire.c asserts that they are right. */
#define BFTM_ORDER_STATE_LEN		64	/* of PROPOSE, COMMIT and INSTALL */
#define BFTM_ORDER_RESPONSE_LEN		16
#define BFTM_ORDER_GOT_LEN		128
#define BFTM_ORDER_EXCEPTION_LEN	32
#define BFTM_ORDER_COMMIT_GET_LEN	80
#define BFTM_ORDER_COMMITTED_GOT_LEN	32
#define BFTM_ORDER_LISTED_LEN		24

/* Least @room of a request where ranks are signed: EXCEPTION with a signature fits into it. */
#define BFTM_ORDER_PROOF_LEN	(BFTM_ORDER_EXCEPTION_LEN + BFTM_SIGNATURE_LEN)

/* Bytes of a state or an operation that goes whole in any datagram but COMMIT_GET. */
#define BFTM_ORDER_DATA_MAX	(BFTM_ORDER_ROOM_SURE - BFTM_ORDER_STATE_LEN)
/* … and of one that COMMIT_GET brings, signed or not. */
#define BFTM_ORDER_NEXT_DATA_MAX \
	(BFTM_ORDER_ROOM_SURE - BFTM_ORDER_COMMIT_GET_LEN - BFTM_SIGNATURE_LEN)
/* Bytes of a response in one datagram. */
#define BFTM_ORDER_SAID_MAX	(BFTM_ORDER_ROOM_SURE - BFTM_ORDER_RESPONSE_LEN)

/* Bodies travel in pieces of this many bytes; only the last may be shorter. */
#define BFTM_PIECE_LEN		1024
#define BFTM_PIECES_MAX		(BFTM_STATE_MAX / BFTM_PIECE_LEN)

/**
 * enum bftm_order_type - what a message says; replies have bit 7 set
 * @BFTM_ORDER_SUBMIT:     operation @op, @id is its body, which is the data if it
 *                         fits; asks for its response from @offset on
 * @BFTM_ORDER_GET:        get(@rank); signed or not; pending operations from client
 *                         @from on are told
 * @BFTM_ORDER_PROPOSE:    propose(@id, @rank); the data is the body if it fits
 * @BFTM_ORDER_COMMIT:     commit(@id, @rank); likewise
 * @BFTM_ORDER_INSTALL:    to a server that said RECOVERING to GET(@rank): @id is
 *                         committed; likewise
 * @BFTM_ORDER_FETCH:      the piece of body @id at @offset?
 * @BFTM_ORDER_PUT:        the data is the piece of body @id at @offset
 * @BFTM_ORDER_COMMIT_GET: COMMIT, and then get(@then), which may be signed
 * @BFTM_ORDER_LIST:       which objects does this server have, from @cursor on?
 * @BFTM_ORDER_RESPONSE:   to operation @op: data from @offset on, of @id.len bytes;
 *                         or @id.len is BFTM_RESPONSE_GONE and there is none
 * @BFTM_ORDER_PENDING:    operation @op waits
 * @BFTM_ORDER_GOT:        answer to GET: @id is σc, @sp is σpc with the rank @prop of its
 *                         proposer, @pending operations wait; the data is struct
 *                         bftm_order_waiting of those that there is room for
 * @BFTM_ORDER_RECOVERING: answer to GET: this server has lost its memory
 * @BFTM_ORDER_PROPOSED:   PROPOSE is done
 * @BFTM_ORDER_COMMITTED:  COMMIT is done
 * @BFTM_ORDER_INSTALLED:  INSTALL is done
 * @BFTM_ORDER_EXCEPTION:  RankException: @max is the highest rank seen; signed as that was, if
 *                         there is room
 * @BFTM_ORDER_NEEDBODY:   the body is not known here; @op or @rank say for what
 * @BFTM_ORDER_BODY:       the data is the piece asked for
 * @BFTM_ORDER_NOBODY:     body @id is not, or no longer, known here
 * @BFTM_ORDER_STORED:     the piece at @offset is here
 * @BFTM_ORDER_COMMITTED_GOT: answer to COMMIT_GET: both are done. The state that was committed
 *                         is σc and σpc, @rank its proposer's; @pending and data as in GOT
 * @BFTM_ORDER_LISTED:     answer to LIST: the data is a struct bftm_listed of each object that
 *                         there is room for and the client may use; @next goes on, 0: this was all
 *
 * RESPONSE also comes unasked, then with @seq 0. HELLO, STALE, CHALLENGE, REFUSED and VERSION
 * are struct bftm_msg, with @proto BFTM_PROTO_ORDER.
 */
enum bftm_order_type {
	BFTM_ORDER_SUBMIT = 0x10,
	BFTM_ORDER_GET = 0x11,
	BFTM_ORDER_PROPOSE = 0x12,
	BFTM_ORDER_COMMIT = 0x13,
	BFTM_ORDER_INSTALL = 0x14,
	BFTM_ORDER_FETCH = 0x15,
	BFTM_ORDER_PUT = 0x16,
	BFTM_ORDER_COMMIT_GET = 0x17,
	BFTM_ORDER_LIST = 0x18,
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
	BFTM_ORDER_COMMITTED_GOT = 0x9c,
	BFTM_ORDER_LISTED = 0x9d,
};

/** enum bftm_order_flag - of the head */
enum bftm_order_flag {
	BFTM_ORDER_FLAG_BODY = 1,	/* all bytes of the body are there */
	BFTM_ORDER_FLAG_SIGNED = 2,	/* the signature of a rank is there */
};

/**
 * struct bftm_order_msg - a message in the host's byte order
 * @type:     enum bftm_order_type
 * @name_len: bytes of @name, the object's, 1 to BFTM_OBJECT_NAME_MAX; of LIST and LISTED 0
 * @server:   number of the server, as in struct bftm_wire_head
 * @cluster:  number of the cluster, likewise
 * @client:   number of the client, likewise
 * @server_epoch: incarnation of the server, its @epoch; 0 is not known
 * @seq:      number of the request, likewise
 * @from:     see BFTM_ORDER_GET
 * @pending:  see BFTM_ORDER_GOT
 * @offset:   of the data in the body or response, bytes
 * @room:     of a request: bytes from its name to its tag, so many an answer has; the least
 *            number for bftm_order_wire_put()
 * @data_len: bytes of @data
 * @rank:     of the iteration, 1 to BFTM_RANK_COUNT_MAX; in an answer that of the request
 * @then:     see BFTM_ORDER_COMMIT_GET; above @rank
 * @prop:     see BFTM_ORDER_GOT
 * @max:      see BFTM_ORDER_EXCEPTION
 * @op:       number of the operation, not 0, see bftm_op_follows()
 * @cursor:   where a page of a listing begins, 0 for the first one; an answer has its request's
 * @next:     where the next page begins, above @cursor; 0 for none
 * @recovering: 1: this server has lost its memory, and may lack objects that others know; or 0
 * @id:       of the body
 * @sp:       see BFTM_ORDER_GOT
 * @name:     in all its bytes
 * @data:     in the datagram; NULL where a body is not there
 * @signature: BFTM_SIGNATURE_LEN bytes, in the datagram; NULL where there is none
 *
 * ordering/wire_forms.h says which of them a type has; the others are left alone by
 * bftm_order_wire_put(), and 0 after bftm_order_wire_get(). @rank.client and @then.client are
 * @client. An answer NEEDBODY has both @op and @rank, of which one is what was asked with.
 */
struct bftm_order_msg {
	u8 type;
	u8 name_len;
	u16 server;
	u32 cluster;
	u32 client;
	u32 from;
	u32 pending;
	u32 offset;
	u16 room;
	u16 data_len;
	u64 server_epoch;
	u64 seq;
	struct bftm_rank rank;
	struct bftm_rank then;
	struct bftm_rank prop;
	struct bftm_rank max;
	u64 op;
	u64 cursor;
	u64 next;
	u8 recovering;
	struct bftm_body_id id;
	struct bftm_body_id sp;
	u8 name[BFTM_NAME_LEN_MAX];
	const u8 *data;
	const u8 *signature;
};

/* An operation that waits, in the data of GOT and COMMITTED_GOT. */
struct bftm_order_waiting {
	__le64 op;
	__le32 client;
	__le32 len;
	__u8 digest[BFTM_DIGEST_LEN];
};

static_assert(sizeof(struct bftm_order_waiting) == 48);

/* Waiting operations that a GET can ask for, with any name. */
#define BFTM_ORDER_WAITING_MAX \
	((BFTM_ORDER_ROOM_SURE - BFTM_ORDER_GOT_LEN) / sizeof(struct bftm_order_waiting))
/* … and a COMMIT_GET. */
#define BFTM_ORDER_NEXT_WAITING_MAX \
	((BFTM_ORDER_ROOM_SURE - BFTM_ORDER_COMMITTED_GOT_LEN) / sizeof(struct bftm_order_waiting))

/**
 * struct bftm_listed - an object, in the data of LISTED
 * @version:  of the state that was committed last there, not 0
 * @name_len: bytes of @name, 1 to BFTM_OBJECT_NAME_MAX
 * @type_len: bytes of @type, at most BFTM_TYPE_NAME_MAX; 0: in this state the object does not exist
 * @name:     in the data
 * @type:     in the data
 *
 * In the data stand the version in 8 bytes, the two lengths in one byte each, name and type, and
 * zeroes up to a multiple of 8.
 */
struct bftm_listed {
	u64 version;
	u8 name_len;
	u8 type_len;
	const u8 *name;
	const u8 *type;
};

#define BFTM_LISTED_HEAD_LEN	10
/* Bytes of the longest entry, and the least room that a LIST leaves: the longest entry fits. */
#define BFTM_LISTED_LEN_MAX	104
#define BFTM_ORDER_LIST_LEN	(BFTM_ORDER_LISTED_LEN + BFTM_LISTED_LEN_MAX)

/** bftm_listed_len() - bytes that it takes in the data */
static inline u32 bftm_listed_len(const struct bftm_listed *listed)
{
	return (u32)bftm_pad8(BFTM_LISTED_HEAD_LEN + listed->name_len + listed->type_len);
}

/**
 * bftm_listed_get() - read the first one of some data
 * @data: of LISTED
 * @left: its bytes
 * @ret:  the object; only if the result is not 0
 * Return: bytes that it takes, 0 when it is malformed.
 */
u32 bftm_listed_get(const u8 *data, u32 left, struct bftm_listed *ret);

/** bftm_listed_put() - write it, bftm_listed_len() bytes */
void bftm_listed_put(const struct bftm_listed *listed, u8 *data);

/** bftm_piece_len() - bytes of the piece at @offset of a body of @len, which it is less than */
static inline u32 bftm_piece_len(u32 len, u32 offset)
{
	return len - offset < BFTM_PIECE_LEN ? len - offset : BFTM_PIECE_LEN;
}

/** bftm_order_form() - of a type of messages about objects, or NULL */
const struct bftm_form *bftm_order_form(u8 type);

/**
 * bftm_order_wire_get() - read a datagram
 * @buf: its payload, any alignment; @msg->data and @msg->signature point into it
 * @len: its length in bytes
 * @msg: the message, undefined on failure
 *
 * Checks the form only, not the tag. Requests and replies both pass.
 *
 * Return: BFTM_WIRE_OK or what is wrong.
 */
enum bftm_wire_error bftm_order_wire_get(const void *buf, size_t len,
					 struct bftm_order_msg *msg);

/** bftm_order_size() - bytes that bftm_order_wire_put() puts between name and tag */
size_t bftm_order_size(const struct bftm_order_msg *msg);

/** bftm_order_len() - bytes of the datagram that bftm_order_wire_put() writes, tag included */
size_t bftm_order_len(const struct bftm_order_msg *msg);

/** bftm_order_body_at() - where the body of a datagram in @buf about this object begins */
static inline u8 *bftm_order_body_at(void *buf, u8 name_len)
{
	return (u8 *)buf + BFTM_HEAD_LEN + bftm_pad8(name_len);
}

/**
 * bftm_order_wire_put() - write a message, all but its tag
 * @msg: of a type that has a form; @data and @signature may be where they belong already
 * @buf: of bftm_order_len() bytes, any alignment
 * Return: bftm_order_len().
 */
size_t bftm_order_wire_put(const struct bftm_order_msg *msg, void *buf);

/**
 * bftm_order_shaped() - is this datagram one of the ordering protocol's own?
 * @buf: its first bytes, BFTM_ORDER_SHAPE_LEN of them; untrusted
 *
 * Else bftm_wire_get() reads it, whatever protocol and version it is of.
 */
bool bftm_order_shaped(const void *buf);

/* Bytes of a head at which bftm_order_shaped() looks. */
#define BFTM_ORDER_SHAPE_LEN	21

/** bftm_order_head() - what bftm_admit_address(), access rules and so on look at */
void bftm_order_head(const struct bftm_order_msg *msg, struct bftm_msg *head);

/** bftm_order_name() - "GET" for BFTM_ORDER_GET and so on, "?" for no type. */
const char *bftm_order_name(u8 type);

#endif /* BFTM_CORE_ORDER_WIRE_H */
