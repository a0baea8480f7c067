// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "sim.h"

void stats_add(struct stats *sum, const struct stats *s)
{
	const u64 *from = (const u64 *)s;
	u64 *to = (u64 *)sum;
	size_t i;

	static_assert(sizeof(struct stats) % sizeof(u64) == 0);
	u64 worst = sum->worst_wait > s->worst_wait ? sum->worst_wait : s->worst_wait;

	for (i = 0; i < sizeof(*s) / sizeof(u64); i++)
		to[i] += from[i];
	sum->worst_wait = worst;
}

static double per(u64 sum, u64 count)
{
	return count ? (double)sum / (double)count : 0;
}

void stats_print(const struct stats *s, u64 cpu_ns, u64 wall_ns)
{
	double cpu = (double)cpu_ns / 1e9;
	int i;

	printf("%llu scenarios, %.0f simulated seconds, %llu events in %.1f s\n",
	       (unsigned long long)s->scenarios, (double)s->sim_ns / 1e9,
	       (unsigned long long)s->events, (double)wall_ns / 1e9);
	printf("  wins %llu, rounds %llu, lapses %llu, refused %llu\n",
	       (unsigned long long)s->wins, (unsigned long long)s->rounds,
	       (unsigned long long)s->lapses, (unsigned long long)s->refused);
	printf("  renewed %llu, adopted %llu, fenced %llu, pushes %llu, yields %llu, recoveries %llu\n",
	       (unsigned long long)s->renewed, (unsigned long long)s->adopted,
	       (unsigned long long)s->fenced, (unsigned long long)s->pushed,
	       (unsigned long long)s->yielded, (unsigned long long)s->recovered);
	if (s->conversions)
		printf("  conversions %llu\n", (unsigned long long)s->conversions);
	if (s->values)
		printf("  values told %llu, of them valid %llu\n", (unsigned long long)s->values,
		       (unsigned long long)s->valid);
	if (s->worst_wait)
		printf("  others were served while one waited: at most %llu times\n",
		       (unsigned long long)s->worst_wait);
	steps_print(s);
	if (s->jains)
		printf("  Jain's index of fairness: %.4f\n", per(s->jain_ppm, s->jains) / PPM);
	printf("  datagrams %llu: lost %llu, doubled %llu, slow %llu, aimed %llu, clogged %llu\n",
	       (unsigned long long)s->sent, (unsigned long long)s->lost,
	       (unsigned long long)s->doubled, (unsigned long long)s->slow,
	       (unsigned long long)s->aimed, (unsigned long long)s->clogged);
	printf("  lies %llu, refused as replays %llu, as forged %llu\n",
	       (unsigned long long)s->lies, (unsigned long long)s->replayed,
	       (unsigned long long)s->forged);
	printf("  faults:");
	for (i = 0; i < FAULTS; i++)
		if (s->fault[i])
			printf(" %s %llu", fault_names[i], (unsigned long long)s->fault[i]);
	printf("\n  speed: %.0f scenarios and %.0f simulated seconds a second of a core, ",
	       cpu > 0 ? (double)s->scenarios / cpu : 0,
	       cpu > 0 ? (double)s->sim_ns / 1e9 / cpu : 0);
	printf("%.0f ns an event\n", per(cpu_ns, s->events));
}
