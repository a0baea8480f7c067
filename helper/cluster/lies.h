/* SPDX-License-Identifier: GPL-2.0 */
/* Answers that no honest server gives to the request that they name. */
#ifndef BFTM_LIES_H
#define BFTM_LIES_H

#include "core/wire.h"

/** enum bftm_lie - what no honest server says; see lies.c and lock/contradiction.c */
enum bftm_lie {
	BFTM_LIE_NONE,
	BFTM_LIE_EPOCH,
	BFTM_LIE_OTHER,
	BFTM_LIE_AHEAD,
	BFTM_LIE_PRIO,
	BFTM_LIE_PLACE,
	BFTM_LIE_BACK,
	BFTM_LIE_COUNT,
	BFTM_LIES,
};

/** bftm_lie_name() - what a server did, as the end of a sentence that begins with the server */
const char *bftm_lie_name(enum bftm_lie lie);

/**
 * struct bftm_asked - a request, for what is compared with its answer
 * @seq:     its number, 0 for none
 * @sent_ns: time before it was sent, bftm_now()
 * @attempt: that the request names
 * @epoch:   incarnation of the server that it names
 * @k:       number of the send
 * @flags:   enum bftm_msg_flag
 * @type:    enum bftm_msg_type
 * @proto:   enum bftm_proto
 * @value:   the priority of a TRY, the token of a STAMP, the incarnation of a SYNC
 * @name:    bftm_name_hash()
 * @u:       the server
 */
struct bftm_asked {
	u64 seq;
	u64 sent_ns;
	u64 attempt;
	u64 epoch;
	u64 value;
	u32 k;
	u32 name;
	u16 flags;
	u8 type;
	u8 proto;
	u8 u;
};

/** bftm_name_hash() - FNV-1a; two names with one hash pass for each other */
static inline u32 bftm_name_hash(const struct bftm_msg *msg)
{
	u32 hash = 2166136261u, i;

	for (i = 0; i < msg->name_len; i++)
		hash = (hash ^ msg->name[i]) * 16777619u;
	return hash;
}

/** bftm_asked_value() - @value of struct bftm_asked */
static inline u64 bftm_asked_value(const struct bftm_msg *req)
{
	switch (req->type) {
	case BFTM_MSG_STAMP:
		return req->token;
	case BFTM_MSG_SYNC:
		return req->incarnation;
	default:
		return req->prio;
	}
}

/** bftm_asked_of() - as it is sent to server @u */
static inline struct bftm_asked bftm_asked_of(const struct bftm_msg *req, u32 u, u64 now)
{
	return (struct bftm_asked){
		.seq = req->seq, .sent_ns = now, .attempt = req->attempt,
		.epoch = req->server_epoch, .k = req->k, .flags = req->flags, .type = req->type,
		.value = bftm_asked_value(req), .name = bftm_name_hash(req), .proto = req->proto, .u = (u8)u,
	};
}

/** bftm_decides_try() - does this answer decide a TRY? */
static inline bool bftm_decides_try(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_FREE || msg->type == BFTM_MSG_LOCKED ||
	       msg->type == BFTM_MSG_WAIT;
}

/** bftm_token_said() - the token that an answer names; one that is not known is less than any */
static inline u64 bftm_token_said(const struct bftm_msg *msg)
{
	return msg->token == BFTM_TOKEN_UNKNOWN ? 0 : msg->token;
}

/**
 * bftm_answer_lies() - would no honest server answer that request so?
 * @asked: with the number of @msg
 * @u:     who has sent @msg
 * @msg:   the answer, authentic and fresh
 */
enum bftm_lie bftm_answer_lies(const struct bftm_asked *asked, u32 u,
			       const struct bftm_msg *msg);

#define BFTM_EPOCHS_LEFT 4

/** struct bftm_left - an epoch that was over when requests above @after_seq were sent */
struct bftm_left {
	u64 epoch;
	u64 after_seq;
};

/**
 * struct bftm_epochs - the starts of one server
 * @epoch:     the one it has; 0 before it is known
 * @after_seq: last sequence number when @epoch was heard of
 * @left:      earlier ones, in a ring
 * @next:      number of earlier ones so far
 */
struct bftm_epochs {
	u64 epoch;
	u64 after_seq;
	struct bftm_left left[BFTM_EPOCHS_LEFT];
	u32 next;
};

/**
 * bftm_epochs_believe() - the server has this new epoch
 * @e:     the starts of the server
 * @epoch: the new one
 * @asked: number of the request that it said so to
 * @seq:   last sequence number used
 */
void bftm_epochs_believe(struct bftm_epochs *e, u64 epoch, u64 asked, u64 seq);

/** bftm_epochs_return() - was this epoch over when that request was sent? */
bool bftm_epochs_return(const struct bftm_epochs *e, u64 epoch, u64 asked);

#endif /* BFTM_LIES_H */
