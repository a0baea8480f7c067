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

/** bftm_evidence_round() - a round of try() by @op was decided */
void bftm_evidence_round(struct bftm_cluster *cl,
			 const struct bftm_acquire_op *op,
			 const struct bftm_out *out);

/**
 * bftm_evidence_answer() - an answer arrived, before the core sees it
 * @op: that is under way for this lock, NULL for none
 */
void bftm_evidence_answer(struct bftm_cluster *cl, u32 u,
			  const struct bftm_acquire_op *op,
			  const struct bftm_msg *msg);

/**
 * bftm_evidence_list() - what speaks against server @u
 * @text: room for four sentences
 * Return: how many there are; any makes it suspect.
 */
int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       char text[4][BFTM_EVIDENCE_LEN]);

/** bftm_evidence_state() - "ok", "silent", "quarantine" or "unknown" */
const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now);

#endif /* BFTM_EVIDENCE_H */
