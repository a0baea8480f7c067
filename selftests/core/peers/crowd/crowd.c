// SPDX-License-Identifier: GPL-2.0
/* The world of crowd.h, and the actions of peer.h in it. */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "selftests/core/sim/queue.h"
#include "selftests/core/sim/rng.h"
#include "crowd.h"

enum crowd_event { ARRIVE, WAKE, COME, LEAVE, FORGET };

/** struct letter - a message on its way; @next: of those that are free */
struct letter {
	struct peer_note note;
	u32 from, next;
};

/** struct place - of a server or a client; @delay: by server, ticks */
struct place {
	struct peer peer;
	u64 wake_at;
	bool is_here, is_inside;
	u32 delay[CROWD_SERVERS];
};

static const struct crowd_plan *plan;
static struct queue queue;
static struct rng rng;
static struct place place[PEER_CROWD];
static struct letter *letters;
static u32 letters_free, letters_room;
static u64 now, entries, messages;

#define NO_LETTER (~0u)

static struct event *push(u64 at, enum crowd_event part, u32 to, u64 arg)
{
	struct event *e = queue_push(&queue, at, EVENT_PEER, to);

	e->part = part;
	e->arg = arg;
	return e;
}

static double draw_mean(double mean)
{
	return -log(1 - (double)(rng_next(&rng) >> 11) / 9007199254740992.) * mean;
}

/* At least a tick: else a client that yields to itself does so for ever, at one instant. */
static u32 draw_delay(void)
{
	u32 ms = CROWD_SECOND / 1000;

	return (u32)rng_between(&rng, plan->least * ms ?: 1, plan->most * ms);
}

static bool is_measured(void)
{
	return now >= (u64)plan->warming * CROWD_SECOND;
}

static u32 new_letter(void)
{
	u32 i, room = letters_room ? 2 * letters_room : 4096;

	if (letters_free == NO_LETTER) {
		letters = realloc(letters, room * sizeof(*letters));
		if (!letters)
			err(2, "no memory");
		for (i = letters_room; i < room; i++) {
			letters[i].next = letters_free;
			letters_free = i;
		}
		letters_room = room;
	}
	i = letters_free;
	letters_free = letters[i].next;
	return i;
}

void peer_tell(struct peer *p, u32 to, const struct peer_note *note)
{
	u32 i = new_letter();
	u32 delay = to < p->servers ? place[p->id].delay[to] : place[to].delay[p->id];

	letters[i].note = *note;
	letters[i].note.clock = ++p->clock;
	letters[i].from = p->id;
	messages += is_measured();
	push(now + delay, ARRIVE, to, i);
}

void peer_wake_after(struct peer *p, u64 ticks)
{
	place[p->id].wake_at = now + ticks;
	push(now + ticks, WAKE, p->id, 0);
}

void peer_enter(struct peer *p)
{
	struct place *c = &place[p->id];

	if (!c->is_here || c->is_inside)
		return;
	c->is_inside = true;
	entries += is_measured();
	push(now, LEAVE, p->id, 0);
}

u64 peer_now(const struct peer *p)
{
	(void)p;
	return now;
}

u64 peer_random(struct peer *p, u64 below)
{
	(void)p;
	return rng_below(&rng, below);
}

/* A client takes a free place. More than there are places for cannot wait; that some do is enough. */
static void come(void)
{
	u32 i, u;

	push(now + (u64)draw_mean(CROWD_SECOND / plan->arrivals), COME, 0, 0);
	for (i = CROWD_SERVERS; i < PEER_CROWD && place[i].is_here;)
		i++;
	if (i == PEER_CROWD)
		return;
	place[i].is_here = true;
	for (u = 0; u < CROWD_SERVERS; u++)
		place[i].delay[u] = draw_delay();
	plan->algorithm->want(&place[i].peer);
}

static void leave(struct place *c)
{
	c->is_here = c->is_inside = false;
	plan->algorithm->leave(&c->peer);
}

static void start(struct place *c)
{
	memset(c->peer.state, 0, plan->algorithm->size);
	if (plan->algorithm->start)
		plan->algorithm->start(&c->peer);
}

static void arrive(struct place *c, u32 i)
{
	struct letter l = letters[i];

	letters[i].next = letters_free;
	letters_free = i;
	if (c->peer.clock < l.note.clock)
		c->peer.clock = l.note.clock;
	c->peer.clock++;
	plan->algorithm->hear(&c->peer, l.from, &l.note);
}

static void handle(const struct event *e)
{
	struct place *c = &place[e->to];

	if (e->part == ARRIVE) {
		arrive(c, (u32)e->arg);
	} else if (e->part == WAKE) {
		if (c->wake_at == now)
			plan->algorithm->wake(&c->peer);
	} else if (e->part == COME) {
		come();
	} else if (e->part == LEAVE) {
		leave(c);
	} else {
		start(c);
		push(now + (u64)draw_mean(plan->lifetime * CROWD_SECOND), FORGET, e->to, 0);
	}
}

static void begin(u64 seed)
{
	u32 i;

	rng.state = seed;
	now = entries = messages = 0;
	letters_free = NO_LETTER;
	letters_room = 0;
	queue_reset(&queue);
	for (i = 0; i < PEER_CROWD; i++) {
		void *state = place[i].peer.state ?: malloc(CROWD_STATE_MAX);

		if (!state)
			err(2, "no memory");
		place[i] = (struct place){ .peer = {
			.id = i, .n = PEER_CROWD, .servers = CROWD_SERVERS, .majority = CROWD_WINS,
			.lease = 10 * CROWD_SECOND,
			.lacks = plan->lacks, .state = state,
		} };
		start(&place[i]);
	}
	for (i = 0; i < CROWD_SERVERS && plan->lifetime > 0; i++)
		push((u64)draw_mean(plan->lifetime * CROWD_SECOND), FORGET, i, 0);
	push(0, COME, 0, 0);
}

struct crowd_result crowd_run(const struct crowd_plan *asked, u64 seed)
{
	u64 end = (u64)(asked->warming + asked->measured) * CROWD_SECOND;
	struct event e;

	plan = asked;
	begin(seed);
	while (queue_pop(&queue, &e) && e.at < end) {
		now = e.at;
		handle(&e);
	}
	return (struct crowd_result){
		.rate = (double)entries / asked->measured,
		.messages = entries ? (double)messages / (double)entries : 0,
	};
}
