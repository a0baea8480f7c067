// SPDX-License-Identifier: GPL-2.0
/* The ring-based algorithm, Section 15.2.1, Figure 15.3. Process 0 has the token at first. */
#include "algorithms.h"

enum { TOKEN };

static const char *const kinds[] = { "TOKEN" };

/** struct ring - a process */
struct ring {
	bool has_lied;
	bool wants;	/* from the wish to the exit: the token stays here */
};

static void pass_on(struct peer *p)
{
	peer_tell(p, (p->id + 1) % p->n, &(struct peer_note){ .kind = TOKEN });
}

static void ring_start(struct peer *p)
{
	if (!p->id)
		pass_on(p);
}

static void ring_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct ring *s = p->state;

	(void)from;
	(void)note;
	if (s->wants)
		peer_enter(p);
	else
		pass_on(p);
}

/* Once it makes a second token, for the other half of the ring. */
static void ring_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	struct ring *s = p->state;

	if (!s->has_lied)
		peer_tell(p, (p->id + p->n / 2) % p->n, &(struct peer_note){ .kind = TOKEN });
	s->has_lied = true;
	ring_hear(p, from, note);
}

static void ring_want(struct peer *p)
{
	((struct ring *)p->state)->wants = true;
}

static void ring_leave(struct peer *p)
{
	((struct ring *)p->state)->wants = false;
	pass_on(p);
}

const struct peer_algorithm peer_ring = {
	.name = "ring", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_HONEST, .promises = RULE_ME1 | RULE_ME2,
	.size = sizeof(struct ring),
	.start = ring_start, .hear = ring_hear, .lie = ring_lie, .want = ring_want, .leave = ring_leave,
};
