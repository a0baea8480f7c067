// SPDX-License-Identifier: GPL-2.0
/*
 * Ricart and Agrawala's algorithm, Section 15.2.1, Figure 15.4. The request's number T is taken in
 * the step that sends it. Two repairs of the printed form: rule LC2 sets the clock by each message
 * (the world does so), and the replies to this request are a set, where the figure counts replies.
 */
#include "algorithms.h"

enum { REQUEST, REPLY };

static const char *const kinds[] = { "REQUEST", "REPLY" };

enum ricart_state { OUTSIDE, WAITING, INSIDE };

/**
 * struct ricart - a process
 * @stamp:   T, of its request
 * @replies: as a set
 * @count:   of them, as printed
 * @queued:  the processes whose requests wait for a reply
 * @theirs:  the numbers of these
 */
struct ricart {
	enum ricart_state state;
	u32 stamp;
	u64 replies;
	u32 count;
	u64 queued;
	u32 theirs[PEERS_MAX];
};

static void ricart_reply(struct peer *p, u32 to, u32 stamp)
{
	peer_tell(p, to, &(struct peer_note){ .kind = REPLY, .stamp = stamp });
}

static void take_reply(struct peer *p, u32 from, u32 stamp)
{
	struct ricart *s = p->state;
	bool is_set = peer_has(p, REPAIR_SET);

	if (s->state != WAITING || (is_set && stamp != s->stamp))
		return;
	s->replies |= 1ull << from;
	s->count++;
	if (is_set ? s->replies != (peer_all(p) & ~(1ull << p->id)) : s->count != p->n - 1)
		return;
	s->state = INSIDE;
	peer_enter(p);
}

/* (T, p) < (T', p'): are we before them? */
static bool is_first(const struct peer *p, u32 stamp, u32 other)
{
	const struct ricart *s = p->state;

	return s->stamp != stamp ? s->stamp < stamp : p->id < other;
}

static void ricart_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct ricart *s = p->state;

	if (note->kind == REPLY) {
		take_reply(p, from, note->stamp);
	} else if (s->state == INSIDE || (s->state == WAITING && is_first(p, note->stamp, from))) {
		s->queued |= 1ull << from;
		s->theirs[from] = note->stamp;
	} else {
		ricart_reply(p, from, note->stamp);
	}
}

/* It replies to nobody. */
static void ricart_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	(void)p, (void)from, (void)note;
}

static void ricart_want(struct peer *p)
{
	struct ricart *s = p->state;

	s->state = WAITING;
	s->stamp = ++p->clock;
	s->replies = 0;
	s->count = 0;
	peer_send_all(p, &(struct peer_note){ .kind = REQUEST, .stamp = s->stamp }, false);
}

static void ricart_leave(struct peer *p)
{
	struct ricart *s = p->state;
	u32 to;

	s->state = OUTSIDE;
	for (to = 0; to < p->n; to++)
		if (s->queued >> to & 1)
			ricart_reply(p, to, s->theirs[to]);
	s->queued = 0;
}

const struct peer_algorithm peer_ricart = {
	.name = "ricart", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_HONEST, .repairs = REPAIR_LC2 | REPAIR_SET,
	.promises = RULE_ME1 | RULE_ME2 | RULE_ME3, .size = sizeof(struct ricart),
	.hear = ricart_hear, .lie = ricart_lie, .want = ricart_want, .leave = ricart_leave,
};
