// SPDX-License-Identifier: GPL-2.0
/* Causally ordered multicast by vector timestamps, Section 15.4.3, Figure 15.15. */
#include "algorithms.h"

#define HELD_MAX 128

enum { MESSAGE };

static const char *const kinds[] = { "MESSAGE" };

/** struct causal_held - a message in the hold-back queue */
struct causal_held {
	u32 from, value;
	u16 vector[PEERS_MAX];
};

/** struct causal - a process */
struct causal {
	u16 vector[PEERS_MAX];	/* by sender, how many are delivered */
	u32 waiting;
	struct causal_held held[HELD_MAX];
};

static void causal_cast(struct peer *p, u32 value)
{
	struct causal *s = p->state;
	struct peer_note note = { .kind = MESSAGE, .value = value };

	s->vector[p->id]++;
	memcpy(note.vector, s->vector, sizeof(note.vector));
	peer_send_all(p, &note, false);
	peer_deliver(p, value);
}

/* It is the next one of its sender, and whatever that had delivered is delivered here. */
static bool is_next(const struct peer *p, const struct causal_held *m)
{
	const struct causal *s = p->state;
	u32 i;

	for (i = 0; i < p->n; i++)
		if (i == m->from ? m->vector[i] != s->vector[i] + 1 : m->vector[i] > s->vector[i])
			return false;
	return true;
}

static void causal_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct causal *s = p->state;
	struct causal_held m = { .from = from, .value = note->value };
	u32 i;

	memcpy(m.vector, note->vector, sizeof(m.vector));
	if (s->waiting < HELD_MAX)
		s->held[s->waiting++] = m;
	for (i = 0; i < s->waiting;) {
		m = s->held[i];
		if (!is_next(p, &m)) {
			i++;
			continue;
		}
		s->held[i] = s->held[--s->waiting];
		s->vector[m.from]++;
		peer_deliver(p, m.value);
		i = 0;
	}
}

const struct peer_algorithm peer_causal = {
	.name = "causal", .section = "15.4.3", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT | RULE_FIFO | RULE_CAUSAL,
	.size = sizeof(struct causal), .hear = causal_hear, .cast = causal_cast,
};
