// SPDX-License-Identifier: GPL-2.0
/*
 * The ring-based election of Chang and Roberts, Section 15.3, Figure 15.7. The text does not say
 * so, but links have to keep the order: a process that calls an election just after it has passed
 * on ELECTED is swallowed, and waits for ever, if its ELECTION overtakes that ELECTED.
 */
#include "algorithms.h"

enum { ELECTION, ELECTED };

static const char *const kinds[] = { "ELECTION", "ELECTED" };

/** struct election_ring - a process */
struct election_ring {
	bool is_participant;
};

static void pass_on(struct peer *p, u8 kind, u32 rank)
{
	peer_tell(p, (p->id + 1) % p->n, &(struct peer_note){ .kind = kind, .number = rank });
}

static void forward_election(struct peer *p, u32 rank)
{
	struct election_ring *s = p->state;

	if (!s->is_participant)
		peer_elected(p, PEER_NOBODY);
	s->is_participant = true;
	pass_on(p, ELECTION, rank);
}

static void take_election(struct peer *p, u32 rank)
{
	struct election_ring *s = p->state;

	if (rank > p->rank) {
		forward_election(p, rank);
	} else if (rank < p->rank) {
		if (!s->is_participant)
			forward_election(p, p->rank);
	} else {
		/* It has come round: nobody has a larger one. */
		s->is_participant = false;
		peer_elected(p, rank);
		pass_on(p, ELECTED, rank);
	}
}

static void election_ring_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct election_ring *s = p->state;

	(void)from;
	if (note->kind == ELECTION) {
		take_election(p, note->number);
		return;
	}
	if (note->number == p->rank)
		return;
	s->is_participant = false;
	peer_elected(p, note->number);
	pass_on(p, ELECTED, note->number);
}

static void election_ring_call(struct peer *p, u32 failed)
{
	(void)failed;
	if (!((struct election_ring *)p->state)->is_participant)
		forward_election(p, p->rank);
}

const struct peer_algorithm peer_election_ring = {
	.name = "election-ring", .section = "15.3", .kinds = kinds, .task = TASK_ELECTION,
	.assumes = ASSUME_ONCE | ASSUME_FIFO | ASSUME_NO_CRASH, .promises = RULE_E1 | RULE_E2,
	.size = sizeof(struct election_ring),
	.hear = election_ring_hear, .call = election_ring_call,
};
