/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a host, by which it counts leases, as it may be. It runs at a rate within
 * 1 ± ρ of true time, which may change, and shows multiples of its grain, that
 * is at most the tick that the lease arithmetic reckons with. Exact to the
 * nanosecond in both directions, because whole leases hang on one.
 */
#ifndef BFTM_SIM_CLOCK_H
#define BFTM_SIM_CLOCK_H

#include "rng.h"

/**
 * struct clock - shows base + (t - since) · rate / 10^6, rounded down
 * @since: true time at which the rate was set
 * @base:  what it showed then, in ns
 * @part:  … and in millionths of a ns
 * @rate:  in millionths
 * @grain: what it shows are multiples of this many ns
 */
struct clock {
	u64 since;
	u64 base;
	u32 part;
	u32 rate;
	u32 grain;
};

static inline u64 clock_exact(const struct clock *c, u64 t)
{
	return c->base + ((t - c->since) * c->rate + c->part) / PPM;
}

/** clock_at() - what it shows at true time @t, not before @c->since. */
static inline u64 clock_at(const struct clock *c, u64 t)
{
	u64 shown = clock_exact(c, t);

	return c->grain > 1 ? shown - shown % c->grain : shown;
}

/** clock_when() - the first true time, not before @from, at which it shows @shown. */
static inline u64 clock_when(const struct clock *c, u64 shown, u64 from)
{
	u64 t;

	if (shown == ~0ull)
		return shown;		/* never */
	if (c->grain > 1)
		shown = (shown + c->grain - 1) / c->grain * c->grain;
	if (shown <= c->base)
		return from;
	t = c->since + ((shown - c->base) * PPM - c->part + c->rate - 1) / c->rate;
	return t > from ? t : from;
}

/** clock_set_rate() - from true time @t on. */
static inline void clock_set_rate(struct clock *c, u64 t, u32 rate)
{
	u64 run = (t - c->since) * c->rate + c->part;

	c->base += run / PPM;
	c->part = run % PPM;
	c->since = t;
	c->rate = rate;
}

#endif /* BFTM_SIM_CLOCK_H */
