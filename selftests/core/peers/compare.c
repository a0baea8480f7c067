// SPDX-License-Identifier: GPL-2.0
/*
 * All protocols for locks in one table. Messages and delays of an entry and its exit are measured
 * where each message takes one unit of time, and compared with formulas. Throughput is of clients
 * that enter again and again, where messages take up to two units; what a failure does is seen in
 * runs in which it happens.
 */
#include <stdio.h>

#include "algorithms.h"
#include "world.h"

#define EQUALS 64		/* processes, where there are no servers; some of them contend */
#define SOME 4			/* contenders where failures are tried */
#define MEASURED (2000 * PEER_UNIT)	/* ticks: of a run of which the throughput counts */
#define FAILING (8000ull * PEER_UNIT)	/* … of a run with a failure */
#define FAILS_AT (200 * PEER_UNIT)
#define SEEDS 5			/* runs of each failure */
#define BEGINNINGS 300		/* short runs with a liar: most that breaks does so at once */
#define PAUSE (40 * PEER_UNIT)	/* ticks: a pause, beyond four times the longest without a failure */
#define NONE (~0u)

/**
 * struct subject - a protocol, and what it must cost
 * @formula:  of @messages
 * @messages: of an entry and its exit of one that is alone; NONE: no formula
 * @client:   units from the wish to the entry, alone; NONE: it depends
 * @handover: units from an exit to the next entry; NONE: it depends
 * @stops:    when nobody enters any more
 */
struct subject {
	const struct peer_algorithm *algorithm;
	const char *formula;
	u32 messages, client, handover;
	const char *stops;
};

static const struct subject subjects[] = {
	{ &peer_central, "3", 3, 2, 2, "the server dies, or a holder" },
	{ &peer_ring, "1 if all want", NONE, NONE, NONE, "anybody dies" },
	{ &peer_ricart, "2(N - 1)", 2 * (EQUALS - 1), 2, 1, "anybody dies" },
	{ &peer_maekawa, "3(K - 1)", 3 * 14, 2, NONE, "two wait for each other" },
	{ &peer_sanders, "3(K - 1)", 3 * 14, 2, 2, "one of the set dies, or a holder" },
	{ &peer_strawman, "3n", 3 * 5, 2, NONE, "a server dies, or a holder" },
	{ &peer_sigma, "3n; 4n queued", 3 * 5, 2, 2, "n - m + 1 die, or a holder" },
	{ &peer_contend, "2n", 2 * 6, 2, NONE, "b + 1 die" },
	{ &peer_kim, "3|Q|", 3 * 4, 2, 2, "f + 1 die, or a holder" },
	{ &peer_ours, "4n", 4 * 4, 2, 2, "n - F + 1 die" },
};

#define SUBJECTS (sizeof(subjects) / sizeof(*subjects))

static const u32 crowds[] = { 1, 4, 16, 64 };

#define CROWDS (sizeof(crowds) / sizeof(*crowds))

/** struct failure - a column; enum peer_failure says what happens */
static const struct {
	const char *name;
	enum peer_failure failure;
	bool of_servers;	/* there is none where all are equal */
} failures[] = {
	{ "idle", FAIL_IDLE, false }, { "holder", FAIL_HOLDER, false },
	{ "server", FAIL_SERVER, true }, { "liar", FAIL_LIAR, false },
};

#define FAILURES (sizeof(failures) / sizeof(*failures))

/** struct row - what is measured of a subject; rates are entries in 1,000 units */
struct row {
	double messages, client, handover;
	double rate[CROWDS];
	double lossy;		/* rate of SOME contenders where datagrams are lost */
	const char *after[FAILURES];
};

static struct peer_plan plan_of(const struct subject *s, u32 contenders)
{
	u32 servers = s->algorithm->servers;

	return (struct peer_plan){
		.algorithm = s->algorithm, .f = 1, .judge = RULE_ME1, .fifo = true,
		/* One of them never asks. */
		.n = servers ? servers + contenders + 1 : EQUALS,
		.idle = servers + contenders,
		.wanting = ((contenders < 64 ? 1ull << contenders : 0) - 1) << servers,
		.entries = ~0u,
	};
}

static void measure_costs(struct peer_world *w, const struct subject *s, struct row *ret)
{
	struct peer_plan plan = plan_of(s, 1);

	plan.entries = 1;
	plan.exact = true;
	plan.until = MEASURED;
	world_run_peers(w, &plan, 1);
	ret->messages = (double)w->counts.messages;
	ret->client = (double)w->counts.client_delay / PEER_UNIT;
	plan = plan_of(s, 2);
	plan.entries = 1;
	plan.exact = true;
	plan.stagger = 3 * PEER_UNIT;
	plan.until = MEASURED;
	world_run_peers(w, &plan, 1);
	if (w->counts.handovers)
		ret->handover = (double)w->counts.handover_delay / PEER_UNIT /
				(double)w->counts.handovers;
}

static double rate(struct peer_world *w, const struct subject *s, u32 contenders, u32 loss_pct)
{
	struct peer_plan plan = plan_of(s, contenders);

	plan.loss_pct = loss_pct;
	plan.until = MEASURED;
	world_run_peers(w, &plan, 1);
	return (double)w->counts.entries * 1000 / (MEASURED / PEER_UNIT);
}

/* breaks: two were inside; stops: nobody enters in the second half; slower: a long pause. */
static const char *fails_with(struct peer_world *w, const struct subject *s,
			      enum peer_failure failure)
{
	struct peer_plan plan = plan_of(s, SOME);
	bool stops = false, slower = false;
	u64 pause;
	u32 seed;

	plan.until = FAILING;
	for (seed = 1; seed <= SEEDS; seed++) {
		plan.failure = FAIL_NOTHING;
		world_run_peers(w, &plan, seed);
		pause = w->counts.pause;
		plan.failure = failure;
		plan.fails_at = FAILS_AT;
		if (world_run_peers(w, &plan, seed) & RULE_ME1)
			return "breaks";
		stops |= w->counts.entered_at < FAILING / 2;
		slower |= w->counts.pause > 4 * pause + PAUSE;
	}
	return stops ? "stops" : slower ? "slower" : "ok";
}

static bool breaks_at_once(struct peer_world *w, const struct subject *s)
{
	struct peer_plan plan = plan_of(s, SOME);
	u32 seed;

	plan.until = FAILS_AT;
	plan.failure = FAIL_LIAR;
	for (seed = 1; seed <= BEGINNINGS; seed++)
		if (world_run_peers(w, &plan, seed))
			return true;
	return false;
}

/* A liar may also be silent for ever. */
static const char *fails(struct peer_world *w, const struct subject *s, enum peer_failure failure)
{
	const char *how = fails_with(w, s, failure), *silent;

	if (failure != FAIL_LIAR || *how == 'b')
		return how;
	if (breaks_at_once(w, s))
		return "breaks";
	silent = fails_with(w, s, s->algorithm->servers ? FAIL_SERVER : FAIL_IDLE);
	return *silent == 's' ? silent : how;
}

static void measure(struct peer_world *w, const struct subject *s, u32 loss_pct, struct row *ret)
{
	u32 i;

	*ret = (struct row){ 0 };
	measure_costs(w, s, ret);
	for (i = 0; i < CROWDS; i++)
		ret->rate[i] = rate(w, s, crowds[i], 0);
	ret->lossy = rate(w, s, SOME, loss_pct);
	for (i = 0; i < FAILURES; i++)
		ret->after[i] = failures[i].of_servers && !s->algorithm->servers ? "-" :
				fails(w, s, failures[i].failure);
}

static bool agrees(u32 formula, double measured)
{
	return formula == NONE || measured == (double)formula;
}

static void show_head(u32 loss_pct)
{
	u32 i;

	printf("%-9s %9s %7s %9s", "protocol", "messages", "client", "hand-over");
	for (i = 0; i < CROWDS; i++)
		printf(" %7u", crowds[i]);
	printf(" %5u%%", loss_pct);
	for (i = 0; i < FAILURES; i++)
		printf(" %-6s", failures[i].name);
	puts("  stops when");
}

static void show_row(const struct subject *s, const struct row *r)
{
	u32 i;

	printf("%-9s ", s->algorithm->name);
	if (s->messages == NONE)
		printf("%9s %7s", "-", "-");
	else
		printf("%9.0f %7.2f", r->messages, r->client);
	if (s->handover == NONE)
		printf(" %9s", "-");
	else
		printf(" %9.2f", r->handover);
	for (i = 0; i < CROWDS; i++)
		printf(" %7.1f", r->rate[i]);
	printf(" %6.1f", r->lossy);
	for (i = 0; i < FAILURES; i++)
		printf(" %-6s", r->after[i]);
	printf("  %s\n", s->stops);
}

static void show_json(const struct subject *s, const struct row *r, bool is_first)
{
	u32 i;

	printf("%s\n  {\"protocol\": \"%s\", \"formula\": \"%s\", \"stops_when\": \"%s\"",
	       is_first ? "" : ",", s->algorithm->name, s->formula, s->stops);
	if (s->messages != NONE)
		printf(", \"messages\": %.0f, \"client_delay\": %.2f", r->messages, r->client);
	if (s->handover != NONE)
		printf(", \"handover_delay\": %.2f", r->handover);
	for (i = 0; i < CROWDS; i++)
		printf(", \"rate_%u\": %.1f", crowds[i], r->rate[i]);
	printf(", \"rate_lossy\": %.1f", r->lossy);
	for (i = 0; i < FAILURES; i++)
		printf(", \"%s\": \"%s\"", failures[i].name, r->after[i]);
	putchar('}');
}

static void show_csv(const struct subject *s, const struct row *r)
{
	u32 i;

	for (i = 0; i < CROWDS; i++)
		printf("%s,%u,%.1f\n", s->algorithm->name, crowds[i], r->rate[i]);
}

bool compare_all(enum compare_form form, u32 loss_pct)
{
	struct peer_world w = { 0 };
	bool good = true, fits;
	struct row row;
	u32 i;

	if (form == COMPARE_TABLE)
		show_head(loss_pct);
	else
		fputs(form == COMPARE_JSON ? "[" : "protocol,contenders,rate\n", stdout);
	for (i = 0; i < SUBJECTS; i++) {
		const struct subject *s = &subjects[i];

		measure(&w, s, loss_pct, &row);
		fits = agrees(s->messages, row.messages) && agrees(s->client, row.client) &&
		       agrees(s->handover, row.handover);
		good &= fits;
		if (form == COMPARE_TABLE)
			show_row(s, &row);
		else if (form == COMPARE_JSON)
			show_json(s, &row, !i);
		else
			show_csv(s, &row);
		if (!fits)
			fprintf(stderr, "%s: its formulas say %u messages, delays %u and %u\n",
				s->algorithm->name, s->messages, s->client, s->handover);
	}
	if (form == COMPARE_JSON)
		puts("\n]");
	world_free_peers(&w);
	return good;
}
