// SPDX-License-Identifier: GPL-2.0
/* One trial, and numbers made of many. */
#include "figures.h"

void trial_set(struct trial *t, u64 seed, u32 n, u32 b, u32 contenders)
{
	t->load = (struct load){ .contenders = contenders, .turns = 1, .hold = HOLD };
	t->plan = (struct plan){
		.seed = seed, .protocol = &protocol_ours, .n = n, .b = b, .handles = 1,
		.locks = 1, .rho = BFTM_RHO_DEFAULT_PPM, .lease_max = LEASE, .lease_min = LEASE,
		.delta = DELTA, .resend = 4 * DELTA, .retry_max = UNCAPPED, .exponent = 2,
		.delay = DELAY_UNIFORM, .safety = LONGEST, .hello = true, .lone = true,
	};
}

void trial_run(struct trial *t)
{
	struct outcome o;
	u32 count = t->load.contenders * t->load.turns, x;

	t->plan.clients = t->plan.clients ?: t->load.contenders + t->load.registered;
	t->registered = t->turn = t->served = t->back = 0;
	t->asked = 0;
	t->sent = 0;
	t->delay = reallocarray(t->delay, count, sizeof(*t->delay));
	t->rounds = reallocarray(t->rounds, count, sizeof(*t->rounds));
	if (!t->delay || !t->rounds)
		abort();
	for (x = 0; x < count; x++) {
		t->delay[x] = NEVER;
		t->rounds[x] = 0;
	}
	world_run(&t->w, &t->plan, NULL, NULL, &o);
	t->sent = o.stats.sent - t->sent;
	if (!o.failed.checker)
		return;
	fprintf(stderr, "bftmutex-figures: seed %llu: %s: %s\n",
		(unsigned long long)t->plan.seed, o.failed.checker->name, o.failed.text);
	exit(1);
}

void trial_free(struct trial *t)
{
	world_free(&t->w);
	free(t->delay);
	free(t->rounds);
	memset(t, 0, sizeof(*t));
}

double trial_mean(const struct trial *t)
{
	double sum = 0;
	u32 count = t->load.contenders * t->load.turns, x;

	for (x = 0; x < count; x++)
		sum += (double)t->delay[x];
	return sum / count;
}

double trial_last(const struct trial *t)
{
	u64 last = 0;
	u32 count = t->load.contenders * t->load.turns, x;

	for (x = 0; x < count; x++)
		last = t->delay[x] > last ? t->delay[x] : last;
	return (double)last;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Between two values of the sample, in proportion. */
static double quantile(const double *value, u32 count, double q)
{
	double place = q * (count - 1);
	u32 i = (u32)place;

	return i + 1 < count ? value[i] + (place - i) * (value[i + 1] - value[i]) : value[i];
}

struct spread spread_of(double *value, u32 count)
{
	qsort(value, count, sizeof(*value), compare);
	return (struct spread){
		.median = quantile(value, count, 0.5),
		.low = quantile(value, count, 0.25),
		.high = quantile(value, count, 0.75),
	};
}
