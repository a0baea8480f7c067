/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another world for the seam of peer.h, that of Section 5 of Lin, Lian, Chen, Zhang: servers, and
 * clients that come at random, enter once, stay for no time, and go. The time that a message takes
 * is drawn once for each client and server. Nothing is lost. A place of a client that has gone is
 * taken by the next one.
 */
#ifndef BFTM_CROWD_H
#define BFTM_CROWD_H

#include "selftests/core/peers/peer.h"

#define CROWD_SERVERS 31
#define CROWD_STATE_MAX 524288	/* bytes of an algorithm's state */
#define CROWD_WINS 24		/* m: servers whose votes let a client enter */
#define CROWD_SECOND (10 * PEER_UNIT)	/* ticks: the mean time of a message is 100 ms */

/**
 * struct crowd_plan - what is asked for
 * @lacks:    bits of enum peer_repair that are taken away
 * @least, @most: ms: the time of a message is between these
 * @arrivals: of clients in a second, as the mean of a Poisson process
 * @lifetime: s: a server forgets all it knows after so long, as a mean; 0: never
 * @warming, @measured: s
 */
struct crowd_plan {
	const struct peer_algorithm *algorithm;
	u32 lacks, least, most;
	double arrivals, lifetime;
	u32 warming, measured;
};

/** struct crowd_result - of the measured time; messages an entry */
struct crowd_result {
	double rate, messages;
};

/** crowd_run() - one run, of a seed. */
struct crowd_result crowd_run(const struct crowd_plan *plan, u64 seed);

/** crowd_theory() - entries in a second that no protocol exceeds, see sigma.c. */
double crowd_theory(u32 least, u32 most);

#endif /* BFTM_CROWD_H */
