// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a list belongs to who made it until a server has it. The receive
 * path reads it under RCU, netlink (dump and count) under the namespace's mutex.
 * Code that takes it from the server holds that mutex, waits for a grace period
 * and frees it; server_free() frees the last one, when the sockets are closed
 * and their grace period is over. No pointer into a list outlives either.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "debug.h"
#include "netns.h"
#include "server/server.h"

struct bftm_rules *bftm_rules_new(u32 count)
{
	static atomic_t number = ATOMIC_INIT(1);	/* which is that of no rules */
	struct bftm_rules *rules;

	rules = kvzalloc(struct_size(rules, rule, count), GFP_KERNEL);
	if (!rules)
		return NULL;
	rules->number = atomic_inc_return(&number);
	rules->count = count;
	bftm_created("rules", rules);
	return rules;
}

void bftm_rules_destroy(struct bftm_rules *rules)
{
	if (!rules)
		return;
	bftm_destroyed("rules", rules);
	kvfree(rules);
}

struct bftm_rules *bftm_rules_swap(struct bftm_server *server,
				   struct bftm_rules *rules)
{
	struct mutex *mutex = &bftm_net(server->net)->mutex;

	return rcu_replace_pointer(server->rules, rules, lockdep_is_held(mutex));
}
