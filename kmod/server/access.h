/* SPDX-License-Identifier: GPL-2.0 */
/* The access rules of a server: a list that is replaced whole. */
#ifndef BFTM_ACCESS_H
#define BFTM_ACCESS_H

#include "core/access.h"
#include "core/members.h"

struct bftm_server;

/**
 * struct bftm_telling - how far a server is with the SYNC of a member
 * @wanted: incarnations up to this one are over
 * @done:   what incarnations up to this one had is dropped; the member is heard then
 * @asked:  whether there was a SYNC
 * @told:   whether one was obeyed
 * @unnoted_ns: since when it is refused because the roll does not name it; 0: it is not
 */
struct bftm_telling {
	u64 unnoted_ns;
	u32 wanted;
	u32 done;
	bool asked;
	bool told;
};

/**
 * struct bftm_rules - a list, and the members that it makes
 * @number:  of the list; no two have the same
 * @count:   how many rules, 1 … BFTM_RULES_MAX: no list stands for no rule
 * @members: clients for which a rule with leaseless is; see bftm_rules_members(). Once a server has
 *           the list its members_lock guards what is not constant; requests look without it.
 * @telling: of each member, in the same order; guarded likewise
 * @rule:    in their order, constant once a server has the list
 */
struct bftm_rules {
	u32 number;
	u32 count;
	struct bftm_members members;
	struct bftm_telling *telling;
	struct bftm_rule rule[];
};

/**
 * bftm_rules_new() - a list of @count rules, all zero
 * @count: number of rules
 * Context: process. Return: NULL when memory is short.
 */
struct bftm_rules *bftm_rules_new(u32 count);

/**
 * bftm_rules_members() - list the members, when all rules are there
 * @rules: no server has them yet
 * Context: process. Return: 0; -E2BIG when there are more than BFTM_MEMBERS_MAX; -ENOMEM.
 */
int bftm_rules_members(struct bftm_rules *rules);

/** bftm_rules_evict() - evicted before this start, if it is a member; no server has them yet. */
void bftm_rules_evict(struct bftm_rules *rules, u32 client, u32 incarnation);

/** bftm_rules_noted() - the roll names it up to @incarnation, if it is a member; likewise. */
void bftm_rules_noted(struct bftm_rules *rules, u32 client, u32 incarnation);

/**
 * bftm_rules_begin() - a server begins with them, and has forgotten all: members are awaited
 * @rules:   no server has them yet, or the one before has stopped
 * @roll:    the server has a roll
 * @unknown: what the roll has is not known
 */
void bftm_rules_begin(struct bftm_rules *rules, bool roll, bool unknown);

/** bftm_rules_destroy() - no server may have it. NULL is fine. */
void bftm_rules_destroy(struct bftm_rules *rules);

/**
 * bftm_rules_swap() - give a server other rules
 * @server:  the server
 * @rules:   the new ones, the server's from now on; NULL for none
 * @ret_old: those it had. They may be destroyed after a grace period.
 *
 * Members of both lists go on as they were; what @rules say of their evictions does not count.
 *
 * Context: process, the mutex of the namespace is held.
 * Return: false, and nothing was changed, if a member is awaited and what it may hold without a
 * lease could be less by @rules.
 */
bool bftm_rules_swap(struct bftm_server *server, struct bftm_rules *rules,
		     struct bftm_rules **ret_old);

#endif /* BFTM_ACCESS_H */
