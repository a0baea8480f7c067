/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bftmutex-figures: measures clusters of the simulator and prints CSV. The
 * cluster is selftests/core/sim, but for its applications: those of app.c do what is
 * to be measured, and nothing else.
 */
#ifndef BFTM_FIGURES_H
#define BFTM_FIGURES_H

#include <stdio.h>

#include "selftests/core/sim/world.h"

/* Only ratios matter: Δ : δ is that of the defaults, 10 s and 10 ms. */
#define LEASE	(1000 * MS)
#define DELTA	(1 * MS)
#define HOLD	(LEASE / 100)	/* of who gives back */
/* Clocks of the simulator overflow after 18446 s. */
#define LONGEST	(18000 * BFTM_NS_PER_SEC)
#define UNCAPPED (LONGEST / 2)

/**
 * struct load - what the applications do
 * @contenders: so many ask for the lock at one instant, each once
 * @registered: others; if any, all held the lock once before, these are idle now
 * @turns:      … and so often the contenders ask, when all have given back
 * @hold:       for so long they hold it; 0: until the lease ends
 * @down:       servers that are not there, a bit mask
 * @wait:       how all of them wait
 * @preferred:  the first does not back off
 * @healing:    all contend again and again until faults end, then one does
 */
struct load {
	u32 contenders;
	u32 registered;
	u32 turns;
	u64 hold;
	u32 down;
	enum bftm_wait wait;
	bool preferred;
	bool healing;
};

/**
 * struct trial - one run of one cluster
 * @w:      first member: the applications find their trial by it
 * @plan:   as the simulator draws it, here written by hand
 * @registered: how many have held the lock before
 * @turn:   from 0
 * @asked:  when they began to contend in this turn, 0 before
 * @served: how many got in, in all turns
 * @back:   how many have given back in this turn
 * @delay:  by turn and client, from asking to getting in; NEVER: it did not
 * @rounds: likewise, the one that won included
 * @sent:   datagrams, to and from servers, since @asked
 */
struct trial {
	struct world w;
	struct plan plan;
	struct load load;
	u32 registered;
	u32 turn;
	u64 asked;
	u32 served;
	u32 back;
	u64 *delay;
	u32 *rounds;
	u64 sent;
};

/** struct way - of waiting; ways.c has the table, one line each */
struct way {
	const char *name;
	const struct protocol *protocol;
	u32 exponent;		/* of a polynomial; 0: exponential */
	enum bftm_wait wait;
	u64 retry_max;
	u32 most;		/* contenders; more would never end, or for too long */
	u32 most_lease;		/* … that hold for the whole lease; 0: the same */
};

extern const struct way ways[];
extern const u32 ways_count;
/** way_use() - write it into a trial. */
void way_use(const struct way *way, struct trial *t);

/** Our protocol without one of its parts, see ways.c. */
/** ways_setup() - before any of these is used. */
void ways_setup(void);

extern const struct protocol protocol_no_release, protocol_no_cancel, protocol_no_resend;

/** trial_set() - a fault-free cluster of @n servers, in the trial's plan. */
void trial_set(struct trial *t, u64 seed, u32 n, u32 b, u32 contenders);
/** trial_run() - Exits with a message when a rule is broken. */
void trial_run(struct trial *t);
void trial_free(struct trial *t);

/** trial_mean() - delay of all contenders, in ns; trial_last() - the longest. */
double trial_mean(const struct trial *t);
double trial_last(const struct trial *t);

/** struct spread - of a sample */
struct spread {
	double median, low, high;	/* low and high: quartiles */
};

/** spread_of() - sorts @value. */
struct spread spread_of(double *value, u32 count);

/** struct figure - @quick: few seeds, small clusters */
struct figure {
	const char *name;
	void (*print)(struct trial *t, bool quick);
};

void figure_response(struct trial *t, bool quick);
void figure_rounds(struct trial *t, bool quick);
void figure_adaptivity(struct trial *t, bool quick);
void figure_cost(struct trial *t, bool quick);
void figure_availability(struct trial *t, bool quick);
void figure_optimisations(struct trial *t, bool quick);
void figure_healing(struct trial *t, bool quick);

#endif /* BFTM_FIGURES_H */
