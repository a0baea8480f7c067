/* SPDX-License-Identifier: GPL-2.0 */
/* The part of conf.c that reads servers. */
#ifndef BFTM_CONF_SERVER_H
#define BFTM_CONF_SERVER_H

#include "config/conf.h"
#include "config/syntax.h"

/** BFTM_SERVER_KEYS - the keys of a section "server" */
#define BFTM_SERVER_KEYS { \
	BFTM_KEY("address"), BFTM_KEY("port"), BFTM_KEY("durability"), BFTM_KEY("journal"), \
	BFTM_KEY("roll"), \
	BFTM_KEY("max-holders"), BFTM_KEY("max-objects"), BFTM_KEY("max-state"), BFTM_KEY("object-memory"), \
	BFTM_KEY("ingress"), \
	CFG_END() \
}

/**
 * bftm_conf_read_servers() - the servers of a cluster
 * @syntax:  the file; mistakes are reported and counted there
 * @section: the cluster's section
 * @ret:     n and server[] are filled in; server[] is complete only if there was no mistake
 */
void bftm_conf_read_servers(struct bftm_syntax *syntax, cfg_t *section,
			    struct bftm_conf_cluster *ret);

#endif /* BFTM_CONF_SERVER_H */
