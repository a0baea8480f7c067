// SPDX-License-Identifier: GPL-2.0
/*
 * The textbook's formulas, each against a run in which every message takes one unit of time over
 * links that keep the order: messages, the delay of a client that finds the section free, the delay
 * from an exit to the next entry (Section 15.2.1), messages and turnaround of elections (15.3),
 * messages of multicasts (15.4) and of agreement (15.5).
 */
#include <stdio.h>

#include "algorithms.h"
#include "kim.h"
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
#define QUIET (1000 * PEER_UNIT)
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

/* Of a protocol with servers, until all is quiet. */
#define SERVED(a, servers, sent) { .algorithm = &(a), .n = (servers) + 1, .who = "one wants", \
	.wanting = 1u << (servers), .messages = (sent), .client = 2, .client_most = 2, \
	.handover = NONE, .ended = NONE }
#define SERVED_TWO(a, servers, sent) { .algorithm = &(a), .n = (servers) + 2, \
	.who = "two want", .wanting = 3u << (servers), .stagger = APART / (servers), \
	.messages = (sent), .client = NONE, .handover = 2, .handover_most = 2, .ended = NONE }

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
	SERVED(peer_strawman, 5, 3 * 5),
	SERVED(peer_sigma, 5, 3 * 5),
	SERVED_TWO(peer_sigma, 5, 3 * 5 + 4 * 5),
	SERVED(peer_contend, 6, 2 * 6),
	SERVED(peer_kim, 4, 3 * 4),
	SERVED_TWO(peer_kim, 4, 2 * 3 * 4),
	SERVED(peer_ours, 4, 4 * 4),
	SERVED_TWO(peer_ours, 4, NONE),
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
		.judge = c->algorithm->promises & ~RULE_VALUE,
		.until = c->algorithm->servers > 1 ? QUIET : 0,
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

/* Of a run in which so many contend, each so often; Kim and Manabe's ask all four servers. */
#define TURNS 20
#define QUORUM 4

static const struct peer_counts *contended(struct peer_world *w, const struct peer_algorithm *a,
					   u32 contenders, u32 reads_pct)
{
	const struct peer_plan plan = {
		.algorithm = a, .n = a->servers + contenders, .entries = TURNS, .f = 1,
		.wanting = ~0ull, .reads_pct = reads_pct, .until = 1000000 * PEER_UNIT,
		.judge = RULE_ME1,
	};

	world_run_peers(w, &plan, 1);
	return &w->counts;
}

static double an_entry(const struct peer_counts *c)
{
	return (double)c->messages / (double)c->entries;
}

/*
 * Kim and Manabe, Section 3: 3|Q| messages alone and among readers, else at most (3 + 3c')|Q|,
 * where c' is how many OK a server takes back for an entry. Ours is beside it for comparison: 4n
 * alone and a few more here, where a late FREE is given back once more; a poll of one that waits
 * costs 2n.
 */
static bool is_bounded(struct peer_world *w, u32 contenders)
{
	const struct peer_counts *c = contended(w, &peer_kim, contenders, 0);
	double taken_back = (double)c->kinds[CANCEL] / (double)c->entries / QUORUM;
	double writers = an_entry(c), most = (3 + 3 * taken_back) * QUORUM;
	double readers = an_entry(contended(w, &peer_kim, contenders, 100));
	double ours = an_entry(contended(w, &peer_ours, contenders, 0));
	bool good = writers <= most && readers == 3 * QUORUM;

	printf("%u contend: kim %.1f messages an entry (at most %.1f, c' = %.2f), readers %.1f; "
	       "ours %.1f%s\n", contenders, writers, most, taken_back, readers, ours,
	       good ? "" : " | WRONG");
	return good;
}

bool costs_hold(void)
{
	struct peer_world w = { 0 };
	bool good = true;
	u32 i;

	for (i = 0; i < sizeof(costs) / sizeof(*costs); i++)
		good &= is_paid(&w, &costs[i]);
	for (i = 1; i <= 8; i++)
		good &= is_bounded(&w, i);
	world_free_peers(&w);
	return good;
}
