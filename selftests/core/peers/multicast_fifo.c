// SPDX-License-Identifier: GPL-2.0
/* FIFO-ordered multicast over basic multicast, Section 15.4.3: a number of each sender. */
#include "algorithms.h"

#define HELD_MAX 17	/* numbers of a sender, from 1 on */

enum { MESSAGE };

static const char *const kinds[] = { "MESSAGE" };

/**
 * struct multicast_fifo - a process
 * @sent:      S: how many it has sent
 * @delivered: R: by sender, the number of the last one
 * @held:      by sender and number, the message plus one; the hold-back queue
 */
struct multicast_fifo {
	u32 sent;
	u32 delivered[PEERS_MAX];
	u32 held[PEERS_MAX][HELD_MAX];
};

static void fifo_cast(struct peer *p, u32 value)
{
	struct multicast_fifo *s = p->state;

	peer_send_all(p, &(struct peer_note){
		.kind = MESSAGE, .number = ++s->sent, .value = value }, true);
}

static void fifo_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct multicast_fifo *s = p->state;
	u32 *delivered = &s->delivered[from];

	if (note->number <= *delivered || note->number >= HELD_MAX)
		return;
	s->held[from][note->number] = note->value + 1;
	while (*delivered + 1 < HELD_MAX && s->held[from][*delivered + 1])
		peer_deliver(p, s->held[from][++*delivered] - 1);
}

const struct peer_algorithm peer_multicast_fifo = {
	.name = "fifo", .section = "15.4.3", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT | RULE_FIFO,
	.size = sizeof(struct multicast_fifo), .hear = fifo_hear, .cast = fifo_cast,
};
