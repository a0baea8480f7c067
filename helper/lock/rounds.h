/* SPDX-License-Identifier: GPL-2.0 */
/* Servers that disagree with the others, round by round. */
#ifndef BFTM_ROUNDS_H
#define BFTM_ROUNDS_H

#include "core/client.h"
#include "lock/contradiction.h"

struct bftm_acquire_op;
struct bftm_cluster;

/**
 * struct bftm_heard - what servers said to an attempt
 * @attempt:  its number
 * @won_ns:   when it was won, 0 before
 * @won_seq:  last sequence number used then
 * @free:     servers whose first answer was FREE
 * @locked:   servers whose first answer was that another has it
 * @denied:   servers that say so although it was won
 * @at_once:  the attempt was won by first answers
 * @claim:    kept over attempts
 */
struct bftm_heard {
	u64 attempt;
	u64 won_ns;
	u64 won_seq;
	u32 free;
	u32 locked;
	u32 denied;
	bool at_once;
	struct bftm_claim claim[BFTM_SERVERS_MAX];
};

/** bftm_evidence_round() - a round or poll of try() by @op was decided */
void bftm_evidence_round(struct bftm_cluster *cl, struct bftm_acquire_op *op,
			 const struct bftm_out *out);

/** bftm_evidence_over() - @op contends or holds no more */
void bftm_evidence_over(struct bftm_cluster *cl, struct bftm_acquire_op *op);

/**
 * bftm_evidence_answer() - an answer arrived, before the core sees it
 * @cl:  the cluster
 * @u:   number of the server, less than n
 * @op:  that is under way for this lock, NULL for none
 * @msg: the answer, authentic and fresh
 */
void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  struct bftm_acquire_op *op,
			  const struct bftm_msg *msg);

#endif /* BFTM_ROUNDS_H */
