/* SPDX-License-Identifier: GPL-2.0 */
/* The part of conf.c that reads access rules. */
#ifndef BFTM_CONF_ACCESS_H
#define BFTM_CONF_ACCESS_H

#include "config/conf.h"
#include "config/syntax.h"

/* The keys of a section "access". */
#define BFTM_ACCESS_KEYS { \
	BFTM_KEY("client"), BFTM_KEY("prefix"), BFTM_KEY("lease-max"), \
	BFTM_KEY("waiters"), BFTM_KEY("deny"), BFTM_KEY("leaseless"), CFG_END(), \
}

/**
 * bftm_conf_read_access() - the sections "access" of a section
 * @syntax:  the file; mistakes are reported and counted there
 * @section: the section that has them
 * @ret:     the rules in file order, to be freed; complete only if there was no mistake
 *
 * Return: 0 or -ENOMEM.
 */
int bftm_conf_read_access(struct bftm_syntax *syntax, cfg_t *section,
			  struct bftm_conf_access *ret);

#endif /* BFTM_CONF_ACCESS_H */
