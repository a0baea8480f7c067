/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams between clients and servers. Every message has the same length,
 * so a reply fits the request's buffer and nothing is ever amplified. All
 * integers are little-endian. The tag is SipHash-2-4-128 over all that stands
 * before it, under a key for this client, this server and this direction.
 */
#ifndef BFTM_CORE_WIRE_H
#define BFTM_CORE_WIRE_H

#include "core/limits.h"
#include "core/types.h"

#define BFTM_WIRE_VERSION	1
#define BFTM_WIRE_LEN		160
#define BFTM_TAG_LEN		16
#define BFTM_TAGGED_LEN		(BFTM_WIRE_LEN - BFTM_TAG_LEN)

/** enum bftm_proto - which protocol's pair of cores a message is for */
enum bftm_proto {
	BFTM_PROTO_BACKOFF = 1,	/* Chockler, Malkhi, Reiter, Section 4 */
	BFTM_PROTO_ORDER = 2,	/* the same, Section 6; see core/ordering/wire.h */
};

/**
 * enum bftm_msg_type - what a message says; replies have bit 7 set
 * @BFTM_MSG_NONE:      no message: the core's word for silence
 * @BFTM_MSG_HELLO:     what is your epoch? (answered by CHALLENGE)
 * @BFTM_MSG_TRY:       try() of Figure 1, with Δ and the send number k
 * @BFTM_MSG_RELEASE:   attempt is over, release or cancel it
 * @BFTM_MSG_YIELD:     take grant @gno back and queue the attempt again; not
 *                      answered
 * @BFTM_MSG_STAMP:     may @token be the fencing token of this attempt?
 * @BFTM_MSG_RECOVER:   after a restart: no server stamped more than @token
 * @BFTM_MSG_CHALLENGE: my epoch is in the header, and what I am
 * @BFTM_MSG_FREE:      FREE of Figure 1: granted to this attempt
 * @BFTM_MSG_LOCKED:    LOCKED of Figure 1: granted to another
 * @BFTM_MSG_WAIT:      not yet: queued, or in quarantine (@position 0)
 * @BFTM_MSG_RELEASED:  the attempt named owns nothing here any more
 * @BFTM_MSG_REFUSED:   not done, for the reason in @arg
 * @BFTM_MSG_INQUIRE:   one with a better priority waits: would you yield @gno?
 * @BFTM_MSG_SACK:      token @gno accepted
 * @BFTM_MSG_SNACK:     token @gno refused, @token was stamped before
 *
 * FREE and INQUIRE also come unasked, then with @seq 0.
 */
enum bftm_msg_type {
	BFTM_MSG_NONE = 0,
	BFTM_MSG_HELLO = 0x01,
	BFTM_MSG_TRY = 0x02,
	BFTM_MSG_RELEASE = 0x03,
	BFTM_MSG_YIELD = 0x04,
	BFTM_MSG_STAMP = 0x05,
	BFTM_MSG_RECOVER = 0x06,
	BFTM_MSG_CHALLENGE = 0x81,
	BFTM_MSG_FREE = 0x82,
	BFTM_MSG_LOCKED = 0x83,
	BFTM_MSG_WAIT = 0x84,
	BFTM_MSG_RELEASED = 0x85,
	BFTM_MSG_REFUSED = 0x86,
	BFTM_MSG_INQUIRE = 0x87,
	BFTM_MSG_SACK = 0x88,
	BFTM_MSG_SNACK = 0x89,
};

#define BFTM_MSG_REPLY		0x80

/* In @token of an answer: not known since a restart, see BFTM_MSG_RECOVER. */
#define BFTM_TOKEN_UNKNOWN	(~0ull)

/** enum bftm_msg_flag - modifiers of a request */
enum bftm_msg_flag {
	BFTM_FLAG_NOQUEUE = 1 << 0,	/* TRY: answer LOCKED, do not queue */
};

#define BFTM_FLAGS_KNOWN	BFTM_FLAG_NOQUEUE

/** enum bftm_mode - modes of a lock; see bftm_mode_mask() */
enum bftm_mode {
	BFTM_MODE_NL = 0,	/* null: nothing is held */
	BFTM_MODE_CR = 1,	/* concurrent read */
	BFTM_MODE_CW = 2,	/* concurrent write */
	BFTM_MODE_PR = 3,	/* protected read */
	BFTM_MODE_PW = 4,	/* protected write */
	BFTM_MODE_EX = 5,	/* exclusive: the one that servers grant today */
};

/** bftm_mode_mask() - a mode as a bit of a set of modes (himask) */
static inline u8 bftm_mode_mask(enum bftm_mode mode)
{
	return (u8)(1u << mode);
}

/** enum bftm_refusal - why a server refused (REFUSED, in @arg) */
enum bftm_refusal {
	BFTM_REFUSED_LEASE = 1,		/* Δ outside what the server grants */
	BFTM_REFUSED_LOCKS = 2,		/* lock table full */
	BFTM_REFUSED_CLIENTS = 3,	/* client table full */
	BFTM_REFUSED_ACCESS = 4,	/* not allowed for this client */
	BFTM_REFUSED_PROTO = 5,		/* message or protocol not served */
	BFTM_REFUSED_WAITERS = 6,	/* queue of the lock full */
	BFTM_REFUSED_TOKENS = 7,	/* not known which tokens were stamped */
	BFTM_REFUSED_OBJECTS = 8,	/* object table or its memory full */
	BFTM_REFUSED_STATE = 9,		/* state or operation too long, or malformed */
	BFTM_REFUSED_PENDING = 10,	/* too many operations wait for the object */
	BFTM_REFUSED_CLOCK = 12,	/* RECOVER: token above the server's wall clock */
	BFTM_REFUSED_BEHIND = 13,	/* HELLO: its number is long past, @gno was taken */
};

/**
 * struct bftm_wire - a datagram
 * @version:      BFTM_WIRE_VERSION
 * @type:         enum bftm_msg_type
 * @proto:        enum bftm_proto
 * @name_len:     bytes used of @name, 0 only in HELLO and its answer
 * @cluster:      number of the cluster, so that two never mix
 * @client:       number of the client, names the key
 * @server:       number of the server, names the key
 * @flags:        enum bftm_msg_flag
 * @server_epoch: what the client believes to be the server's incarnation;
 *                in a reply, what it is
 * @seq:          strictly increasing per client over all servers and restarts
 *                (incarnation in the high half); a server takes each once. A
 *                reply repeats the request's; 0 when it answers none
 * @attempt:      number of the attempt, incarnation in the high half, never
 *                used twice by a client
 * @k:            number of the send of this attempt that is asked or answered
 * @position:     in REFUSED the reason, in WAIT the place in the queue
 * @lease_ns:     in TRY the Δ asked for; in LOCKED and WAIT an estimate of the
 *                wait in ns; in CHALLENGE the longest lease granted
 * @prio:         Lamport priority; in replies the highest that was seen
 * @gno:          number of the grant; in CHALLENGE ns of quarantine left; in
 *                SACK and SNACK the token that was offered; in REFUSED, when the
 *                client's numbers are behind, the highest that was taken
 * @token:        in STAMP the token offered; in replies the highest stamped for
 *                this lock, in CHALLENGE for any
 * @name:         of the lock, filled up with zero bytes
 * @tag:          authentication
 */
struct bftm_wire {
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
	__le64 attempt;
	__le32 k;
	__le32 position;
	__le64 lease_ns;
	__le64 prio;
	__le64 gno;
	__le64 token;
	__u8 name[BFTM_NAME_LEN_MAX];
	__u8 tag[BFTM_TAG_LEN];
};

static_assert(sizeof(struct bftm_wire) == BFTM_WIRE_LEN);
static_assert(offsetof(struct bftm_wire, tag) == BFTM_TAGGED_LEN);

/**
 * struct bftm_msg - a message in the host's byte order
 * @mode: enum bftm_mode: in TRY and STAMP what is asked for, in FREE and INQUIRE what is granted
 * @arg:  in TRY the mode that its client holds already, in YIELD the mode that it keeps; in
 *        FREE, SACK and SNACK the set of modes that share the highest token; in REFUSED
 *        enum bftm_refusal
 *
 * The other fields are as above.
 */
struct bftm_msg {
	u8 type;
	u8 proto;
	u8 name_len;
	u8 mode;
	u8 arg;
	u16 server;
	u16 flags;
	u32 cluster;
	u32 client;
	u32 k;
	u32 position;
	u64 server_epoch;
	u64 seq;
	u64 attempt;
	u64 lease_ns;
	u64 prio;
	u64 gno;
	u64 token;
	u8 name[BFTM_NAME_LEN_MAX];
};

/** enum bftm_wire_error - why a datagram is not a message */
enum bftm_wire_error {
	BFTM_WIRE_OK,
	BFTM_WIRE_BAD_LENGTH,
	BFTM_WIRE_BAD_VERSION,
	BFTM_WIRE_BAD_TYPE,
	BFTM_WIRE_BAD_FLAGS,
	BFTM_WIRE_BAD_NAME,
};

/**
 * bftm_wire_get() - read a datagram
 * @buf: its payload, any alignment
 * @len: its length in bytes
 * @msg: the message, untouched on failure
 *
 * Checks the form only. The tag is the caller's to check, before it believes
 * a word of @msg. Requests and replies both pass.
 *
 * Return: BFTM_WIRE_OK or the first thing that is wrong.
 */
enum bftm_wire_error bftm_wire_get(const void *buf, size_t len,
				   struct bftm_msg *msg);

/**
 * bftm_wire_put() - write a message, all but its tag
 * @msg:  the message
 * @wire: the datagram, tag zeroed
 */
void bftm_wire_put(const struct bftm_msg *msg, struct bftm_wire *wire);

/** bftm_msg_name() - "TRY" for BFTM_MSG_TRY and so on, "?" for no type. */
const char *bftm_msg_name(u8 type);

/** bftm_refusal_name() - what a refusal means, in a few words. */
const char *bftm_refusal_name(u32 reason);

#endif /* BFTM_CORE_WIRE_H */
