// SPDX-License-Identifier: GPL-2.0
/* Signed ranks: what goes with GET, and what is made of what comes with EXCEPTION. */
#include <string.h>

#include "cluster/cluster.h"
#include "order/ordering.h"
#include "crypto/rank.h"

bool bftm_rank_sign(const struct bftm_order_work *w, u8 ret[BFTM_SIGNATURE_LEN])
{
	const struct bftm_ordering *o = w->ordering;
	struct bftm_rank_keys *keys = w->cluster->rank_keys;

	return keys && !bftm_rank_keys_sign(keys, o->name, o->len, &w->order.rank, ret);
}

bool bftm_rank_genuine(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg)
{
	static const u8 none[BFTM_SIGNATURE_LEN];
	struct bftm_rank_keys *keys = w->cluster->rank_keys;
	struct bftm_order_exception e;
	struct bftm_rank rank;

	/* Of an iteration that is over it counts as well. */
	if (!keys || msg->data_len != sizeof(e) || msg->rank.client != w->order.rank.client ||
	    msg->rank.incarnation != w->order.rank.incarnation)
		return false;
	memcpy(&e, msg->data, sizeof(e));
	rank.count = le64_to_cpu(e.count);
	rank.client = le32_to_cpu(e.client);
	rank.incarnation = le32_to_cpu(e.incarnation);
	/* A server that missed the GET has no signature to show. */
	if (!memcmp(e.signature, none, sizeof(none)))
		return false;
	if (bftm_rank_keys_verify(keys, w->ordering->name, w->ordering->len, &rank,
				  e.signature))
		return true;
	w->cluster->peer[u].record.false_signatures += bftm_rank_keys_know(keys, rank.client);
	return false;
}
