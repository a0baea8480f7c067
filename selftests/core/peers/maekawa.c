// SPDX-License-Identifier: GPL-2.0
/*
 * Maekawa's voting algorithm as printed, Section 15.2.1, Figure 15.6. Candidates that have some of
 * the votes each wait for each other for ever; sanders.c has a way back.
 */
#include "algorithms.h"
#include "voting_set.h"

#define QUEUE_MAX (4 * PEERS_MAX)

enum { REQUEST, REPLY, RELEASE };

static const char *const kinds[] = { "REQUEST", "REPLY", "RELEASE" };

enum maekawa_state { OUTSIDE, WAITING, INSIDE };

/** struct maekawa - a process, candidate and voter */
struct maekawa {
	enum maekawa_state state;
	u32 replies;
	bool has_voted;
	u32 waiting;
	u32 queue[QUEUE_MAX];	/* oldest first */
};

static void maekawa_vote(struct peer *p, u32 to)
{
	((struct maekawa *)p->state)->has_voted = true;
	peer_tell(p, to, &(struct peer_note){ .kind = REPLY });
}

static void take_request(struct peer *p, u32 from)
{
	struct maekawa *s = p->state;

	if (s->state != INSIDE && !s->has_voted)
		maekawa_vote(p, from);
	else if (s->waiting < QUEUE_MAX)
		s->queue[s->waiting++] = from;
}

static void take_release(struct peer *p)
{
	struct maekawa *s = p->state;
	u32 to;

	s->has_voted = false;
	if (!s->waiting)
		return;
	to = s->queue[0];
	memmove(s->queue, s->queue + 1, --s->waiting * sizeof(*s->queue));
	maekawa_vote(p, to);
}

static void take_reply(struct peer *p)
{
	struct maekawa *s = p->state;

	if (s->state != WAITING || ++s->replies < (u32)__builtin_popcountll(voting_set(p)))
		return;
	s->state = INSIDE;
	peer_enter(p);
}

static void maekawa_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		take_request(p, from);
	else if (note->kind == RELEASE)
		take_release(p);
	else
		take_reply(p);
}

/* It votes for everybody. */
static void maekawa_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		maekawa_vote(p, from);
}

static void maekawa_want(struct peer *p)
{
	struct maekawa *s = p->state;

	s->state = WAITING;
	s->replies = 0;
	voting_send(p, &(struct peer_note){ .kind = REQUEST });
}

static void maekawa_leave(struct peer *p)
{
	((struct maekawa *)p->state)->state = OUTSIDE;
	voting_send(p, &(struct peer_note){ .kind = RELEASE });
}

const struct peer_algorithm peer_maekawa = {
	.name = "maekawa", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_HONEST, .promises = RULE_ME1,
	.size = sizeof(struct maekawa),
	.hear = maekawa_hear, .lie = maekawa_lie, .want = maekawa_want, .leave = maekawa_leave,
};
