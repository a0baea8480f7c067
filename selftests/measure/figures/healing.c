// SPDX-License-Identifier: GPL-2.0
/*
 * When faults end, one client contends that perhaps did before, others may hold
 * the lock to the end of their time. How long until it is in?
 */
#include "figures.h"

#define TRIALS 4000

static void partitions(struct trial *t, u64 seed)
{
	trial_set(t, seed, 6, 1, 1);
	t->plan.faults = 1u << FAULT_CUT;
	t->plan.cut_every = LEASE / 2;
	t->plan.think_max = LEASE;
	t->plan.safety = 8 * LEASE;
	t->plan.clients = 4;
}

/* Whatever the simulator draws for this seed: clocks, liars, restarts, loss … */
static void everything(struct trial *t, u64 seed)
{
	static const struct wish wish = {
		.protocol = &protocol_ours, .servers = AS_DRAWN, .b = AS_DRAWN,
		.liars = AS_DRAWN, .clients = AS_DRAWN, .locks = 1, .rho_ppm = AS_DRAWN,
		.skew_ppm = AS_DRAWN, .length_pct = 100,
	};

	trial_set(t, seed, 6, 1, 1);
	plan_draw(&t->plan, seed, &wish);
	t->plan.handles = 1;
	/* As the helper has it; drawn are up to 32δ. */
	t->plan.resend = 4 * t->plan.delta;
	t->plan.lone = true;
}

/** struct setting - a curve */
static const struct setting {
	const char *name;
	void (*set)(struct trial *t, u64 seed);
	enum bftm_wait wait;
} settings[] = {
	{ "partitions-queue", partitions, BFTM_WAIT_QUEUE },
	{ "partitions", partitions, BFTM_WAIT_BACKOFF },
	{ "faults-queue", everything, BFTM_WAIT_QUEUE },
	{ "faults", everything, BFTM_WAIT_BACKOFF },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))
#define STEPS 200

static void curve(struct trial *t, const struct setting *s, u32 trials)
{
	static double value[TRIALS];
	double bound;
	u32 i, count = 0;

	for (i = 0; i < trials; i++) {
		s->set(t, i + 1);
		t->load.healing = true;
		t->load.wait = s->wait;
		/* Checkers look at the plan to see what to expect. */
		t->plan.backoff = s->wait == BFTM_WAIT_BACKOFF ? PPM : 0;
		t->plan.renew = 0;
		t->plan.fence = 0;
		t->plan.turns = 0;
		t->plan.waiters_max = BFTM_WAITERS_DEFAULT;
		t->plan.retry_max = 6 * t->plan.lease_max;
		trial_run(t);
		bound = 10 * (double)(t->plan.lease_max + 2 * t->plan.delta);
		if (t->served)
			value[count++] = (double)t->delay[0] / bound;
	}
	if (count < trials)
		fprintf(stderr, "%s: %u of %u not served\n", s->name, trials - count, trials);
	spread_of(value, count);
	for (i = 0; i < STEPS; i++)
		printf("%s,%.6f,%.6f\n", s->name, value[(u64)i * (count - 1) / (STEPS - 1)],
		       (double)i / (STEPS - 1));
}

void figure_healing(struct trial *t, bool quick)
{
	u32 i;

	printf("setting,bounds,share\n");
	for (i = 0; i < SETTINGS; i++)
		curve(t, &settings[i], quick ? 20 : TRIALS);
}
