/* SPDX-License-Identifier: GPL-2.0 */
/* Answers of a server about a lock, compared with its earlier ones. */
#ifndef BFTM_CONTRADICTION_H
#define BFTM_CONTRADICTION_H

#include "core/client.h"
#include "cluster/lies.h"

/**
 * struct bftm_claim - what one server said of one lock, by one of its epochs
 * @epoch:     its incarnation
 * @gno:       highest grant that it named; 0 for none
 * @whole:     @gno is all of the number: LOCKED and WAIT name its low half
 * @token:     highest fencing token that it named
 * @after_seq: last sequence number used when it said so
 * @free_seq:  the same, when it last said FREE to this attempt; 0: never
 * @prio:      the priority that it named last
 * @prio_ns:   when the request was sent that it answered by @prio
 * @prio_seq:  last sequence number used when it answered so
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
	bool whole;
};

/* Says this message that another has the lock? In a quarantine nobody has. */
static inline bool bftm_says_locked(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_LOCKED ||
	       (msg->type == BFTM_MSG_WAIT && msg->position);
}

/**
 * bftm_contradicts() - does it contradict what this server said before?
 * @claim: what it said, by its present epoch; updated
 * @c:     the attempt that @msg is about, before it sees @msg
 * @cfg:   the cluster
 * @granted_ns: of this server, see struct bftm_client_ops
 * @msg:   the answer, authentic and fresh
 * @sent_ns: when the request was sent that it answers; 0: not known, or it answers nothing
 * @seq:   last sequence number used
 * @now:   of bftm_now(), ns
 *
 * No honest server does, however messages are delayed, lost or reordered.
 */
enum bftm_lie bftm_contradicts(struct bftm_claim *claim, const struct bftm_contender *c,
			       const struct bftm_client_cfg *cfg, u64 granted_ns,
			       const struct bftm_msg *msg, u64 sent_ns, u64 seq, u64 now);

#endif /* BFTM_CONTRADICTION_H */
