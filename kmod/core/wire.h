/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams between clients and servers: a head, the name of the lock, a body by type, the
 * tag (core/form.h, core/wire_forms.h). A datagram is as long as what it says and a multiple of
 * 8 bytes; no answer is longer than its request, so nothing is ever amplified. All integers are
 * little-endian. The tag is SipHash-2-4-128 over all that stands before it, under a key for this
 * client, this server and this direction. A message has one spelling: what a type does not name
 * is 0, and a datagram of any other form is dropped.
 */
#ifndef BFTM_CORE_WIRE_H
#define BFTM_CORE_WIRE_H

#include "core/form.h"

/* The longest about a lock: TRY with a name and a value of 64 bytes each. */
#define BFTM_WIRE_LEN_MAX	224

/** enum bftm_proto - which protocol's pair of cores a message is for */
enum bftm_proto {
	BFTM_PROTO_BACKOFF = 1,	/* Chockler, Malkhi, Reiter, Section 4 */
	BFTM_PROTO_ORDER = 2,	/* the same, Section 6; see core/ordering/wire.h */
	BFTM_PROTO_TEST = 0xf0,	/* and above: tests' own, with the messages of locks */
};

/**
 * enum bftm_msg_type - what a message says; what a server sends has bit 7 set
 * @BFTM_MSG_NONE:      no message: the core's word for silence
 * @BFTM_MSG_HELLO:     what is your epoch? (answered by CHALLENGE)
 * @BFTM_MSG_TRY:       try() of Figure 1, with Δ and the send number k
 * @BFTM_MSG_RELEASE:   attempt is over, release or cancel it
 * @BFTM_MSG_YIELD:     take grant @gno back and queue the attempt again, or leave it the
 *                      mode in @arg; not answered
 * @BFTM_MSG_STAMP:     may @token be the fencing token of this attempt?
 * @BFTM_MSG_RECOVER:   after a restart: no server stamped more than @token
 * @BFTM_MSG_SYNC:      the client has told of all that it holds without a lease
 * @BFTM_MSG_ASK:       who has the lock?
 * @BFTM_MSG_STALE:     the request is for another epoch than that in the head, and was not read
 * @BFTM_MSG_CHALLENGE: my epoch is in the head, and what I am
 * @BFTM_MSG_FREE:      FREE of Figure 1: granted to this attempt
 * @BFTM_MSG_LOCKED:    LOCKED of Figure 1: granted to another
 * @BFTM_MSG_WAIT:      not yet: queued, or in quarantine (@position 0)
 * @BFTM_MSG_RELEASED:  the attempt named owns nothing here any more
 * @BFTM_MSG_REFUSED:   not done, for the reason in @arg
 * @BFTM_MSG_INQUIRE:   one that goes before it waits: would you yield @gno?
 * @BFTM_MSG_SACK:      token @gno accepted
 * @BFTM_MSG_SNACK:     token @gno refused, @token was stamped before
 * @BFTM_MSG_SYNCED:    answer to SYNC
 * @BFTM_MSG_OWNER:     answer to ASK
 * @BFTM_MSG_PROBE:     do you still hold this without a lease?
 * @BFTM_MSG_VERSION:   this server speaks version @arg
 *
 * FREE, INQUIRE and PROBE come unasked, then with @seq 0. Servers without members refuse SYNC
 * (BFTM_REFUSED_PROTO).
 */
enum bftm_msg_type {
	BFTM_MSG_NONE = 0,
	BFTM_MSG_HELLO = 0x01,
	BFTM_MSG_TRY = 0x02,
	BFTM_MSG_RELEASE = 0x03,
	BFTM_MSG_YIELD = 0x04,
	BFTM_MSG_STAMP = 0x05,
	BFTM_MSG_RECOVER = 0x06,
	BFTM_MSG_SYNC = 0x07,
	BFTM_MSG_ASK = 0x08,
	BFTM_MSG_STALE = 0x80,
	BFTM_MSG_CHALLENGE = 0x81,
	BFTM_MSG_FREE = 0x82,
	BFTM_MSG_LOCKED = 0x83,
	BFTM_MSG_WAIT = 0x84,
	BFTM_MSG_RELEASED = 0x85,
	BFTM_MSG_REFUSED = 0x86,
	BFTM_MSG_INQUIRE = 0x87,
	BFTM_MSG_SACK = 0x88,
	BFTM_MSG_SNACK = 0x89,
	BFTM_MSG_SYNCED = 0x8a,
	BFTM_MSG_OWNER = 0x8b,
	BFTM_MSG_PROBE = 0x8c,
	BFTM_MSG_VERSION = 0xff,
};

#define BFTM_MSG_REPLY		0x80

/* In @value_k of a request: a grant that the client does not know. The value is in doubt then. */
#define BFTM_GRANT_OTHER	(~0u)

/* In @token of an answer: not known since a restart, see BFTM_MSG_RECOVER. */
#define BFTM_TOKEN_UNKNOWN	(~0ull)

/** enum bftm_msg_flag - modifiers; the lowest three bits of the byte are a mode */
enum bftm_msg_flag {
	BFTM_FLAG_NOQUEUE = 1 << 3,	/* TRY: answer LOCKED, do not queue */
	BFTM_FLAG_REASSERT = 1 << 4,	/* TRY: held without a lease since before the restart */
	BFTM_FLAG_VALUE = 1 << 5,	/* with a value behind the body */
	BFTM_FLAG_DOUBT = 1 << 6,	/* the value may not be the last that was written */
	BFTM_FLAG_DEADLOCK = 1 << 7,	/* this conversion and another exclude each other */
};

/** enum bftm_feature - what a server says that it does, in @features of CHALLENGE */
enum bftm_feature {
	BFTM_FEATURE_PRIO = 1 << 0,	/* a grant takes a higher priority of its attempt */
};

/** enum bftm_mode - modes of a lock; see bftm_mode_mask() */
enum bftm_mode {
	BFTM_MODE_NL = 0,	/* null: nothing is held */
	BFTM_MODE_CR = 1,	/* concurrent read */
	BFTM_MODE_CW = 2,	/* concurrent write */
	BFTM_MODE_PR = 3,	/* protected read */
	BFTM_MODE_PW = 4,	/* protected write */
	BFTM_MODE_EX = 5,	/* exclusive */
	BFTM_MODES
};

/** bftm_mode_mask() - a mode as a bit of a set of modes (himask) */
static inline u8 bftm_mode_mask(enum bftm_mode mode)
{
	return (u8)(1u << mode);
}

/** bftm_mode_conflicts() - the set of modes that no other may hold beside @mode */
static inline u8 bftm_mode_conflicts(enum bftm_mode mode)
{
	static const u8 conflicts[BFTM_MODES] = {
		[BFTM_MODE_CR] = 1 << BFTM_MODE_EX,
		[BFTM_MODE_CW] = 1 << BFTM_MODE_PR | 1 << BFTM_MODE_PW | 1 << BFTM_MODE_EX,
		[BFTM_MODE_PR] = 1 << BFTM_MODE_CW | 1 << BFTM_MODE_PW | 1 << BFTM_MODE_EX,
		[BFTM_MODE_PW] = 1 << BFTM_MODE_CW | 1 << BFTM_MODE_PR | 1 << BFTM_MODE_PW |
				 1 << BFTM_MODE_EX,
		[BFTM_MODE_EX] = 1 << BFTM_MODE_CR | 1 << BFTM_MODE_CW | 1 << BFTM_MODE_PR |
				 1 << BFTM_MODE_PW | 1 << BFTM_MODE_EX,
	};

	return conflicts[mode];
}

/** bftm_modes_conflict() - do two modes exclude each other? */
static inline bool bftm_modes_conflict(enum bftm_mode a, enum bftm_mode b)
{
	return bftm_mode_conflicts(a) >> b & 1;
}

/** bftm_mode_covers() - does the holder of @mode exclude all that a holder of @other excludes? */
static inline bool bftm_mode_covers(enum bftm_mode mode, enum bftm_mode other)
{
	return !(bftm_mode_conflicts(other) & ~bftm_mode_conflicts(mode));
}

/** bftm_mode_writes() - does a holder of @mode exclude all other writers, and may store a value? */
static inline bool bftm_mode_writes(enum bftm_mode mode)
{
	return mode >= BFTM_MODE_PW;
}

/** bftm_mode_join() - the weakest mode that covers two modes */
static inline enum bftm_mode bftm_mode_join(enum bftm_mode a, enum bftm_mode b)
{
	if (bftm_mode_covers(a, b))
		return a;
	return bftm_mode_covers(b, a) ? b : BFTM_MODE_PW;	/* CW and PR: the one other pair */
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
	BFTM_REFUSED_EVICTED = 11,	/* this incarnation of the client was evicted */
	BFTM_REFUSED_CLOCK = 12,	/* RECOVER: token above the server's wall clock */
	BFTM_REFUSED_BEHIND = 13,	/* HELLO: its number is long past, @gno was taken */
	BFTM_REFUSED_UNNOTED = 14,	/* not yet: the roll does not name this incarnation */
};

/**
 * struct bftm_msg - a message in the host's byte order
 * @version:      of the datagram that it was; used of VERSION, which has that of its request
 * @type:         enum bftm_msg_type
 * @proto:        enum bftm_proto
 * @name_len:     bytes used of @name
 * @mode:         enum bftm_mode: in TRY and STAMP what is asked for, in FREE and INQUIRE what
 *                is granted
 * @arg:          in TRY the mode that its client holds already, in YIELD the mode that it
 *                keeps; in FREE, SACK and SNACK the set of modes that share the highest token;
 *                in REFUSED enum bftm_refusal; in VERSION the version
 * @value_len:    bytes of the value; more than @value_room: it is not there
 * @value_room:   bytes behind the body, a multiple of 8
 * @server:       number of the server, as in struct bftm_wire_head
 * @cluster:      number of the cluster, likewise
 * @client:       number of the client, likewise
 * @server_epoch: incarnation of the server, its @epoch; 0 is not known
 * @seq:          number of the request, likewise
 * @flags:        enum bftm_msg_flag
 * @k:            number of the send of this attempt that is asked, or granted
 * @position:     in WAIT the place in the queue
 * @attempt:      number of the attempt, incarnation in the high half, never used twice by a
 *                client; in STALE and REFUSED the first word of the request's body, which for
 *                most requests is its attempt
 * @lease_ns:     in TRY the Δ asked for; in LOCKED and WAIT an estimate of the wait in ns; in
 *                CHALLENGE and REFUSED (BFTM_REFUSED_LEASE) the longest lease granted; in OWNER
 *                what is left
 * @prio:         Lamport priority; in what a server sends the highest that was seen
 * @gno:          number of the grant, of which LOCKED and WAIT have the low half; in CHALLENGE
 *                ns of quarantine left; in SACK and SNACK the token that was offered; in REFUSED
 *                (BFTM_REFUSED_BEHIND) the highest number that was taken
 * @token:        in STAMP the token offered; in RECOVER the highest stamped elsewhere; in what a
 *                server sends the highest stamped for this lock, in CHALLENGE for any
 * @owner:        in OWNER the client that has the lock: of several the least one that has it in the
 *                strongest mode; then @attempt is its attempt. Both are 0 for none
 * @waiters:      in OWNER the number of clients that wait
 * @holders:      in OWNER the number of clients that have a grant
 * @incarnation:  of SYNC and SYNCED
 * @features:     of HELLO and CHALLENGE: enum bftm_feature; 0 in HELLO
 * @spared:       in CHALLENGE: servers of the cluster that may restart without quarantine
 * @recovering:   in CHALLENGE: 1 if the server waits for SYNC
 * @value_k:      the grant by which the value was written, the low half of its number at this
 *                server; 0: nothing is written
 * @name:         of the lock
 * @value:        @value_len bytes of it count
 *
 * core/wire_forms.h says which of them a type has; the others are left alone by
 * bftm_wire_put(), and 0 after bftm_wire_get().
 */
struct bftm_msg {
	u8 version;
	u8 type;
	u8 proto;
	u8 name_len;
	u8 mode;
	u8 arg;
	u8 value_len;
	u8 value_room;
	u8 spared;
	u8 recovering;
	u16 server;
	u16 flags;
	u32 cluster;
	u32 client;
	u32 k;
	u32 position;
	u32 owner;
	u32 waiters;
	u32 holders;
	u32 incarnation;
	u32 features;
	u32 value_k;
	u64 server_epoch;
	u64 seq;
	u64 attempt;
	u64 lease_ns;
	u64 prio;
	u64 gno;
	u64 token;
	u8 name[BFTM_NAME_LEN_MAX];
	u8 value[BFTM_VALUE_LEN_MAX];
};

/**
 * struct bftm_wire - a datagram about a lock
 * @len:  bytes of it
 * @data: the bytes
 * @head: the first of them
 */
struct bftm_wire {
	size_t len;
	union {
		__u8 data[BFTM_WIRE_LEN_MAX];
		struct bftm_wire_head head;
	};
};

/**
 * bftm_wire_get() - read a datagram
 * @buf: its payload, any alignment
 * @len: its length in bytes
 * @msg: the message; undefined on failure but for BFTM_WIRE_BAD_VERSION, when it has what later
 *       versions keep of the head
 *
 * Checks the form only. The tag is the caller's to check, before it believes
 * a word of @msg. Messages of servers and of clients both pass.
 *
 * Of a protocol that has no number here any request passes, with the first word of its body as
 * attempt: enough to refuse it.
 *
 * Return: BFTM_WIRE_OK or what is wrong.
 */
enum bftm_wire_error bftm_wire_get(const void *buf, size_t len,
				   struct bftm_msg *msg);

/**
 * bftm_wire_write() - write a message, all but its tag
 * @msg: the message, of a type that has a form
 * @buf: of BFTM_WIRE_LEN_MAX bytes, any alignment
 * Return: bytes of the datagram, tag included.
 */
size_t bftm_wire_write(const struct bftm_msg *msg, void *buf);

/** bftm_wire_put() - bftm_wire_write(), with the tag zeroed */
void bftm_wire_put(const struct bftm_msg *msg, struct bftm_wire *wire);

/** bftm_wire_form() - of a type of messages about locks, or NULL */
const struct bftm_form *bftm_wire_form(u8 type);

/** bftm_wire_common() - is the form of this type the same in each protocol? */
bool bftm_wire_common(u8 type);

/**
 * bftm_epoch_known() - may this answer count as a grant or a stamp?
 * @msg:   the answer
 * @epoch: of the server, as its newest CHALLENGE said
 *
 * CHALLENGE says what the server forgot; STALE tells no more than where to send. So a client
 * that has read an epoch in STALE alone counts no FREE and no SACK of it: see bftm_discount().
 */
static inline bool bftm_epoch_known(const struct bftm_msg *msg, u64 epoch)
{
	return (msg->type != BFTM_MSG_FREE && msg->type != BFTM_MSG_SACK) ||
	       msg->server_epoch == epoch;
}

/**
 * bftm_discount() - make an answer one that does not count
 * @msg: the answer, changed
 *
 * FREE then answers no send, so that its grant does not count; an attempt that is over still gives
 * the grant back.
 * Return: true for FREE; false for any other answer, which is to be dropped.
 */
static inline bool bftm_discount(struct bftm_msg *msg)
{
	msg->k = 0;
	return msg->type == BFTM_MSG_FREE;
}

/** bftm_msg_name() - "TRY" for BFTM_MSG_TRY and so on, "?" for no type. */
const char *bftm_msg_name(u8 type);

/** bftm_refusal_name() - what a refusal means, in a few words. */
const char *bftm_refusal_name(u32 reason);

#endif /* BFTM_CORE_WIRE_H */
