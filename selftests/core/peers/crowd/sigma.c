// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutex-crowd: the figures of Lin, Lian, Chen, Zhang (2004), as CSV. Each line has the number
 * of the figure, the protocol, the times of messages in ms, what is varied, and the result.
 *
 *   2  the chance that two clients are inside, by formula
 *   3  throughput of the strawman, by arrivals in a second
 *   7  throughput of Sigma as printed and of ours, likewise; and what theory allows
 *   8  throughput when servers forget, by their lifetime in seconds
 *
 * The paper has 24 of 32; here 24 of 31, the most servers that our protocol has.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "selftests/core/peers/algorithms.h"
#include "selftests/core/model/command.h"
#include "selftests/core/sim/rng.h"
#include "crowd.h"

#define SAMPLES 20000
#define WITHIN 0.02	/* of theory, ours */
#define PRINTED 0.72	/* of theory, at most, Sigma as printed */

static const char help[] =
"usage: bftmutex-crowd [OPTION...]\n"
"Print the figures of Lin, Lian, Chen, Zhang: A Practical Distributed Mutual\n"
"Exclusion Protocol in Dynamic Peer-to-Peer Systems, as CSV.\n"
"  --measured S      seconds of each run that count; 20\n"
"  --warming S       seconds before; 10\n"
"  --figure N        only this one: 2, 3, 7 or 8\n"
"  --check           only the saturated runs of Figure 7: ours is within 2 % of what\n"
"                    theory allows, and Sigma as printed is below 72 %\n"
"Exit status: 0 it is so; 1 it is not; 2 trouble.\n";

static u32 measured = 20, warming = 10, only;
static bool check;

static const struct command_option options[] = {
	{ "measured", .number = &measured, 10, 3600 },
	{ "warming", .number = &warming, 1, 3600 },
	{ "figure", .number = &only, 2, 8 },
	{ "check", .flag = &check },
	{ NULL },
};

static const struct { u32 least, most; } networks[] = { { 100, 100 }, { 50, 150 }, { 0, 200 } };

#define NETWORKS (sizeof(networks) / sizeof(*networks))

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* A hand-over takes RELEASE to m servers and their answer: the m-th of n sums of two delays. */
double crowd_theory(u32 least, u32 most)
{
	struct rng rng = { .state = 1 };
	double sum = 0, sums[CROWD_SERVERS];
	u32 i, u;

	for (i = 0; i < SAMPLES; i++) {
		for (u = 0; u < CROWD_SERVERS; u++)
			sums[u] = (double)(rng_between(&rng, least, most) +
					   rng_between(&rng, least, most));
		qsort(sums, CROWD_SERVERS, sizeof(*sums), compare);
		sum += sums[CROWD_WINS - 1];
	}
	return 1000 * SAMPLES / sum;
}

/* Σ C(m, k) q^k (1 - q)^(m - k) from k = 2m - n on, where a server forgets with chance q = t / T. */
static double chance(u32 n, u32 m, double q)
{
	double sum = 0;
	u32 k;

	for (k = 2 * m - n; k <= m; k++)
		sum += exp(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) + k * log(q) +
			   (m - k) * log1p(-q));
	return sum;
}

static void figure_2(void)
{
	static const struct { u32 n, m; } sizes[] = {
		{ 8, 5 }, { 16, 10 }, { 24, 15 }, { 32, 20 }, { 8, 6 }, { 16, 12 }, { 24, 18 },
		{ 32, 24 }, { 8, 7 }, { 16, 14 }, { 24, 21 }, { 32, 28 }, { 31, 24 },
	};
	u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf("2,m/n=%.3f,0,0,%u,%.2e\n", (double)sizes[i].m / sizes[i].n, sizes[i].n,
		       chance(sizes[i].n, sizes[i].m, 0.001));
}

static struct crowd_result run(const struct peer_algorithm *a, u32 network, double arrivals,
			       double lifetime)
{
	struct crowd_plan plan = {
		.algorithm = a, .least = networks[network].least, .most = networks[network].most,
		.arrivals = arrivals, .lifetime = lifetime, .warming = warming,
		.measured = measured,
		.lacks = REPAIR_TOLD | REPAIR_GRANTS | (lifetime > 0 ? REPAIR_QUARANTINE : 0),
	};

	return crowd_run(&plan, 1);
}

static bool wants(u32 figure)
{
	return !only || only == figure;
}

static void print(u32 figure, const struct peer_algorithm *a, u32 network, double varied,
		  double rate)
{
	printf("%u,%s,%u,%u,%g,%.2f\n", figure, a ? a->name : "theory", networks[network].least,
	       networks[network].most, varied, rate);
}

static void figures(void)
{
	static const double arrivals[] = { 0.5, 1, 2, 3, 4, 5, 8 };
	static const double lifetimes[] = { 30, 100, 300, 1000, 10000 };
	u32 i, j;

	puts("figure,protocol,least,most,varied,result");
	if (wants(2))
		figure_2();
	for (i = 0; i < NETWORKS; i++) {
		for (j = 0; wants(3) && j < sizeof(arrivals) / sizeof(*arrivals); j++)
			print(3, &peer_strawman, i, arrivals[j],
			      run(&peer_strawman, i, arrivals[j], 0).rate);
		for (j = 0; wants(7) && j < sizeof(arrivals) / sizeof(*arrivals); j++) {
			print(7, &peer_sigma, i, arrivals[j],
			      run(&peer_sigma, i, arrivals[j], 0).rate);
			print(7, &peer_ours, i, arrivals[j],
			      run(&peer_ours, i, arrivals[j], 0).rate);
			print(7, NULL, i, arrivals[j],
			      fmin(arrivals[j], crowd_theory(networks[i].least, networks[i].most)));
		}
	}
	for (j = 0; wants(8) && j < sizeof(lifetimes) / sizeof(*lifetimes); j++)
		print(8, &peer_ours, 2, lifetimes[j], run(&peer_ours, 2, 4, lifetimes[j]).rate);
}

/* 8 in a second come, which is more than can enter. */
static bool holds(void)
{
	bool good = true, fits;
	u32 i;

	for (i = 0; i < NETWORKS; i++) {
		double theory = crowd_theory(networks[i].least, networks[i].most);
		struct crowd_result printed = run(&peer_sigma, i, 8, 0);
		struct crowd_result ours = run(&peer_ours, i, 8, 0);

		fits = fabs(ours.rate / theory - 1) <= WITHIN && printed.rate < PRINTED * theory;
		good &= fits;
		printf("%u to %u ms: theory %.2f a second, ours %.2f by %.1fn messages an entry, "
		       "Sigma as printed %.2f by %.1fn%s\n", networks[i].least, networks[i].most,
		       theory, ours.rate, ours.messages / CROWD_SERVERS, printed.rate,
		       printed.messages / CROWD_SERVERS, fits ? "" : " | WRONG");
	}
	return good;
}

int main(int argc, char **argv)
{
	command_read(argc, argv, options, help);
	if (check)
		return !holds();
	figures();
	return 0;
}
