// SPDX-License-Identifier: GPL-2.0
/* Cost and benefit of more servers. */
#include "core/quorum.h"
#include "figures.h"

/** struct rule - number of servers for b liars */
static const struct rule {
	const char *name;
	u32 times;
} rules[] = {
	{ "3b+1", 3 },
	{ "5b+1", 5 },
	{ "6b+1", 6 },
};

#define RULES (sizeof(rules) / sizeof(rules[0]))
#define LIARS_MAX 6

/* Datagrams until all RELEASE are answered, of each contender, by t. */
void figure_cost(struct trial *t, bool quick)
{
	static const u32 contenders[] = { 1, 16 };
	u32 seeds = quick ? 1 : 25, r, b, c, s;

	printf("rule,b,n,contenders,datagrams,round_trip\n");
	for (r = 0; r < RULES; r++)
		for (b = 1; b <= LIARS_MAX && rules[r].times * b + 1 <= BFTM_SERVERS_MAX; b++)
			for (c = 0; c < 2; c++) {
				double sent = 0, delay = 0;

				for (s = 0; s < seeds; s++) {
					trial_set(t, s + 1, rules[r].times * b + 1, b,
						  contenders[c]);
					trial_run(t);
					sent += (double)t->sent / contenders[c];
					delay += trial_mean(t) / DELTA;
				}
				printf("%s,%u,%u,%u,%.3f,%.3f\n", rules[r].name, b, t->plan.n,
				       contenders[c], sent / seeds, delay / seeds);
			}
}

static double power(double x, u32 n)
{
	double y = 1;

	while (n--)
		y *= x;
	return y;
}

/* The chance that fewer than @need of @n are up. */
static double none(u32 n, u32 need, double p)
{
	double sum = 0, choose = 1;
	u32 up;

	for (up = 0; up < need; up++) {
		sum += choose * power(1 - p, up) * power(p, n - up);
		choose = choose * (n - up) / (up + 1);
	}
	return sum;
}

/*
 * The share of one-round requests that failed with servers down at random. That
 * they fail when, and only when, fewer than F are up is looked at in each.
 */
static double tried(struct trial *t, u32 n, u32 b, double p, u32 seeds)
{
	struct rng r = { .state = (u64)(p * PPM) << 32 | n << 8 | b };
	u32 failed = 0, s, u, up;

	for (s = 0; s < seeds; s++) {
		trial_set(t, s + 1, n, b, 1);
		t->load.wait = BFTM_WAIT_NOT;
		for (u = 0; u < n; u++)
			t->load.down |= (u32)rng_chance(&r, (u32)(p * PPM + 0.5)) << u;
		trial_run(t);
		up = n - (u32)__builtin_popcount(t->load.down);
		if (!t->served != (up < bftm_free_needed(n, b))) {
			fprintf(stderr, "bftmutex-figures: n = %u, b = %u: %u up\n", n, b, up);
			exit(1);
		}
		failed += !t->served;
	}
	return (double)failed / seeds;
}

void figure_availability(struct trial *t, bool quick)
{
	static const double down[] = { 0.01, 0.05, 0.1 };
	u32 seeds = quick ? 20 : 20000, r, b, d, n;

	printf("rule,b,n,need,p,computed,simulated\n");
	for (r = 0; r < RULES; r++)
		for (d = 0; d < 3; d++)
			for (b = 1; b <= LIARS_MAX; b++) {
				n = rules[r].times * b + 1;
				if (n > BFTM_SERVERS_MAX)
					break;
				printf("%s,%u,%u,%u,%.2f,%.6e,%.6e\n", rules[r].name, b, n,
				       bftm_free_needed(n, b), down[d],
				       none(n, bftm_free_needed(n, b), down[d]),
				       tried(t, n, b, down[d], seeds));
			}
}
