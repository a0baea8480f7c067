// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, access rules of the server: set and list. The family's policy has
 * checked the form and range of every attribute, nested ones included.
 */
#include <linux/rcupdate.h>
#include <net/sock.h>

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
	if (rule->deny && (a[BFTMUTEX_A_RULE_LEASE_MAX_NS] ||
			   a[BFTMUTEX_A_RULE_MAX_WAITERS])) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a rule with deny has neither lease-max-ns nor max-waiters");
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
		if (err) {
			bftm_rules_destroy(rules);
			return err;
		}
	}
	*ret = rules;
	return 0;
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

int bftmutex_nl_access_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct bftm_rules *rules, *old;
	int err;

	err = bftm_netlink_read_rules(info, &rules);
	if (err)
		return err;
	mutex_lock(&bn->mutex);
	if (!bn->server) {
		mutex_unlock(&bn->mutex);
		bftm_rules_destroy(rules);
		GENL_SET_ERR_MSG(info, "no server runs in this network namespace");
		return -ENOENT;
	}
	old = bftm_rules_swap(bn->server, rules);
	mutex_unlock(&bn->mutex);
	/* Also if there was no list before: after the reply, the sender relies on the new one. */
	synchronize_rcu();
	bftm_rules_destroy(old);
	return 0;
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
