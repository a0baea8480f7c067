/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maekawa's algorithm with a way back, so that it does not deadlock (Section 15.2.1 names Sanders).
 * A voter that has voted for a later request than one that it hears of asks the candidate back:
 * INQUIRE, YIELD. Two algorithms differ in when the candidate gives the vote back:
 *
 *   sanders   at once, unless it is in the critical section
 *   inquire   after a FAIL, which says that a voter prefers another (Maekawa's rule); each that is
 *             displaced in a queue needs its FAIL, too (Sanders), or a cycle of waiters remains
 *
 * Votes have numbers, which INQUIRE and YIELD repeat: where links do not keep the order an INQUIRE
 * may overtake its VOTE. The text says that requests enter in the order of happened-before. A voter
 * can only order requests that it has: one may come late, and a chain of other messages make a
 * process ask that is heard earlier. By rule LC2 that is rare.
 */
#ifndef BFTM_PEER_SANDERS_H
#define BFTM_PEER_SANDERS_H

#include "voting_set.h"

enum { REQUEST, VOTE, RELEASE, INQUIRE, YIELD, FAIL };

/** struct ballot - a request at a voter, ordered by (@stamp, @who) */
struct ballot {
	u32 who, number, stamp;
};

/**
 * struct sanders - a process, candidate and voter
 * @number:  of its request
 * @votes:   as a set
 * @yielded: by voter, the number of the last vote that it gave back
 * @asked:   voters that want their vote back, in vain as yet ("inquire")
 * @failed:  a voter prefers another, and the vote has not come since ("inquire"), as a set
 * @vote:    of this voter, if @has_voted
 * @grant:   number of the last vote
 * @queue:   in no order
 */
struct sanders {
	bool wants, is_inside, at_once;
	u32 number, stamp;
	u64 votes;
	u32 yielded[PEERS_MAX];
	u32 granted[PEERS_MAX];
	u64 asked, failed;
	bool has_voted, has_inquired;
	struct ballot vote;
	u32 grant, waiting;
	struct ballot queue[PEERS_MAX * 2];
};

/** voter_request() - a candidate asks for the vote of this voter. */
void voter_request(struct peer *p, const struct ballot *new);

/** voter_release() - a candidate needs no vote for this request any more. */
void voter_release(struct peer *p, u32 from, u32 number);

/** voter_yield() - a candidate gives the vote back. */
void voter_yield(struct peer *p, u32 from, const struct peer_note *note);

#endif /* BFTM_PEER_SANDERS_H */
