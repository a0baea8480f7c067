/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CTL_START_H
#define CTL_START_H

#include <argp.h>

#include "config/conf.h"
#include "ctl/journal.h"
#include "ctl/limits.h"

/**
 * struct ctl_start - what the user asked for; 0 or NULL for what he did not
 * @floor:  which fencing tokens were stamped before this start
 * @access: rules to begin with
 * @durability: what of objects is to outlive the server
 * @n, @b:  servers of its cluster and liars among them, as the configuration says; @n 0: it does
 *          not
 * @first:  this server never started on this host before
 */
struct ctl_start {
	const char *key, *state, *config;
	u64 cluster, id, port, lease_max_ns, rho_ppm;
	struct ctl_limits limits;
	enum { CTL_FLOOR_BY_STATE, CTL_FLOOR_KNOWN, CTL_FLOOR_UNKNOWN } floor;
	u64 token_floor;
	struct bftm_conf_access access;
	struct ctl_durability durability;
	u32 n, b;
	bool first;
};

/** ctl_start_argp - the options of "server start", into a struct ctl_start */
extern const struct argp ctl_start_argp;

#endif /* CTL_START_H */
