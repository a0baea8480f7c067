// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of queues. A queue comes with the first waiter, doubles, and goes
 * when the shard's timer finds it empty, or with its lock: so what an owner
 * changes hands over is not allocated each time, and an idle lock has none.
 */
#include <linux/slab.h>

#include "locks.h"

void bftm_waiters_free(struct bftm_shard *s, struct bftm_entry *e)
{
	lockdep_assert_held(&s->lock);
	if (!e->lock.queue)
		return;
	atomic_sub(e->lock.queue->room, &s->table->room);
	kfree(e->lock.queue);
	e->lock.queue = NULL;
}

void bftm_waiters_enlarge(struct bftm_shard *s, struct bftm_entry *e, u32 max)
{
	struct bftm_queue *old = e->lock.queue, *q;
	u32 had = old ? old->room : 0;
	u32 room = min(max_t(u32, 2 * had, BFTM_QUEUE_ROOM), max);

	lockdep_assert_held(&s->lock);
	if (room <= had)
		return;
	if (atomic_add_return(room - had, &s->table->room) > s->table->room_max)
		goto undo;
	q = kmalloc(struct_size(q, waiter, room), GFP_NOWAIT | __GFP_NOWARN);
	if (!q)
		goto undo;
	q->count = old ? old->count : 0;
	q->room = room;
	if (old)
		memcpy(q->waiter, old->waiter, q->count * sizeof(*q->waiter));
	e->lock.queue = q;
	kfree(old);
	return;
undo:
	atomic_sub(room - had, &s->table->room);
}
