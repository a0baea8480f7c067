// SPDX-License-Identifier: GPL-2.0
/*
 * The strawman protocol of Lin, Lian, Chen, Zhang: A Practical Distributed Mutual Exclusion
 * Protocol in Dynamic Peer-to-Peer Systems (2004), Section 3. A client enters with the votes of
 * m of n servers; a client that cannot get them gives back all votes and asks again after a random
 * time. The paper prints no code and no bound of that time. The paper does not say that a RELEASE of
 * one round must not count for the next: REPAIR_NUMBERS.
 */
#include "algorithms.h"

#define SLEEP (40 * PEER_UNIT)	/* ticks: the longest between two rounds */

enum { REQUEST, RESPONSE, RELEASE };

static const char *const kinds[] = { "REQUEST", "RESPONSE", "RELEASE" };

/**
 * struct strawman - a server, or a client
 * @owner:    of this server, or PEER_NOBODY
 * @number:   of the owner's round; of the client's own
 * @over:     by client, the last of its rounds that is over, at this server
 * @mine, @others: servers that said, in this round, that the client owns them, or another does
 */
struct strawman {
	bool is_asking;
	u32 owner, number;
	u32 over[PEER_CROWD];
	u32 mine, others;
};

static void strawman_start(struct peer *p)
{
	((struct strawman *)p->state)->owner = PEER_NOBODY;
}

static void begin_round(struct peer *p)
{
	struct strawman *s = p->state;

	s->is_asking = true;
	s->mine = s->others = 0;
	s->number++;
	peer_send_servers(p, &(struct peer_note){ .kind = REQUEST, .number = s->number });
}

static void give_back(struct peer *p)
{
	struct strawman *s = p->state;

	s->is_asking = false;
	peer_send_servers(p, &(struct peer_note){ .kind = RELEASE, .number = s->number });
}

static void take_response(struct peer *p, u32 from, const struct peer_note *note)
{
	struct strawman *s = p->state;

	if (!s->is_asking || (peer_has(p, REPAIR_NUMBERS) && note->number != s->number))
		return;
	if (note->who == p->id)
		s->mine |= 1u << from;
	else
		s->others |= 1u << from;
	if ((u32)__builtin_popcount(s->mine) >= peer_majority(p)) {
		s->is_asking = false;
		peer_enter(p);
	} else if ((u32)__builtin_popcount(s->others) > p->servers - peer_majority(p)) {
		give_back(p);
		peer_wake_after(p, peer_random(p, SLEEP));
	}
}

static void take_request(struct peer *p, u32 from, u32 number)
{
	struct strawman *s = p->state;

	if (peer_has(p, REPAIR_NUMBERS) && number <= s->over[from])
		return;
	if (s->owner == PEER_NOBODY || s->owner == from) {
		s->owner = from;
		s->number = number;
	}
	peer_tell(p, from, &(struct peer_note){
		.kind = RESPONSE, .who = s->owner, .number = number });
}

static void take_release(struct peer *p, u32 from, u32 number)
{
	struct strawman *s = p->state;

	if (number > s->over[from])
		s->over[from] = number;
	if (s->owner == from && (!peer_has(p, REPAIR_NUMBERS) || number >= s->number))
		s->owner = PEER_NOBODY;
}

static void strawman_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == RESPONSE)
		take_response(p, from, note);
	else if (note->kind == REQUEST)
		take_request(p, from, note->number);
	else
		take_release(p, from, note->number);
}

/* It is everybody's. */
static void strawman_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		peer_tell(p, from, &(struct peer_note){
			.kind = RESPONSE, .who = from, .number = note->number });
}

const struct peer_algorithm peer_strawman = {
	.name = "strawman", .section = "Lin:3", .kinds = kinds, .task = TASK_MUTEX, .servers = 5,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_MEMORY | ASSUME_HONEST,
	.repairs = REPAIR_NUMBERS, .promises = RULE_ME1 | RULE_ME2,
	.size = sizeof(struct strawman), .start = strawman_start, .hear = strawman_hear,
	.lie = strawman_lie, .wake = begin_round, .want = begin_round, .leave = give_back,
};
