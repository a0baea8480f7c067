/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFTM_CONF_TYPE_H
#define BFTM_CONF_TYPE_H

#include "config/conf.h"
#include "config/syntax.h"

/* The keys of a section "type", for the tables of bftm_syntax_read(). */
#define BFTM_TYPE_KEYS { \
	BFTM_KEY("program"), BFTM_KEY("arguments"), BFTM_KEY("time-limit"), CFG_END(), \
}

/**
 * bftm_conf_read_types() - read the sections "type" of a file
 * @syntax: the file
 * @conf:   gets them; to be freed also after a failure
 *
 * Mistakes are reported and counted. Return: 0 or -ENOMEM.
 */
int bftm_conf_read_types(struct bftm_syntax *syntax, struct bftm_conf *conf);

void bftm_conf_free_types(struct bftm_conf_type *type, u32 count);

#endif /* BFTM_CONF_TYPE_H */
