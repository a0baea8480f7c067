/* SPDX-License-Identifier: GPL-2.0 */
/* The access rules of a server: a list that is replaced whole. */
#ifndef BFTM_ACCESS_H
#define BFTM_ACCESS_H

#include "core/access.h"

struct bftm_server;

/**
 * struct bftm_rules - a list, constant once a server has it
 * @number: of the list; no two have the same
 * @count:  how many rules, 1 … BFTM_RULES_MAX: no list stands for no rule
 * @rule:   in their order
 */
struct bftm_rules {
	u32 number;
	u32 count;
	struct bftm_rule rule[];
};

/**
 * bftm_rules_new() - a list of @count rules, all zero
 * @count: number of rules
 * Context: process. Return: NULL when memory is short.
 */
struct bftm_rules *bftm_rules_new(u32 count);

/** bftm_rules_destroy() - no server may have it. NULL is fine. */
void bftm_rules_destroy(struct bftm_rules *rules);

/**
 * bftm_rules_swap() - give a server other rules
 * @server: the server
 * @rules:  the new ones, the server's from now on; NULL for none
 *
 * Context: process, the mutex of the namespace is held.
 * Return: those it had. They may be destroyed after a grace period.
 */
struct bftm_rules *bftm_rules_swap(struct bftm_server *server,
				   struct bftm_rules *rules);

#endif /* BFTM_ACCESS_H */
