/* SPDX-License-Identifier: GPL-2.0 */
/* The part of conf.c that reads clusters, without their servers and access rules. */
#ifndef BFTM_CONF_CLUSTER_H
#define BFTM_CONF_CLUSTER_H

#include "config/conf.h"
#include "config/syntax.h"

/* Most keys of a cluster. */
#define BFTM_CLUSTER_OPTS 20

/**
 * bftm_conf_cluster_keys() - the keys of a section "cluster", without its sections; their number
 * @ret: gets the keys, without a CFG_END
 */
u32 bftm_conf_cluster_keys(cfg_opt_t ret[BFTM_CLUSTER_OPTS]);

/** bftm_conf_read_cluster() - a cluster, and its servers; mistakes are counted in @syntax */
void bftm_conf_read_cluster(struct bftm_syntax *syntax, cfg_t *section,
			    struct bftm_conf_cluster *ret);

#endif /* BFTM_CONF_CLUSTER_H */
