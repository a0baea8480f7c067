/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The choice between the kernel and the helper, for each acquire. The helper takes the acquires
 * that the kernel cannot make by itself, and some that it could, to record which servers disagree
 * with others.
 */
#ifndef BFTM_CHOICE_H
#define BFTM_CHOICE_H

#include <linux/types.h>

struct bftm_net;
struct bftm_request;
struct bftm_session;
struct bftm_want;

/*
 * Rounds that the helper sees after one in which servers disagreed. If they may only have learned
 * of two clients in different orders, the helper sees the next round.
 */
#define BFTM_CHOICE_WATCH 16

/* All of them with the upcall's lock held. */

/** bftm_choice_may() - can the kernel ask for that lock by itself? */
bool bftm_choice_may(struct bftm_net *bn, const struct bftm_request *request);

/** bftm_choice_takes() - does the kernel take the next acquire that it may? Each call is one. */
bool bftm_choice_takes(struct bftm_session *s);

/**
 * bftm_choice_want() - what the servers are asked for
 * @s:       the session
 * @request: one for which bftm_choice_may() is true
 * @want:    all of it is written
 */
void bftm_choice_want(const struct bftm_session *s, const struct bftm_request *request,
		      struct bftm_want *want);

/**
 * bftm_choice_in_vain() - too few servers answer, or can be asked: so it may well be next time
 * @s:        the session
 * @begun_ns: when they were asked first, by the clock of leases
 *
 * Unless enough have answered another attempt since then: where many ask, some answers are late.
 */
void bftm_choice_in_vain(struct bftm_session *s, u64 begun_ns);

/** bftm_choice_heard() - enough servers answer, at @now by the clock of leases */
void bftm_choice_heard(struct bftm_session *s, u64 now);

/**
 * bftm_choice_disputed() - the helper has to see the next acquires
 * @s:        the session
 * @acquires: so many
 *
 * Where hosts contend for locks, servers often disagree for a moment: the helper sees one of
 * seventeen acquires at most.
 */
void bftm_choice_disputed(struct bftm_session *s, u32 acquires);

#endif /* BFTM_CHOICE_H */
