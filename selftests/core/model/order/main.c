// SPDX-License-Identifier: GPL-2.0
/* bftmutex-order-model: every sequence of iterations of a small cluster; see model.h. */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

struct plan plan = { .n = 5, .b = 1, .correct = 4, .clients = 2, .iterations = 3 };

static const char help[] =
"usage: bftmutex-order-model [OPTION...]\n"
"Enumerate iterations of the ordering protocol in a small cluster, with the\n"
"shipped cores.\n"
"  --servers N      5\n"
"  --b N            liars that clients reckon with; 1\n"
"  --liars N        liars that there are, 0 or 1; 1\n"
"  --clients N      1 to 3; 2\n"
"  --iterations N   1 to 6; 3\n"
"  --late           what is left of an iteration may come after the next one\n"
"  --forks          look for forks only\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble.\n";

static u32 number(const char *name, const char *text, u32 low, u32 high)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < low || value > high)
		errx(2, "--%s '%s': a number from %u to %u is expected", name, text, low, high);
	return (u32)value;
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "servers", required_argument, NULL, 's' },
		{ "b", required_argument, NULL, 'b' },
		{ "liars", required_argument, NULL, 'l' },
		{ "clients", required_argument, NULL, 'c' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "late", no_argument, NULL, 'L' },
		{ "forks", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	u32 liars = 1;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			plan.n = number("servers", optarg, 1, CORRECT_MAX);
		else if (opt == 'b')
			plan.b = number("b", optarg, 0, 2);
		else if (opt == 'l')
			liars = number("liars", optarg, 0, 1);
		else if (opt == 'c')
			plan.clients = number("clients", optarg, 1, CLIENTS_MAX);
		else if (opt == 'i')
			plan.iterations = number("iterations", optarg, 1, ITERATIONS_MAX);
		else if (opt == 'L')
			plan.late = true;
		else if (opt == 'f')
			plan.forks = true;
		else if (opt == 'h' && fputs(help, stdout) >= 0)
			exit(0);
		else
			errx(2, "see --help");
	}
	if (optind < argc)
		errx(2, "'%s': no argument is expected", argv[optind]);
	plan.correct = plan.n - liars;
}

int main(int argc, char **argv)
{
	bool good = true;
	u32 i;

	read_options(argc, argv);
	worlds_first();
	for (i = 1; i <= plan.iterations && good; i++) {
		good = worlds_next();
		printf("iterations: %u, %llu worlds, %llu moves\n", i,
		       (unsigned long long)worlds_known, (unsigned long long)worlds_moves);
		fflush(stdout);
	}
	printf("result: %s, %llu worlds, %llu moves\n", good ? "complete" : "violation",
	       (unsigned long long)worlds_known, (unsigned long long)worlds_moves);
	return !good;
}
