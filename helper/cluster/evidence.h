/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which server lies? An answer that no honest server gives is named for what it is (lies.c,
 * lock/contradiction.c). Of other answers one client proves nothing, but it can count: a server
 * that disagrees with the quorums far more often than the others do is named as well
 * (lock/rounds.c). A late answer is no lie.
 */
#ifndef BFTM_EVIDENCE_H
#define BFTM_EVIDENCE_H

#include "cluster/lies.h"

struct bftm_cluster;

#define BFTM_EVIDENCE_LEN 96

/* Lies, and what is counted besides. */
#define BFTM_EVIDENCE_KINDS (BFTM_LIES + 4)

/** bftm_evidence_heard() - an answer with a number that is new; lies and speed are noted */
void bftm_evidence_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_evidence_disagreed() - server @u said LOCKED of a lock that enough others granted */
void bftm_evidence_disagreed(struct bftm_cluster *cl, u32 u);

/** bftm_evidence_judged() - a round was won, and it is known which servers disagreed in it */
void bftm_evidence_judged(struct bftm_cluster *cl);

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
 * @cl:   the cluster
 * @u:    its number, less than n
 * @list: gets an entry for each kind that there is
 * Return: how much there is; any makes it suspect.
 */
int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS]);

/** bftm_evidence_report() - tell the kernel who became suspect; call it often. */
void bftm_evidence_report(struct bftm_cluster *cl);

/** bftm_evidence_state() - "ok", "slow", "silent", "quarantine", "forgetful" or "unknown" */
const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now);

#endif /* BFTM_EVIDENCE_H */
