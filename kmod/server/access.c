// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a list belongs to who made it until a server has it. The receive
 * path reads it under RCU, netlink (dump and count) under the namespace's mutex, and what changes
 * members under members_lock, which is held when the list is replaced.
 * Code that takes it from the server holds that mutex, waits for a grace period
 * and frees it; server_free() frees the last one, when the sockets are closed
 * and their grace period is over. No pointer into a list outlives either.
 */
#include <linux/atomic.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
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
	kvfree(rules->members.member);
	kvfree(rules->telling);
	kvfree(rules);
}

/* Does a rule before @before deny the client every name? */
static bool is_denied(const struct bftm_rules *rules, u32 before, u32 client)
{
	const struct bftm_rule *rule;

	for (rule = rules->rule; rule < rules->rule + before; rule++)
		if (rule->deny && !rule->prefix_len && client >= rule->client_first &&
		    client <= rule->client_last)
			return true;
	return false;
}

/* Return: -E2BIG when there is no place; it may be there already. */
static int add_member(struct bftm_members *m, u32 client)
{
	u32 i = m->count;

	if (bftm_members_find(m, client))
		return 0;
	if (i == BFTM_MEMBERS_MAX)
		return -E2BIG;
	for (; i && m->member[i - 1].client > client; i--)
		m->member[i] = m->member[i - 1];
	m->member[i] = (struct bftm_member){ .client = client };
	m->count++;
	return 0;
}

static int add_members(struct bftm_rules *rules, u32 number)
{
	const struct bftm_rule *rule = &rules->rule[number];
	u32 i, more = rule->client_last - rule->client_first;
	int err = 0;

	if (more >= BFTM_MEMBERS_MAX)
		return -E2BIG;
	for (i = 0; i <= more && !err; i++)
		if (!is_denied(rules, number, rule->client_first + i))
			err = add_member(&rules->members, rule->client_first + i);
	return err;
}

int bftm_rules_members(struct bftm_rules *rules)
{
	struct bftm_members *m = &rules->members;
	int err = 0;
	u32 i;

	for (i = 0; i < rules->count && !err; i++) {
		if (!rules->rule[i].leaseless)
			continue;
		if (!m->member) {
			m->member = kvcalloc(BFTM_MEMBERS_MAX, sizeof(*m->member), GFP_KERNEL);
			rules->telling = kvcalloc(BFTM_MEMBERS_MAX, sizeof(*rules->telling),
						  GFP_KERNEL);
			if (!m->member || !rules->telling)
				return -ENOMEM;
		}
		err = add_members(rules, i);
		cond_resched();
	}
	return err;
}

void bftm_rules_evict(struct bftm_rules *rules, u32 client, u32 incarnation)
{
	bftm_members_evict(&rules->members, client, incarnation, false);
}

void bftm_rules_noted(struct bftm_rules *rules, u32 client, u32 incarnation)
{
	bftm_members_note(&rules->members, client, incarnation);
}

void bftm_rules_begin(struct bftm_rules *rules, bool roll, bool unknown)
{
	struct bftm_members *m = &rules->members;
	u32 i;

	if (rules->telling)
		memset(rules->telling, 0, BFTM_MEMBERS_MAX * sizeof(*rules->telling));
	for (i = 0; unknown && i < m->count; i++)
		m->member[i].noted = BFTM_NOTED_UNKNOWN;
	m->roll = roll;
	bftm_members_start(m);
	if (roll)
		bftm_members_roll(m);
}

/* Rules from the first to the last with leaseless: they decide what members may hold. */
static u32 decisive(const struct bftm_rules *rules)
{
	u32 count = rules ? rules->count : 0;

	while (count && !rules->rule[count - 1].leaseless)
		count--;
	return count;
}

/* Does a member that has not told yet what it holds have the right to hold it by @rules, too? */
static bool keep_rights(const struct bftm_rules *old, const struct bftm_rules *rules)
{
	u32 count = decisive(old);

	return !old->members.awaited ||
	       (decisive(rules) >= count &&
		!memcmp(old->rule, rules->rule, count * sizeof(*rules->rule)));
}

/* Members that are new have told nothing and hold nothing by this server: none is awaited. */
static void carry_over(const struct bftm_rules *old, struct bftm_rules *rules)
{
	struct bftm_members *m = &rules->members;
	const struct bftm_member *was;
	u32 i;

	m->awaited = 0;
	for (i = 0; i < m->count; i++) {
		m->member[i].awaited = false;
		m->member[i].noted = 0;
		was = bftm_members_find(&old->members, m->member[i].client);
		if (!was)
			continue;
		m->member[i] = *was;
		m->awaited += was->awaited;
		rules->telling[i] = old->telling[was - old->members.member];
	}
}

bool bftm_rules_swap(struct bftm_server *server, struct bftm_rules *rules,
		     struct bftm_rules **ret_old)
{
	struct bftm_rules *old;
	bool done;

	lockdep_assert_held(&bftm_net(server->net)->mutex);
	spin_lock_bh(&server->members_lock);
	old = rcu_dereference_protected(server->rules, true);
	done = !old || keep_rights(old, rules);
	if (done) {
		if (rules)
			rules->members.roll = server->param.roll;
		if (old && rules)
			carry_over(old, rules);
		rcu_assign_pointer(server->rules, rules);
		*ret_old = old;
	}
	spin_unlock_bh(&server->members_lock);
	return done;
}
