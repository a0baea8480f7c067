// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, access rules of the server and its members: set, list and evict. The family's policy has
 * checked the form and range of every attribute, nested ones included.
 */
#include <linux/rcupdate.h>
#include <net/sock.h>

#include "locks/members.h"
#include "netlink/access.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "server/server.h"

static int read_rule(const struct nlattr *nest, struct bftm_rule *rule,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *a[BFTMUTEX_A_RULE_MAX + 1];
	int len, err;

	err = nla_parse_nested(a, BFTMUTEX_A_RULE_MAX, nest, bftmutex_rule_nl_policy,
			       extack);
	if (err)
		return err;
	rule->client_first = 1;
	rule->client_last = BFTM_CLIENT_ID_MAX;
	if (a[BFTMUTEX_A_RULE_CLIENT_FIRST])
		rule->client_first = nla_get_u32(a[BFTMUTEX_A_RULE_CLIENT_FIRST]);
	if (a[BFTMUTEX_A_RULE_CLIENT_LAST])
		rule->client_last = nla_get_u32(a[BFTMUTEX_A_RULE_CLIENT_LAST]);
	if (rule->client_first > rule->client_last) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "client-first must be at most client-last");
		return -EINVAL;
	}
	rule->deny = nla_get_flag(a[BFTMUTEX_A_RULE_DENY]);
	rule->leaseless = nla_get_flag(a[BFTMUTEX_A_RULE_LEASELESS]);
	if (rule->deny && (a[BFTMUTEX_A_RULE_LEASE_MAX_NS] || a[BFTMUTEX_A_RULE_MAX_WAITERS] ||
			   rule->leaseless)) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a rule with deny has none of lease-max-ns, max-waiters, leaseless");
		return -EINVAL;
	}
	if (a[BFTMUTEX_A_RULE_LEASE_MAX_NS])
		rule->lease_max_ns = nla_get_u64(a[BFTMUTEX_A_RULE_LEASE_MAX_NS]);
	if (a[BFTMUTEX_A_RULE_MAX_WAITERS])
		rule->waiters_max = nla_get_u32(a[BFTMUTEX_A_RULE_MAX_WAITERS]);
	if (!a[BFTMUTEX_A_RULE_PREFIX])
		return 0;
	len = nla_len(a[BFTMUTEX_A_RULE_PREFIX]);
	if (len > BFTM_NAME_LEN_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "prefix must be at most 64 bytes");
		return -ERANGE;
	}
	rule->prefix_len = len;
	memcpy(rule->prefix, nla_data(a[BFTMUTEX_A_RULE_PREFIX]), len);
	return 0;
}

/* Nobody waits for anything from clients that are no members. */
static int read_eviction(const struct nlattr *nest, struct bftm_rules *rules,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *a[BFTMUTEX_A_EVICTION_MAX + 1];
	int err;

	err = nla_parse_nested(a, BFTMUTEX_A_EVICTION_MAX, nest, bftmutex_eviction_nl_policy,
			       extack);
	if (err)
		return err;
	if (!a[BFTMUTEX_A_EVICTION_CLIENT] || !a[BFTMUTEX_A_EVICTION_INCARNATION]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "an eviction needs client and incarnation");
		return -EINVAL;
	}
	bftm_rules_evict(rules, nla_get_u32(a[BFTMUTEX_A_EVICTION_CLIENT]),
			 nla_get_u32(a[BFTMUTEX_A_EVICTION_INCARNATION]));
	return 0;
}

static int read_noted(const struct nlattr *nest, struct bftm_rules *rules,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *a[BFTMUTEX_A_NOTED_MAX + 1];
	int err;

	err = nla_parse_nested(a, BFTMUTEX_A_NOTED_MAX, nest, bftmutex_noted_nl_policy, extack);
	if (err)
		return err;
	if (!a[BFTMUTEX_A_NOTED_CLIENT]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "an entry of the roll needs client");
		return -EINVAL;
	}
	bftm_rules_noted(rules, nla_get_u32(a[BFTMUTEX_A_NOTED_CLIENT]),
			 a[BFTMUTEX_A_NOTED_INCARNATION] ?
			 nla_get_u32(a[BFTMUTEX_A_NOTED_INCARNATION]) : BFTM_NOTED_UNKNOWN);
	return 0;
}

static int read_members(struct genl_info *info, struct bftm_rules *rules)
{
	const struct nlattr *a;
	int rest, err;

	err = bftm_rules_members(rules);
	if (err == -E2BIG)
		GENL_SET_ERR_MSG(info,
				 "rules with leaseless are for at most 1024 clients; name the clients that need no lease");
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest) {
		if (!err && nla_type(a) == BFTMUTEX_A_SERVER_EVICTION)
			err = read_eviction(a, rules, info->extack);
		if (!err && nla_type(a) == BFTMUTEX_A_SERVER_NOTED)
			err = read_noted(a, rules, info->extack);
	}
	return err;
}

int bftm_netlink_read_rules(struct genl_info *info, struct bftm_rules **ret)
{
	struct bftm_rules *rules;
	const struct nlattr *a;
	u32 count = 0, i = 0;
	int rest, err;

	/* The family's own table of attributes has only the last of several rules. */
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest)
		count += nla_type(a) == BFTMUTEX_A_SERVER_RULE;
	*ret = NULL;
	if (!count)
		return 0;
	if (count > BFTM_RULES_MAX) {
		GENL_SET_ERR_MSG(info, "there are at most 1024 rules");
		return -E2BIG;
	}
	rules = bftm_rules_new(count);
	if (!rules)
		return -ENOMEM;
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(a) != BFTMUTEX_A_SERVER_RULE)
			continue;
		err = read_rule(a, &rules->rule[i++], info->extack);
		if (err)
			goto fail;
	}
	err = read_members(info, rules);
	if (err)
		goto fail;
	*ret = rules;
	return 0;

fail:
	bftm_rules_destroy(rules);
	return err;
}

u32 bftm_netlink_count_rules(const struct bftm_server *server)
{
	const struct bftm_rules *rules;
	u32 count;

	rcu_read_lock();
	rules = rcu_dereference(server->rules);
	count = rules ? rules->count : 0;
	rcu_read_unlock();
	return count;
}

void bftm_netlink_count_members(const struct bftm_server *server, u32 *ret_members,
				u32 *ret_awaited)
{
	const struct bftm_rules *rules;

	rcu_read_lock();
	rules = rcu_dereference(server->rules);
	*ret_members = rules ? rules->members.count : 0;
	*ret_awaited = rules ? READ_ONCE(rules->members.awaited) : 0;
	rcu_read_unlock();
}

/*
 * A client that holds a lock without a lease, or waits for one, stays a member: else the next start
 * of the server would not wait for what it tells. Nobody becomes such a client while this looks.
 */
static int swap_rules(struct bftm_server *server, struct bftm_rules *rules,
		      struct bftm_rules **ret_unused, struct genl_info *info)
{
	int err = 0;

	*ret_unused = rules;
	WRITE_ONCE(server->rules_settle, true);
	synchronize_rcu();
	if (bftm_locks_unruled(server, rules)) {
		GENL_SET_ERR_MSG(info,
				 "a client holds or awaits a lock without a lease, which these rules do not allow it; evict the client first");
		err = -EBUSY;
	} else if (!bftm_rules_swap(server, rules, ret_unused)) {
		GENL_SET_ERR_MSG(info,
				 "members are awaited: until each has told what it holds, or was evicted, the rules up to the last one with leaseless cannot be changed");
		err = -EBUSY;
	} else if (rules) {
		bftm_server_lengthen(server, rules);
	}
	/* Also if there was no list before: after the reply, the sender relies on the new one. */
	synchronize_rcu();
	WRITE_ONCE(server->rules_settle, false);
	return err;
}

int bftmutex_nl_access_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct bftm_rules *rules;
	int err;

	err = bftm_netlink_read_rules(info, &rules);
	if (err)
		return err;
	mutex_lock(&bn->mutex);
	if (bn->server) {
		err = swap_rules(bn->server, rules, &rules, info);
	} else {
		GENL_SET_ERR_MSG(info, "no server runs in this network namespace");
		err = -ENOENT;
	}
	mutex_unlock(&bn->mutex);
	bftm_rules_destroy(rules);
	return err;
}

/** struct listed_member - a member in a list, and what the server has heard of it */
struct listed_member {
	struct bftm_member member;
	u32 incarnation;
};

static int put_member(struct sk_buff *msg, const void *object)
{
	const struct listed_member *l = object;
	const struct bftm_member *m = &l->member;

	if (nla_put_u32(msg, BFTMUTEX_A_MEMBER_ID, m->client) ||
	    (m->evicted && nla_put_u32(msg, BFTMUTEX_A_MEMBER_EVICTED, m->evicted)) ||
	    (m->awaited && nla_put_flag(msg, BFTMUTEX_A_MEMBER_AWAITED)) ||
	    (m->noted && nla_put_u32(msg, BFTMUTEX_A_MEMBER_NOTED, m->noted)) ||
	    (l->incarnation && nla_put_u32(msg, BFTMUTEX_A_MEMBER_INCARNATION, l->incarnation)))
		return -EMSGSIZE;
	return 0;
}

int bftmutex_nl_member_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct bftm_net *bn = bftm_net(sock_net(cb->skb->sk));
	const struct bftm_rules *rules = NULL;
	struct listed_member l;
	int len, err = 0;

	/* cb->args: [0] members that were sent. */
	mutex_lock(&bn->mutex);
	if (bn->server)
		rules = rcu_dereference_protected(bn->server->rules,
						  lockdep_is_held(&bn->mutex));
	/* As for rules: new rules may have other members. */
	cb->seq = rules ? rules->number : 1;
	for (; rules && cb->args[0] < rules->members.count; cb->args[0]++) {
		len = skb->len;
		spin_lock_bh(&bn->server->members_lock);
		l.member = rules->members.member[cb->args[0]];
		spin_unlock_bh(&bn->server->members_lock);
		l.incarnation = bftm_clients_newest(&bn->server->clients, l.member.client) >> 32;
		err = bftm_dump_one(skb, cb, BFTMUTEX_CMD_MEMBER_GET, put_member, &l);
		if (err)
			break;
		nl_dump_check_consistent(cb, (struct nlmsghdr *)(skb->data + len));
	}
	mutex_unlock(&bn->mutex);
	return skb->len;
}

int bftmutex_nl_member_evict_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *client = info->attrs[BFTMUTEX_A_MEMBER_ID];
	struct nlattr *evicted = info->attrs[BFTMUTEX_A_MEMBER_EVICTED];
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	int err = -ENOENT;

	if (!client || !evicted) {
		GENL_SET_ERR_MSG(info, "id and evicted are needed");
		return -EINVAL;
	}
	mutex_lock(&bn->mutex);
	if (bn->server)
		err = bftm_locks_evict(bn->server, nla_get_u32(client), nla_get_u32(evicted));
	else
		GENL_SET_ERR_MSG(info, "no server runs in this network namespace");
	/* It is still this server that drops: the next one may not know of the eviction. */
	down_read(&bn->life);
	mutex_unlock(&bn->mutex);
	if (!err)
		bftm_locks_evicted(bn->server, nla_get_u32(client), nla_get_u32(evicted));
	up_read(&bn->life);
	if (err == -ESRCH)
		GENL_SET_ERR_MSG(info, "the client is no member: no rule with leaseless is for it");
	return err;
}

int bftmutex_nl_member_note_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *client = info->attrs[BFTMUTEX_A_MEMBER_ID];
	struct nlattr *noted = info->attrs[BFTMUTEX_A_MEMBER_NOTED];
	struct nlattr *roll = info->attrs[BFTMUTEX_A_MEMBER_ROLL];
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	int err = -ENOENT;

	if (!client || !noted || !roll) {
		GENL_SET_ERR_MSG(info, "id, noted and roll are needed");
		return -EINVAL;
	}
	mutex_lock(&bn->mutex);
	if (bn->server)
		err = bftm_locks_note(bn->server, nla_get_u32(client), nla_get_u32(noted),
				      nla_get_u64(roll));
	mutex_unlock(&bn->mutex);
	return err;
}

static int put_rule(struct sk_buff *msg, const void *object)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE);
	const struct bftm_rule *rule = object;

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, rule->client_first) ||
	    nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, rule->client_last) ||
	    nla_put(msg, BFTMUTEX_A_RULE_PREFIX, rule->prefix_len, rule->prefix))
		return -EMSGSIZE;
	if (rule->deny && nla_put_flag(msg, BFTMUTEX_A_RULE_DENY))
		return -EMSGSIZE;
	if (rule->leaseless && nla_put_flag(msg, BFTMUTEX_A_RULE_LEASELESS))
		return -EMSGSIZE;
	if (rule->lease_max_ns &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_RULE_LEASE_MAX_NS, rule->lease_max_ns,
			      BFTMUTEX_A_RULE_PAD))
		return -EMSGSIZE;
	if (rule->waiters_max &&
	    nla_put_u32(msg, BFTMUTEX_A_RULE_MAX_WAITERS, rule->waiters_max))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

int bftmutex_nl_access_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct bftm_net *bn = bftm_net(sock_net(cb->skb->sk));
	const struct bftm_rules *rules = NULL;
	int len, err = 0;

	/* cb->args: [0] rules that were sent. */
	mutex_lock(&bn->mutex);
	if (bn->server)
		rules = rcu_dereference_protected(bn->server->rules,
						  lockdep_is_held(&bn->mutex));
	/* If the rules were replaced since the previous message, the dump says so and goes on. */
	cb->seq = rules ? rules->number : 1;
	for (; rules && cb->args[0] < rules->count; cb->args[0]++) {
		len = skb->len;
		err = bftm_dump_one(skb, cb, BFTMUTEX_CMD_ACCESS_GET, put_rule,
				    &rules->rule[cb->args[0]]);
		if (err)
			break;
		nl_dump_check_consistent(cb, (struct nlmsghdr *)(skb->data + len));
	}
	mutex_unlock(&bn->mutex);
	return skb->len;
}
