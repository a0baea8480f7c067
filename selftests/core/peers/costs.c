// SPDX-License-Identifier: GPL-2.0
/*
 * The textbook's formulas, each against a run in which every message takes one unit of time over
 * links that keep the order: messages, the delay of a client that finds the section free, the delay
 * from an exit to the next entry (Section 15.2.1), messages and turnaround of elections (15.3),
 * messages of multicasts (15.4) and of agreement (15.5).
 */
#include <stdio.h>

#include "algorithms.h"
#include "world.h"

#define NONE (~0u)

/**
 * struct cost - a run, and what it must cost
 * @who:      for people
 * @wanting:  processes that want to enter, call or cast
 * @stagger:  ticks from the wish of one process to that of the next one
 * @messages: in all; NONE: no formula
 * @client, @client_most: units from the wish to the entry, at least and at most
 * @handover, @handover_most: units from an exit to the next entry
 * @ended:    units to the last election or delivery
 */
struct cost {
	const struct peer_algorithm *algorithm;
	u32 n;
	const char *who;
	u32 wanting, stagger;
	u32 messages;
	u32 client, client_most;
	u32 handover, handover_most;
	u32 ended;
};

#define ALL (~0u)
#define APART (5 * PEER_UNIT)		/* a holder stays for 20 units: the others wait by then */
#define TOGETHER (PEER_UNIT / 2)
#define ALONE(a, peers, sent, delay) { .algorithm = &(a), .n = (peers), .who = "one wants", \
	.wanting = 1 << 1, .messages = (sent), .client = (delay), .client_most = (delay), \
	.handover = NONE, .ended = NONE }
#define HANDOVER(a, peers, what, set, apart, sent, delay, most) { .algorithm = &(a), .n = (peers), \
	.who = (what), .wanting = (set), .stagger = (apart), .messages = (sent), .client = NONE, \
	.handover = (delay), .handover_most = (most), .ended = NONE }
#define ENDED(a, peers, what, set, sent, units) { .algorithm = &(a), .n = (peers), .who = (what), \
	.wanting = (set), .messages = (sent), .client = NONE, .handover = NONE, .ended = (units) }

static const struct cost costs[] = {
	ALONE(peer_central, 4, 3, 2),
	HANDOVER(peer_central, 4, "all want", ALL, APART, 9, 2, 2),
	{ .algorithm = &peer_ring, .n = 8, .who = "one wants", .wanting = 1 << 5, .stagger = APART,
	  .messages = NONE, .client = 0, .client_most = 8, .handover = NONE, .ended = NONE },
	/* One message an entry, and the first one of the token. */
	HANDOVER(peer_ring, 8, "all want", ALL, TOGETHER, 9, 1, 1),
	HANDOVER(peer_ring, 8, "two want", 1 << 2 | 1 << 6, APART, NONE, 1, 8),
	ALONE(peer_ricart, 4, 6, 2),
	ALONE(peer_ricart, 16, 30, 2),
	HANDOVER(peer_ricart, 8, "all want", ALL, APART, 8 * 14, 1, 1),
	ALONE(peer_maekawa, 9, 12, 2),
	ALONE(peer_maekawa, 16, 18, 2),
	ALONE(peer_maekawa, 25, 24, 2),
	HANDOVER(peer_maekawa, 9, "two want", 3, APART, 24, 2, 2),
	ALONE(peer_sanders, 9, 12, 2),
	ALONE(peer_sanders, 16, 18, 2),
	ALONE(peer_sanders, 25, 24, 2),
	HANDOVER(peer_sanders, 9, "two want", 3, APART, 24, 2, 2),
	/* N - 1 to the largest, N round, N to say so, the last of which tells nobody anything. */
	ENDED(peer_election_ring, 4, "the caller follows the largest", 1, 11, 10),
	ENDED(peer_election_ring, 8, "the caller follows the largest", 1, 23, 22),
	ENDED(peer_bully, 4, "the second largest notices", 1 << 2, 2, 1),
	ENDED(peer_bully, 8, "the second largest notices", 1 << 6, 6, 1),
	ENDED(peer_basic, 8, "a cast", 2, 7, 1),
	ENDED(peer_reliable, 8, "a cast", 2, 7 + 7 * 7, 1),
	ENDED(peer_multicast_fifo, 8, "a cast", 2, 7, 1),
	ENDED(peer_causal, 8, "a cast", 2, 7, 1),
	ENDED(peer_sequencer, 8, "a cast", 2, 2 * 7, 2),
	ENDED(peer_isis, 8, "a cast", 2, 3 * 7, 3),
	/* f = 1, so two rounds; (N - 1) orders, and of each N - 2 reports. */
	ENDED(peer_rounds, 4, "all propose", ALL, 2 * 4 * 3, NONE),
	ENDED(peer_generals, 4, "the commander orders", ALL, 3 + 3 * 2, NONE),
	ENDED(peer_generals, 8, "the commander orders", ALL, 7 + 7 * 6, NONE),
};

static bool is_within(const char *what, u64 ticks, u64 count, u32 least, u32 most)
{
	if (least == NONE)
		return true;
	printf(" | %s %.2f", what, count ? (double)ticks / (double)count / PEER_UNIT : 0.);
	if (least == most)
		printf(" (%u)", least);
	else
		printf(" (%u to %u)", least, most);
	return count && ticks >= count * least * PEER_UNIT && ticks <= count * most * PEER_UNIT;
}

static bool is_paid(struct peer_world *w, const struct cost *c)
{
	const struct peer_plan plan = {
		.algorithm = c->algorithm, .n = c->n, .entries = 1, .casts = 1, .f = 1,
		.fifo = true, .exact = true, .wanting = c->wanting, .stagger = c->stagger,
		.judge = c->algorithm->promises,
	};
	bool good = !world_run_peers(w, &plan, 1);
	const struct peer_counts *counts = &w->counts;

	printf("%s, N = %u, %s", c->algorithm->name, c->n, c->who);
	if (c->messages != NONE) {
		printf(" | %llu messages (%u)", (unsigned long long)counts->messages, c->messages);
		good &= counts->messages == c->messages;
	}
	good &= is_within("client delay", counts->client_delay, counts->entries, c->client,
			  c->client_most);
	good &= is_within("hand-over", counts->handover_delay, counts->handovers, c->handover,
			  c->handover_most);
	good &= is_within("turnaround", counts->ended, 1, c->ended, c->ended);
	puts(good ? "" : " | WRONG");
	return good;
}

bool costs_hold(void)
{
	struct peer_world w = { 0 };
	bool good = true;
	u32 i;

	for (i = 0; i < sizeof(costs) / sizeof(*costs); i++)
		good &= is_paid(&w, &costs[i]);
	world_free_peers(&w);
	return good;
}
