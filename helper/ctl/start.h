/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CTL_START_H
#define CTL_START_H

#include <argp.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/journal.h"
#include "ctl/limits.h"
#include "ctl/roll.h"

/**
 * struct ctl_start - the user's choices; 0 or NULL for defaults
 * @key:          path of the server's key file
 * @state:        state directory
 * @config:       path of the configuration
 * @cluster:      number of the cluster
 * @id:           number of the server
 * @port:         UDP port
 * @lease_max_ns: the longest lease, ns
 * @rho_ppm:      how much clocks may differ in rate, parts per million
 * @limits:       of the server's tables
 * @floor:        whether @token_floor is known, or whether the state directory says so
 * @token_floor:  highest fencing token that may have been stamped before this start
 * @access:       rules to begin with
 * @evicted:      clients that were cut off before
 * @roll:         who may hold a lock without a lease, of before
 * @durability:   how much of its objects is to outlive the server
 * @ingress:      name of the device that hands it requests, "none", or empty where nothing was said
 * @n:            servers of its cluster by the configuration; 0 when it has none of them
 * @b:            liars among them, at most
 * @m:            grants that win there, protocol = sigma; else 0
 * @no_quarantine: servers that may restart without a quarantine, as this one does; 0: it keeps it
 * @members_fenced: no client holds a lock without a lease that the rules do not let it hold
 * @lock:         descriptor that keeps other starts of this server away
 * @first:        this server never started on this host before
 */
struct ctl_start {
	const char *key, *state, *config;
	u64 cluster, id, port, lease_max_ns, rho_ppm;
	struct ctl_limits limits;
	enum { CTL_FLOOR_BY_STATE, CTL_FLOOR_KNOWN, CTL_FLOOR_UNKNOWN } floor;
	u64 token_floor;
	struct bftm_conf_access access;
	struct ctl_evicted evicted;
	struct ctl_roll roll;
	struct ctl_durability durability;
	char ingress[16];
	u32 n, b, m;
	u32 no_quarantine;
	int lock;
	bool first, members_fenced;
};

/** ctl_start_argp - the options of "server start", into a struct ctl_start */
extern const struct argp ctl_start_argp;

struct bftm_master;

/** ctl_start_explain() - what the start means; @awaited clients may hold locks without a lease */
void ctl_start_explain(const struct ctl_start *start, const struct bftm_master *master,
		       u64 awaited);

/** ctl_start_warn() - clients that leave room for fewer do not count what this server grants */
void ctl_start_warn(const struct ctl_start *start);

#endif /* CTL_START_H */
