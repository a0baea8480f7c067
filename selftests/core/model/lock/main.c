// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutex-model: everything that can happen in a small cluster. See --help,
 * and world.h for what "everything" is.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/quorum.h"
#include "selftests/core/model/command.h"
#include "members.h"
#include "modes.h"

#define AS_DO	~0u	/* servers say how many of them restart */

struct plan plan = {
	.n = 4, .b = 1, .liars = 1, .clients = 2, .sends = 1,
	.steps = 1, .instants = 2, .says = AS_DO,
};

static const char help[] =
"usage: bftmutex-model [OPTION...]\n"
"Enumerate all that can happen in a small cluster, with the shipped cores.\n"
"  --servers N      4\n"
"  --b N            liars that clients reckon with; 1\n"
"  --liars N        liars that there are; 1\n"
"  --clients N      1 to 3; 2\n"
"  --attempts N     of each client; 0 (the default) for any number\n"
"  --sends N        of each attempt, 1 to 7; 1\n"
"  --restarts N     of correct servers, together; 0\n"
"  --m M            grants that win a lock; F\n"
"  --first-m M      … of the first client\n"
"  --forgets K      K different servers restart without a quarantine within one, any\n"
"                   number of times; more than 2m - n - b - 1 break the rule\n"
"  --says K         … and so many as they tell; as many as do\n"
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
"  --modes LIST     clients ask for these modes, as PR,EX, and convert: see modes.h\n"
"  --conversions N  with --modes: of each attempt; 1\n"
"  --timeless       with --modes: no time passes\n"
"  --members        locks have no lease, and servers restart: see members.h\n"
"  --crashes        with --members: hosts are cut off and evicted, and boot\n"
"  --early          with --members: hosts that run are evicted\n"
"  --roll           with --members: servers have rolls\n"
"  --paper Q        Figure 1 as printed, with quorums of Q, instead of the cores\n"
"  --asynchronous   … and without a bound on delays\n"
"  --memory GIB     at most; 6\n"
"  --replay CHOICES tell one story\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble; 3 the memory was not enough.\n";

static u32 memory_gib = 6;
static const char *choices;
static u32 paper_quorum;

static void read_speeds(const char *argument)
{
	static const char *const names[] = {
		[SPEEDS_WORST] = "worst", [SPEEDS_ALL] = "all",
		[SPEEDS_EVEN] = "even",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(argument, names[i])) {
			plan.speeds = i;
			return;
		}
	}
	errx(2, "--speeds '%s': worst, all or even is expected", argument);
}

static void read_reductions(const char *argument)
{
	const char *p;

	for (p = argument; *p; p++) {
		if (*p < '1' || *p > '0' + REDUCTIONS)
			errx(2, "--without '%s': digits from 1 to %u are expected", argument,
			     REDUCTIONS);
		plan.without |= 1u << (*p - '0');
	}
}

static void read_modes(const char *argument)
{
	modes_plan.modes = command_modes(argument);
}

static const struct command_option options[] = {
	{ "servers", .number = &plan.n, 1, SERVERS_MAX },
	{ "b", .number = &plan.b, 0, 2 },
	{ "liars", .number = &plan.liars, 0, 2 },
	{ "clients", .number = &plan.clients, 1, CLIENTS_MAX },
	{ "attempts", .number = &plan.attempts, 0, 3 },
	{ "sends", .number = &plan.sends, 1, SENDS_MAX },
	{ "restarts", .number = &plan.restarts, 0, 3 },
	{ "m", .number = &plan.m, 1, SERVERS_MAX },
	{ "first-m", .number = &plan.first_m, 1, SERVERS_MAX },
	{ "forgets", .number = &plan.forgets, 0, SERVERS_MAX },
	{ "says", .number = &plan.says, 0, SERVERS_MAX },
	{ "steps", .number = &plan.steps, 1, 12 },
	{ "queue", .number = &plan.queue, 0, 3 },
	{ "instants", .number = &plan.instants, 1, 9 },
	{ "paper", .number = &paper_quorum, 1, SERVERS_MAX },
	{ "memory", .number = &memory_gib, 1, 64 },
	{ "fine", .flag = &plan.fine },
	{ "uneven", .flag = &plan.uneven },
	{ "literal", .flag = &plan.literal },
	{ "silent", .flag = &plan.silent },
	{ "twice", .flag = &plan.twice },
	{ "held", .flag = &plan.held },
	{ "asynchronous", .flag = &paper_plan.asynchronous },
	{ "conversions", .number = &modes_plan.conversions, 0, MODES_SENDS },
	{ "modes", .read = read_modes },
	{ "members", .flag = &members_plan.on },
	{ "crashes", .flag = &members_plan.crashes },
	{ "early", .flag = &members_plan.early },
	{ "roll", .flag = &members_plan.roll },
	{ "timeless", .flag = &modes_plan.timeless },
	{ "speeds", .read = read_speeds },
	{ "without", .read = read_reductions },
	{ "replay", .text = &choices },
	{ NULL },
};

static void check_plan(void)
{
	if (plan.liars >= plan.n)
		errx(2, "no server is left that does not lie");
	if (plan.says == AS_DO)
		plan.says = plan.forgets;
	if (plan.m < bftm_free_needed(plan.n, plan.b) && plan.m + plan.first_m)
		errx(2, "--m %u: %u to %u, and --first-m needs it", plan.m,
		     bftm_free_needed(plan.n, plan.b), plan.n);
	if (plan.forgets && plan.restarts)
		errx(2, "--forgets and --restarts: one of them");
	if (modes_plan.modes && (plan.queue || plan.m || plan.forgets || plan.attempts || plan.restarts || plan.fine ||
				 plan.speeds != SPEEDS_WORST || plan.uneven || plan.literal ||
				 plan.twice || plan.sends > MODES_SENDS || paper_quorum ||
				 plan.without & ~(1u << 3)))
		errx(2, "with --modes there may be at most %u --sends, --without 3 but no other, and no --attempts, --fine, --forgets, --held, --literal, --m, --paper, --queue, --restarts, --speeds, --twice or --uneven",
		     MODES_SENDS);
	if (members_plan.on && (modes_plan.modes || plan.queue || plan.attempts || plan.fine ||
				plan.n > L_SERVERS || plan.clients != L_CLIENTS || plan.literal ||
				plan.without || paper_quorum))
		errx(2, "with --members there may be at most %u --servers, 2 --clients, and of other options --b, --liars and --restarts alone",
		     L_SERVERS);
	if (!modes_plan.modes && modes_plan.timeless)
		errx(2, "--timeless is for worlds with --modes");
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

int main(int argc, char **argv)
{
	struct system sys = {
		.size = sizeof(struct world),
		.starts = world_starts, .moves = world_moves,
		.pack = world_pack, .unpack = world_unpack,
		.wrong = world_wrong, .tell = world_tell,
	};
	struct found found;
	char *command;

	command_read(argc, argv, options, help);
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
		if (members_plan.on) {
			sys = members_system();
		} else if (modes_plan.modes) {
			modes_setup();
			sys = modes_system();
		} else {
			sys.packed = world_pack_length();
		}
		printf("# %u servers, b = %u, %s = %u, %u lying\n", plan.n, plan.b,
		       plan.m ? "m" : "F", bftm_grants_needed(plan.n, plan.b, plan.m), plan.liars);
		if (plan.forgets)
			printf("# r = %u, %u forget\n", bftm_spared(plan.n, plan.b, plan.m),
			       plan.forgets);
	}
	if (choices)
		return replay(&sys, choices);
	command = command_line(argc, argv);
	search(&sys, (u64)memory_gib << 30, command, &found);
	free(command);
	if (modes_plan.modes)
		modes_report();
	if (members_plan.on)
		members_report();
	return search_report(&found);
}
