// SPDX-License-Identifier: GPL-2.0
/* bftmutex-order-model: every sequence of iterations of a small cluster; see model.h. */
#include <stdio.h>

#include "selftests/core/model/command.h"
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
"  --continue       clients say COMMIT_GET and go on: at most 3 iterations, without --late\n"
"  --refresh        iterations may be refreshes, which apply nothing to what is completed\n"
"  --forks          look for forks and invented states only\n"
"Exit status: 0 all enumerated, nothing wrong; 1 a violation, its story is\n"
"printed; 2 trouble.\n";

static u32 liars = 1;

static const struct command_option options[] = {
	{ "servers", .number = &plan.n, 1, CORRECT_MAX },
	{ "b", .number = &plan.b, 0, 2 },
	{ "liars", .number = &liars, 0, 1 },
	{ "clients", .number = &plan.clients, 1, CLIENTS_MAX },
	{ "iterations", .number = &plan.iterations, 1, ITERATIONS_MAX },
	{ "late", .flag = &plan.late },
	{ "continue", .flag = &plan.continues },
	{ "refresh", .flag = &plan.refreshes },
	{ "forks", .flag = &plan.forks },
	{ NULL },
};

int main(int argc, char **argv)
{
	bool good = true;
	u32 i;

	command_read(argc, argv, options, help);
	if (plan.continues && (plan.late || plan.iterations > ITERATIONS_MAX / 2)) {
		fprintf(stderr,
			"bftmutex-order-model: --continue: 1 to %d iterations, without --late: "
			"give --iterations\n", ITERATIONS_MAX / 2);
		return 2;
	}
	plan.correct = plan.n - liars;
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
