// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lines 2.3–7: what b + 1 servers say alike, a correct one says too. So does the state that a
 * client has committed itself: the correct ones of q servers have it, and no other state of that
 * version is ever committed.
 */
#include "core/ordering/client.h"

void bftm_vote_begin(struct bftm_vote *v, u64 op, u32 offset)
{
	v->op = op;
	v->offset = offset;
	v->heard = 0;
	memset(v->refusal, 0, sizeof(v->refusal));
}

bool bftm_vote_refused(u32 refusal[BFTM_SERVERS_MAX], const struct bftm_order_cfg *cfg, u32 u,
		       u32 reason)
{
	u32 i, votes = 0;

	refusal[u] = reason;
	for (i = 0; i < cfg->n; i++)
		votes += refusal[i] == reason;
	return reason && votes > cfg->b;
}

static bool vote_same(const struct bftm_vote *v, u32 a, u32 b)
{
	return v->said[a].len == v->said[b].len &&
	       v->said[a].data_len == v->said[b].data_len &&
	       !memcmp(v->said[a].data, v->said[b].data, v->said[a].data_len);
}

int bftm_vote_count(struct bftm_vote *v, const struct bftm_order_cfg *cfg, u32 u,
		    const struct bftm_order_msg *msg)
{
	u32 i, votes = 0;

	if (msg->type != BFTM_ORDER_RESPONSE || msg->op != v->op ||
	    msg->offset != v->offset || msg->data_len > BFTM_ORDER_SAID_MAX)
		return -1;
	if (msg->id.len == BFTM_RESPONSE_GONE ? msg->data_len != 0 : msg->id.len > BFTM_OP_MAX)
		return -1;
	v->said[u].len = msg->id.len;
	v->said[u].data_len = msg->data_len;
	if (msg->data_len)
		memcpy(v->said[u].data, msg->data, msg->data_len);
	v->heard |= 1u << u;
	for (i = 0; i < cfg->n; i++)
		votes += v->heard >> i & 1 && vote_same(v, i, u);
	return votes > cfg->b ? (int)u : -1;
}

bool bftm_vote_committed(const struct bftm_order *o, const struct bftm_body_id *id, const u8 *state,
			 u64 op, struct bftm_applied *ret)
{
	return bftm_body_same(id, &o->next) && bftm_state_find(state, o->rank.client, ret) &&
	       ret->op == op && !ret->gone;
}
