// SPDX-License-Identifier: GPL-2.0
/*
 * The bully algorithm, Section 15.3, Figure 15.8. T is 2 T_trans, since a step takes no time here.
 * The text gives no T', the time that a process with an answer waits for a coordinator: the process
 * that answered may begin its election T_trans after ours and end it T later, and its word needs
 * T_trans more.
 */
#include "algorithms.h"

#define ANSWER_TICKS		(2 * PEER_TRANSIT + 1)
#define COORDINATOR_TICKS	(2 * ANSWER_TICKS)

enum { ELECTION, ANSWER, COORDINATOR };

static const char *const kinds[] = { "ELECTION", "ANSWER", "COORDINATOR" };

enum bully_phase { IDLE, ASKED, ANSWERED, WAITING };

/** struct bully - a process: it asks all larger ones, some answer, it waits for the coordinator */
struct bully {
	enum bully_phase phase;
};

static void coordinate(struct peer *p)
{
	struct bully *s = p->state;
	u32 to;

	s->phase = IDLE;
	peer_elected(p, p->rank);
	for (to = 0; to < p->id; to++)
		peer_tell(p, to, &(struct peer_note){ .kind = COORDINATOR });
}

/* @highest: the largest process that may live */
static void begin_election(struct peer *p, u32 highest)
{
	struct bully *s = p->state;
	u32 to;

	if (p->id >= highest) {
		coordinate(p);
		return;
	}
	s->phase = ASKED;
	peer_elected(p, PEER_NOBODY);
	for (to = p->id + 1; to < p->n; to++)
		peer_tell(p, to, &(struct peer_note){ .kind = ELECTION });
	peer_wake_after(p, ANSWER_TICKS);
}

static void bully_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct bully *s = p->state;

	if (note->kind == COORDINATOR) {
		s->phase = IDLE;
		peer_elected(p, from);
	} else if (note->kind == ANSWER) {
		if (s->phase == ASKED)
			s->phase = ANSWERED;
	} else {
		peer_tell(p, from, &(struct peer_note){ .kind = ANSWER });
		if (s->phase == IDLE)
			begin_election(p, p->n - 1);
	}
}

static void bully_wake(struct peer *p)
{
	struct bully *s = p->state;

	if (s->phase == ASKED) {
		coordinate(p);
	} else if (s->phase == ANSWERED) {
		s->phase = WAITING;
		peer_wake_after(p, COORDINATOR_TICKS);
	} else if (s->phase == WAITING) {
		begin_election(p, p->n - 1);
	}
}

/* The second largest that notices the end of the largest need not ask. */
static void bully_call(struct peer *p, u32 failed)
{
	struct bully *s = p->state;

	if (s->phase == IDLE)
		begin_election(p, failed == p->n - 1 ? p->n - 2 : p->n - 1);
}

const struct peer_algorithm peer_bully = {
	.name = "bully", .section = "15.3", .kinds = kinds, .task = TASK_ELECTION,
	.assumes = ASSUME_ONCE | ASSUME_SYNC, .promises = RULE_E1 | RULE_E2,
	.size = sizeof(struct bully),
	.hear = bully_hear, .wake = bully_wake, .call = bully_call,
};
