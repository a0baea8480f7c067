// SPDX-License-Identifier: GPL-2.0
/* bftmutex-token-model: fencing tokens over restarts; see world.h for what is enumerated. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/quorum.h"
#include "selftests/core/model/command.h"
#include "modes.h"

struct plan plan = { .n = 4, .b = 1, .tokens = 2 };

static const char help[] =
"usage: bftmutex-token-model [OPTION...]\n"
"Enumerate how servers that restart stamp fencing tokens, and learn again which\n"
"were stamped, in a small cluster of the shipped cores.\n"
"  --servers N      4\n"
"  --b N            liars that clients reckon with, and that there are; 0 or 1 (1)\n"
"  --tokens N       from 1 to N, 5 at most; 2\n"
"  --floors         servers may be started with a floor\n"
"  --intruder       clients speak that no server may believe\n"
"  --late           keep also what servers should ignore: what is for an earlier\n"
"                   start of them, and what they need not learn any more\n"
"  --modes LIST     no restarts, but tenures in these modes, as PR,EX: see modes.h\n"
"  --memory GIB     at most; 6\n"
"  --replay CHOICES tell one story\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble; 3 the memory was not enough.\n";

static u32 memory_gib = 6;
static const char *choices;

static u32 modes;

static void read_modes(const char *argument)
{
	modes = command_modes(argument);
}

static const struct command_option options[] = {
	{ "servers", .number = &plan.n, 1, SERVERS_MAX },
	{ "b", .number = &plan.b, 0, 1 },
	{ "tokens", .number = &plan.tokens, 1, MUCH - 1 },
	{ "floors", .flag = &plan.floors },
	{ "intruder", .flag = &plan.intruder },
	{ "late", .flag = &plan.late },
	{ "modes", .read = read_modes },
	{ "memory", .number = &memory_gib, 1, 64 },
	{ "replay", .text = &choices },
	{ NULL },
};

static void report_reached(void)
{
	printf("reached: %llu wins, %llu stamps, %llu restarts, %llu recoveries\n",
	       (unsigned long long)reached[WIN],
	       (unsigned long long)(reached[STAMP] + reached[STAMP_OLD]),
	       (unsigned long long)(reached[RESTART] + reached[START_WITH_FLOOR]),
	       (unsigned long long)reached[RECOVER]);
}

int main(int argc, char **argv)
{
	struct found found;
	struct system sys;
	char *command;

	command_read(argc, argv, options, help);
	if (plan.n < 3 * plan.b + 1)
		errx(2, "--servers %u: at least %u for --b %u", plan.n, 3 * plan.b + 1, plan.b);
	holder_cfg = (struct bftm_client_cfg){
		.n = plan.n, .b = plan.b, .rho_ppm = 2000, .delta_ns = 1000000,
		.resend_ns = 4000000, .retry_max_ns = BFTM_NS_PER_SEC,
	};
	if (modes && (plan.floors || plan.intruder || plan.late))
		errx(2, "with --modes there may be no --floors, --intruder or --late");
	if (modes)
		modes_system_init(&sys, modes);
	else
		token_system_init(&sys);
	printf("# %u servers, b = %u, q = %u, tokens up to %u\n", plan.n, plan.b,
	       bftm_fence_quorum(plan.n, plan.b), plan.tokens);
	if (choices)
		return replay(&sys, choices);
	command = command_line(argc, argv);
	search(&sys, (u64)memory_gib << 30, command, &found);
	free(command);
	if (modes)
		printf("reached: %llu shared tokens\n", (unsigned long long)modes_shared);
	else
		report_reached();
	return search_report(&found);
}
