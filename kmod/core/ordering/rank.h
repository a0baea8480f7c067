/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a client chooses the rank of its next iteration, by what servers have shown of others'. */
#ifndef BFTM_CORE_ORDER_RANK_H
#define BFTM_CORE_ORDER_RANK_H

#include "core/ordering/client.h"

/** bftm_rank_highest() - the count that the next rank must exceed */
u64 bftm_rank_highest(const struct bftm_order *o, const struct bftm_order_cfg *cfg);

/** bftm_rank_spend() - servers may have promised the rank of COMMIT_GET: never use it again */
void bftm_rank_spend(struct bftm_order *o);

/** bftm_rank_timed_out() - no quorum has answered in time; the next rank is farther away */
void bftm_rank_timed_out(struct bftm_order *o, const struct bftm_order_cfg *cfg);

/**
 * bftm_rank_outranked() - an iteration is over because others have a higher rank
 * @o:       the ordering thread
 * @cfg:     the cluster
 * @by_many: so many servers have shown one that no quorum is left; else one was signed
 */
void bftm_rank_outranked(struct bftm_order *o, const struct bftm_order_cfg *cfg, bool by_many);

/** bftm_rank_forget_raises() - something was committed: the next rank is just above */
void bftm_rank_forget_raises(struct bftm_order *o);

/**
 * bftm_rank_note() - the rank that server @u shows in an EXCEPTION
 * @o:      the ordering thread
 * @u:      its number, less than n
 * @msg:    the EXCEPTION, authentic
 * @proven: it is signed by its client
 *
 * The rank counts after the end of the iteration, too. One signed rank ends an iteration, and a
 * liar that always answers first, with an old rank that is just above the client's, would else let
 * a client that is behind catch up step by step only.
 *
 * Return: false for a rank that no honest client reaches: ignore the message.
 */
bool bftm_rank_note(struct bftm_order *o, u32 u, const struct bftm_order_msg *msg, bool proven);

#endif /* BFTM_CORE_ORDER_RANK_H */
