/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutexctl server start: the limits of the server's tables. */
#ifndef BFTM_CTL_LIMITS_H
#define BFTM_CTL_LIMITS_H

#include <argp.h>

#include "config/conf.h"

struct nl_msg;

/** enum ctl_limit - by the options of "server start" */
enum ctl_limit {
	CTL_MAX_LOCKS,
	CTL_MAX_CLIENTS,
	CTL_MAX_WAITERS,
	CTL_MAX_HOLDERS,
	CTL_MAX_OBJECTS,
	CTL_MAX_STATE,
	CTL_OBJECT_MEMORY,
	CTL_LIMITS
};

/** struct ctl_limits - the limits of the user; 0 for the module's default */
struct ctl_limits {
	u64 value[CTL_LIMITS];
};

/** ctl_limits_parse() - parse an option; ARGP_ERR_UNKNOWN for another option */
error_t ctl_limits_parse(struct argp_state *state, int key, const char *arg,
			 struct ctl_limits *limits);

/** ctl_limits_conf() - take limits without an option from this server's configuration */
void ctl_limits_conf(struct ctl_limits *limits, const struct bftm_conf_cluster *cluster,
		     const struct bftm_conf_server *server);

/** ctl_limits_put() - add the limits to server-start, as attributes. 0; else it had no room. */
int ctl_limits_put(const struct ctl_limits *limits, struct nl_msg *msg);

#endif /* BFTM_CTL_LIMITS_H */
