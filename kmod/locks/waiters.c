// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of queues, and of values. A queue comes with the first waiter, or with the first
 * holder that may leave a value, doubles, and goes when the shard's timer finds it empty, or with
 * its lock: so what an owner changes hands over is not allocated each time, and an idle lock has
 * none but for its value.
 */
#include <linux/slab.h>

#include "locks/locks.h"

void bftm_waiters_free(struct bftm_shard *s, struct bftm_entry *e)
{
	const struct bftm_server_ops *ops = s->table->ops;

	lockdep_assert_held(&s->lock);
	if (!ops->wants_room)
		return;
	atomic_sub(ops->room(e->state), &s->table->room);
	kfree(ops->move_room(e->state, NULL, 0));
}

void bftm_waiters_enlarge(struct bftm_shard *s, struct bftm_entry *e, u32 room)
{
	const struct bftm_server_ops *ops = s->table->ops;
	u32 more = room - ops->room(e->state);
	void *block;

	lockdep_assert_held(&s->lock);
	if (atomic_add_return(more, &s->table->room) > s->table->room_max)
		goto undo;
	block = kmalloc(ops->room_size(room), GFP_NOWAIT | __GFP_NOWARN);
	if (!block)
		goto undo;
	kfree(ops->move_room(e->state, block, room));
	return;
undo:
	atomic_sub(more, &s->table->room);
}
