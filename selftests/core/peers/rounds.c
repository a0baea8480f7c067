// SPDX-License-Identifier: GPL-2.0
/*
 * Consensus in f + 1 rounds of a synchronous system, Section 15.5.2, Figure 15.17. The figure
 * decides by Values^(f+1), which is what a process knew before the last round; processes that crash
 * in the rounds before make such decisions differ. The values of the last round have to count
 * ("heard"), so that the decision is the minimum of Values^(f+2).
 */
#include "algorithms.h"

#define ROUND_TICKS (PEER_TRANSIT + 1)

enum { VALUES };

static const char *const kinds[] = { "VALUES" };

/** struct rounds - a process; sets of values are bits */
struct rounds {
	u32 round;	/* from 1 on */
	u32 values;
	u32 before;	/* … at the begin of this round */
	u32 sent;
};

static void begin_round(struct peer *p)
{
	struct rounds *s = p->state;

	s->round++;
	s->before = s->values;
	peer_send_all(p, &(struct peer_note){
		.kind = VALUES, .number = s->round, .value = s->values & ~s->sent }, true);
	s->sent = s->values;
	peer_wake_after(p, ROUND_TICKS);
}

static void rounds_propose(struct peer *p, u32 value)
{
	((struct rounds *)p->state)->values |= 1u << value;
	begin_round(p);
}

static void rounds_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct rounds *s = p->state;

	(void)from;
	s->values |= note->value;
}

static void rounds_wake(struct peer *p)
{
	const struct rounds *s = p->state;

	if (s->round <= p->f)
		begin_round(p);
	else
		peer_decide(p, (u32)__builtin_ctz(peer_has(p, REPAIR_HEARD) ? s->values :
						  s->before));
}

const struct peer_algorithm peer_rounds = {
	.name = "rounds", .section = "15.5.2", .kinds = kinds, .task = TASK_AGREEMENT,
	.assumes = ASSUME_ONCE | ASSUME_SYNC, .repairs = REPAIR_HEARD,
	.promises = RULE_TERMINATION | RULE_AGREEMENT | RULE_INTEGRITY,
	.size = sizeof(struct rounds),
	.hear = rounds_hear, .wake = rounds_wake, .propose = rounds_propose,
};
