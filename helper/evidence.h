/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which server lies? One client cannot prove it, but it can count: who
 * disagrees with the quorums far more often than the others do is named.
 */
#ifndef BFTM_EVIDENCE_H
#define BFTM_EVIDENCE_H

#include "../kmod/core/backoff_client.h"

struct bftm_acquire_op;
struct bftm_cluster;

#define BFTM_EVIDENCE_LEN 96
#define BFTM_EVIDENCE_KINDS 8

/**
 * struct bftm_claim - what one server said of one lock, by one of its epochs
 * @epoch:     its incarnation
 * @gno:       highest grant that it named
 * @token:     highest fencing token that it named
 * @after_seq: what was asked after it said so has higher sequence numbers
 * @free_seq:  the same, of when it last said FREE to this attempt; 0: never
 */
struct bftm_claim {
	u64 epoch;
	u64 gno;
	u64 token;
	u64 after_seq;
	u64 free_seq;
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
 * @u:     the server
 * @seq:   last sequence number used
 *
 * No honest server does, however messages are delayed, lost or reordered.
 */
bool bftm_contradicts(struct bftm_claim *claim, const struct bftm_contend *c,
		      const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 seq, u64 now);

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

/** bftm_evidence_state() - "ok", "silent", "quarantine" or "unknown" */
const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now);

#endif /* BFTM_EVIDENCE_H */
