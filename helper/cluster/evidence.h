/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which server lies? What no honest server says is named for what it is
 * (lock/contradiction.c). Of the rest one client proves nothing, but it can count: who
 * disagrees with the quorums far more often than the others do is named as well
 * (lock/rounds.c). Late is no lie.
 */
#ifndef BFTM_EVIDENCE_H
#define BFTM_EVIDENCE_H

#include "core/client.h"

struct bftm_acquire_op;
struct bftm_cluster;

#define BFTM_EVIDENCE_LEN 96

/** enum bftm_lie - what no honest server says; see lock/contradiction.c */
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

/* Lies, and what is counted besides. */
#define BFTM_EVIDENCE_KINDS (BFTM_LIES + 4)

/** bftm_lie_name() - what a server did, as the end of a sentence that begins with the server */
const char *bftm_lie_name(enum bftm_lie lie);

/**
 * struct bftm_asked - a request, for what is compared with its answer
 * @seq:     its number, 0 for none
 * @sent_ns: read before it was sent
 * @attempt, @epoch, @k, @flags, @type, @proto: what it says
 * @value:   the priority of a TRY, the token of a STAMP
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

/** bftm_name_hash() - FNV-1a; of two names that are alike in it one passes for the other */
static inline u32 bftm_name_hash(const struct bftm_msg *msg)
{
	u32 hash = 2166136261u, i;

	for (i = 0; i < msg->name_len; i++)
		hash = (hash ^ msg->name[i]) * 16777619u;
	return hash;
}

/** bftm_asked_of() - as it is sent to server @u */
static inline struct bftm_asked bftm_asked_of(const struct bftm_msg *req, u32 u, u64 now)
{
	return (struct bftm_asked){
		.seq = req->seq, .sent_ns = now, .attempt = req->attempt,
		.epoch = req->server_epoch, .k = req->k, .flags = req->flags, .type = req->type,
		.value = req->type == BFTM_MSG_STAMP ? req->token : req->prio,
		.name = bftm_name_hash(req), .proto = req->proto, .u = (u8)u,
	};
}

/**
 * bftm_answer_lies() - is this no answer to that request?
 * @asked: with the number of @msg
 * @u:     who has sent @msg
 */
enum bftm_lie bftm_answer_lies(const struct bftm_asked *asked, u32 u,
			       const struct bftm_msg *msg);

#define BFTM_EPOCHS_LEFT 4

/** struct bftm_left - an epoch that is over for what was asked after @after_seq */
struct bftm_left {
	u64 epoch;
	u64 after_seq;
};

/**
 * struct bftm_epochs - the starts of one server
 * @epoch:     the one it has; what was asked after it was heard of is above @after_seq
 * @left:      earlier ones, @next of them were
 */
struct bftm_epochs {
	u64 epoch;
	u64 after_seq;
	struct bftm_left left[BFTM_EPOCHS_LEFT];
	u32 next;
};

/**
 * bftm_epochs_believe() - the server has this new epoch
 * @asked: number of the request that it said so to
 * @seq:   last sequence number used
 */
void bftm_epochs_believe(struct bftm_epochs *e, u64 epoch, u64 asked, u64 seq);

/** bftm_epochs_return() - was this epoch over when that request was sent? */
bool bftm_epochs_return(const struct bftm_epochs *e, u64 epoch, u64 asked);

/**
 * struct bftm_claim - what one server said of one lock, by one of its epochs
 * @epoch:     its incarnation
 * @gno:       highest grant that it named
 * @token:     highest fencing token that it named
 * @after_seq: what was asked after it said so has higher sequence numbers
 * @free_seq:  the same, of when it last said FREE to this attempt; 0: never
 * @prio:      the priority that it named last, in answer to what was sent at @prio_ns
 * @prio_seq:  the same, of that
 */
struct bftm_claim {
	u64 epoch;
	u64 gno;
	u64 token;
	u64 after_seq;
	u64 free_seq;
	u64 prio;
	u64 prio_ns;
	u64 prio_seq;
};

/**
 * struct bftm_heard - what servers said to an attempt
 * @attempt:  its number
 * @begun_ns: when its first try was sent
 * @won_ns:   when it was won, 0 before
 * @won_seq:  what was asked after that has higher sequence numbers
 * @free:     servers whose first answer was FREE
 * @locked:   servers whose first answer was that another has it
 * @denied:   servers that say so although it was won
 * @at_once:  won by first answers
 * @judged:   first answers were judged
 * @claim:    kept over attempts
 */
struct bftm_heard {
	u64 attempt;
	u64 begun_ns;
	u64 won_ns;
	u64 won_seq;
	u32 free;
	u32 locked;
	u32 denied;
	bool at_once;
	bool judged;
	struct bftm_claim claim[BFTM_SERVERS_MAX];
};

/* Says this message that another has the lock? In a quarantine nobody has. */
static inline bool bftm_says_locked(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_LOCKED ||
	       (msg->type == BFTM_MSG_WAIT && msg->position);
}

/** bftm_evidence_round() - a round or poll of try() by @op was decided */
void bftm_evidence_round(struct bftm_cluster *cl, struct bftm_acquire_op *op,
			 const struct bftm_out *out);

/** bftm_evidence_over() - @op contends or holds no more */
void bftm_evidence_over(struct bftm_cluster *cl, struct bftm_acquire_op *op);

/** bftm_evidence_heard() - an answer with a number that is new; lies and speed are noted */
void bftm_evidence_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/**
 * bftm_evidence_answer() - an answer arrived, before the core sees it
 * @op: that is under way for this lock, NULL for none
 */
void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  struct bftm_acquire_op *op,
			  const struct bftm_msg *msg);

/**
 * bftm_contradicts() - does it contradict what this server said before?
 * @claim: what it said, by its present epoch; updated
 * @c:     the attempt that @msg is about, before it sees @msg
 * @granted_ns: of this server, see struct bftm_client_ops
 * @sent_ns: when that was sent which it answers; 0: not known, or it answers nothing
 * @seq:   last sequence number used
 *
 * No honest server does, however messages are delayed, lost or reordered.
 */
enum bftm_lie bftm_contradicts(struct bftm_claim *claim, const struct bftm_contender *c,
			       const struct bftm_client_cfg *cfg, u64 granted_ns,
			       const struct bftm_msg *msg, u64 sent_ns, u64 seq, u64 now);

/**
 * struct bftm_evidence - what speaks against a server
 * @what:  in a few words
 * @count: how often it did that
 * @text:  both in a sentence that begins with the server
 */
struct bftm_evidence {
	const char *what;
	u64 count;
	char text[BFTM_EVIDENCE_LEN];
};

/**
 * bftm_evidence_list() - what speaks against server @u
 * Return: how much there is; any makes it suspect.
 */
int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS]);

/** bftm_evidence_report() - tell the kernel who became suspect; call it often. */
void bftm_evidence_report(struct bftm_cluster *cl);

/** bftm_evidence_state() - "ok", "slow", "silent", "quarantine" or "unknown" */
const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now);

#endif /* BFTM_EVIDENCE_H */
