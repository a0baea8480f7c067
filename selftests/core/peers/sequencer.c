// SPDX-License-Identifier: GPL-2.0
/*
 * Total order by a sequencer, Section 15.4.3, Figure 15.13. Process 0 is the sequencer, and a
 * member of the group. Over links that keep the order it is FIFO and causal, too.
 */
#include "algorithms.h"

#define SEQUENCER	0
#define MESSAGES	64

enum { MESSAGE, ORDER };

static const char *const kinds[] = { "MESSAGE", "ORDER" };

/**
 * struct sequencer - a process
 * @held:  the hold-back queue, as a set
 * @place: by place in the order, the message plus one
 * @next:  r: the place to be delivered next
 * @last:  s, at the sequencer: the place of the next message
 */
struct sequencer {
	u64 held;
	u32 place[MESSAGES];
	u32 next;
	u32 last;
};

static void sequencer_cast(struct peer *p, u32 value)
{
	peer_send_all(p, &(struct peer_note){ .kind = MESSAGE, .value = value }, true);
}

static void give_place(struct peer *p, u32 value)
{
	struct sequencer *s = p->state;

	peer_send_all(p, &(struct peer_note){
		.kind = ORDER, .value = value, .stamp = s->last++ }, true);
}

static void sequencer_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct sequencer *s = p->state;
	u32 value;

	(void)from;
	if (note->kind == MESSAGE) {
		s->held |= 1ull << note->value;
		if (p->id == SEQUENCER)
			give_place(p, note->value);
	} else if (note->stamp < MESSAGES) {
		s->place[note->stamp] = note->value + 1;
	}
	while (s->next < MESSAGES && s->place[s->next] &&
	       s->held >> (value = s->place[s->next] - 1) & 1) {
		s->next++;
		s->held &= ~(1ull << value);
		peer_deliver(p, value);
	}
}

const struct peer_algorithm peer_sequencer = {
	.name = "sequencer", .section = "15.4.3", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT | RULE_TOTAL,
	.size = sizeof(struct sequencer), .hear = sequencer_hear, .cast = sequencer_cast,
};
