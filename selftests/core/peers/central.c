// SPDX-License-Identifier: GPL-2.0
/* The central server algorithm, Section 15.2.1, Figure 15.2. Process 0 is the server. */
#include "algorithms.h"

#define SERVER 0

enum { REQUEST, GRANT, RELEASE };

static const char *const kinds[] = { "REQUEST", "GRANT", "RELEASE" };

/** struct central - the server's state; a client needs none */
struct central {
	bool is_granted;	/* somebody has the token */
	u32 queue[PEERS_MAX * 4];	/* oldest first; a client is in it twice if doubled */
	u32 waiting;
};

static void central_grant(struct peer *p, u32 to)
{
	struct central *s = p->state;

	s->is_granted = true;
	peer_tell(p, to, &(struct peer_note){ .kind = GRANT });
}

static void central_release(struct peer *p)
{
	struct central *s = p->state;
	u32 to;

	s->is_granted = false;
	if (!s->waiting)
		return;
	to = s->queue[0];
	memmove(s->queue, s->queue + 1, --s->waiting * sizeof(*s->queue));
	central_grant(p, to);
}

static void central_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct central *s = p->state;

	if (note->kind == GRANT)
		peer_enter(p);
	else if (note->kind == RELEASE)
		central_release(p);
	else if (!s->is_granted)
		central_grant(p, from);
	else if (s->waiting < sizeof(s->queue) / sizeof(*s->queue))
		s->queue[s->waiting++] = from;
}

/* Everybody gets a token. */
static void central_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		central_grant(p, from);
}

static void central_want(struct peer *p)
{
	peer_tell(p, SERVER, &(struct peer_note){ .kind = REQUEST });
}

static void central_leave(struct peer *p)
{
	peer_tell(p, SERVER, &(struct peer_note){ .kind = RELEASE });
}

const struct peer_algorithm peer_central = {
	.name = "central", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_MEMORY | ASSUME_HONEST,
	.promises = RULE_ME1 | RULE_ME2,
	.servers = 1, .size = sizeof(struct central),
	.hear = central_hear, .lie = central_lie, .want = central_want, .leave = central_leave,
};
