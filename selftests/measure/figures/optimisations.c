// SPDX-License-Identifier: GPL-2.0
/* Each optimisation with and without, where it matters. */
#include "figures.h"

#define SEEDS_MAX 101

/**
 * struct optimisation - one row of the figure
 * @contenders: that ask at one instant
 * @first:      the first one's delay counts, not the mean of all
 * @without:    changes a trial so that the optimisation is missing
 * @both:       what both trials have besides, or NULL
 */
struct optimisation {
	const char *name;
	u32 contenders;
	bool first;
	void (*without)(struct trial *t);
	void (*both)(struct trial *t);
};

static void no_hello(struct trial *t)
{
	t->plan.hello = false;
}

static void literal(struct trial *t)
{
	t->plan.literal = true;
}

static void one_silent(struct trial *t)
{
	t->load.down = 1;
	t->plan.delay = DELAY_HEAVY;
}

static void no_release(struct trial *t)
{
	t->plan.protocol = &protocol_no_release;
}

static void no_cancel(struct trial *t)
{
	t->plan.protocol = &protocol_no_cancel;
}

static void no_resend(struct trial *t)
{
	t->plan.protocol = &protocol_no_resend;
}

static void loss(struct trial *t)
{
	t->plan.faults = 1u << FAULT_LOSS;
	t->plan.loss = PPM / 5;
}

static void no_cap(struct trial *t)
{
	t->plan.retry_max = UNCAPPED;
}

static void queue(struct trial *t)
{
	t->load.wait = BFTM_WAIT_QUEUE;
}

static void no_queue(struct trial *t)
{
	t->load.wait = BFTM_WAIT_BACKOFF;
}

static void preferred(struct trial *t)
{
	t->load.preferred = true;
}

static void not_preferred(struct trial *t)
{
	t->load.preferred = false;
}

/* A new one is a line here; "both" is the shipped default, but for what it says. */
static const struct optimisation optimisations[] = {
	{ "HELLO before the first TRY: one client", 1, .without = no_hello },
	{ "F FREE, not the first q: one client, a server silent, Pareto delays", 1,
	  .without = literal, .both = one_silent },
	{ "F FREE, not the first q: 16 clients", 16, .without = literal },
	{ "TRY repeated: one client, a fifth is lost", 1, .without = no_resend, .both = loss },
	{ "RELEASE of lost rounds: 16 clients", 16, .without = no_cancel },
	{ "RELEASE, also of lost rounds: 16 clients", 16, .without = no_release },
	{ "retry-max = 6Δ: 256 clients", 256, .without = no_cap },
	{ "the queue, not backoff: 16 clients", 16, .without = no_queue, .both = queue },
	{ "no backoff for one of 16 clients: that one", 16, true, not_preferred, preferred },
};

#define OPTIMISATIONS (sizeof(optimisations) / sizeof(optimisations[0]))

static double measure(struct trial *t, const struct optimisation *o, bool without, u64 seed)
{
	trial_set(t, seed, 6, 1, o->contenders);
	t->plan.retry_max = 6 * LEASE;
	t->load.wait = BFTM_WAIT_BACKOFF;
	if (o->both)
		o->both(t);
	if (without)
		o->without(t);
	trial_run(t);
	if (t->served < t->load.contenders)
		return LONGEST;
	return o->first ? (double)t->delay[0] : trial_mean(t);
}

/* The mean: rare long waits are what most of these are about. */
static void row(struct trial *t, const struct optimisation *o, u32 seeds)
{
	double value[2][SEEDS_MAX], sum[2] = {};
	struct spread s[2];
	u32 i, without;

	for (without = 0; without < 2; without++) {
		for (i = 0; i < seeds; i++) {
			value[without][i] = measure(t, o, without, i + 1) / DELTA;
			sum[without] += value[without][i] / seeds;
		}
		s[without] = spread_of(value[without], seeds);
	}
	printf("\"%s\",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", o->name, sum[0], s[0].low, s[0].high,
	       sum[1], s[1].low, s[1].high);
}

void figure_optimisations(struct trial *t, bool quick)
{
	u32 i;

	printf("optimisation,with,with_low,with_high,without,without_low,without_high\n");
	for (i = 0; i < OPTIMISATIONS; i++)
		if (!quick || optimisations[i].contenders == 1)
			row(t, &optimisations[i], quick ? 3 : SEEDS_MAX);
}
