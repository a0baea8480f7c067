// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutex-model: everything that can happen in a small cluster. See --help,
 * and world.h for what "everything" is.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/quorum.h"
#include "world.h"

struct plan plan = {
	.n = 4, .b = 1, .liars = 1, .clients = 2, .sends = 1,
	.steps = 1, .instants = 2,
};

static const char help[] =
"usage: bftmutex-model [OPTION...]\n"
"Enumerate all that can happen in a small cluster, with the shipped cores.\n"
"  --servers N      4\n"
"  --b N            liars that clients reckon with; 1\n"
"  --liars N        liars that there are; 1\n"
"  --clients N      1 to 3; 2\n"
"  --attempts N     of each client; 0 (the default) for any number\n"
"  --sends N        of each attempt, 1 to 6; 1\n"
"  --restarts N     of correct servers, together; 0\n"
"  --steps N        parts of a lease; 1\n"
"  --queue MASK     1, 2 or 3: the first, the second or both of two clients wait\n"
"                   in the queue; 0\n"
"  --instants N     moments at the beginning of each; 2\n"
"  --fine           … less than a clock's tick apart\n"
"  --speeds WHICH   worst (the default), all or even: rates of the clocks\n"
"  --uneven         the last client's lease is twice as long\n"
"  --literal        clients judge as Figure 1 does\n"
"  --without R...   leave out reductions that rest on a proof, as 25 for R2 and\n"
"                   R5; see reduce.c\n"
"  --silent         liars say nothing\n"
"  --twice          check that fields left out of the worlds do not matter\n"
"  --held           with --queue: messages say, truly or not, that the lock is held,\n"
"                   and who holds it renews\n"
"  --paper Q        Figure 1 as printed, with quorums of Q, instead of the cores\n"
"  --asynchronous   … and without a bound on delays\n"
"  --memory GIB     at most; 6\n"
"  --replay CHOICES tell one story\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble; 3 the memory was not enough.\n";

static u64 memory = 6ull << 30;
static const char *choices;
static u32 paper_quorum;

/** struct counted - an option that takes a number from @low to @high */
static const struct counted {
	const char *name;
	u32 *value, low, high;
} counted[] = {
	{ "servers", &plan.n, 1, SERVERS_MAX },
	{ "b", &plan.b, 0, 2 },
	{ "liars", &plan.liars, 0, 2 },
	{ "clients", &plan.clients, 1, CLIENTS_MAX },
	{ "attempts", &plan.attempts, 0, 3 },
	{ "sends", &plan.sends, 1, SENDS_MAX },
	{ "restarts", &plan.restarts, 0, 3 },
	{ "steps", &plan.steps, 1, 12 },
	{ "queue", &plan.queue, 0, 3 },
	{ "instants", &plan.instants, 1, 9 },
	{ "paper", &paper_quorum, 1, SERVERS_MAX },
};

/** struct chosen - an option that does not */
static const struct chosen {
	const char *name;
	bool *value;
} chosen[] = {
	{ "fine", &plan.fine },
	{ "uneven", &plan.uneven },
	{ "literal", &plan.literal },
	{ "silent", &plan.silent },
	{ "twice", &plan.twice },
	{ "held", &plan.held },
	{ "asynchronous", &paper_plan.asynchronous },
};

enum { SPEEDS = 1, WITHOUT, MEMORY, REPLAY, HELP, COUNTED = 256, CHOSEN = 512 };

static struct option options[ARRAY_SIZE(counted) + ARRAY_SIZE(chosen) + 6] = {
	{ "speeds", 1, NULL, SPEEDS },
	{ "without", 1, NULL, WITHOUT },
	{ "memory", 1, NULL, MEMORY },
	{ "replay", 1, NULL, REPLAY },
	{ "help", 0, NULL, HELP },
};

static void list_options(void)
{
	struct option *o = options + 5;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		*o++ = (struct option){ counted[i].name, 1, NULL, COUNTED + (int)i };
	for (i = 0; i < ARRAY_SIZE(chosen); i++)
		*o++ = (struct option){ chosen[i].name, 0, NULL, CHOSEN + (int)i };
}

static u32 number(u32 low, u32 high)
{
	char *end;
	unsigned long value = strtoul(optarg, &end, 10);

	if (end == optarg || *end || value < low || value > high)
		errx(2, "'%s': must be a number from %u to %u", optarg, low, high);
	return (u32)value;
}

static enum speeds which_speeds(void)
{
	static const char *const names[] = {
		[SPEEDS_WORST] = "worst", [SPEEDS_ALL] = "all",
		[SPEEDS_EVEN] = "even",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(optarg, names[i]))
			return i;
	errx(2, "'%s': must be worst, all or even", optarg);
}

static u32 which_reductions(void)
{
	u32 mask = 0;
	const char *p;

	for (p = optarg; *p; p++) {
		if (*p < '1' || *p > '0' + REDUCTIONS)
			errx(2, "'%s': must be digits from 1 to %u", optarg, REDUCTIONS);
		mask |= 1u << (*p - '0');
	}
	return mask;
}

static void read_option(int which)
{
	const struct counted *c;

	switch (which) {
	case SPEEDS:
		plan.speeds = which_speeds();
		break;
	case WITHOUT:
		plan.without = which_reductions();
		break;
	case MEMORY:
		memory = (u64)number(1, 64) << 30;
		break;
	case REPLAY:
		choices = optarg;
		break;
	case HELP:
		fputs(help, stdout);
		exit(0);
	case COUNTED ... CHOSEN - 1:
		c = &counted[which - COUNTED];
		*c->value = number(c->low, c->high);
		break;
	case CHOSEN ... CHOSEN + ARRAY_SIZE(chosen) - 1:
		*chosen[which - CHOSEN].value = true;
		break;
	default:
		exit(2);
	}
}

static void check_plan(void)
{
	if (plan.liars >= plan.n)
		errx(2, "no server is left that does not lie");
	if (plan.queue && (plan.clients != 2 || plan.literal || plan.sends > 3))
		errx(2, "--queue is for two clients, and at most 3 sends");
	if (plan.held && !plan.queue)
		errx(2, "--held is for a queue: give --queue as well");
	if (!uses(2) && !plan.attempts)
		errx(2, "without R2 there must be a number of --attempts");
	/* A third tomb would push out the first, by an order that is not kept. */
	if (!uses(1) && plan.clients > BFTM_TOMBS)
		errx(2, "without R1 there may be %u clients", BFTM_TOMBS);
	if (paper_quorum && (plan.clients != 2 || plan.steps > 5))
		errx(2, "--paper is for two clients, and at most 5 steps");
}

static char *command_line(int argc, char **argv)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);
	int i;

	if (!f)
		err(2, "no memory");
	for (i = 0; i < argc; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	if (fclose(f))
		err(2, "no memory");
	return text;
}

static int report(const struct found *f)
{
	printf("result: %s, %llu states, %llu transitions, depth %u, %llu wins, %.1f s, %llu MiB\n",
	       f->wrong ? "violation" : f->full ? "incomplete" : "complete",
	       (unsigned long long)f->states, (unsigned long long)f->moves, f->depth,
	       (unsigned long long)f->wins, f->seconds,
	       (unsigned long long)(f->bytes >> 20));
	return f->wrong ? 1 : f->full ? 3 : 0;
}

int main(int argc, char **argv)
{
	struct system sys = {
		.size = sizeof(struct world),
		.starts = world_starts, .moves = world_moves,
		.pack = world_pack, .unpack = world_unpack,
		.wrong = world_wrong, .tell = world_tell,
	};
	const char *wrong;
	struct found found;
	char *command;
	int which;

	list_options();
	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1)
		read_option(which);
	if (optind < argc)
		errx(2, "'%s': what is that?", argv[optind]);
	check_plan();
	if (paper_quorum) {
		paper_plan.n = plan.n;
		paper_plan.b = plan.b;
		paper_plan.liars = plan.liars;
		paper_plan.q = paper_quorum;
		paper_plan.lease = plan.steps;
		paper_plan.delay = 1;
		sys = paper_system;
	} else {
		node_setup();
		sys.packed = world_pack_length();
		printf("# %u servers, b = %u, F = %u, %u lying\n", plan.n, plan.b,
		       bftm_free_needed(plan.n, plan.b), plan.liars);
	}
	if (choices) {
		wrong = replay(&sys, choices);
		printf("%s\n", wrong ? wrong : "nothing is wrong");
		return wrong ? 1 : 0;
	}
	command = command_line(argc, argv);
	search(&sys, memory, command, &found);
	free(command);
	return report(&found);
}
