// SPDX-License-Identifier: GPL-2.0
// prove: wp place: the place of a client in the list, which is ascending
// prove: wp bftm_pending_of: what waits of that client, if anything does
// prove: wp bftm_object_applied: looks only
// prove: wp bftm_pending_news: looks only
// prove: wp bftm_object_lacks_room: looks only
// prove: wp bftm_pending_tell: no more is told than there is room for
// prove: wp bftm_pending_add: one entry a client, and the list stays ascending
// prove: wp bftm_pending_drop: the list stays ascending, and becomes no longer
// prove: wp keep: all but two entries stay as they are
// frama-c bftm_pending_add: -wp-steps 300000
// frama-c bftm_pending_drop: -wp-steps 1000000
// frama-c bftm_pending_add bftm_pending_drop: -wp-no-pruning
// takes 20: bftm_pending_add bftm_pending_drop
#include "pending_contracts.h"
#include "core/ordering/pending.c"

static void move_up(struct bftm_pendings *pend, u32 i, u64 size)
{
	u32 k;

	/*@ loop invariant pend->count == \at(pend->count, Pre) && pend->room == \at(pend->room, Pre);
	  @ loop invariant i <= k <= pend->count;
	  @ loop invariant \forall integer j; 0 <= j < k ==>
	  @   pend->entry[j].client == \at(pend->entry[j].client, Pre);
	  @ loop invariant \forall integer j; k <= j < pend->count ==>
	  @   pend->entry[j + 1].client == \at(pend->entry[j].client, Pre);
	  @ loop assigns k, pend->entry[0 .. 1023];
	  @ loop variant k - i;
	  @*/
	for (k = pend->count; k > i; k--)
		pend->entry[k] = pend->entry[k - 1];
}

static void keep(struct bftm_pendings *pend, u32 front, u32 i)
{
	struct bftm_pending p;

	COPY_PENDING(p, pend->entry[i]);
	COPY_PENDING(pend->entry[i], pend->entry[front]);
	COPY_PENDING(pend->entry[front], p);
}
