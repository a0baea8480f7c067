// SPDX-License-Identifier: GPL-2.0
/*
 * The snapshot algorithm of Chandy and Lamport, Section 14.5.3, Figure 14.10, beside processes that
 * pay each other. In a possible state nothing is lost: the money of all states and channels is that
 * of the beginning.
 */
#include "algorithms.h"

enum { PAYMENT, MARKER };

static const char *const kinds[] = { "PAYMENT", "MARKER" };

/**
 * struct snapshot - a process
 * @recording: incoming channels whose messages are being recorded, as a set of senders
 * @channel:   by sender, what has come since
 */
struct snapshot {
	u32 money;
	bool is_recorded;
	u64 recording;
	u32 channel[PEERS_MAX];
};

/* The marker sending rule comes with it: a marker goes before any other message. */
static void record_state(struct peer *p)
{
	struct snapshot *s = p->state;

	s->is_recorded = true;
	s->recording = peer_all(p) & ~(1ull << p->id);
	peer_record(p, s->money);
	peer_send_all(p, &(struct peer_note){ .kind = MARKER }, false);
}

static void take_marker(struct peer *p, u32 from)
{
	struct snapshot *s = p->state;

	if (!s->is_recorded)
		record_state(p);
	if (!(s->recording >> from & 1))
		return;
	s->recording &= ~(1ull << from);
	peer_record_channel(p, from, s->channel[from]);
}

static void snapshot_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct snapshot *s = p->state;

	if (note->kind == MARKER) {
		take_marker(p, from);
		return;
	}
	s->money += note->value;
	if (s->recording >> from & 1)
		s->channel[from] += note->value;
}

static void snapshot_call(struct peer *p, u32 failed)
{
	(void)failed;
	if (!((struct snapshot *)p->state)->is_recorded)
		record_state(p);
}

/* @value: to whom, and how much of the money, any bits */
static void snapshot_cast(struct peer *p, u32 value)
{
	struct snapshot *s = p->state;
	u32 to = value % p->n, sum = value / p->n % (s->money + 1);

	if (to == p->id)
		return;
	s->money -= sum;
	peer_tell(p, to, &(struct peer_note){ .kind = PAYMENT, .value = sum });
}

static void snapshot_start(struct peer *p)
{
	((struct snapshot *)p->state)->money = PEER_MONEY;
}

const struct peer_algorithm peer_snapshot = {
	.name = "snapshot", .section = "14.5.3", .kinds = kinds, .task = TASK_SNAPSHOT,
	.assumes = ASSUME_ONCE | ASSUME_FIFO | ASSUME_NO_CRASH,
	.promises = RULE_TERMINATION | RULE_CUT, .size = sizeof(struct snapshot),
	.start = snapshot_start, .hear = snapshot_hear, .call = snapshot_call,
	.cast = snapshot_cast,
};
