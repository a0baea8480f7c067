/* SPDX-License-Identifier: GPL-2.0 */
/* Red-black trees of libbsd. */
#ifndef BFTM_TREE_H
#define BFTM_TREE_H

#include <bsd/sys/tree.h>

/* RB_GENERATE_STATIC needs a macro __unused, which glibc does not have. */
#define BFTM_TREE(name, type, field, compare) \
	RB_GENERATE_INTERNAL(name, type, field, compare, \
			     static __attribute__((unused)))

#endif /* BFTM_TREE_H */
