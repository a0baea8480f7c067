// SPDX-License-Identifier: GPL-2.0
/*
 * Total order by agreed numbers (ISIS), Section 15.4.3, Figure 15.14. The text leaves out that a
 * number has its process with it, which decides between equal ones ("pair"); without that a process
 * delivers equal ones as they came. Over links that keep the order it is FIFO and causal, too.
 */
#include "algorithms.h"

#define MESSAGES 64

enum { MESSAGE, PROPOSAL, AGREED };

static const char *const kinds[] = { "MESSAGE", "PROPOSAL", "AGREED" };

/** struct isis_held - a message in the hold-back queue */
struct isis_held {
	bool is_held, is_agreed;
	u32 stamp, who, arrival;
};

/**
 * struct isis - a process
 * @agreed:   A: the largest agreed number
 * @proposed: P: the largest one that it has proposed
 * @arrivals: messages so far
 * @answers:  by own message, the processes that have proposed
 * @best:     … and the largest proposal
 */
struct isis {
	u32 agreed, proposed, arrivals;
	u64 answers[MESSAGES];
	struct isis_held best[MESSAGES];
	struct isis_held held[MESSAGES];
};

static bool is_less(const struct peer *p, const struct isis_held *a, const struct isis_held *b)
{
	if (a->stamp != b->stamp)
		return a->stamp < b->stamp;
	return peer_has(p, REPAIR_PAIR) ? a->who < b->who : a->arrival < b->arrival;
}

/* The front of the queue, while its number is agreed. */
static void deliver_agreed(struct peer *p)
{
	struct isis *s = p->state;
	struct isis_held *front;
	u32 i;

	do {
		for (front = NULL, i = 0; i < MESSAGES; i++)
			if (s->held[i].is_held && (!front || is_less(p, &s->held[i], front)))
				front = &s->held[i];
		if (!front || !front->is_agreed)
			return;
		front->is_held = false;
		peer_deliver(p, (u32)(front - s->held));
	} while (true);
}

static void propose_number(struct peer *p, u32 from, u32 value)
{
	struct isis *s = p->state;

	s->proposed = (s->agreed > s->proposed ? s->agreed : s->proposed) + 1;
	s->held[value] = (struct isis_held){
		.is_held = true, .stamp = s->proposed, .who = p->id, .arrival = s->arrivals++,
	};
	peer_tell(p, from, &(struct peer_note){
		.kind = PROPOSAL, .value = value, .stamp = s->proposed, .who = p->id });
}

static void take_proposal(struct peer *p, u32 from, const struct peer_note *note)
{
	struct isis *s = p->state;
	struct isis_held *best = &s->best[note->value];
	struct isis_held new = { .stamp = note->stamp, .who = note->who };

	if (s->answers[note->value] == peer_all(p))
		return;
	s->answers[note->value] |= 1ull << from;
	if (!best->stamp || is_less(p, best, &new))
		*best = new;
	if (s->answers[note->value] == peer_all(p))
		peer_send_all(p, &(struct peer_note){ .kind = AGREED, .value = note->value,
			.stamp = best->stamp, .who = best->who }, true);
}

static void isis_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct isis *s = p->state;
	struct isis_held *held = &s->held[note->value];

	if (note->kind == MESSAGE) {
		propose_number(p, from, note->value);
	} else if (note->kind == PROPOSAL) {
		take_proposal(p, from, note);
	} else {
		if (note->stamp > s->agreed)
			s->agreed = note->stamp;
		held->stamp = note->stamp;
		held->who = note->who;
		held->is_agreed = true;
		deliver_agreed(p);
	}
}

static void isis_cast(struct peer *p, u32 value)
{
	peer_send_all(p, &(struct peer_note){ .kind = MESSAGE, .value = value }, true);
}

const struct peer_algorithm peer_isis = {
	.name = "isis", .section = "15.4.3", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH, .repairs = REPAIR_PAIR,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT | RULE_TOTAL,
	.size = sizeof(struct isis), .hear = isis_hear, .cast = isis_cast,
};
