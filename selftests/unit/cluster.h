/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole cluster in one thread: servers, liars, clients and the network
 * between them, in simulated time, all drawn from one seed.
 */
#ifndef BFTM_UNIT_CLUSTER_H
#define BFTM_UNIT_CLUSTER_H

#include "../../kmod/core/backoff_client.h"
#include "../../kmod/core/backoff_server.h"

#define CLUSTER_CLIENTS_MAX 16

/**
 * struct cluster_plan - what to simulate
 * @name:       for messages
 * @n:          servers
 * @b:          liars that the clients reckon with
 * @liars:      liars that there are
 * @clients:    all of them want the same lock
 * @literal:    Figure 1 as printed
 * @rho_ppm:    ρ that everybody reckons with
 * @skew_ppm:   how far rates of clocks are off
 * @loss_ppm:   of datagrams; as many are duplicated
 * @restart_ns: correct servers lose their memory that often at least, 0: never
 * @amnesia:    … and keep no quarantine
 */
struct cluster_plan {
	const char *name;
	u32 n;
	u32 b;
	u32 liars;
	u32 clients;
	bool literal;
	u32 rho_ppm;
	u32 skew_ppm;
	u32 loss_ppm;
	u64 restart_ns;
	bool amnesia;
};

/**
 * struct cluster_report - what came of it
 * @steps:     events
 * @time_ns:   of the simulation
 * @wins:      how often a client got in
 * @lapses:    how often its lease ended before it left
 * @overlaps:  events after which two were inside
 * @first_ns:  time of the first of them
 * @trace:     digest of everything that happened
 */
struct cluster_report {
	u64 steps;
	u64 time_ns;
	u64 wins;
	u64 lapses;
	u64 overlaps;
	u64 first_ns;
	u64 trace;
};

/** cluster_run() - @steps events, or until the first overlap. */
void cluster_run(const struct cluster_plan *plan, u64 seed, u64 steps,
		 struct cluster_report *ret);

#endif /* BFTM_UNIT_CLUSTER_H */
