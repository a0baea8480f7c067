// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/rank.h"
#include "core/quorum.h"

/*
 * A client that reaches only one server, for hours, leaves it with a rank that is 2^TIMEOUT_RAISE
 * higher at each time-out. That server may lie, and show these ranks one by one; or it is correct,
 * and the only one that a later client still has to win over. A client that is shown higher ranks
 * passes 2^16 of these at a time in the end.
 */
#define TIMEOUT_RAISE	16
#define SHOWN_RAISE	32

/*
 * The new rank comes from the (b + 1)-th largest report: the largest may be a
 * liar's, who would drive ranks to their end. A signed one is no lie.
 */
u64 bftm_rank_highest(const struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	u64 seen = bftm_kth_largest(o->reported, cfg->n, cfg->b + 1);

	if (seen < o->proven)
		seen = o->proven;
	return o->rank.count < seen ? seen : o->rank.count;
}

void bftm_rank_spend(struct bftm_order *o)
{
	if (o->rank.count < o->then)
		o->rank.count = o->then;
	o->then = 0;
}

/*
 * By 1, 2, 4 …, in the end 2^@most: there may be a rank that too few have shown, or
 * that a liar keeps back. @row: how often before.
 */
static void raise(struct bftm_order *o, u32 *row, u32 most)
{
	o->rank.count += 1ull << (*row < most ? *row : most);
	(*row)++;
}

void bftm_rank_forget_raises(struct bftm_order *o)
{
	o->timeouts = 0;
	o->proofs = 0;
}

void bftm_rank_timed_out(struct bftm_order *o, const struct bftm_order_cfg *cfg)
{
	bool shown = bftm_kth_largest(o->reported, cfg->n, 1) > o->rank.count;

	raise(o, &o->timeouts, shown ? SHOWN_RAISE : TIMEOUT_RAISE);
	/* Honest clients, none of which gets through, show each other their ranks. */
	o->proofs = 0;
}

void bftm_rank_outranked(struct bftm_order *o, const struct bftm_order_cfg *cfg, bool by_many)
{
	o->rank.count = bftm_rank_highest(o, cfg);
	if (by_many)
		bftm_rank_forget_raises(o);
	else
		raise(o, &o->proofs, SHOWN_RAISE);
}

bool bftm_rank_note(struct bftm_order *o, u32 u, const struct bftm_order_msg *msg, bool proven)
{
	if (msg->max.count > BFTM_RANK_COUNT_MAX)
		return false;
	if (o->reported[u] < msg->max.count)
		o->reported[u] = msg->max.count;
	if (proven && o->proven < msg->max.count)
		o->proven = msg->max.count;
	return true;
}
