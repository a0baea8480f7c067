// SPDX-License-Identifier: GPL-2.0
/*
 * Basic and reliable multicast, Sections 15.4.1 and 15.4.2, Figure 15.9. Reliable multicast passes
 * a message on before it delivers it; the other way round ("before" taken away) a process may
 * deliver what no correct process ever gets. That a process sent a message before it crashed has to
 * be enough ("outlive"): a link that ends with its process does not bring the last ones.
 */
#include "algorithms.h"

enum { MESSAGE };

static const char *const kinds[] = { "MESSAGE" };

/** struct multicast - a process; basic multicast has no state */
struct multicast {
	u64 received;	/* a set of messages */
};

static void basic_cast(struct peer *p, u32 value)
{
	peer_send_all(p, &(struct peer_note){
		.kind = MESSAGE, .who = p->id, .value = value }, true);
}

static void basic_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	(void)from;
	peer_deliver(p, note->value);
}

static void reliable_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct multicast *s = p->state;
	bool is_passed_first = peer_has(p, REPAIR_BEFORE);

	(void)from;
	if (s->received >> note->value & 1)
		return;
	s->received |= 1ull << note->value;
	if (!is_passed_first)
		peer_deliver(p, note->value);
	if (note->who != p->id)
		peer_send_all(p, note, true);
	if (is_passed_first)
		peer_deliver(p, note->value);
}

const struct peer_algorithm peer_basic = {
	.name = "basic", .section = "15.4.1", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT,
	.size = sizeof(struct multicast), .hear = basic_hear, .cast = basic_cast,
};

const struct peer_algorithm peer_reliable = {
	.name = "reliable", .section = "15.4.2", .kinds = kinds, .task = TASK_MULTICAST,
	.assumes = ASSUME_ONCE | ASSUME_OUTLIVE, .repairs = REPAIR_BEFORE,
	.promises = RULE_INTEGRITY | RULE_VALIDITY | RULE_AGREEMENT | RULE_UNIFORM,
	.size = sizeof(struct multicast), .hear = reliable_hear, .cast = basic_cast,
};
