// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "queue.h"

#define FIRST_ROOM 512

static bool before(const struct queue_key *a, const struct queue_key *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void grow(struct queue *q)
{
	u32 room = q->room ? 2 * q->room : FIRST_ROOM, i;

	q->heap = realloc(q->heap, room * sizeof(*q->heap));
	q->pool = realloc(q->pool, room * sizeof(*q->pool));
	q->unused = realloc(q->unused, room * sizeof(*q->unused));
	if (!q->heap || !q->pool || !q->unused) {
		fprintf(stderr, "no memory for the queue of events\n");
		abort();
	}
	for (i = q->room; i < room; i++)
		q->unused[i] = i;
	q->room = room;
}

struct event *queue_push(struct queue *q, u64 at, enum event_kind kind, u32 to)
{
	struct queue_key key = { .at = at, .order = q->order++ };
	struct event *e;
	u32 i, up;

	if (q->count == q->room)
		grow(q);
	/* unused[count …] are the events that are in no place of the heap. */
	i = q->count++;
	key.index = q->unused[i];
	for (; i; i = up) {
		up = (i - 1) / 4;
		if (!before(&key, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
	}
	q->heap[i] = key;
	e = &q->pool[key.index];
	e->at = at;
	e->kind = kind;
	e->to = to;
	e->part = 0;
	e->stamp = 0;
	e->from = 0;
	e->arg = 0;
	e->packet = NULL;
	return e;
}

/* The place where @last goes when the first place is empty. */
static u32 sift_down(struct queue *q, const struct queue_key *last)
{
	u32 i = 0, child, best, end;

	while ((child = 4 * i + 1) < q->count) {
		end = child + 4 < q->count ? child + 4 : q->count;
		for (best = child++; child < end; child++)
			if (before(&q->heap[child], &q->heap[best]))
				best = child;
		if (!before(&q->heap[best], last))
			break;
		q->heap[i] = q->heap[best];
		i = best;
	}
	return i;
}

bool queue_pop(struct queue *q, struct event *ret)
{
	struct queue_key last;
	const struct event *e;
	u32 index;

	if (!q->count)
		return false;
	index = q->heap[0].index;
	last = q->heap[--q->count];
	q->heap[sift_down(q, &last)] = last;
	q->unused[q->count] = index;
	e = &q->pool[index];
	if (e->kind == EVENT_TO_SERVER || e->kind == EVENT_TO_CLIENT)
		*ret = *e;
	else
		memcpy(ret, e, offsetof(struct event, msg));
	return true;
}

void queue_free(struct queue *q)
{
	free(q->heap);
	free(q->pool);
	free(q->unused);
}
