/* SPDX-License-Identifier: GPL-2.0 */
/* Future events, in the order of true time. */
#ifndef BFTM_SIM_QUEUE_H
#define BFTM_SIM_QUEUE_H

#include "core/wire.h"

struct packet;

/** enum event_kind - what happens, and to whom */
enum event_kind {
	EVENT_TO_SERVER,	/* a datagram arrives at server @to */
	EVENT_TO_CLIENT,	/* a datagram of server @from arrives at client @to */
	EVENT_WAKE,		/* timer of contend() of @part at client @to */
	EVENT_RELEASE,		/* timer of a release at client @to */
	EVENT_APP,		/* the application of @part at client @to acts */
	EVENT_ORPHAN,		/* … of a holder whose helper is gone */
	EVENT_ASK,		/* it looks whether it still holds */
	EVENT_EXPIRE,		/* timer of lock @part at server @to */
	EVENT_RECOVER,		/* client @to asks server @part for its tokens (again) */
	EVENT_START,		/* server or client @to starts (again) */
	EVENT_FAULT,		/* the next of a kind of fault, @part */
	EVENT_INTRUDE,		/* an intruder talks to server @to */
	EVENT_EVICT,		/* server @to evicts client @part, up to incarnation @arg */
	EVENT_HELLO,		/* member @to says HELLO to all servers, again and again */
	EVENT_SILENCE,		/* server @to falls silent, for ever */
	EVENT_HEAL,		/* the end of all faults */
	EVENT_LOOK,		/* a checker wants to look, @part */
	EVENT_SCRIPT,		/* a line of a golden scenario, @part */
	EVENT_ORDER_TO_SERVER,	/* a datagram of the ordering protocol, @packet */
	EVENT_ORDER_TO_CLIENT,	/* … of server @from */
	EVENT_ORDER_WAKE,	/* timer of the ordering thread of client @to */
	EVENT_ORDER_APP,	/* its application submits */
	EVENT_PEER,		/* of the world of selftests/core/peers, @part */
};

/**
 * struct event - one of them
 * @stamp: an event is void when its object has another stamp by now
 * @arg:   by kind
 * @packet: of the ordering protocol
 * @msg:   of a datagram; not set for others
 */
struct event {
	u64 at;
	u64 arg;
	u32 to;
	u32 part;
	u32 stamp;
	u16 from;
	u8 kind;
	struct packet *packet;
	struct bftm_msg msg;
};

/** struct queue_key - place of an event in the heap */
struct queue_key {
	u64 at;
	u32 order;	/* decides between equal times: first come, first served */
	u32 index;
};

/**
 * struct queue - a heap of keys, four children to a node (and to a cache line),
 * and a pool of events that are reused, so that nothing is allocated on the way
 */
struct queue {
	struct queue_key *heap;
	struct event *pool;
	u32 *unused;
	u32 count;
	u32 room;
	u32 order;
};

/**
 * queue_push() - something will happen at @at
 * Return: the event, for the caller to fill in; good until the next push.
 */
struct event *queue_push(struct queue *q, u64 at, enum event_kind kind, u32 to);

/** queue_pop() - the next; false when nothing is left. */
bool queue_pop(struct queue *q, struct event *ret);

static inline void queue_reset(struct queue *q)
{
	u32 i;

	/* Events of the heap go back: the first count places are the used ones. */
	for (i = 0; i < q->room; i++)
		q->unused[i] = i;
	q->count = 0;
	q->order = 0;
}

void queue_free(struct queue *q);

#endif /* BFTM_SIM_QUEUE_H */
