// SPDX-License-Identifier: GPL-2.0
/* bftmutex-figures: the numbers of one figure, as CSV. */
#include <string.h>

#include "figures.h"

static const struct figure figures[] = {
	{ "response", figure_response },
	{ "rounds", figure_rounds },
	{ "adaptivity", figure_adaptivity },
	{ "cost", figure_cost },
	{ "availability", figure_availability },
	{ "optimisations", figure_optimisations },
	{ "healing", figure_healing },
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

int main(int argc, char **argv)
{
	bool quick = argc == 3 && !strcmp(argv[1], "--quick");
	static struct trial t;
	size_t i;

	ways_setup();
	for (i = 0; i < FIGURES && argc == 2 + quick; i++) {
		if (strcmp(argv[1 + quick], figures[i].name))
			continue;
		figures[i].print(&t, quick);
		trial_free(&t);
		return 0;
	}
	fprintf(stderr, "usage: bftmutex-figures [--quick] FIGURE, one of\n");
	for (i = 0; i < FIGURES; i++)
		fprintf(stderr, "  %s\n", figures[i].name);
	return 64;
}
