// SPDX-License-Identifier: GPL-2.0
/* bftmutex-peers: algorithms of equal processes, run again and again; see peer.h. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "selftests/core/model/command.h"
#include "world.h"

#define UNSET (~0u)
#define SERVERS_MAX 16
#define EQUALS_MAX 25	/* that elect, multicast, decide or record */

static const char help[] =
"usage: bftmutex-peers --algorithm NAME [OPTION...] | --list | --costs | --compare\n"
"Run an algorithm of the textbook among equal processes in virtual time, with a\n"
"seed for each run, and count the runs that break a rule.\n"
"  --algorithm NAME  --list shows them, and what each needs\n"
"  --costs           messages and delays of each, beside the textbook's formulas\n"
"  --compare         one table of all protocols for locks: messages and delays, entries\n"
"                    in 1,000 units of time of 1, 4, 16, 64 contenders, and of 4 if\n"
"                    --loss of datagrams are lost, 5; what comes of a crash, or of a liar\n"
"  --json, --csv     print it so\n"
"  --peers N         processes; 4, and the servers of a paper's protocol\n"
"  --servers N       of these, the first; each protocol has its own default\n"
"  --majority M      servers whose votes let a process enter, where that is open\n"
"  --seed S          of the first run; 1\n"
"  --runs N          1000\n"
"  --without WHAT    take away what it needs: once (the link), fifo, no-crash, sync,\n"
"                    outlive, memory, honest, or a repair: lc2, set, fail, numbers,\n"
"                    pair, before, heard, send, inside, over,\n"
"                    raise, quarantine, told, grants; a list\n"
"  --check RULE      judge by these rules alone, a list: me1, me2, me3, e1, e2,\n"
"                    integrity, validity, agreement, uniform, fifo, causal, total,\n"
"                    termination, cut, value\n"
"  --fifo            the link keeps the order, although nobody asks\n"
"  --loss PERCENT    of datagrams; 10, but 0 where the network is synchronous\n"
"  --double PERCENT  of datagrams; 10\n"
"  --slow PERCENT    of datagrams; 5 without sync, else 0\n"
"  --tell PERCENT    of requests are told to another process, which wants to enter\n"
"                    then; 0\n"
"  --reads PERCENT   of requests are to enter beside others that read; 0\n"
"  --entries N       of each process; 2\n"
"  --casts N         of each process; 4\n"
"  --crashes N       the most; 1\n"
"  --forgets N       servers that forget all they know, without memory; 1\n"
"  --faulty N        the number f of processes that may fail; 1\n"
"  --patterns        not drawn by seeds, but each way to fail once: seed S is way S;\n"
"                    for consensus, and for generals with --faulty 1\n"
"  --replace         a process that crashed is replaced\n"
"  --trace           print all that happens in the first run\n"
"Exit status: 0 no rule is broken; 1 one is; 2 trouble.\n";

static struct peer_plan plan = {
	.entries = 2, .casts = 4, .crashes = 1, .forgets = 1, .f = 1, .loss_pct = 10,
	.double_pct = 10, .wanting = ~0ull,
};
static u32 seed = UNSET, runs = UNSET, loss = UNSET, slow = UNSET;
static bool list, costs, compare, json, csv;

static const struct { const char *name; u32 assumption, repair; } words[] = {
	{ "once", ASSUME_ONCE, 0 }, { "fifo", ASSUME_FIFO, 0 },
	{ "no-crash", ASSUME_NO_CRASH, 0 }, { "sync", ASSUME_SYNC, 0 },
	{ "outlive", ASSUME_OUTLIVE, 0 }, { "memory", ASSUME_MEMORY, 0 },
	{ "honest", ASSUME_HONEST, 0 },
	{ "lc2", 0, REPAIR_LC2 }, { "set", 0, REPAIR_SET }, { "fail", 0, REPAIR_FAIL },
	{ "numbers", 0, REPAIR_NUMBERS }, { "pair", 0, REPAIR_PAIR },
	{ "before", 0, REPAIR_BEFORE }, { "heard", 0, REPAIR_HEARD },
	{ "send", 0, REPAIR_SEND }, { "inside", 0, REPAIR_INSIDE },
	{ "over", 0, REPAIR_OVER }, { "raise", 0, REPAIR_RAISE },
	{ "quarantine", 0, REPAIR_QUARANTINE }, { "told", 0, REPAIR_TOLD },
	{ "grants", 0, REPAIR_GRANTS },
};

#define WORDS (sizeof(words) / sizeof(*words))

/* The next word of a list; false after the last one. */
static bool next_word(const char **list_at, const char **ret_word, size_t *ret_length)
{
	if (!**list_at)
		return false;
	*ret_word = *list_at;
	*ret_length = strcspn(*list_at, ",");
	*list_at += *ret_length + ((*list_at)[*ret_length] == ',');
	return true;
}

static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && !memcmp(name, word, length);
}

static void read_without(const char *argument)
{
	const char *word;
	size_t length, i;

	while (next_word(&argument, &word, &length)) {
		for (i = 0; i < WORDS && !is_word(words[i].name, word, length);)
			i++;
		if (i == WORDS)
			errx(2, "--without '%.*s': --help lists what can be taken away",
			     (int)length, word);
		plan.without |= words[i].assumption;
		plan.lacks |= words[i].repair;
	}
}

static void read_check(const char *argument)
{
	const char *word;
	size_t length, i;

	while (next_word(&argument, &word, &length)) {
		for (i = 0; i < RULES && !is_word(check_rules[i], word, length);)
			i++;
		if (i == RULES)
			errx(2, "--check '%.*s': --help lists the rules", (int)length, word);
		plan.judge |= 1u << i;
	}
}

static void read_algorithm(const char *argument)
{
	u32 i;

	for (i = 0; peer_algorithms[i] && strcmp(peer_algorithms[i]->name, argument);)
		i++;
	plan.algorithm = peer_algorithms[i];
	if (!plan.algorithm)
		errx(2, "--algorithm '%s': --list shows the algorithms", argument);
}

static const struct command_option options[] = {
	{ "algorithm", .read = read_algorithm },
	{ "list", .flag = &list },
	{ "costs", .flag = &costs },
	{ "compare", .flag = &compare },
	{ "json", .flag = &json },
	{ "csv", .flag = &csv },
	{ "peers", .number = &plan.n, 2, PEERS_MAX },
	{ "servers", .number = &plan.servers, 1, SERVERS_MAX },
	{ "majority", .number = &plan.majority, 1, SERVERS_MAX },
	{ "seed", .number = &seed, 0, 1000000000 },
	{ "runs", .number = &runs, 1, 100000000 },
	{ "without", .read = read_without },
	{ "check", .read = read_check },
	{ "fifo", .flag = &plan.fifo },
	{ "loss", .number = &loss, 0, 90 },
	{ "double", .number = &plan.double_pct, 0, 100 },
	{ "slow", .number = &slow, 0, 100 },
	{ "tell", .number = &plan.tell_pct, 0, 100 },
	{ "reads", .number = &plan.reads_pct, 0, 100 },
	{ "entries", .number = &plan.entries, 1, 1000 },
	{ "casts", .number = &plan.casts, 1, 16 },
	{ "crashes", .number = &plan.crashes, 0, PEERS_MAX },
	{ "forgets", .number = &plan.forgets, 0, SERVERS_MAX },
	{ "faulty", .number = &plan.f, 0, 3 },
	{ "patterns", .flag = &plan.patterns },
	{ "replace", .flag = &plan.replace },
	{ "trace", .flag = &plan.trace },
	{ NULL },
};

static void show_algorithms(void)
{
	u32 i, j;

	for (i = 0; peer_algorithms[i]; i++) {
		const struct peer_algorithm *a = peer_algorithms[i];

		printf("%-12s %-7s needs", a->name, a->section);
		for (j = 0; j < WORDS; j++)
			if (a->assumes & words[j].assumption || a->repairs & words[j].repair)
				printf(" %s", words[j].name);
		printf("; keeps");
		for (j = 0; j < RULES; j++)
			if (a->promises >> j & 1)
				printf(" %s", check_rules[j]);
		putchar('\n');
	}
}

/* Without --runs all of them. */
static void complete_patterns(void)
{
	u64 count;

	if (plan.algorithm->task != TASK_AGREEMENT || plan.n > 5 ||
	    (plan.algorithm->servers && plan.f != 1))
		errx(2, "--patterns: for consensus, and generals with --faulty 1, up to --peers 5");
	count = pattern_count(&plan);
	seed = seed == UNSET ? 0 : seed;
	if (seed >= count)
		errx(2, "--seed %u: there are %llu patterns, from 0 on", seed,
		     (unsigned long long)count);
	if (runs == UNSET || runs > count - seed)
		runs = (u32)(count - seed);
}

/* Processes that the algorithm can have: sets of those that are no servers are u64. */
static u32 most(const struct peer_algorithm *a)
{
	if (a->most)
		return a->most;
	return a->task != TASK_MUTEX ? EQUALS_MAX : a->servers ? PEERS_MAX : 64;
}

/* The algorithm decides options that are not given. */
static void complete(void)
{
	const struct peer_algorithm *a = plan.algorithm;
	bool is_sync = a->assumes & ASSUME_SYNC;

	if (a->size > PEER_STATE_MAX)
		errx(2, "%s: a state of %zu bytes; PEER_STATE_MAX is %u", a->name, a->size,
		     PEER_STATE_MAX);
	if (plan.lacks & ~a->repairs)
		errx(2, "--without: %s does not have this repair; --list shows those that it has",
		     a->name);
	if (plan.replace && a->task != TASK_ELECTION)
		errx(2, "--replace: for elections alone");
	if ((plan.servers || plan.majority) && (a->task != TASK_MUTEX || a->servers < 2))
		errx(2, "--servers, --majority: %s has no such servers", a->name);
	plan.n = plan.n ?: peer_servers(&plan) > 1 ? peer_servers(&plan) + 4 : 4;
	if (plan.n > most(a) || plan.n <= peer_servers(&plan))
		errx(2, "--peers %u: %s can have %u to %u", plan.n, a->name,
		     peer_servers(&plan) + 1, most(a));
	if (plan.majority > peer_servers(&plan))
		errx(2, "--majority %u: there are %u servers", plan.majority,
		     peer_servers(&plan));
	if (plan.forgets > peer_servers(&plan))
		plan.forgets = peer_servers(&plan);
	if (a->task == TASK_MULTICAST && plan.n * plan.casts > CASTS_MAX)
		errx(2, "--casts %u of --peers %u: %u messages at most", plan.casts, plan.n,
		     CASTS_MAX);
	if (a->task == TASK_AGREEMENT && plan.f >= plan.n)
		errx(2, "--faulty %u: must be less than --peers %u", plan.f, plan.n);
	if (plan.patterns)
		complete_patterns();
	plan.loss_pct = loss != UNSET ? loss : is_sync ? 0 : 10;
	plan.slow_pct = slow != UNSET ? slow : plan.without & ASSUME_SYNC ? 5 : 0;
	seed = seed == UNSET ? 1 : seed;
	runs = runs == UNSET ? 1000 : runs;
	plan.judge = plan.judge ?: a->promises;
}

static void show_replay(char **argv, int argc, u32 bad)
{
	int i;

	printf("again with");
	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--runs") || !strcmp(argv[i], "--seed"))
			i++;
		else if (strcmp(argv[i], "--trace"))
			printf(" %s", argv[i]);
	}
	printf(" --seed %u --runs 1 --trace\n", bad);
}

static bool run_all(int argc, char **argv)
{
	struct peer_world w = { 0 };
	u64 messages = 0, entries = 0;
	u32 i, j, bad = 0, first = 0, rules = 0;

	for (i = 0; i < runs; i++) {
		u32 broken = world_run_peers(&w, &plan, seed + i);

		messages += w.counts.messages;
		entries += w.counts.entries;
		if (broken && !bad++)
			first = seed + i;
		rules |= broken;
	}
	world_free_peers(&w);
	printf("%u of %u runs are bad\n", bad, runs);
	if (entries)
		printf("%.1f messages an entry\n", (double)messages / (double)entries);
	if (!bad)
		return true;
	printf("broken:");
	for (j = 0; j < RULES; j++)
		if (rules >> j & 1)
			printf(" %s", check_rules[j]);
	putchar('\n');
	show_replay(argv, argc, first);
	return false;
}

int main(int argc, char **argv)
{
	command_read(argc, argv, options, help);
	if (list) {
		show_algorithms();
		return 0;
	}
	if (costs)
		return !costs_hold();
	if (compare)
		return !compare_all(json ? COMPARE_JSON : csv ? COMPARE_CSV : COMPARE_TABLE,
				    loss == UNSET ? 5 : loss);
	if (!plan.algorithm)
		errx(2, "--algorithm: is missing; --list shows the algorithms");
	complete();
	return !run_all(argc, argv);
}
