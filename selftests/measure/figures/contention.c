// SPDX-License-Identifier: GPL-2.0
/* Figures of t clients that contend at one instant. */
#include "figures.h"

#define SEEDS_MAX 64
#define SERVERS 6	/* 5b + 1: the paper's rule needs them too */

/* false: somebody did not get in before the end of the world */
static bool contend(struct trial *t, const struct way *way, u64 hold, u32 contenders, u64 seed)
{
	trial_set(t, seed, SERVERS, 1, contenders);
	way_use(way, t);
	t->load.hold = hold;
	trial_run(t);
	return t->served == contenders;
}

static void response_point(struct trial *t, const struct way *way, u64 hold, u32 contenders,
			   u32 seeds)
{
	double mean[SEEDS_MAX], last[SEEDS_MAX];
	struct spread m, l;
	u32 s;

	for (s = 0; s < seeds; s++) {
		if (!contend(t, way, hold, contenders, s + 1))
			return;
		mean[s] = trial_mean(t) / LEASE;
		last[s] = trial_last(t) / LEASE;
	}
	m = spread_of(mean, seeds);
	l = spread_of(last, seeds);
	printf("%s,%s,%u,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", hold ? "short" : "lease", way->name,
	       contenders,
	       m.median, m.low, m.high, l.median, l.low, l.high);
}

/* The paper's measure: the mean delay of t clients that begin at the same time. */
void figure_response(struct trial *t, bool quick)
{
	u32 most = quick ? 8 : 1024, seeds = quick ? 3 : 25, i, c;

	printf("hold,way,contenders,mean,mean_low,mean_high,last,last_low,last_high\n");
	for (i = 0; i < ways_count; i++)
		for (c = 1; c <= most && c <= ways[i].most; c *= 2) {
			/* Figure 1 knows no release. */
			if (ways[i].protocol->releases)
				response_point(t, &ways[i], HOLD, c, seeds);
			if (!ways[i].most_lease || c <= ways[i].most_lease)
				response_point(t, &ways[i], 0, c, seeds);
		}
}

#define ROUNDS_MAX 4096

static void rounds_curve(struct trial *t, const struct way *way, u32 contenders, u32 seeds)
{
	static u64 count[ROUNDS_MAX];
	u64 all = 0, sum = 0;
	u32 s, x, r;

	memset(count, 0, sizeof(count));
	for (s = 0; s < seeds; s++) {
		contend(t, way, way->protocol->releases ? HOLD : 0, contenders, s + 1);
		for (x = 0; x < contenders; x++) {
			r = t->rounds[x] < ROUNDS_MAX ? t->rounds[x] : ROUNDS_MAX - 1;
			count[r]++;
			all++;
		}
	}
	for (r = 1; r < ROUNDS_MAX; r++) {
		sum += count[r];
		if (count[r] || r == 1)
			printf("%s,%u,%u,%.6f\n", way->name, contenders, r,
			       (double)sum / (double)all);
	}
}

void figure_rounds(struct trial *t, bool quick)
{
	static const u32 contenders[] = { 4, 16, 64, 256 };
	u32 i, c;

	printf("way,contenders,rounds,share\n");
	for (i = 0; i < ways_count; i++)
		for (c = 0; c < (quick ? 1 : 4); c++)
			if (contenders[c] <= ways[i].most)
				rounds_curve(t, &ways[i], contenders[c],
					     quick ? 3 : 6400 / contenders[c]);
}

#define TURNS 1001

/* One cluster, whose registered clients are made once and stay. */
static void adaptivity_point(struct trial *t, u32 contenders, u32 registered)
{
	u32 turns = TURNS / contenders, i, x;
	double mean[TURNS] = {};
	struct spread m;

	trial_set(t, registered, 4, 1, contenders);
	t->load.registered = registered;
	t->load.turns = turns;
	t->plan.retry_max = 6 * LEASE;
	t->plan.hello = false;
	trial_run(t);
	for (i = 0; i < turns; i++)
		for (x = 0; x < contenders; x++)
			mean[i] += (double)t->delay[i * contenders + x] / contenders / DELTA;
	m = spread_of(mean, turns);
	trial_free(t);	/* a million hosts are 3 GB */
	printf("%u,%u,%.6f,%.6f,%.6f\n", contenders, registered, m.median, m.low, m.high);
}

void figure_adaptivity(struct trial *t, bool quick)
{
	static const u32 contenders[] = { 1, 4, 16 };
	u32 most = quick ? 10 : 1000000, registered, c;

	printf("contenders,registered,mean,low,high\n");
	for (c = 0; c < 3; c++)
		for (registered = 1; registered <= most; registered *= 10)
			adaptivity_point(t, contenders[c], registered);
}
