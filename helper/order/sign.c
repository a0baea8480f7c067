// SPDX-License-Identifier: GPL-2.0
/* Signatures of ranks: made for GET, checked of EXCEPTION. core/ordering/client.c chooses ranks. */
#include "cluster/cluster.h"
#include "order/ordering.h"
#include "crypto/rank_keys.h"

bool bftm_rank_sign(const struct bftm_order_work *w, const struct bftm_rank *rank,
		    u8 ret[BFTM_SIGNATURE_LEN])
{
	const struct bftm_ordering *o = w->ordering;
	struct bftm_rank_keys *keys = w->cluster->rank_keys;

	return keys && !bftm_rank_keys_sign(keys, o->name, o->len, rank, ret);
}

bool bftm_rank_genuine(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	struct bftm_rank_keys *keys = w->cluster->rank_keys;

	/* Of an iteration that is over it counts as well. A server that missed GET has none. */
	if (!keys || !msg->signature || msg->rank.client != w->order.rank.client ||
	    msg->rank.incarnation != w->order.rank.incarnation)
		return false;
	if (bftm_rank_keys_verify(keys, w->ordering->name, w->ordering->len, &msg->max,
				  msg->signature))
		return true;
	w->cluster->peer[u].record.false_signatures += bftm_rank_keys_know(keys, msg->max.client);
	return false;
}
