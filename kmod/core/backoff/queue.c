// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/queue.h"
#include "core/lease.h"

struct bftm_waiter *bftm_queue_find(struct bftm_queue *q, u32 client)
{
	u32 i;

	for (i = 0; q && i < q->count; i++)
		if (q->waiter[i].client == client)
			return &q->waiter[i];
	return NULL;
}

struct bftm_waiter *bftm_queue_first(struct bftm_queue *q)
{
	struct bftm_waiter *first = NULL;
	u32 i;

	for (i = 0; q && i < q->count; i++)
		if (!first || bftm_waits_before(&q->waiter[i], first))
			first = &q->waiter[i];
	return first;
}

u32 bftm_queue_position(const struct bftm_queue *q, const struct bftm_waiter *w)
{
	u32 i, position = 1;

	for (i = 0; q && i < q->count; i++)
		position += bftm_waits_before(&q->waiter[i], w);
	return position;
}

/* Who waits behind all others. */
static struct bftm_waiter *last_one(struct bftm_queue *q)
{
	struct bftm_waiter *last = NULL;
	u32 i;

	for (i = 0; i < q->count; i++)
		if (!last || bftm_waits_before(last, &q->waiter[i]))
			last = &q->waiter[i];
	return last;
}

struct bftm_waiter *bftm_queue_add(struct bftm_queue *q,
				   const struct bftm_waiter *me)
{
	struct bftm_waiter *w;

	if (!q)
		return NULL;
	if (q->count < q->room) {
		w = &q->waiter[q->count++];
	} else {
		w = last_one(q);
		if (!w || !bftm_waits_before(me, w))
			return NULL;
	}
	*w = *me;
	return w;
}

void bftm_queue_remove(struct bftm_queue *q, struct bftm_waiter *w)
{
	*w = q->waiter[--q->count];
}

void bftm_queue_forget(struct bftm_queue *q, u64 now)
{
	u32 i = 0;

	while (q && i < q->count) {
		struct bftm_waiter *w = &q->waiter[i];

		if (now - w->heard_ns > bftm_poll_window(w->lease_ns))
			bftm_queue_remove(q, w);
		else
			i++;
	}
}

struct bftm_queue *bftm_queue_move(const struct bftm_queue *q, void *block, u32 room)
{
	struct bftm_queue *moved = block;

	if (!moved)
		return NULL;
	moved->count = q ? q->count : 0;
	moved->room = room;
	if (moved->count)
		memcpy(moved->waiter, q->waiter, moved->count * sizeof(*moved->waiter));
	return moved;
}
