// SPDX-License-Identifier: GPL-2.0
/* bftmutex-token-model: fencing tokens over restarts; see world.h for what is enumerated. */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/quorum.h"
#include "world.h"

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
"  --memory GIB     at most; 6\n"
"  --replay CHOICES tell one story\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble; 3 the memory was not enough.\n";

static u64 memory = 6ull << 30;
static const char *choices;

static u32 number(const char *name, u32 low, u32 high)
{
	char *end;
	unsigned long value = strtoul(optarg, &end, 10);

	if (!*optarg || *end || value < low || value > high)
		errx(2, "--%s '%s': a number from %u to %u is expected", name, optarg, low, high);
	return (u32)value;
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "servers", required_argument, NULL, 's' },
		{ "b", required_argument, NULL, 'b' },
		{ "tokens", required_argument, NULL, 't' },
		{ "floors", no_argument, NULL, 'f' },
		{ "intruder", no_argument, NULL, 'i' },
		{ "late", no_argument, NULL, 'l' },
		{ "memory", required_argument, NULL, 'm' },
		{ "replay", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			plan.n = number("servers", 1, SERVERS_MAX);
		else if (opt == 'b')
			plan.b = number("b", 0, 1);
		else if (opt == 't')
			plan.tokens = number("tokens", 1, MUCH - 1);
		else if (opt == 'f')
			plan.floors = true;
		else if (opt == 'i')
			plan.intruder = true;
		else if (opt == 'l')
			plan.late = true;
		else if (opt == 'm')
			memory = (u64)number("memory", 1, 64) << 30;
		else if (opt == 'r')
			choices = optarg;
		else if (opt == 'h' && fputs(help, stdout) >= 0)
			exit(0);
		else
			errx(2, "see --help");
	}
	if (optind < argc)
		errx(2, "'%s': no argument is expected", argv[optind]);
	if (plan.n < 3 * plan.b + 1)
		errx(2, "--servers %u: at least %u for --b %u", plan.n, 3 * plan.b + 1, plan.b);
}

static int report(const struct found *f)
{
	printf("reached: %llu wins, %llu stamps, %llu restarts, %llu recoveries\n",
	       (unsigned long long)reached[WIN],
	       (unsigned long long)(reached[STAMP] + reached[STAMP_OLD]),
	       (unsigned long long)(reached[RESTART] + reached[START_WITH_FLOOR]),
	       (unsigned long long)reached[RECOVER]);
	printf("result: %s, %llu states, %llu transitions, depth %u, %llu wins, %.1f s, %llu MiB\n",
	       f->wrong ? "violation" : f->full ? "incomplete" : "complete",
	       (unsigned long long)f->states, (unsigned long long)f->moves, f->depth,
	       (unsigned long long)f->wins, f->seconds, (unsigned long long)(f->bytes >> 20));
	return f->wrong ? 1 : f->full ? 3 : 0;
}

int main(int argc, char **argv)
{
	char *command = NULL;
	const char *wrong;
	struct found found;
	struct system sys;

	read_options(argc, argv);
	holder_cfg = (struct bftm_client_cfg){
		.n = plan.n, .b = plan.b, .rho_ppm = 2000, .delta_ns = 1000000,
		.resend_ns = 4000000, .retry_max_ns = BFTM_NS_PER_SEC,
	};
	token_system_init(&sys);
	printf("# %u servers, b = %u, q = %u, tokens up to %u\n", plan.n, plan.b,
	       bftm_fence_quorum(plan.n, plan.b), plan.tokens);
	if (choices) {
		wrong = replay(&sys, choices);
		printf("%s\n", wrong ? wrong : "nothing is wrong");
		return wrong ? 1 : 0;
	}
	if (asprintf(&command, "%s --servers %u --b %u --tokens %u%s%s%s", argv[0], plan.n, plan.b,
		     plan.tokens, plan.floors ? " --floors" : "",
		     plan.intruder ? " --intruder" : "", plan.late ? " --late" : "") < 0)
		err(2, "no memory");
	search(&sys, memory, command, &found);
	free(command);
	return report(&found);
}
